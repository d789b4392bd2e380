//! NBD on the wire: the numbers and headers that who serves a disk and who measures one must both know, and addresses.
//!
//! Data in: bytes, or an address in words. Data out: the other. It must not know connections. The protocol:
//! <https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md>; addresses: `uri.md` beside it.

mod uri;

pub use uri::{PORT, Place, Uri, UriError};

/// How a server begins.
pub const GREETING: u64 = 0x4e42_444d_4147_4943;
/// How an option begins, and the second half of the greeting of a server that has options.
pub const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
pub const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
pub const REQUEST_MAGIC: u32 = 0x2560_9513;
pub const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
pub const STRUCTURED_REPLY_MAGIC: u32 = 0x668e_33ef;

/// The longest request that moves data, where nothing else was agreed.
pub const REQUEST_BYTES_MAX: u32 = 32 << 20;
/// What follows the size of an export that was asked for in the old way, unless both sides said otherwise.
pub const PADDING_BYTES: usize = 124;

/// Flags of the handshake, of either side.
pub mod handshake {
    pub const FIXED_NEWSTYLE: u16 = 1;
    pub const NO_ZEROES: u16 = 2;
}

/// What an export can.
pub mod can {
    pub const HAS_FLAGS: u16 = 1;
    pub const READ_ONLY: u16 = 1 << 1;
    pub const FLUSH: u16 = 1 << 2;
    pub const FUA: u16 = 1 << 3;
    pub const TRIM: u16 = 1 << 5;
    pub const WRITE_ZEROES: u16 = 1 << 6;
    /// Reads in one piece.
    pub const DF: u16 = 1 << 7;
    /// Several connections see the same.
    pub const MULTI_CONN: u16 = 1 << 8;
}

/// Flags of a request.
pub mod flag {
    pub const FUA: u16 = 1;
    pub const NO_HOLE: u16 = 2;
    pub const DF: u16 = 4;
    pub const ONE: u16 = 8;
}

/// What a request asks for.
pub mod command {
    pub const READ: u16 = 0;
    pub const WRITE: u16 = 1;
    pub const DISCONNECT: u16 = 2;
    pub const FLUSH: u16 = 3;
    pub const TRIM: u16 = 4;
    pub const WRITE_ZEROES: u16 = 6;
    pub const BLOCK_STATUS: u16 = 7;
}

/// What a client asks for before it begins.
pub mod option {
    pub const EXPORT_NAME: u32 = 1;
    pub const ABORT: u32 = 2;
    pub const LIST: u32 = 3;
    pub const STARTTLS: u32 = 5;
    pub const INFO: u32 = 6;
    pub const GO: u32 = 7;
    pub const STRUCTURED_REPLY: u32 = 8;
    pub const LIST_META_CONTEXT: u32 = 9;
    pub const SET_META_CONTEXT: u32 = 10;
}

/// What a server says to that.
pub mod reply {
    pub const ACK: u32 = 1;
    pub const SERVER: u32 = 2;
    pub const INFO: u32 = 3;
    pub const META_CONTEXT: u32 = 4;
    /// Set in all that refuse.
    pub const ERROR: u32 = 1 << 31;
    pub const UNSUPPORTED: u32 = ERROR + 1;
    pub const INVALID: u32 = ERROR + 3;
    pub const TLS_REQUIRED: u32 = ERROR + 5;
    pub const UNKNOWN: u32 = ERROR + 6;
    pub const TOO_BIG: u32 = ERROR + 9;
}

/// What a server tells of an export.
pub mod info {
    pub const EXPORT: u16 = 0;
    pub const BLOCK_SIZE: u16 = 3;
}

/// The header of a request; the data of a write follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestHeader {
    pub flags: u16,
    /// Of [`command`].
    pub command: u16,
    /// What the reply has again.
    pub cookie: u64,
    pub offset_bytes: u64,
    pub len_bytes: u32,
}

impl RequestHeader {
    pub const BYTES: usize = 28;

    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&REQUEST_MAGIC.to_be_bytes());
        bytes[4..6].copy_from_slice(&self.flags.to_be_bytes());
        bytes[6..8].copy_from_slice(&self.command.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.cookie.to_be_bytes());
        bytes[16..24].copy_from_slice(&self.offset_bytes.to_be_bytes());
        bytes[24..].copy_from_slice(&self.len_bytes.to_be_bytes());
        bytes
    }

    /// `None`: that is no request.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Option<Self> {
        (u32_at(bytes, 0) == REQUEST_MAGIC).then(|| Self {
            flags: u16_at(bytes, 4),
            command: u16_at(bytes, 6),
            cookie: u64_at(bytes, 8),
            offset_bytes: u64_at(bytes, 16),
            len_bytes: u32_at(bytes, 24),
        })
    }
}

/// A reply in one piece; the data of a read follows it where there is no error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimpleReply {
    /// The protocol's number, which is that of Linux; 0: none.
    pub errno: u32,
    pub cookie: u64,
}

impl SimpleReply {
    pub const BYTES: usize = 16;

    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&SIMPLE_REPLY_MAGIC.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.errno.to_be_bytes());
        bytes[8..].copy_from_slice(&self.cookie.to_be_bytes());
        bytes
    }

    /// `None`: that is no such reply.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Option<Self> {
        (u32_at(bytes, 0) == SIMPLE_REPLY_MAGIC).then(|| Self {
            errno: u32_at(bytes, 4),
            cookie: u64_at(bytes, 8),
        })
    }
}

/// The option of a client, with the data that belongs to it.
pub fn option_bytes(number: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(16 + data.len());
    bytes.extend(OPTION_MAGIC.to_be_bytes());
    bytes.extend(number.to_be_bytes());
    bytes.extend((data.len() as u32).to_be_bytes());
    bytes.extend(data);
    bytes
}

/// The number that begins at byte `at`, which has to be inside.
pub fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes[at..at + 2]
        .iter()
        .fold(0, |n, &byte| n << 8 | u16::from(byte))
}
/// As [`u16_at`].
pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4]
        .iter()
        .fold(0, |n, &byte| n << 8 | u32::from(byte))
}
/// As [`u16_at`].
pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8]
        .iter()
        .fold(0, |n, &byte| n << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests;
