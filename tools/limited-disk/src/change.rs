//! Changes of a disk that works.
//!
//! Duty: a line of text to a [`Change`]. It must not know what is changed.

use crate::clock::SECOND;

/// What is to be different from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Latency { ns: u64 },
    Iops(Option<u64>),
    Bandwidth(Option<u64>),
}

impl Change {
    /// `latency-us 4000`, `iops 500`, `bytes-per-second none`.
    pub(crate) fn parse(line: &str) -> Result<Self, String> {
        let wrong = || {
            format!("`{line}`: write latency-us, iops or bytes-per-second and a number, or none for no limit")
        };
        let (name, value) = line.trim().split_once(' ').ok_or_else(wrong)?;
        let number = || value.parse::<u64>().map_err(|_| wrong());
        let limit = |most: u64| match value {
            "none" => Ok(None),
            _ => match number()? {
                rate if (1..=most).contains(&rate) => Ok(Some(rate)),
                _ => Err(wrong()),
            },
        };
        match name {
            "latency-us" => match number()? {
                us if us <= 60_000_000 => Ok(Self::Latency { ns: us * 1_000 }),
                _ => Err(wrong()),
            },
            "iops" => limit(SECOND).map(Self::Iops),
            "bytes-per-second" => limit(1 << 40).map(Self::Bandwidth),
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests;
