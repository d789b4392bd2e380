//! Commands as disks read them (SBC-4, SPC-5), and what they answer. Numbers are big-endian.

/// Room for every command here.
pub(super) const CDB_BYTES: usize = 16;
pub(super) const SENSE_BYTES: usize = 64;

/// A command; its first byte says how long it is.
pub(super) type Cdb = [u8; CDB_BYTES];

const READ_CAPACITY_10: u8 = 0x25;
const READ_10: u8 = 0x28;
const WRITE_10: u8 = 0x2a;
const SYNCHRONIZE_CACHE_10: u8 = 0x35;
const UNMAP: u8 = 0x42;
const READ_16: u8 = 0x88;
const WRITE_16: u8 = 0x8a;
const SERVICE_ACTION_IN_16: u8 = 0x9e;
const READ_CAPACITY_16: u8 = 0x10;
/// Force unit access.
const FUA: u8 = 1 << 3;

/// How long a command is, by its group.
pub(super) fn length(cdb: &Cdb) -> u8 {
    match cdb[0] >> 5 {
        0 => 6,
        1 | 2 => 10,
        5 => 12,
        _ => 16,
    }
}

/// A read or write of `len` bytes at `offset`; `None`: they are no whole blocks, or too many for a command.
#[inline]
pub(super) fn transfer(
    writes: bool,
    forced: bool,
    (offset, len): (u64, u32),
    block_bytes: u32,
) -> Option<Cdb> {
    let (first, count) = blocks((offset, len), block_bytes)?;
    let mut cdb = [0; CDB_BYTES];
    if forced {
        cdb[1] = FUA;
    }
    if let (Ok(first), Ok(count)) = (u32::try_from(first), u16::try_from(count)) {
        cdb[0] = if writes { WRITE_10 } else { READ_10 };
        cdb[2..6].copy_from_slice(&first.to_be_bytes());
        cdb[7..9].copy_from_slice(&count.to_be_bytes());
    } else {
        cdb[0] = if writes { WRITE_16 } else { READ_16 };
        cdb[2..10].copy_from_slice(&first.to_be_bytes());
        cdb[10..14].copy_from_slice(&count.to_be_bytes());
    }
    Some(cdb)
}

/// The first block, and how many: at least one.
#[inline]
fn blocks((offset, len): (u64, u32), block_bytes: u32) -> Option<(u64, u32)> {
    let shift = block_bytes.trailing_zeros();
    let within = u64::from(block_bytes) - 1;
    let whole = len > 0 && (offset | u64::from(len)) & within == 0;
    whole.then_some((offset >> shift, len >> shift))
}

/// Unmaps whole blocks: the command, and the one range that it takes.
pub(super) fn unmap(place: (u64, u32), block_bytes: u32) -> Option<(Cdb, [u8; 24])> {
    let (first, count) = blocks(place, block_bytes)?;
    let mut cdb = [0; CDB_BYTES];
    let mut ranges = [0; 24];
    cdb[0] = UNMAP;
    cdb[8] = ranges.len() as u8;
    // What follows the first two bytes; the descriptors.
    ranges[1] = 22;
    ranges[3] = 16;
    ranges[8..16].copy_from_slice(&first.to_be_bytes());
    ranges[16..20].copy_from_slice(&count.to_be_bytes());
    Some((cdb, ranges))
}

/// Has what was written be on the medium.
pub(super) fn synchronize_cache() -> Cdb {
    let mut cdb = [0; CDB_BYTES];
    cdb[0] = SYNCHRONIZE_CACHE_10;
    cdb
}

/// Asks for the number of the last block, where that has 32 bits.
pub(super) fn read_capacity_10() -> Cdb {
    let mut cdb = [0; CDB_BYTES];
    cdb[0] = READ_CAPACITY_10;
    cdb
}

/// Asks for the number of the last block; 32 bytes of the answer.
pub(super) fn read_capacity_16() -> Cdb {
    let mut cdb = [0; CDB_BYTES];
    (cdb[0], cdb[1], cdb[13]) = (SERVICE_ACTION_IN_16, READ_CAPACITY_16, 32);
    cdb
}

/// How many blocks, and their size; `None`: their number has more than 32 bits.
pub(super) fn capacity_10(answer: [u8; 8]) -> Option<(u64, u32)> {
    let both = u64::from_be_bytes(answer);
    let (last, block_bytes) = ((both >> 32) as u32, both as u32);
    (last != u32::MAX).then_some((u64::from(last) + 1, block_bytes))
}

/// The same of the long answer; `None`: nothing can be so large.
pub(super) fn capacity_16(answer: &[u8; 32]) -> Option<(u64, u32)> {
    let last = u64::from_be_bytes(answer[..8].try_into().ok()?);
    let block_bytes = u32::from_be_bytes(answer[8..12].try_into().ok()?);
    Some((last.checked_add(1)?, block_bytes))
}

/// What a disk says of how a command ended (SPC-5, sense data): the key of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sense(Option<u8>);

impl Sense {
    /// Of the bytes that were written; none of a command that has nothing to say.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let key = match bytes.first().map(|code| code & 0x7f) {
            // Fixed; described.
            Some(0x70 | 0x71) => bytes.get(2),
            Some(0x72 | 0x73) => bytes.get(1),
            _ => None,
        };
        Self(key.map(|key| key & 0xf))
    }

    /// The command was carried out all the same: nothing special, or an error that the disk recovered.
    pub(super) fn is_success(self) -> bool {
        matches!(self.0, Some(0x0 | 0x1))
    }

    /// It was not, because of something that the disk had to say of itself first.
    pub(super) fn is_attention(self) -> bool {
        self.0 == Some(0x6)
    }

    /// The errno that the block layer has for it (`drivers/scsi/scsi_lib.c`, `scsi_io_completion_action`).
    pub(super) fn errno(self) -> i32 {
        match self.0 {
            Some(0x2) => libc::EAGAIN,
            Some(0x3) => libc::ENODATA,
            Some(0x5) => libc::EREMOTEIO,
            Some(0x7) => libc::EROFS,
            Some(0x8 | 0xd) => libc::ENOSPC,
            _ => libc::EIO,
        }
    }
}
