//! Byte patterns: `0xdeadbeef`, `"text"`, `-12`, and several of them in a row.
//!
//! Data in: text. Data out: the bytes that are repeated. It must not know where they are written.

use crate::diagnostic::Fault;
use std::fmt::Write as _;

/// Longer patterns are refused (fio's limit is 512 bytes).
const MAX_BYTES: usize = 512;

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
            return Err(Fault::new("a pattern from a file is not supported yet")
                .remedy("write the bytes as 0x… or \"…\""));
        } else if rest.starts_with('%') {
            return Err(
                Fault::new("formats such as `%o` in a pattern are not supported yet")
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
