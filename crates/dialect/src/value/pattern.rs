//! Byte patterns: `0xdeadbeef`, `"text"`, `-12`, and several of them in a row.
//!
//! Data in: text. Data out: the bytes that are repeated. It must not know where they are written.

use crate::diagnostic::Fault;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Longer patterns are refused: they are kept whole with the run.
const MAX_BYTES: usize = 1 << 20;

/// A pattern as written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub(crate) bytes: Vec<u8>,
    /// Where the offset of the I/O stands in them, in 8 bytes.
    pub(crate) offsets: Vec<u32>,
    /// The file that holds the bytes instead.
    pub(crate) file: Option<PathBuf>,
}

/// Reads a pattern in which the offset of the I/O may stand, as `%o`, or one that a file holds, named in single quotes.
pub(crate) fn verify_pattern(text: &str) -> Result<Pattern, Fault> {
    let text = text.trim();
    let quoted = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    if let Some(path) = quoted {
        return Ok(Pattern {
            file: Some(PathBuf::from(path)),
            ..Pattern::default()
        });
    }
    let mut pattern = Pattern::default();
    let parts: Vec<&str> = text.split("%o").collect();
    for (at, part) in parts.iter().enumerate() {
        if !part.is_empty() {
            pattern.bytes.extend(byte_pattern(part)?);
        }
        if at + 1 < parts.len() {
            pattern.offsets.push(pattern.bytes.len() as u32);
            pattern.bytes.extend([0; 8]);
        }
    }
    match pattern.bytes.len() {
        0 => Err(Fault::new("the pattern is empty").remedy("write such as 0xdeadbeef or \"abcd\"")),
        n if n > MAX_BYTES => {
            Err(Fault::new(format!("a pattern of {n} bytes"))
                .remedy(format!("at most {MAX_BYTES} are possible")))
        }
        _ => Ok(pattern),
    }
}

/// As a job file would have it; `None` if there is none.
pub(crate) fn show_verify_pattern(pattern: &Pattern) -> Option<String> {
    if let Some(file) = &pattern.file {
        return Some(format!("'{}'", file.to_str()?));
    }
    let mut text = String::new();
    let mut from = 0;
    for &at in &pattern.offsets {
        text += &show_pattern(pattern.bytes.get(from..at as usize)?).unwrap_or_default();
        text += "%o";
        from = at as usize + 8;
    }
    text += &show_pattern(pattern.bytes.get(from..)?).unwrap_or_default();
    Some(text).filter(|text| !text.is_empty())
}

/// Reads a pattern. Hexadecimal digits are bytes in the order written, an odd first one stands alone; a
/// decimal number is stored little-endian in as few bytes as it needs, a negative one in four (all measured
/// with fio 3.33).
pub(crate) fn byte_pattern(text: &str) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        rest = if let Some(body) = rest.strip_prefix('"') {
            let (string, after) = body.split_once('"').ok_or_else(|| {
                Fault::new(format!("the string in `{text}` does not end")).remedy("close it with a `\"`")
            })?;
            bytes.extend_from_slice(string.as_bytes());
            after
        } else if rest.starts_with('\'') {
            return Err(Fault::new("a file's bytes stand alone in a pattern")
                .remedy("put all of the bytes into the file, or write them as 0x… or \"…\""));
        } else if rest.starts_with('%') {
            return Err(
                Fault::new("the only format in a pattern is `%o`, and that of a verify_pattern")
                    .remedy("write the bytes as 0x… or \"…\""),
            );
        } else if let Some(body) = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X")) {
            hexadecimal(text, body, &mut bytes)?
        } else {
            decimal(text, rest, &mut bytes)?
        };
    }
    match bytes.len() {
        0 => Err(Fault::new("the pattern is empty").remedy("write such as 0xdeadbeef or \"abcd\"")),
        n if n > MAX_BYTES => {
            Err(Fault::new(format!("a pattern of {n} bytes"))
                .remedy(format!("at most {MAX_BYTES} are possible")))
        }
        _ => Ok(bytes),
    }
}

fn wrong(text: &str) -> Fault {
    Fault::new(format!("`{text}` is not a pattern"))
        .remedy("write hexadecimal digits (0xdeadbeef), a string (\"abcd\"), a number, or several of them")
}

fn hexadecimal<'a>(text: &str, body: &'a str, bytes: &mut Vec<u8>) -> Result<&'a str, Fault> {
    let end = body.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(body.len());
    let (digits, rest) = body.split_at(end);
    if digits.is_empty() {
        return Err(wrong(text));
    }
    let odd = digits.len() % 2;
    let mut at = 0;
    while at < digits.len() {
        let end = if at == 0 && odd == 1 { 1 } else { at + 2 };
        bytes.push(u8::from_str_radix(&digits[at..end], 16).map_err(|_| wrong(text))?);
        at = end;
    }
    Ok(rest)
}

fn decimal<'a>(text: &str, body: &'a str, bytes: &mut Vec<u8>) -> Result<&'a str, Fault> {
    let sign = usize::from(body.starts_with('-'));
    let end = body[sign..]
        .find(|c: char| !c.is_ascii_digit())
        .map_or(body.len(), |n| n + sign);
    // In `-120xdead` the 0 belongs to what follows.
    let takes_next = body[end..].starts_with(['x', 'X']) && end > sign + 1 && body[..end].ends_with('0');
    let end = end - usize::from(takes_next);
    let (number, rest) = body.split_at(end);
    if sign == 1 {
        let value: i32 = number.parse().map_err(|_| wrong(text))?;
        bytes.extend_from_slice(&value.to_le_bytes());
    } else {
        let value: u32 = number.parse().map_err(|_| wrong(text))?;
        let used = (4 - value.leading_zeros() as usize / 8).max(1);
        bytes.extend_from_slice(&value.to_le_bytes()[..used]);
    }
    Ok(rest)
}

/// Bytes as hexadecimal digits; `None` if there are none.
pub(crate) fn show_pattern(bytes: &[u8]) -> Option<String> {
    let digits = bytes.iter().fold(String::from("0x"), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    Some(digits).filter(|_| !bytes.is_empty())
}

#[cfg(test)]
mod tests;
