//! `NVMe` namespaces by their character devices (`/dev/ng0n1`; `linux/nvme_ioctl.h`): what one is, and commands to it.
//!
//! Data in: an open device, places in bytes. Data out: sizes, commands as the kernel takes them, errnos. It must not decide
//! whether the namespace may be written to: that is decided before. Many commands at a time: [`crate::uring::nvme`].

use crate::last_errno;
use fathom_core::backend::{Errno, Op, Outcome};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::ptr;

// linux/nvme_ioctl.h: _IO('N', 0x40), _IOWR('N', 0x41, struct nvme_passthru_cmd), _IOWR('N', 0x43, …).
const IOCTL_ID: libc::Ioctl = 0x4e40;
const IOCTL_ADMIN: libc::Ioctl = 0xc048_4e41_u32 as libc::Ioctl;
const IOCTL_IO: libc::Ioctl = 0xc048_4e43_u32 as libc::Ioctl;

// NVM Express Base Specification, figures "Opcodes for Admin Commands" and "Opcodes for NVM Commands".
const IDENTIFY: u8 = 0x06;
const FLUSH: u8 = 0x00;
const WRITE: u8 = 0x01;
const READ: u8 = 0x02;
const DATASET_MANAGEMENT: u8 = 0x09;
/// What Identify answers.
const IDENTIFY_BYTES: usize = 4096;
/// A command counts its blocks in 16 bits, from 0 on.
const BLOCKS_MAX: u64 = 1 << 16;

/// `struct nvme_passthru_cmd`, which is `struct nvme_uring_cmd` but for its last field.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Command {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    cdw2: u32,
    cdw3: u32,
    metadata: u64,
    /// Where the data is; of a vectored command, the vector.
    pub(crate) address: u64,
    metadata_bytes: u32,
    /// How much; of a vectored command, how many vectors.
    pub(crate) data_bytes: u32,
    cdw10: u32,
    cdw11: u32,
    cdw12: u32,
    cdw13: u32,
    cdw14: u32,
    cdw15: u32,
    timeout_ms: u32,
    result: u32,
}

/// The bytes of a command.
pub(crate) const COMMAND_BYTES: usize = 72;
const _: () = assert!(size_of::<Command>() == COMMAND_BYTES);

/// A namespace, and how its blocks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Namespace {
    /// Its number at its controller.
    pub id: u32,
    pub blocks: u64,
    /// Data of a block, without what is stored beside it.
    pub block_bytes: u32,
    /// What is stored beside each block (for protection, as a rule).
    pub metadata_bytes: u16,
}

impl Namespace {
    /// What it holds.
    pub fn size_bytes(&self) -> u64 {
        self.blocks.saturating_mul(u64::from(self.block_bytes))
    }

    /// A read or a write of `len` bytes at `offset`, of or to `address`; `None`: it is none of whole blocks, or of too many.
    #[inline]
    pub(crate) fn transfer(&self, op: Op, offset: u64, (address, len): (*mut u8, u32)) -> Option<Command> {
        let opcode = match op {
            Op::Read => READ,
            Op::Write => WRITE,
            Op::Trim | Op::Sync | Op::DataSync => return None,
        };
        let (first, count) = self.blocks_of(offset, u64::from(len))?;
        if count > BLOCKS_MAX {
            return None;
        }
        Some(Command {
            opcode,
            namespace: self.id,
            address: address as u64,
            data_bytes: len,
            cdw10: first as u32,
            cdw11: (first >> 32) as u32,
            // Counted from 0 on.
            cdw12: (count - 1) as u32,
            ..Command::default()
        })
    }

    /// The first block, and how many: at least one.
    #[inline]
    fn blocks_of(&self, offset: u64, len: u64) -> Option<(u64, u64)> {
        let shift = self.block_bytes.trailing_zeros();
        let within = u64::from(self.block_bytes) - 1;
        let whole = len > 0 && (offset | len) & within == 0;
        whole.then_some((offset >> shift, len >> shift))
    }

    /// What Identify says: of the namespace `id`, `answer`.
    fn from_identify(id: u32, answer: &[u8; IDENTIFY_BYTES]) -> Option<Self> {
        let number = |at: usize| {
            let bytes: [u8; 8] = answer[at..at + 8].try_into().ok()?;
            Some(u64::from_le_bytes(bytes))
        };
        let (formats, format) = (answer[25], answer[26]);
        // Four bits, and above 16 formats two more.
        let format = match formats {
            0..16 => format & 0xf,
            _ => format & 0xf | (format >> 5 & 3) << 4,
        };
        let at = 128 + 4 * usize::from(format);
        let metadata_bytes = u16::from_le_bytes([answer[at], answer[at + 1]]);
        let shift = answer[at + 2];
        Some(Self {
            id,
            blocks: number(0)?,
            block_bytes: (9..=20).contains(&shift).then(|| 1 << shift)?,
            metadata_bytes,
        })
    }
}

