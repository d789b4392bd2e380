//! The command line of `fathom disk`.
//!
//! Data in: what clap matched. Data out: [`DiskArgs`]. It must not know the catalogue, nor how a disk is served.

use super::serve;
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use fathom_core::units::Nanos;
use std::ffi::OsString;
use std::path::PathBuf;

const ABOUT: &str = "\
A modelled disk, live: a file or a network block device on this machine that takes as long as a named cloud disk does, with its \
limits, slices, bursts, caches and tails, so that a database, a backup or a test can be tried on it before anything is rented. The \
same model as of `fathom run --on model:…` answers, in real time.";

const SERVE: &str = "\
Serves one modelled disk, or several of one machine, which share its limits. --at mounts a file system (FUSE) with a file a disk; \
--loop puts a loop device over each file, --mkfs and --mount a file system on top (root). --nbd serves the same disks by the \
network block device protocol, which takes no privileges: to qemu, nbdcopy, fio's nbd engine, the kernel's nbd-client.

What is served is said on stdout, a line each, ending with `ready`; on a terminal a line on stderr shows the rates, what limits \
them, credit, and how late the server itself is. Ctrl-C, SIGTERM and SIGHUP take everything down in order; what a killed server \
left is taken down by `fathom disk cleanup`, and by the next start.

Answers are given by a thread in real time where that is allowed (root). A run whose answers are late by more than a tenth of the \
median service time (p99) is not valid, and its record says so.";

// No line is longer than 80 columns: wrapped ones would not be commands any more.
const SERVE_EXAMPLES: &str = "\
Examples:
  a file that behaves as an Azure P15 on this machine type
    mkdir p15 && fathom disk serve model:azure/P15,vm=Standard_D4s_v5 --at p15
    fio --name=x --filename=p15/disk --rw=randread --direct=1 \\
        --ioengine=libaio --iodepth=16 --runtime=30 --time_based
  ext4 on it, for PostgreSQL (root), and a record of what it did
    fathom disk serve model:azure/P15 --at p15 --loop --mkfs ext4 \\
                      --mount /mnt/pg -o runs/pg
    fathom explain runs/pg
  without privileges, for a virtual machine
    fathom disk serve model:aws/gp3:100GiB --nbd unix:gp3.sock
    nbdinfo 'nbd+unix:///?socket=gp3.sock'
  to another machine, by TLS with certificates on both sides
    fathom disk serve model:aws/gp3:100GiB --nbd 10.0.0.5:10809 \\
        --tls-cert server.pem --tls-key server.key --tls-ca ca.pem
  two disks of one machine
    fathom disk serve model:azure,vm=Standard_D4s_v5 --disk data=P30 \\
                      --disk log=P10 --at disks
  its limits, credit and lateness on a page and for Prometheus
    fathom disk serve model:azure/P15 --at p15 --serve
  a power cut after a minute, by seed, and the disk back 5 s later
    printf '60s power-cut seed 7\\n65s attach\\n' > bad-hour
    fathom disk serve model:azure/P15 --at p15 --faults bad-hour";

const FAULT: &str = "\
Does something to a disk that is being served:
  stall TIME                    nothing is completed for so long
  slow NUMBERx [for TIME]       each I/O takes so many times as long
  errors [reads|writes|flushes|trims] [at OFFSET+LENGTH] [PERCENT%]
         [seed N] [for TIME]    I/Os fail with EIO
  ignore-flushes [for TIME]     flushes are answered and do nothing
  power-cut [seed N]            the disk is gone; of what was not flushed, each
                                write is whole, lost or torn, by the seed
  detach, attach                the disk is gone; it is there again
  heal                          ends stalls, slowness, errors, ignored flushes
With several disks, `disk NAME` before it means that one. A file for --faults has a line each, with its time before it, counted
from the start: `90s disk log stall 3s`.";

const FAULT_EXAMPLES: &str = "\
Examples:
  fathom disk fault stall 3s
  fathom disk fault --of p15 errors reads at 1GiB+64MiB 5% for 10s
  fathom disk fault disk log power-cut seed 7 && fathom disk fault attach";

