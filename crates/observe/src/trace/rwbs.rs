//! The letters with which the kernel says what a request does.
//!
//! Duty: read them (kernel/trace/blktrace.c, `blk_fill_rwbs`). Data in: bytes. Data out: [`Kind`]. It must not know
//! the event that they are part of.

use fathom_core::record::{BlockFlags, BlockOp};

/// What a request does, in the kernel's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kind {
    /// The operation; of a flush that is waited for and carries no data, [`BlockOp::Write`] with
    /// [`BlockFlags::PREFLUSH`], as the kernel has it.
    pub op: BlockOp,
    /// What else is said.
    pub flags: BlockFlags,
}

/// Reads the letters up to the first zero.
///
/// An `F` before the operation's letter is a flush before it, one after it is FUA; `FF` is the command that the block
/// layer itself sends to the device to carry out flushes.
#[inline]
pub fn decode(rwbs: &[u8]) -> Kind {
    let mut letters = rwbs.iter().copied().take_while(|&letter| letter != 0).peekable();
    let mut flags = 0;
    let mut first = letters.next().unwrap_or(b'N');
    if first == b'F'
        && let Some(second) = letters.next_if(|letter| b"RWDNFZ".contains(letter))
    {
        flags |= BlockFlags::PREFLUSH;
        first = second;
    }
    let mut op = match first {
        b'R' => BlockOp::Read,
        b'W' => BlockOp::Write,
        b'D' => BlockOp::Discard,
        b'F' => BlockOp::Flush,
        _ => BlockOp::Other,
    };
    // Zone commands go on with letters of their own: `ZR`, `ZRA`, `ZA`.
    if first == b'Z' {
        return Kind {
            op,
            flags: BlockFlags(flags),
        };
    }
    for letter in letters {
        match letter {
            b'F' => flags |= BlockFlags::FUA,
            b'A' => flags |= BlockFlags::READ_AHEAD,
            b'S' => flags |= BlockFlags::SYNC,
            b'M' => flags |= BlockFlags::META,
            // `WZ`: zeroes are written without data.
            b'Z' if op == BlockOp::Write => op = BlockOp::Discard,
            _ => {}
        }
    }
    Kind {
        op,
        flags: BlockFlags(flags),
    }
}

#[cfg(test)]
mod tests;
