//! Why a workload cannot be planned, in words that say what to change.

use fathom_core::units::Bytes;
use std::path::PathBuf;

/// Why a workload cannot be planned. The request is wrong; nothing was touched.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// Neither the job nor the file says how much.
    #[error("{job}: how large is {path}? It does not exist yet (or is empty): give size=, or filesize=")]
    NoSize {
        job: String,
        /// The file.
        path: PathBuf,
    },
    /// A record is played by what reads it first.
    #[error(
        "{job}: read_iolog is for `fathom run` and `fathom fio`: leave it out here, or make the load a pattern"
    )]
    NotRead { job: String },
    /// The region holds no block.
    #[error(
        "{job}: {path} has {region} from offset {offset} on, less than one block of {block}: give a smaller bs= or a larger size="
    )]
    TooSmall {
        job: String,
        /// The file.
        path: PathBuf,
        region: Bytes,
        /// Where it begins.
        offset: Bytes,
        /// The smallest block.
        block: Bytes,
    },
    /// A block does not fit a request.
    #[error("{job}: a block of {block} is too large: bs= may be at most 1 GiB")]
    BlockTooLarge {
        job: String,
        /// The largest block.
        block: Bytes,
    },
    /// A share of something that does not exist.
    #[error("{job}: {path} does not exist yet, so a percentage of it means nothing: give size= in bytes")]
    PercentOfNothing {
        job: String,
        /// The file.
        path: PathBuf,
    },
    /// The file is missing and may not be made.
    #[error("{job}: {path} does not exist, and allow_file_create=0 forbids making it")]
    MayNotCreate {
        job: String,
        /// The file.
        path: PathBuf,
    },
    /// The section's name would lead its files out of their directory.
    #[error(
        "[{job}]: its files would be named {name}, outside the directory they belong to: give the section another name, or \
         say where its files are with filename="
    )]
    OutsideDirectory {
        job: String,
        /// What the first file would be called.
        name: String,
    },
    /// The directory is missing.
    #[error("{job}: the directory {path} does not exist: make it, or give another directory= or filename=")]
    NoDirectory {
        job: String,
        /// The directory.
        path: PathBuf,
    },
    /// `opendir` names a directory without files.
    #[error("{job}: there is no file below {path}: give another opendir=, or files with filename=")]
    NothingBelow {
        job: String,
        /// The directory.
        path: PathBuf,
    },
    /// The path is something that no I/O can be done on.
    #[error("{job}: {path} is a {kind}: give a file or a block device")]
    WrongKind {
        job: String,
        path: PathBuf,
        kind: &'static str,
    },
    /// Commands go to generic devices alone.
    #[error(
        "{job}: ioengine={engine} sends commands to a disk's generic device, such as {example}, and {path} is {what}: give such a \
         device, or use ioengine=io_uring"
    )]
    NoCommands {
        job: String,
        engine: &'static str,
        /// A path that would do.
        example: &'static str,
        path: PathBuf,
        what: String,
    },
    /// The blocks hold more than data.
    #[error(
        "{job}: {path} stores {metadata_bytes} bytes beside each block, which commands here do not carry: use ioengine=io_uring on \
         the block device"
    )]
    MetadataBesideBlocks {
        job: String,
        path: PathBuf,
        metadata_bytes: u16,
    },
    /// One job sends it commands, another bytes.
    #[error("{job}: {path} is sent commands by another job: give all jobs on it the same ioengine")]
    CommandsAndBytes { job: String, path: PathBuf },
    /// The modelled disk is too small.
    #[error(
        "the modelled disk holds {have}, and the {files} file(s) of the workload need {need}: give a smaller size= or a larger disk"
    )]
    TooLargeForModel {
        files: usize,
        /// What they need together.
        need: Bytes,
        /// What the disk holds.
        have: Bytes,
    },
    /// The system would not say.
    #[error("{job}: cannot look at {path}")]
    Stat {
        job: String,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A server does not have what is asked for, or does not answer.
    #[error("{job}: {uri}: {source}")]
    Server {
        job: String,
        uri: String,
        source: std::io::Error,
    },
    /// Zones do not go with what else a job asks for, or with its file.
    #[error("{job}: zonemode=zbd: {what}")]
    Zones {
        job: String,
        /// What is wrong, and what to do.
        what: String,
    },
    /// A job writes where a zoned disk refuses it.
    #[error(
        "{job}: {path} is a host-managed zoned disk: it takes a write only at the write pointer of its zone, and this job writes \
         at random: give zonemode=zbd"
    )]
    HostManaged { job: String, path: PathBuf },
    /// A write does not fit the store that it is to be taken from.
    #[error(
        "{job}: writes of {block} cannot be taken from a store of {store}: give the store at least the size of a block"
    )]
    SourceTooSmall {
        job: String,
        /// The largest block.
        block: Bytes,
        store: Bytes,
    },
}
