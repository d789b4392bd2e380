//! Families of disks: what all disks of one kind have in common, as their cloud's file says it.
//!
//! Data in: the `[[families]]` of a `cloud.toml`. Data out: [`Family`], a handle that can be copied, compared and asked. It
//! must not know sizes, limits and prices, which are those of rows, and no cloud by name.

use super::GIB;
use crate::spec::{CrowdingSpec, SeekSpec, ServiceSpec};
use serde::Deserialize;
use std::cmp::Ordering;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// A family of disks. Two are equal when all that is said of them is.
#[derive(Clone, Copy)]
pub struct Family(&'static About);

/// All that is said of a family.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct About {
    pub(super) cloud: String,
    /// Where it stands among those of its cloud.
    pub(super) place: usize,
    pub(super) said: Said,
    /// What each year's measurements say of its services, the oldest first.
    pub(super) services: Vec<Services>,
}

/// A family as its file says it, but for its services.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Said {
    /// As written in targets and flags.
    pub(super) name: String,
    /// Other words for it.
    #[serde(default)]
    pub(super) words: Vec<String>,
    /// As the cloud writes it.
    pub(super) title: String,
    /// Where its rows are.
    pub(super) sizes: Sizes,
    /// Whether only a virtual machine with premium storage takes it.
    #[serde(default)]
    pub(super) needs_premium_storage: bool,
    /// Series of machines that take none of it.
    #[serde(default)]
    pub(super) not_on_series: Vec<String>,
    /// Whether I/O itself is paid for, besides the capacity.
    #[serde(default)]
    pub(super) billed_by_transaction: bool,
    /// Disks below this size may be cached by a host; 0: none.
    #[serde(default)]
    pub(super) host_cache_below_gib: u64,
    /// Whose its limits are.
    #[serde(default)]
    pub(super) scope: Scope,
    /// Whether reads and writes have limits of their own.
    #[serde(default)]
    pub(super) directions: Directions,
    /// Of what reads and writes that have limits of their own have no more together than the larger of both.
    #[serde(default)]
    pub(super) also_together: AlsoTogether,
    /// How an I/O is counted.
    #[serde(default)]
    pub(super) counting: Counting,
    /// What a zone-redundant disk adds, by the zone of the machine; empty: not known.
    #[serde(default)]
    pub(super) zone_redundant: Vec<Added>,
    /// The family whose limits at the same size it has where none are asked for and all cost.
    #[serde(default)]
    pub(super) usually_like: Option<String>,
    /// What no source states, or what is to be known before figures of it are used.
    #[serde(default)]
    pub(super) notes: Vec<String>,
    /// The same of small disks.
    #[serde(default)]
    pub(super) notes_below: Vec<NoteBelow>,
    /// What whoever rents it takes with it, and neither its limits nor its price say.
    #[serde(default)]
    pub(super) terms: Vec<String>,
}

/// What no source states of disks below a size.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoteBelow {
    gib: u64,
    note: String,
}

/// Where the rows of a family are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Sizes {
    /// `disks.csv`: products of fixed sizes.
    Fixed,
    /// `flex-disks.csv`: any size.
    Free,
}

/// Whose limits the limits of a disk are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Each disk has its own.
    #[default]
    Disk,
    /// All disks of the family on a machine have them together, by the sum of their sizes.
    Machine,
}

/// Whether reads and writes share a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Directions {
    /// A limit counts reads and writes.
    #[default]
    Together,
    /// Reads have limits, and writes have others.
    Apart,
}

/// Of what reads and writes with limits of their own have no more together than the larger of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlsoTogether {
    #[serde(default)]
    pub iops: bool,
    #[serde(default)]
    pub mbps: bool,
}

/// How an I/O counts against limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counting {
    /// Sequential I/Os of up to so many streams are merged up to the I/O unit; 0: none are.
    #[serde(default)]
    pub merged_streams: u32,
    /// Whether limits on bytes count whole units.
    #[serde(default)]
    pub whole_units: bool,
    /// Whether bytes burst only as far as the bucket of I/Os is filled too.
    #[serde(default)]
    pub burst_mbps_need_io_credit: bool,
}

/// What is added to service times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Added {
    pub read_us: u64,
    pub write_us: u64,
}

/// How long disks of a family take, as of one year.
#[derive(Debug, Clone, PartialEq)]
pub struct Services {
    pub year: u16,
    pub read: ServiceSpec,
    pub write: ServiceSpec,
    /// What an I/O costs that follows no stream.
    pub seek: Option<SeekSpec>,
    /// How I/Os in service slow each other down.
    pub crowding: Option<CrowdingSpec>,
    /// What is released of the family's limits beyond what its cloud releases of all, in thousandths.
    pub released: Released,
}

/// What is released of a limit, in thousandths.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Released {
    #[serde(default = "whole")]
    pub iops_permille: u64,
    #[serde(default = "whole")]
    pub bytes_permille: u64,
    /// Where the numbers are from.
    #[serde(default)]
    pub origin: String,
}

const fn whole() -> u64 {
    1000
}