impl Command {
    /// Its bytes, as they go into a ring's entry.
    #[inline]
    pub(crate) fn bytes(&self) -> [u8; COMMAND_BYTES] {
        // SAFETY: a struct of integers without padding (its fields add up to its size, which is asserted) is that many
        // initialised bytes.
        unsafe { std::mem::transmute::<Self, [u8; COMMAND_BYTES]>(*self) }
    }
}

/// What the namespace behind an open `/dev/ngXnY` is.
///
/// # Errors
/// `ENOTTY` where it is none; `EACCES` without the right to ask (`CAP_SYS_ADMIN` up to Linux 6.1); `InvalidData` where what the
/// device says is nothing that it may say; an errno for a status of the device's.
pub fn namespace(device: &File) -> io::Result<Namespace> {
    // SAFETY: this ioctl takes no argument.
    let id = unsafe { libc::ioctl(device.as_raw_fd(), IOCTL_ID) };
    let id = u32::try_from(id).map_err(|_| io::Error::last_os_error())?;
    let mut answer = [0; IDENTIFY_BYTES];
    let mut command = Command {
        opcode: IDENTIFY,
        namespace: id,
        address: answer.as_mut_ptr() as u64,
        data_bytes: IDENTIFY_BYTES as u32,
        ..Command::default()
    };
    // SAFETY: the command is one of `IDENTIFY_BYTES` to `answer`, which has them.
    unsafe { carry_out(device, IOCTL_ADMIN, &mut command) }
        .map_err(|Errno(errno)| io::Error::from_raw_os_error(errno))?;
    let found = Namespace::from_identify(id, &answer);
    found.ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            "the device names no format of its blocks",
        )
    })
}

/// Has what was written be durable. `Ok(0)` when it is.
///
/// # Errors
/// The call's errno, or one for the device's status.
pub fn flush(device: &File, namespace: &Namespace) -> Outcome {
    let mut command = Command {
        opcode: FLUSH,
        namespace: namespace.id,
        ..Command::default()
    };
    // SAFETY: the command has no data.
    unsafe { carry_out(device, IOCTL_IO, &mut command) }.map(|()| 0)
}

/// Deallocates whole blocks. `Ok(len)` when done.
///
/// # Errors
/// As [`flush`]; `EINVAL` where it is none of whole blocks.
pub fn deallocate(device: &File, namespace: &Namespace, offset: u64, len: u32) -> Outcome {
    let (first, count) = namespace
        .blocks_of(offset, u64::from(len))
        .ok_or(Errno(libc::EINVAL))?;
    // One range: attributes, blocks, the first block.
    let mut range = [0; 16];
    range[4..8].copy_from_slice(&(count as u32).to_le_bytes());
    range[8..].copy_from_slice(&first.to_le_bytes());
    let mut command = Command {
        opcode: DATASET_MANAGEMENT,
        namespace: namespace.id,
        address: range.as_mut_ptr() as u64,
        data_bytes: range.len() as u32,
        // Ranges, from 0 on; deallocate.
        cdw10: 0,
        cdw11: 1 << 2,
        ..Command::default()
    };
    // SAFETY: the command is one of 16 bytes of `range`, which has them.
    unsafe { carry_out(device, IOCTL_IO, &mut command) }.map(|()| len)
}

/// One command, to its end.
///
/// # Safety
/// `data_bytes` from `address` on belong to the caller, to be read and written.
unsafe fn carry_out(device: &File, ioctl: libc::Ioctl, command: &mut Command) -> Result<(), Errno> {
    // SAFETY: both ioctls read and write a `struct nvme_passthru_cmd` at their argument, and what the caller vouches for.
    let result = unsafe { libc::ioctl(device.as_raw_fd(), ioctl, ptr::from_mut(command)) };
    match result {
        0 => Ok(()),
        status if status > 0 => Err(Errno(errno_of(status))),
        _ => Err(Errno(last_errno())),
    }
}

/// The errno that the kernel's block layer would give for a status of the device's (`drivers/nvme/host/core.c`,
/// `nvme_error_status`; `block/blk-core.c`, `blk_errors`): the same error has the same number whichever way the I/O took.
#[cold]
pub(crate) fn errno_of(status: i32) -> i32 {
    match status & 0x7ff {
        // Capacity exceeded.
        0x81 => libc::ENOSPC,
        // Namespace not ready; command interrupted.
        0x82 | 0x21 => libc::EAGAIN,
        // Onces supported, invalid opcode, invalid namespace or format: not supported there.
        0x01 | 0x0b | 0x86 => libc::EOPNOTSUPP,
        // LBA out of range; an invalid field.
        0x80 => libc::EREMOTEIO,
        0x02 => libc::EINVAL,
        // Reservation conflict.
        0x83 => libc::EBADE,
        // Guard, application tag, reference tag; compare failure is a medium's.
        0x282..=0x284 => libc::EILSEQ,
        // Write fault, unrecovered read error, access denied, deallocated block.
        0x280 | 0x281 | 0x285..=0x287 => libc::ENODATA,
        // Zones: too many active, too many open.
        0x1bd => libc::EOVERFLOW,
        0x1be => libc::ETOOMANYREFS,
        _ => libc::EIO,
    }
}

#[cfg(test)]
mod tests;
