//! Where: files, the region of them, and how writes become durable.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A number of bytes, or a share of what there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Amount {
    Bytes(u64),
    /// So many percent of the file or device, 0 to 100.
    Percent(u8),
}

/// Which files a job uses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Files {
    /// Named files or devices (`filename`), shared by all workers of the job. Empty: made names.
    pub names: Vec<PathBuf>,
    /// Directories for made or relative names (`directory`); worker k uses entry k modulo their number.
    pub directories: Vec<PathBuf>,
    /// How many files a worker has where names are made.
    pub nrfiles: u32,
    /// The made name, with `$jobname`, `$jobnum`, `$filenum`.
    pub name_format: String,
    /// Which of several files the next I/O goes to.
    pub choice: FileChoice,
    /// So many I/Os go to a file before another may be chosen; at least 1 (0 counts as 1).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub stay_ios: u32,
    /// Only so many files are used at a time, until each is through (`openfiles`); 0: all.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub used_at_once: u32,
    /// Instead of named or made files: all below this directory (`opendir`).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub all_below: Option<PathBuf>,
    /// The region begins behind what the file holds (`file_append`).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub append: bool,
    /// Lay the files out, and do no I/O (`create_only`).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub create_only: bool,
    /// May files be made where they are missing (`allow_file_create`)?
    pub may_create: bool,
    /// Remove the files after the job (`unlink`).
    pub unlink: bool,
    /// How space is reserved when a file is made.
    pub fallocate: Fallocate,
    /// Write files in full before the job overwrites them (`overwrite`).
    pub overwrite: bool,
    /// Drop the page cache of the file before the job (`invalidate`).
    pub invalidate: bool,
    /// Read the file in full before the job (`pre_read`).
    pub pre_read: bool,
    /// Tell the kernel whether access will be random or sequential (`fadvise_hint`).
    pub advise: bool,
    /// What it is told in place of that (`fadvise_hint=random` or `sequential`).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub advised: Advised,
    /// I/Os of all workers on a file keep each other out (`lockfile`).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub locks: FileLocks,
    /// Nothing is laid out: missing files begin empty (`create_on_open`).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub begins_empty: bool,
    /// Files of different workers are laid out at once (`create_serialize=0`).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub laid_out_at_once: bool,
    /// Remove the files after each pass, and begin the next with new ones (`unlink_each_loop`).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub new_each_loop: bool,
    /// Names that are made begin with where the client is, where there is one (`unique_filename`).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub not_unique: bool,
    /// The I/O scheduler that their device is switched to (`ioscheduler`).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub scheduler: Option<String>,
    /// fsync after laying a file out (`create_fsync`).
    pub create_fsync: bool,
    /// What the device is told of how long the data will live (`write_hint`); `None`: nothing.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub write_life: Option<WriteLife>,
}

/// What the kernel is told of how a file will be accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Advised {
    /// As the pattern is.
    #[default]
    AsIs,
    Random,
    Sequential,
}

/// Whether an I/O on a file waits for others on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileLocks {
    /// It does not.
    #[default]
    None,
    /// One worker at a time.
    Exclusive,
    /// Several that read, or one that writes.
    ReadWrite,
}

/// How long written data will live (`F_SET_RW_HINT`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteLife {
    Short,
    Medium,
    Long,
    Extreme,
}

impl Default for Files {
    fn default() -> Self {
        Self {
            names: Vec::new(),
            directories: Vec::new(),
            nrfiles: 1,
            name_format: String::from("$jobname.$jobnum.$filenum"),
            choice: FileChoice::RoundRobin,
            stay_ios: 0,
            used_at_once: 0,
            all_below: None,
            append: false,
            create_only: false,
            may_create: true,
            unlink: false,
            fallocate: Fallocate::Native,
            overwrite: false,
            invalidate: true,
            pre_read: false,
            advise: true,
            advised: Advised::AsIs,
            locks: FileLocks::None,
            begins_empty: false,
            laid_out_at_once: false,
            new_each_loop: false,
            not_unique: false,
            scheduler: None,
            create_fsync: true,
            write_life: None,
        }
    }
}

/// Which of several files the next I/O goes to.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileChoice {
    /// Each in turn.
    #[default]
    RoundRobin,
    /// One drawn at random each time.
    Random,
    /// One after the other, each to its end.
    Sequential,
    /// The k-th has weight 1/k^theta.
    Zipf { theta: f64 },
    /// A Pareto power law; between 0 and 1.
    Pareto { h: f64 },
    /// A normal curve around the middle one.
    Normal { deviation_percent: f64 },
}

/// How space is reserved when a file is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fallocate {
    /// Not at all.
    None,
    /// `fallocate(2)`, where the file system has it.
    #[default]
    Native,
    /// `posix_fallocate(3)`.
    Posix,
    /// `fallocate(2)` with `FALLOC_FL_KEEP_SIZE`.
    Keep,
    /// `ftruncate(2)` to the full size.
    Truncate,
}

/// The part of each file that is used, and how much I/O is done on it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Region {
    /// Where it begins.
    pub offset: Option<Amount>,
    /// An `offset` in percent is rounded up to a multiple of this, in bytes; 0: of the smallest block.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub offset_align_bytes: u64,
    /// Write until there is no room left, and end then (`fill_device`).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub fills_device: bool,
    /// Worker k begins at `offset + k * offset_increment`.
    pub offset_increment: Option<Amount>,
    /// Its size over all files of a worker, and the amount of I/O unless `io_size` says otherwise; `None`: all
    /// that the files hold.
    pub size: Option<Amount>,
    /// The amount of I/O, in bytes; wraps over the region.
    pub io_size: Option<Amount>,
    /// The size of each file, from and to (bytes), where it differs from `size / nrfiles`.
    #[serde(rename = "file_size_bytes")]
    pub file_size: Option<(u64, u64)>,
    /// Stop after this many I/Os.
    pub number_ios: Option<u64>,
    /// Do it all so many times; at least 1 (0 counts as 1).
    pub loops: u32,
}

/// How writes become durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SyncRules {
    /// How files are opened.
    pub mode: SyncMode,
    /// An fsync after every so many writes; 0: none.
    pub fsync_every: u32,
    /// An fdatasync after every so many writes; 0: none.
    pub fdatasync_every: u32,
    /// A part of the file written back after every so many writes (`sync_file_range`).
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub range: RangeSync,
    /// One fsync when the job's writes are done.
    pub fsync_at_end: bool,
    /// One fsync when a file is closed.
    pub fsync_on_close: bool,
}

/// `sync_file_range(2)` after every so many writes, from the first byte to the last that was written since the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RangeSync {
    /// After so many; 0: never.
    pub every: u32,
    /// Wait for what is being written back already.
    pub waits_before: bool,
    /// Begin to write back.
    pub writes: bool,
    /// Wait until all is.
    pub waits_after: bool,
}

impl RangeSync {
    /// The flags of the system call.
    pub const fn flags(self) -> u32 {
        self.waits_before as u32 | (self.writes as u32) << 1 | (self.waits_after as u32) << 2
    }
}

/// `O_SYNC`, `O_DSYNC` or neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SyncMode {
    /// Neither.
    #[default]
    None,
    /// `O_SYNC`.
    Sync,
    /// `O_DSYNC`.
    DataSync,
}
