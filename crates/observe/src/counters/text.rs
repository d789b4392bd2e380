//! Numbers and words in the kernel's tables.
//!
//! Duty: take bytes apart. Data in: any bytes. Data out: words and numbers, or nothing: text of another shape is never an
//! error here. It must not know any file.

/// A decimal number of digits alone; `None` for anything else and for more than 64 bits.
pub(super) fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |value, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// The lines, without their ends.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b'\n')
}

/// What stands between white space.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
}

/// The number after `key` and white space at the beginning of a line: `key 12`, `key: 12 kB`.
pub(super) fn number_of(line: &[u8], key: &[u8]) -> Option<u64> {
    let rest = line.strip_prefix(key)?;
    if !rest.first()?.is_ascii_whitespace() {
        return None;
    }
    number(words(rest).next()?)
}
