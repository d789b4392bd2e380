//! The command line of `fathom replay`.
//!
//! Data in: what clap matched. Data out: [`ReplayArgs`]. It must not know formats or targets.

use super::evidence::{RECORD, streams};
use super::plan::{factor, size};
use super::run::{ON, Permissions, Settings, output};
use super::serve::ServeArgs;
use super::shown::ShownArgs;
use crate::exit;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};
use fathom_core::record::StreamKind;
use fathom_core::workload::{EngineKind, RecordFormat};
use fathom_session::{Output, Streams};
use std::ffi::OsString;
use std::path::PathBuf;

const ABOUT: &str = "\
Plays a recorded load on a file, a device or a modelled disk: each I/O at its recorded time, or when what it waited for is done. \
Read are fathom's own run directories (with --record), fio's iolog, blkparse's text, blktrace's files, and the CSV of MSR \
Cambridge, Alibaba and Tencent. How well the times were kept is part of the report.";

// No line is longer than 80 columns: wrapped ones would not be commands any more.
const EXAMPLES: &str = "\
Examples:
  a recorded run, on another disk and on a modelled one
    fathom replay runs/monday --on /mnt/new/data
    fathom replay runs/monday --on model:azure/P30,vm=Standard_D8s_v5
  a trace of a production disk on a device: all that is on it is lost
    fathom replay sda.blktrace.0 --on /dev/nvme1n1 \\
                  --allow-overwrite /dev/nvme1n1
  only its reads: nothing is written
    fathom replay sda.blktrace.0 --on /dev/nvme1n1 --readonly
  as an application would have it that waits for its disk
    fathom replay runs/monday --on model:azure/P15 --dependent
  one volume of a public trace, twice as fast, folded onto what there is
    fathom replay io_traces.csv --volume 184 --speed 2x --to target \\
                  --on model:azure/P40
  what fio's iolog would do
    fathom replay job.log --on /mnt/disk/data --dry-run";

const TO: &str = "\
Fold addresses below this size, as 4096GiB, or onto the target's own (target). Without it a record that reaches beyond its \
target is refused.";

/// How addresses are folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum FoldWord {
    /// Beyond the end it goes on at the beginning
    #[default]
    Wrap,
    /// All distances shrink alike
    Scale,
}

/// Below which size addresses are folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FoldTo {
    Bytes(u64),
    Target,
}

