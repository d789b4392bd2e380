//! The block layer's events (include/trace/events/block.h).

use super::{ById, Place, UnusableEvent, bytes, number};
use crate::trace::format::EventFormat;
use crate::trace::order::Timed;
use crate::trace::page::Record;
use crate::trace::rwbs;
use fathom_core::record::Comm;

/// What happened to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum BlockKind {
    /// An I/O entered the block layer (`block_bio_queue`).
    Queue,
    /// A request was allocated for it: it has a tag (`block_getrq`, `block_io_start`).
    Allocate,
    /// It was added to a request that there was (`block_bio_backmerge`, `block_bio_frontmerge`).
    Merge,
    /// A request was added to another one (`block_rq_merge`).
    MergeRequest,
    /// An I/O was cut; what remains begins at `new_sector` (`block_split`).
    Split,
    /// A request was put into a scheduler (`block_rq_insert`).
    Insert,
    /// The driver got it (`block_rq_issue`).
    Issue,
    /// The driver gave it back, to be sent again (`block_rq_requeue`).
    Requeue,
    /// The device is done with some or all of it (`block_rq_complete`).
    Complete,
    /// An I/O that never was a request is complete (`block_bio_complete`).
    CompleteBio,
}

impl BlockKind {
    /// The event of that name.
    pub fn from_event(event: &str) -> Option<Self> {
        Some(match event {
            "block_bio_queue" => Self::Queue,
            "block_getrq" | "block_io_start" => Self::Allocate,
            "block_bio_backmerge" | "block_bio_frontmerge" => Self::Merge,
            "block_rq_merge" => Self::MergeRequest,
            "block_split" => Self::Split,
            "block_rq_insert" => Self::Insert,
            "block_rq_issue" => Self::Issue,
            "block_rq_requeue" => Self::Requeue,
            "block_rq_complete" => Self::Complete,
            "block_bio_complete" => Self::CompleteBio,
            _ => return None,
        })
    }
}

/// One event of the block layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockEvent {
    /// When.
    pub time_ns: u64,
    pub kind: BlockKind,
    /// Of which device, `major << 20 | minor`: of a partition where the kernel names that.
    pub device: u32,
    /// Where it begins, in sectors of 512 bytes of the whole disk.
    pub sector: u64,
    /// How many sectors; 0 of a split.
    pub sectors: u32,
    /// Where the rest of a split begins; 0 of all else.
    pub new_sector: u64,
    /// What it does.
    pub what: rwbs::Kind,
    /// The positive `errno` of a completion; 0 where it did not fail.
    pub errno: u16,
    /// The task in whose context it happened.
    pub pid: u32,
    /// Its name, where the event has it.
    pub comm: Comm,
}

impl Timed for BlockEvent {
    #[inline]
    fn time_ns(&self) -> u64 {
        self.time_ns
    }
}

#[derive(Debug, Clone, Copy)]
struct Layout {
    kind: BlockKind,
    device: Place,
    sector: Place,
    sectors: Option<Place>,
    new_sector: Option<Place>,
    rwbs: Place,
    error: Option<Place>,
    comm: Option<Place>,
}

impl Layout {
    fn new(format: &EventFormat, kind: BlockKind) -> Result<Self, UnusableEvent> {
        let split = kind == BlockKind::Split;
        let comm = format.field("comm").filter(|comm| !comm.data_loc);
        let error = format.field("error").or_else(|| format.field("errors"));
        Ok(Self {
            kind,
            device: number(format, "dev")?,
            sector: number(format, "sector")?,
            sectors: (!split).then(|| number(format, "nr_sector")).transpose()?,
            new_sector: split.then(|| number(format, "new_sector")).transpose()?,
            rwbs: bytes(format, "rwbs")?,
            error: error.filter(|error| error.size == 4).map(Place::from_field),
            comm: comm.map(Place::from_field),
        })
    }
}

/// Turns records into events.
#[derive(Debug, Clone)]
pub struct BlockDecoder(ById<Layout>);

impl BlockDecoder {
    /// For the events of `formats`; those that are not of the block layer are left alone.
    ///
    /// # Errors
    /// There is none, or one lacks a field that is needed.
    pub fn new(formats: &[EventFormat]) -> Result<Self, UnusableEvent> {
        let known = formats
            .iter()
            .filter_map(|format| Some((format, BlockKind::from_event(&format.name)?)));
        let layouts = known.map(|(format, kind)| Ok((format, Layout::new(format, kind)?)));
        Ok(Self(ById::new(layouts.collect::<Result<_, _>>()?)?))
    }

    /// The event of a record; `None` where it is another one or too short.
    #[inline]
    pub fn decode(&self, record: &Record<'_>) -> Option<BlockEvent> {
        let payload = record.payload;
        let layout = self.0.find(payload)?;
        let optional = |place: Option<Place>| place.map_or(Some(0), |place| place.number(payload));
        Some(BlockEvent {
            time_ns: record.time_ns,
            kind: layout.kind,
            device: layout.device.number(payload)? as u32,
            sector: layout.sector.number(payload)?,
            sectors: optional(layout.sectors)? as u32,
            new_sector: optional(layout.new_sector)?,
            what: rwbs::decode(layout.rwbs.bytes(payload)?),
            errno: errno(optional(layout.error)? as u32 as i32),
            pid: self.0.pid(payload)?,
            comm: match layout.comm {
                Some(place) => Comm::new(place.bytes(payload)?),
                None => Comm::default(),
            },
        })
    }
}

/// The kernel writes `-EIO`.
#[inline]
fn errno(error: i32) -> u16 {
    u16::try_from(error.unsigned_abs()).unwrap_or(u16::MAX)
}
