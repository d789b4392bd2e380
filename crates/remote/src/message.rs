//! What a client and a server say: JSON, one document a message.
//!
//! Data in: accounts, workloads, texts. Data out: bytes; and the way back, in which nothing is believed that does not add up:
//! whoever holds the key may still be another version, or broken.

use fathom_core::backend::Op;
use fathom_core::histogram::Histogram;
use fathom_core::run::{
    CpuUsage, Depths, DiskSummary, LeftOut, OpAccount, PriorityAccount, RunError, Samples, SteadyAccount,
    WorkerAccount,
};
use fathom_core::units::MonoTime;
use fathom_core::workload::{IoPriority, Workload};
use serde::{Deserialize, Serialize};

/// Of these messages: sides of different versions refuse each other.
pub const VERSION: u32 = 1;

/// What is wrong with a message.
#[derive(Debug, thiserror::Error)]
pub enum MessageError {
    #[error("a message of the other side is none: {0}")]
    Json(#[from] serde_json::Error),
    #[error("a histogram of the other side does not add up: {0}")]
    Histogram(&'static str),
    #[error(
        "the other side speaks version {theirs}, this one version {VERSION}: use the same fathom on both"
    )]
    Version { theirs: u32 },
}

/// What a client says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToServer {
    /// The first word: run this.
    Run(RunRequest),
    /// End what is under way; the results so far are wanted.
    Stop,
}

/// A run that is asked for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RunRequest {
    /// [`VERSION`].
    pub version: u32,
    /// Job files that the client has read.
    pub sources: Vec<JobFile>,
    /// Job files that lie on the server.
    pub found_there: Vec<String>,
    /// Only these sections; empty: all.
    pub sections: Vec<String>,
    /// How often results so far are wanted.
    pub status_interval_ns: Option<u64>,
}

/// A job file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobFile {
    pub name: String,
    pub text: String,
}

/// What a server says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToClient {
    /// Who it is.
    Hello {
        /// [`VERSION`].
        version: u32,
        hostname: String,
        os: String,
        arch: String,
    },
    /// Lines for people: what begins, what is laid out.
    Text(String),
    /// How far it is, once a second.
    Progress(Progress),
    /// Results so far.
    Standing(Box<Results>),
    /// A part of a log.
    Log { name: String, bytes: String },
    /// The results; nothing follows.
    Ended(Box<Results>),
    /// It cannot be done; nothing follows.
    Refused(String),
}

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Progress {
    pub elapsed_ns: u64,
    pub running: u32,
    /// 0 to 1; `None`: not known.
    pub fraction: Option<f64>,
    /// Bytes a second: read, write, trim.
    pub bytes: [u64; 3],
    /// I/Os a second.
    pub ios: [u64; 3],
    /// Files that are open.
    #[serde(default)]
    pub files: u32,
    /// fio's letter for what each worker is at, in order.
    #[serde(default)]
    pub letters: String,
}

/// The options of a section as written: name and value.
pub type OptionList = Vec<(String, Option<String>)>;

/// What a run did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Results {
    pub workload: Workload,
    pub global_options: OptionList,
    pub job_options: Vec<OptionList>,
    pub accounts: Vec<AccountParts>,
    pub disks: Vec<DiskSummary>,
    pub elapsed_ns: u64,
    /// What fio would exit with.
    pub exit: u8,
    /// Lines for stderr.
    pub errors: Vec<String>,
}

/// A histogram, bucket by bucket; exact.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HistogramParts {
    pub min: u64,
    pub max: u64,
    /// The sum of all values: its higher and its lower half.
    pub sum: (u64, u64),
    /// The lowest value and the count of each bucket that counted anything, ascending.
    pub buckets: Vec<(u64, u64)>,
}

impl From<&Histogram> for HistogramParts {
    fn from(histogram: &Histogram) -> Self {
        let sum = histogram.sum();
        Self {
            min: histogram.min().unwrap_or(0),
            max: histogram.max().unwrap_or(0),
            sum: ((sum >> 64) as u64, sum as u64),
            buckets: histogram.occupied().map(|(low, _, count)| (low, count)).collect(),
        }
    }
}

impl HistogramParts {
    /// The histogram that it was.
    ///
    /// # Errors
    /// It cannot have been one.
    pub fn whole(&self) -> Result<Histogram, MessageError> {
        let sum = u128::from(self.sum.0) << 64 | u128::from(self.sum.1);
        let parts = self.buckets.iter().copied();
        Histogram::from_parts(self.min, self.max, sum, parts).ok_or(MessageError::Histogram(
            "its buckets, its sum and its ends do not belong together",
        ))
    }
}