impl Released {
    /// Whether it is all of the limit.
    pub const fn is_all(&self) -> bool {
        self.iops_permille == 1000 && self.bytes_permille == 1000
    }
}

impl Default for Released {
    fn default() -> Self {
        Self {
            iops_permille: whole(),
            bytes_permille: whole(),
            origin: String::new(),
        }
    }
}

/// All families that were ever read: each is kept once, for as long as the program runs, so that a [`Family`] is no more
/// than a place in memory. There are a few dozen.
static KNOWN: Mutex<Vec<&'static About>> = Mutex::new(Vec::new());

impl Family {
    pub(super) fn new(about: About) -> Self {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(same) = known.iter().copied().find(|same| **same == about) {
            return Self(same);
        }
        let kept: &'static About = Box::leak(Box::new(about));
        known.push(kept);
        Self(kept)
    }

    /// The cloud that sells it, as targets begin.
    pub fn cloud(self) -> &'static str {
        &self.0.cloud
    }

    /// As written in targets and flags: `premium`, `gp3`.
    pub fn key(self) -> &'static str {
        &self.0.said.name
    }

    /// The name as the cloud writes it; as written in targets it is [`Family::key`].
    #[allow(
        clippy::misnamed_getters,
        reason = "the cloud's name for it; the file calls that a title, and its own word a name"
    )]
    pub fn name(self) -> &'static str {
        &self.0.said.title
    }

    /// Whether `plain` (lower case, letters and digits only) means it.
    pub(super) fn is_called(self, plain: &str) -> bool {
        let said = &self.0.said;
        let mut words = said.words.iter().chain([&said.name]);
        words.any(|word| super::plain(word) == plain)
    }

    /// Whether only a virtual machine with premium storage takes it.
    pub const fn needs_premium_io(self) -> bool {
        self.0.said.needs_premium_storage
    }

    /// Whether machines of a series take none of it.
    pub fn is_refused_by(self, series: &str) -> bool {
        let mut refusing = self.0.said.not_on_series.iter();
        refusing.any(|refused| refused.eq_ignore_ascii_case(series))
    }

    /// Whether I/O itself is paid for, besides the capacity.
    pub const fn billed_by_transaction(self) -> bool {
        self.0.said.billed_by_transaction
    }

    /// Whether its size and limits are freely chosen.
    pub const fn is_flex(self) -> bool {
        matches!(self.0.said.sizes, Sizes::Free)
    }

    /// Disks of fewer bytes may be cached by a host.
    pub const fn host_cache_below_bytes(self) -> u64 {
        self.0.said.host_cache_below_gib * GIB
    }

    /// Whose limits those of its disks are.
    pub const fn scope(self) -> Scope {
        self.0.said.scope
    }

    /// Whether reads and writes share limits.
    pub const fn directions(self) -> Directions {
        self.0.said.directions
    }

    /// Of what reads and writes have no more together than the larger of their limits.
    pub const fn also_together(self) -> AlsoTogether {
        self.0.said.also_together
    }

    /// How an I/O counts.
    pub const fn counting(self) -> Counting {
        self.0.said.counting
    }

    /// What a zone-redundant disk adds, by the zone of the machine; empty: no measurement is known.
    pub fn zone_redundant(self) -> &'static [Added] {
        &self.0.said.zone_redundant
    }

    /// The family whose limits at the same size it has where none are asked for and all cost.
    pub fn usually_like(self) -> Option<&'static str> {
        self.0.said.usually_like.as_deref()
    }

    /// What is to be known before figures of it are used.
    pub fn notes(self) -> &'static [String] {
        &self.0.said.notes
    }

    /// What is to be known besides of figures that follow from so many bytes.
    pub fn notes_below(self, counted_bytes: u64) -> impl Iterator<Item = &'static str> {
        let notes = self.0.said.notes_below.iter();
        notes
            .filter(move |below| u128::from(counted_bytes) < u128::from(below.gib) * u128::from(GIB))
            .map(|below| below.note.as_str())
    }

    /// What whoever rents it takes with it, and neither its limits nor its price say: told with a plan, not modelled.
    pub fn terms(self) -> &'static [String] {
        &self.0.said.terms
    }

    /// How long it takes, as of each year that measurements are known of, the oldest first; never empty.
    pub fn services(self) -> &'static [Services] {
        &self.0.services
    }

    /// The newest of [`Family::services`].
    ///
    /// # Panics
    /// Never: a family without services is not read.
    pub fn newest(self) -> &'static Services {
        self.0.services.last().expect("read so")
    }

    const fn order(&self) -> (&str, usize, &str) {
        (self.0.cloud.as_str(), self.0.place, self.0.said.name.as_str())
    }
}

impl PartialEq for Family {
    fn eq(&self, other: &Self) -> bool {
        // Equal ones are kept once.
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Family {}

impl PartialOrd for Family {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Family {
    fn cmp(&self, other: &Self) -> Ordering {
        if self == other {
            return Ordering::Equal;
        }
        let by_place = self.order().cmp(&other.order());
        by_place.then_with(|| std::ptr::from_ref(self.0).cmp(&std::ptr::from_ref(other.0)))
    }
}

impl fmt::Debug for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.cloud(), self.key())
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
