//! The header of a command (scsi/sg.h, `struct sg_io_hdr`), and what it says when it comes back.

use super::cdb::{Cdb, SENSE_BYTES, Sense};
use std::ptr;

pub(super) const IOCTL_IO: libc::Ioctl = 0x2285;
pub(super) const IOCTL_VERSION: libc::Ioctl = 0x2282;

/// `SG_INFO_CHECK`: something has to be looked at.
const INFO_CHECK: u32 = 1;
/// Asks the driver to poll, where it knows how (`SGV4_FLAG_HIPRI`); others ignore it.
const FLAG_HIPRI: u32 = 0x800;
/// How long a command may take before the kernel gives it up.
const TIMEOUT_MS: u32 = 30_000;

/// Where the data of a command goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(super) enum Direction {
    None = -1,
    /// To the device.
    To = -2,
    /// From the device.
    From = -3,
}

/// `struct sg_io_hdr`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Header {
    interface: i32,
    direction: i32,
    command_bytes: u8,
    sense_bytes: u8,
    vectors: u16,
    data_bytes: u32,
    data: *mut u8,
    command: *mut u8,
    sense: *mut u8,
    timeout_ms: u32,
    flags: u32,
    pack: i32,
    user: *mut u8,
    status: u8,
    masked_status: u8,
    message_status: u8,
    sense_written: u8,
    host_status: u16,
    driver_status: u16,
    /// Bytes that were asked for and not moved.
    left: i32,
    duration_ms: u32,
    info: u32,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Header>() == 88);

impl Default for Header {
    fn default() -> Self {
        Self {
            interface: i32::from(b'S'),
            direction: Direction::None as i32,
            command_bytes: 0,
            sense_bytes: 0,
            vectors: 0,
            data_bytes: 0,
            data: ptr::null_mut(),
            command: ptr::null_mut(),
            sense: ptr::null_mut(),
            timeout_ms: TIMEOUT_MS,
            flags: 0,
            pack: 0,
            user: ptr::null_mut(),
            status: 0,
            masked_status: 0,
            message_status: 0,
            sense_written: 0,
            host_status: 0,
            driver_status: 0,
            left: 0,
            duration_ms: 0,
            info: 0,
        }
    }
}

impl Header {
    /// Of a command, with room for its sense, and its data.
    pub(super) fn new(
        cdb: &mut Cdb,
        sense: &mut [u8; SENSE_BYTES],
        direction: Direction,
        (data, data_bytes): (*mut u8, u32),
    ) -> Self {
        Self {
            direction: direction as i32,
            command_bytes: super::cdb::length(cdb),
            sense_bytes: SENSE_BYTES as u8,
            data_bytes,
            data,
            command: cdb.as_mut_ptr(),
            sense: sense.as_mut_ptr(),
            ..Self::default()
        }
    }

    /// What comes back with it: the slot.
    pub(super) fn identify(&mut self, slot: u32, polls: bool) {
        self.pack = slot as i32;
        self.user = ptr::without_provenance_mut(slot as usize);
        if polls {
            self.flags |= FLAG_HIPRI;
        }
    }

    /// Of a command that came back.
    pub(super) fn slot(&self) -> u32 {
        self.user.addr() as u32
    }

    pub(super) fn sense_written(&self) -> u8 {
        self.sense_written.min(SENSE_BYTES as u8)
    }

    /// The bytes that were moved.
    pub(super) fn moved(&self) -> u32 {
        let left = u32::try_from(self.left).unwrap_or(0);
        self.data_bytes.saturating_sub(left)
    }

    /// What went wrong, as the errno that the block layer has for it; `None`: nothing did.
    pub(super) fn errno(&self, sense: Sense) -> Option<i32> {
        if self.info & INFO_CHECK == 0 || sense.is_success() {
            return None;
        }
        // SAM-5, status codes; include/scsi/scsi_status.h, DID_*.
        Some(match (self.status, self.host_status) {
            (0x18, _) => libc::EBADE,
            (0x08 | 0x28, _) => libc::EAGAIN,
            (_, 0x01 | 0x04) => libc::ENODEV,
            (_, 0x03) => libc::ETIMEDOUT,
            _ => sense.errno(),
        })
    }

    #[cfg(test)]
    pub(super) fn ended(status: u8, host_status: u16, data_bytes: u32, left: i32) -> Self {
        let check = u32::from(status != 0 || host_status != 0);
        Self {
            status,
            host_status,
            data_bytes,
            left,
            info: check * INFO_CHECK,
            ..Self::default()
        }
    }
}
