//! Signatures of requests to S3: AWS Signature Version 4.
//!
//! Data in: a request, a key, a time. Data out: the value of its `Authorization`. It must not know connections.
//! <https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html>

use sha2::{Digest, Sha256};
use std::io::Write;

/// As the date of a request: `20130524T000000Z`.
pub(super) const DATE_BYTES: usize = 16;

/// Who signs, with room for all that it takes.
#[derive(Clone)]
pub(super) struct Signer {
    key_id: String,
    secret: Vec<u8>,
    region: String,
    /// The key of a day, and which day.
    key: [u8; 32],
    day: [u8; 8],
    canonical: Vec<u8>,
    to_sign: Vec<u8>,
}

impl std::fmt::Debug for Signer {
    /// Without its keys.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signer")
            .field("key_id", &self.key_id)
            .finish_non_exhaustive()
    }
}

/// What is signed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Signed<'a> {
    pub method: &'a str,
    /// With escapes.
    pub path: &'a str,
    pub query: &'a str,
    /// In the order of their names, which are in lower case.
    pub headers: &'a [(&'a str, &'a str)],
    /// SHA-256 of what is sent, in hexadecimal digits.
    pub payload: &'a str,
    pub date: &'a str,
}

impl Signer {
    pub(super) fn new(key_id: &str, secret: &str, region: &str) -> Self {
        Self {
            key_id: key_id.to_owned(),
            secret: [b"AWS4", secret.as_bytes()].concat(),
            region: region.to_owned(),
            key: [0; 32],
            day: [0; 8],
            canonical: Vec::with_capacity(4096),
            to_sign: Vec::with_capacity(512),
        }
    }

    /// Appends the value of `Authorization`. Writing to a vector never fails.
    pub(super) fn authorize(&mut self, request: &Signed<'_>, out: &mut Vec<u8>) {
        let day = &request.date[..8];
        if self.day != day.as_bytes() {
            self.day.copy_from_slice(day.as_bytes());
            let of_day = hmac(&self.secret, self.day.as_slice());
            let of_region = hmac(&of_day, self.region.as_bytes());
            self.key = hmac(&hmac(&of_region, b"s3"), b"aws4_request");
        }
        let canonical = &mut self.canonical;
        canonical.clear();
        let Signed {
            method, path, query, ..
        } = request;
        let _written = write!(canonical, "{method}\n{path}\n{query}\n");
        for (name, value) in request.headers {
            let _written = writeln!(canonical, "{name}:{}", value.trim());
        }
        canonical.push(b'\n');
        names(request.headers, canonical);
        let _written = write!(canonical, "\n{}", request.payload);
        let digest = Sha256::digest(canonical.as_slice());
        let to_sign = &mut self.to_sign;
        to_sign.clear();
        let _written = write!(
            to_sign,
            "AWS4-HMAC-SHA256\n{}\n{day}/{}/s3/aws4_request\n",
            request.date, self.region
        );
        to_sign.extend(hex(&digest.into()));
        let signature = hex(&hmac(&self.key, to_sign));
        let _written = write!(
            out,
            "AWS4-HMAC-SHA256 Credential={}/{day}/{}/s3/aws4_request, SignedHeaders=",
            self.key_id, self.region
        );
        names(request.headers, out);
        out.extend(b", Signature=");
        out.extend(signature);
    }
}

fn names(headers: &[(&str, &str)], out: &mut Vec<u8>) {
    for (at, (name, _)) in headers.iter().enumerate() {
        if at > 0 {
            out.push(b';');
        }
        out.extend(name.as_bytes());
    }
}

/// HMAC-SHA256 (RFC 2104).
fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    const BLOCK: usize = 64;
    let mut padded = [0u8; BLOCK];
    if key.len() > BLOCK {
        padded[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        padded[..key.len()].copy_from_slice(key);
    }
    let inner = Sha256::new()
        .chain_update(padded.map(|byte| byte ^ 0x36))
        .chain_update(message)
        .finalize();
    let outer = Sha256::new()
        .chain_update(padded.map(|byte| byte ^ 0x5c))
        .chain_update(inner);
    outer.finalize().into()
}

/// In hexadecimal digits.
pub(super) fn hex(bytes: &[u8; 32]) -> [u8; 64] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut digits = [0; 64];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(bytes) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    digits
}

/// SHA-256 of `data`, in hexadecimal digits.
pub(super) fn sha256(data: &[u8]) -> [u8; 64] {
    hex(&Sha256::digest(data).into())
}

/// The time as a request has it, so many seconds since 1970.
pub(super) fn date(seconds: u64) -> [u8; DATE_BYTES] {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Days since 1 March 0000, of which each 400 years have 146097; as in Hinnant, "chrono-compatible low-level date algorithms".
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let mut text = *b"00000000T000000Z";
    let mut put = |at: usize, width: usize, mut number: u64| {
        for place in (at..at + width).rev() {
            text[place] = b'0' + (number % 10) as u8;
            number /= 10;
        }
    };
    put(0, 4, year);
    put(4, 2, month);
    put(6, 2, day);
    put(9, 2, second / 3600);
    put(11, 2, second / 60 % 60);
    put(13, 2, second % 60);
    text
}

/// With all but letters, digits, `-._~` and slashes as `%41`.
pub(super) fn escaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let digit = |number: u8| char::from(b"0123456789ABCDEF"[usize::from(number)]);
            out.extend(['%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
    out
}

#[cfg(test)]
mod tests;