/// Serve a modelled disk live, as a file or by NBD
#[derive(Debug, Args)]
#[command(long_about = ABOUT)]
pub(crate) struct DiskArgs {
    #[command(subcommand)]
    pub command: DiskCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DiskCommand {
    Serve(Box<ServeArgs>),
    Fault(FaultArgs),
    /// Print how a served disk stands, as one JSON document
    Status {
        /// The directory of --at, or the control socket [default: the only server of yours]
        #[arg(long, value_name = "WHERE", value_hint = ValueHint::AnyPath)]
        of: Option<PathBuf>,
        /// End the interval that `interval` tells of, and begin the next: the lateness of one part of a test alone
        #[arg(long)]
        mark: bool,
    },
    /// Take down what servers left that were killed
    Cleanup,
}

/// Serve modelled disks until Ctrl-C
#[derive(Debug, Args)]
#[command(long_about = SERVE, after_help = "Examples: fathom disk serve --help", after_long_help = SERVE_EXAMPLES)]
pub(crate) struct ServeArgs {
    /// The disk: model:NAME; null: takes no time. With --disk, the cloud and machine: model:azure,vm=NAME
    #[arg(value_name = "TARGET")]
    pub target: Option<OsString>,
    /// One of several disks of a machine, as data=P30 or log=azure/P10 (repeatable)
    #[arg(long = "disk", value_name = "NAME=DISK")]
    pub disks: Vec<String>,
    /// Mount a file system with a file a disk on this directory, which is empty
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, required_unless_present = "nbd")]
    pub at: Option<PathBuf>,
    /// Serve by NBD: unix:PATH, or ADDRESS:PORT (repeatable)
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub nbd: Vec<NbdAddress>,
    /// Let --nbd listen beyond this machine for whoever reaches it, without certificates of clients (--tls-ca)
    #[arg(long, requires = "nbd")]
    pub allow_remote: bool,
    /// Keep the data in this sparse file, which survives the server (FILE.NAME with several disks), or in memory
    #[arg(long, value_name = "FILE|memory", default_value = "memory", value_hint = ValueHint::FilePath)]
    pub backing: PathBuf,
    /// Use a backing file that was not made by fathom, and lose what is in it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub allow_overwrite: Vec<PathBuf>,
    /// The size of each disk [default: the modelled disk's]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub size: Option<u64>,
    /// What a power cut can take at most: the disk's write cache; 0: each write is kept once it is complete
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "64MiB")]
    pub write_cache: u64,
    /// Let the page cache take writes of the file, as it does over a disk (root)
    #[arg(long, requires = "at", conflicts_with = "loop_device")]
    pub writeback: bool,
    /// Put a loop device over each file (root)
    #[arg(long = "loop", requires = "at")]
    pub loop_device: bool,
    /// Make a file system on each loop device
    #[arg(long, value_name = "KIND", requires = "loop_device")]
    pub mkfs: Option<FileSystemArg>,
    /// Mount it there: DIR, or with several disks NAME=DIR (repeatable)
    #[arg(long, value_name = "[NAME=]DIR", requires = "loop_device", value_hint = ValueHint::DirPath)]
    pub mount: Vec<String>,
    /// Let other users use the files of --at
    #[arg(long, requires = "at")]
    pub allow_other: bool,
    /// Do faults at their times: a line each, as in `90s stall 3s`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub faults: Option<PathBuf>,
    /// The socket for fathom disk fault and status [default: one in a directory of yours alone]
    #[arg(long, value_name = "SOCKET", value_hint = ValueHint::FilePath)]
    pub control: Option<PathBuf>,
    /// End by itself after so long, as 90s, 15m [default: at Ctrl-C]
    #[arg(long, value_name = "TIME", value_parser = fathom_dialect::duration)]
    pub duration: Option<Nanos>,
    /// Give answers so much earlier than the model says, as 40us, for the way back [default: measured at the start with --at]
    #[arg(long, value_name = "TIME", value_parser = fathom_dialect::duration)]
    pub early: Option<Nanos>,
    /// Give answers by an ordinary thread
    #[arg(long)]
    pub no_real_time: bool,
    /// Record each request and the counters here, for fathom explain and report
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub watching: serve::ServeArgs,
    /// Use this catalogue in place of the built-in one of its cloud
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, hide_short_help = true)]
    pub catalog: Option<PathBuf>,
    /// No line and no notes on stderr
    #[arg(short, long)]
    pub quiet: bool,
    /// The command line, for the record.
    #[arg(skip)]
    pub words: Vec<String>,
}

/// Do something to a served disk: stall, slow, errors, a power cut
#[derive(Debug, Args)]
#[command(long_about = FAULT, after_help = FAULT_EXAMPLES)]
pub(crate) struct FaultArgs {
    /// The directory of --at, or the control socket [default: the only server of yours]
    #[arg(long, value_name = "WHERE", value_hint = ValueHint::AnyPath)]
    pub of: Option<PathBuf>,
    /// What to do, as stall 3s
    #[arg(value_name = "FAULT", required = true, num_args = 1..)]
    pub words: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileSystemArg {
    Ext4,
    Xfs,
}

/// Where to serve by NBD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NbdAddress {
    Unix(PathBuf),
    Tcp(std::net::SocketAddr),
}

fn address(text: &str) -> Result<NbdAddress, String> {
    if let Some(path) = text.strip_prefix("unix:").filter(|path| !path.is_empty()) {
        return Ok(NbdAddress::Unix(PathBuf::from(path)));
    }
    let whole = text.strip_prefix(':').map(|port| format!("127.0.0.1:{port}"));
    let whole = whole
        .as_deref()
        .unwrap_or(text)
        .replace("localhost:", "127.0.0.1:");
    whole.parse().map(NbdAddress::Tcp).map_err(|_| {
        String::from(
            "write unix:PATH, or an address and a port as 127.0.0.1:10809 or [::1]:10809 (0: any port)",
        )
    })
}

/// A size with a binary unit, or in bytes: 64GiB, 512m, 0.
fn size(text: &str) -> Result<u64, String> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let shift = match unit
        .to_ascii_lowercase()
        .trim_end_matches("ib")
        .trim_end_matches('b')
    {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => {
            return Err(String::from(
                "write a whole number with KiB, MiB, GiB or TiB, as 64GiB",
            ));
        }
    };
    let number: u64 = number
        .parse()
        .map_err(|_| String::from("write a whole number with KiB, MiB, GiB or TiB, as 64GiB"))?;
    // Linux has no larger files.
    number
        .checked_mul(1 << shift)
        .filter(|size| i64::try_from(*size).is_ok())
        .ok_or_else(|| String::from("that is more than any disk has"))
}

#[cfg(test)]
mod tests;
