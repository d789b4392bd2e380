//! Records become events.
//!
//! Duty: find each event's fields where its format says they are. Data in: [`EventFormat`]s and records, both
//! untrusted. Data out: [`BlockEvent`], [`SchedEvent`], [`KernelEvent`]. It must not know how events belong together.

mod block;
mod kernel;
mod sched;

pub use block::{BlockDecoder, BlockEvent, BlockKind};
pub use kernel::{KernelDecoder, KernelEvent, KernelKind};
pub use sched::{SchedDecoder, SchedEvent, SchedKind};

use super::format::{EventFormat, Field};
use thiserror::Error;

/// The field that holds the event's number, at the start of every record (`struct trace_entry`).
const TYPE: &str = "common_type";
/// The field that holds the task in whose context the event happened.
const PID: &str = "common_pid";

/// An event that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the kernel describes the event {event} without a usable field `{field}`")]
pub struct UnusableEvent {
    pub event: String,
    /// What is missing of it.
    pub field: &'static str,
}

/// Where a number is in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    offset: usize,
    size: usize,
}

impl Place {
    fn from_field(field: &Field) -> Self {
        Self {
            offset: field.offset as usize,
            size: field.size as usize,
        }
    }

    /// The number in `payload`, extended with zeros; `None` where the record is too short.
    #[inline]
    fn number(self, payload: &[u8]) -> Option<u64> {
        let bytes = self.bytes(payload)?;
        Some(match *bytes {
            [a] => a.into(),
            [a, b] => u16::from_ne_bytes([a, b]).into(),
            [a, b, c, d] => u32::from_ne_bytes([a, b, c, d]).into(),
            _ => u64::from_ne_bytes(bytes.try_into().ok()?),
        })
    }

    #[inline]
    fn bytes(self, payload: &[u8]) -> Option<&[u8]> {
        payload.get(self.offset..self.offset + self.size)
    }
}

/// The place of a field that must be there and be a number.
fn number(format: &EventFormat, field: &'static str) -> Result<Place, UnusableEvent> {
    let found = format
        .field(field)
        .filter(|found| matches!(found.size, 1 | 2 | 4 | 8));
    found.map(Place::from_field).ok_or_else(|| UnusableEvent {
        event: format.name.clone(),
        field,
    })
}

/// The place of a field that must be there and hold bytes.
fn bytes(format: &EventFormat, field: &'static str) -> Result<Place, UnusableEvent> {
    let found = format.field(field).filter(|found| !found.data_loc);
    found.map(Place::from_field).ok_or_else(|| UnusableEvent {
        event: format.name.clone(),
        field,
    })
}

/// Finds what an event's number stands for.
#[derive(Debug, Clone)]
struct ById<L> {
    common_type: Place,
    common_pid: Place,
    /// At an event's number where its layout is in `layouts`, plus 1; 0 for none.
    index: Vec<u8>,
    layouts: Vec<L>,
}

impl<L> ById<L> {
    fn new(layouts: Vec<(&EventFormat, L)>) -> Result<Self, UnusableEvent> {
        let unknown = || UnusableEvent {
            event: "of any kind".to_owned(),
            field: TYPE,
        };
        let first = layouts.first().ok_or_else(unknown)?.0;
        let common_type = number(first, TYPE)?;
        let common_pid = number(first, PID)?;
        let mut index = Vec::new();
        let mut all = Vec::new();
        for (format, layout) in layouts {
            let id = usize::from(format.id);
            if index.len() <= id {
                index.resize(id + 1, 0);
            }
            all.push(layout);
            index[id] = u8::try_from(all.len()).unwrap_or(0);
        }
        Ok(Self {
            common_type,
            common_pid,
            index,
            layouts: all,
        })
    }

    #[inline]
    fn find(&self, payload: &[u8]) -> Option<&L> {
        let id = self.common_type.number(payload)? as usize;
        let at = usize::from(*self.index.get(id)?);
        self.layouts.get(at.checked_sub(1)?)
    }

    #[inline]
    fn pid(&self, payload: &[u8]) -> Option<u32> {
        Some(self.common_pid.number(payload)? as u32)
    }
}

#[cfg(test)]
mod tests;