/// Play a recorded load on a file, a device or a modelled disk
#[derive(Debug, Args)]
#[command(
    long_about = ABOUT,
    after_help = "Examples: fathom replay --help",
    after_long_help = format!("{EXAMPLES}\n\n{}", exit::sentence())
)]
pub(crate) struct ReplayArgs {
    /// A run directory, or a trace; of blktrace one of its files, or what they are named after
    #[arg(value_name = "RECORD", value_hint = ValueHint::AnyPath)]
    pub record: PathBuf,
    /// What to play it on: a file, a directory, a device, null: or model:NAME
    #[arg(long, value_name = "TARGET", long_help = ON, value_hint = ValueHint::AnyPath)]
    pub on: OsString,
    /// Take modelled disks from this catalogue, not the built-in one
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, hide_short_help = true)]
    pub catalog: Option<PathBuf>,
    /// Send what waited for an earlier I/O when that is done, as long after it as recorded
    #[arg(long, help_heading = "The load")]
    pub dependent: bool,
    /// So many times as fast, as 2x or 0.5x
    #[arg(long, value_name = "FACTOR", value_parser = factor, allow_negative_numbers = true, help_heading = "The load")]
    pub speed: Option<u64>,
    /// Fold addresses below this size, or onto the target's: 4096GiB, target
    #[arg(long, value_name = "SIZE", long_help = TO, value_parser = fold_to, help_heading = "The load")]
    pub to: Option<FoldTo>,
    /// How addresses are folded [default: wrap]
    #[arg(long, value_name = "HOW", requires = "to", help_heading = "The load")]
    pub fold: Option<FoldWord>,
    /// Leave out all that is not a read, and count it
    #[arg(long, help_heading = "The load")]
    pub readonly: bool,
    /// Of several volumes this one (repeatable): a device of a run as vda, of a trace as 8,0, a volume's name
    #[arg(long, value_name = "NAME", help_heading = "The record")]
    pub volume: Vec<String>,
    /// Of a run directory: the I/Os of its load (io), or the requests of its devices (block)
    #[arg(long, value_name = "STREAM", value_parser = stream(), help_heading = "The record")]
    pub stream: Option<StreamKind>,
    /// Take the record for this, whatever it looks like
    #[arg(long, value_name = "FORMAT", value_parser = format(), help_heading = "The record")]
    pub format: Option<RecordFormat>,
    /// I/Os in flight at most, a worker [default: 256, fewer of large ones]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536), help_heading = "How")]
    pub depth: Option<u32>,
    /// Threads that send [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_024), help_heading = "How")]
    pub workers: Option<u32>,
    #[arg(long, value_name = "ENGINE", value_parser = engine(), help_heading = "How")]
    #[arg(help = "Through which interface of the kernel [default: io_uring]")]
    pub engine: Option<EngineKind>,
    /// Through the page cache [default: as a run's own I/Os were; else past it]
    #[arg(long, help_heading = "How")]
    pub buffered: bool,
    /// Show what would be done, and whether it would be refused; touch nothing
    #[arg(long)]
    dry_run: bool,
    /// Print the results as one JSON document
    #[arg(long)]
    json: bool,
    /// Keep the run here [default: fathom-runs/TIME-replay]; none: nowhere
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    output: Option<PathBuf>,
    /// Keep every I/O, every request, counters, for fathom explain
    #[arg(long = "record", value_name = "STREAMS", long_help = RECORD, value_parser = streams)]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "io,block,counters")]
    keep: Option<Streams>,
    #[command(flatten)]
    permissions: Permissions,
    #[command(flatten)]
    serve: ServeArgs,
    #[command(flatten)]
    shown: ShownArgs,
    /// What all that comes to.
    #[arg(skip)]
    pub settings: Settings,
}

impl ReplayArgs {
    /// Makes the settings of what was typed; `words`: the command line.
    pub(super) fn settle(&mut self, words: Vec<String>) {
        self.settings = Settings {
            dry_run: self.dry_run,
            json: self.json,
            quiet: self.shown.quiet,
            colour: self.shown.colour,
            output: self
                .output
                .take()
                .map_or(Output::Default, |dir| output(Some(dir))),
            how: self.permissions.how(self.keep.unwrap_or_default(), words),
            ..Settings::default()
        }
        .served(&self.serve);
    }
}

fn fold_to(text: &str) -> Result<FoldTo, String> {
    if text == "target" {
        return Ok(FoldTo::Target);
    }
    let bytes = size(text, 1).filter(|&bytes| bytes >= 512);
    bytes
        .map(FoldTo::Bytes)
        .ok_or_else(|| String::from("a size goes here, as in 4096GiB, or the word target"))
}

fn stream() -> impl TypedValueParser<Value = StreamKind> {
    PossibleValuesParser::new(["io", "block"]).map(|name| match name.as_str() {
        "io" => StreamKind::Io,
        _ => StreamKind::Block,
    })
}

fn format() -> impl TypedValueParser<Value = RecordFormat> {
    let named = |name: &str| {
        RecordFormat::OUTSIDE
            .into_iter()
            .find(|format| format.name() == name)
    };
    PossibleValuesParser::new(RecordFormat::OUTSIDE.map(RecordFormat::name))
        .map(move |name| named(&name).unwrap_or(RecordFormat::FioIolog))
}

fn engine() -> impl TypedValueParser<Value = EngineKind> {
    const ENGINES: [EngineKind; 4] = [
        EngineKind::IoUring,
        EngineKind::Libaio,
        EngineKind::Psync,
        EngineKind::Pvsync2,
    ];
    let named = |name: &str| ENGINES.into_iter().find(|kind| kind.name() == name);
    PossibleValuesParser::new(ENGINES.map(EngineKind::name))
        .map(move |name| named(&name).unwrap_or(EngineKind::IoUring))
}
