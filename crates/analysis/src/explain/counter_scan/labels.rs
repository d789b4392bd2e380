//! One label of a row, in Prometheus' text form.

/// The value of a label in `device="vda",kind="riops"`; `None` where there is no such label. Values that need escapes are
/// given as they are written.
pub(crate) fn label<'a>(labels: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = labels;
    loop {
        let (key, after) = rest.split_once("=\"")?;
        let end = closing_quote(after)?;
        if key == name {
            return Some(&after[..end]);
        }
        rest = after[end + 1..].trim_start_matches(',');
    }
}

fn closing_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    })
}
