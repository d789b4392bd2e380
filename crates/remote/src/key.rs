//! The key that two fathoms share.

use data_encoding::HEXLOWER_PERMISSIVE;
use std::fmt;
use zeroize::Zeroizing;

/// 32 bytes that only the two have.
#[derive(Clone)]
pub struct Key(Zeroizing<[u8; 32]>);

/// Why a text is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key is 64 hexadecimal digits; make one with: openssl rand -hex 32 > FILE && chmod 600 FILE")]
pub struct KeyError;

impl Key {
    /// The key that a file holds: 64 hexadecimal digits, blanks around them.
    ///
    /// # Errors
    /// It holds something else.
    pub fn from_text(text: &str) -> Result<Self, KeyError> {
        let bytes = HEXLOWER_PERMISSIVE.decode(text.trim().as_bytes());
        let bytes = Zeroizing::new(bytes.map_err(|_| KeyError)?);
        let bytes: [u8; 32] = bytes.as_slice().try_into().map_err(|_| KeyError)?;
        Ok(Self(Zeroizing::new(bytes)))
    }

    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests;