/// One direction of an account.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct OpParts {
    bytes: u64,
    short_ios: u64,
    #[serde(default)]
    lost_ios: u64,
    errors: u64,
    #[serde(default)]
    left_out: LeftOut,
    slat: HistogramParts,
    clat: HistogramParts,
    lat: HistogramParts,
    bw: (u64, u64, u64, f64, f64),
    iops: (u64, u64, u64, f64, f64),
}

/// An account on its way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AccountParts {
    job: u32,
    worker: u32,
    tid: u32,
    start_ns: u64,
    end_ns: u64,
    read_back_start_ns: Option<u64>,
    ops: [OpParts; 4],
    cpu: CpuUsage,
    depths: [[u64; 7]; 3],
    asynchronous: bool,
    errors: Vec<RunError>,
    failed: bool,
    depth_found: Option<u32>,
    #[serde(default)]
    zone_resets: u64,
    steady: Option<SteadyAccount>,
    #[serde(default)]
    priorities: Vec<PriorityParts>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct PriorityParts {
    op: Op,
    priority: IoPriority,
    clat: HistogramParts,
    lat: HistogramParts,
}

fn samples_of(samples: &Samples) -> (u64, u64, u64, f64, f64) {
    (samples.n, samples.min, samples.max, samples.mean, samples.squares)
}

fn samples((n, min, max, mean, squares): (u64, u64, u64, f64, f64)) -> Samples {
    Samples {
        n,
        min,
        max,
        mean,
        squares,
    }
}

impl From<&WorkerAccount> for AccountParts {
    fn from(account: &WorkerAccount) -> Self {
        let op = |op: &OpAccount| OpParts {
            bytes: op.bytes,
            short_ios: op.short_ios,
            lost_ios: op.lost_ios,
            errors: op.errors,
            left_out: op.left_out,
            slat: (&op.slat).into(),
            clat: (&op.clat).into(),
            lat: (&op.lat).into(),
            bw: samples_of(&op.bw),
            iops: samples_of(&op.iops),
        };
        let Depths {
            level,
            submit,
            complete,
        } = account.depths;
        Self {
            job: account.job,
            worker: account.worker,
            tid: account.tid,
            start_ns: account.start.0,
            end_ns: account.end.0,
            read_back_start_ns: account.read_back_start.map(|at| at.0),
            ops: [0, 1, 2, 3].map(|at: usize| op(&account.ops[at])),
            cpu: account.cpu,
            depths: [level, submit, complete],
            asynchronous: account.asynchronous,
            errors: account.errors.clone(),
            failed: account.failed,
            depth_found: account.depth_found,
            zone_resets: account.zone_resets,
            steady: account.steady.clone(),
            priorities: account
                .priorities
                .iter()
                .map(|one| PriorityParts {
                    op: one.op,
                    priority: one.priority,
                    clat: (&one.clat).into(),
                    lat: (&one.lat).into(),
                })
                .collect(),
        }
    }
}

impl AccountParts {
    /// The account that it was.
    ///
    /// # Errors
    /// It cannot have been one.
    pub fn whole(self) -> Result<WorkerAccount, MessageError> {
        let [level, submit, complete] = self.depths;
        let mut account = WorkerAccount {
            job: self.job,
            worker: self.worker,
            tid: self.tid,
            start: MonoTime(self.start_ns),
            end: MonoTime(self.end_ns),
            read_back_start: self.read_back_start_ns.map(MonoTime),
            cpu: self.cpu,
            depths: Depths {
                level,
                submit,
                complete,
            },
            asynchronous: self.asynchronous,
            errors: self.errors,
            failed: self.failed,
            depth_found: self.depth_found,
            zone_resets: self.zone_resets,
            steady: self.steady,
            ..WorkerAccount::default()
        };
        for one in self.priorities {
            account.priorities.push(PriorityAccount {
                op: one.op,
                priority: one.priority,
                clat: one.clat.whole()?,
                lat: one.lat.whole()?,
            });
        }
        for (to, from) in account.ops.iter_mut().zip(self.ops) {
            *to = OpAccount {
                bytes: from.bytes,
                short_ios: from.short_ios,
                lost_ios: from.lost_ios,
                errors: from.errors,
                left_out: from.left_out,
                slat: from.slat.whole()?,
                clat: from.clat.whole()?,
                lat: from.lat.whole()?,
                bw: samples(from.bw),
                iops: samples(from.iops),
            };
        }
        Ok(account)
    }
}

macro_rules! bytes {
    ($message:ty) => {
        impl $message {
            /// As it is sent.
            ///
            /// # Errors
            /// It holds what JSON cannot say.
            pub fn to_bytes(&self) -> Result<Vec<u8>, MessageError> {
                Ok(serde_json::to_vec(self)?)
            }

            /// As it was received.
            ///
            /// # Errors
            /// It is none.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, MessageError> {
                Ok(serde_json::from_slice(bytes)?)
            }
        }
    };
}
bytes!(ToServer);
bytes!(ToClient);

#[cfg(test)]
mod tests;
