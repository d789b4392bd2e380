//! The command line of what records and explains: `--record`, `explain`, `export`.
//!
//! Data in: what clap matched. Data out: what was typed. It must not know devices or run directories.

use crate::terminal::Colour;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use fathom_core::record::StreamKind;
use fathom_core::units::Nanos;
use fathom_session::Streams;
use jiff::Timestamp;
use std::path::PathBuf;

const EXPLAIN_ABOUT: &str = "\
Says what limited a run, where each latency spike came from and how sure that is, and what one-second averages hid. It \
reads what `fathom run --record` or `fathom record` kept, and says what is missing where something was not recorded.";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  fathom run jobs.fio --record -o runs/first && fathom explain runs/first
  fathom explain runs/first --evidence 1
  fathom explain runs/first --json | jq '.spikes.kept[] | {start_ns, verdict}'
  all runs of a fleet, and only those on one class
    fathom explain s3://bench/fleet
    fathom explain s3://bench/fleet/class=fast
  a machine in production, by what its Prometheus kept of the last 6 hours
    fathom explain --prometheus http://localhost:9090 --instance node-3 \\
                   --from 6h
  an hour of yesterday, on a machine and a disk that are known
    fathom explain --prometheus http://localhost:9090 --instance node-3 \\
                   --from 2026-11-22T09:00:00Z --to 2026-11-22T10:00:00Z \\
                   --machine Standard_D8s_v5 --disk P30";

const EXPORT_ABOUT: &str = "\
Writes what was recorded in a form that other tools read. The streams of a run directory are Parquet already: for \
DuckDB, pandas and Spark nothing needs to be exported.";

const EXPORT_EXAMPLES: &str = "\
Examples:
  fathom export runs/first --csv > io.csv
  fathom export runs/first --csv --stream block -o block.csv
  fathom export runs/first --blkparse | less
  fathom export runs/first --fio-log -o logs/      # logs/fathom_lat.1.log, …
  fathom export runs/first --iolog first.log && fio --name=j \\
         --read_iolog=first.log --ioengine=libaio --iodepth=32 --direct=1";

/// What there is to say of `--record`.
pub(super) const RECORD: &str = "\
What to keep beside the statistics: io (every I/O of the load), block (every request of the devices, and who had the CPUs \
while an I/O was slow; needs root), counters (the system's and each process's, every second). --record alone keeps all \
three; --record=io,counters only those. What the system does not allow is said, and the run goes on without it.";

/// Say what limited a run, and where each latency spike came from
#[derive(Debug, Args)]
#[command(long_about = EXPLAIN_ABOUT, after_help = EXPLAIN_EXAMPLES)]
pub(crate) struct ExplainArgs {
    /// A run directory, or many runs: s3://…, az://…, gs://…, or a directory that --records filled
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath, required_unless_present = "prometheus")]
    pub dir: Option<PathBuf>,
    #[command(flatten)]
    pub history: HistoryArgs,
    /// Compare limits with the disks of this catalogue, not of the built-in one
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub catalog: Option<PathBuf>,
    /// Tell what shows disturbance N of the table; may be given several times; all: of each, and of the limits
    #[arg(long, value_name = "N|all", value_parser = EvidenceOf::parse)]
    pub evidence: Vec<EvidenceOf>,
    /// Print the explanation as one JSON document
    #[arg(long)]
    pub json: bool,
    /// Colours in the report [default: auto]
    #[arg(
        long = "color",
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true
    )]
    pub colour: Colour,
}

/// What a server of Prometheus kept of a machine.
#[derive(Debug, Args)]
#[command(next_help_heading = "A machine's history")]
#[group(skip)]
pub(crate) struct HistoryArgs {
    #[arg(
        help = "Read a machine's counters from this server, as http://localhost:9090, not from a run directory"
    )]
    #[arg(long, value_name = "URL", requires = "instance", conflicts_with_all = ["dir", "evidence"], value_hint = ValueHint::Url)]
    pub prometheus: Option<String>,
    /// A file with the bearer token that the server asks for
    #[arg(long, value_name = "FILE", requires = "prometheus", value_hint = ValueHint::FilePath)]
    pub prometheus_token: Option<PathBuf>,
    /// Which machine: the label `instance` of its node exporter, with or without the port
    #[arg(long, value_name = "NODE", requires = "prometheus")]
    pub instance: Option<String>,
    /// From when on: so long ago, as 6h, or a time, as 2026-11-23T09:00:00Z [default: 1h]
    #[arg(long, value_name = "TIME", requires = "prometheus", value_parser = Moment::parse)]
    pub from: Option<Moment>,
    /// Until when, likewise [default: now]
    #[arg(long, value_name = "TIME", requires = "prometheus", value_parser = Moment::parse)]
    pub to: Option<Moment>,
    /// The virtual machine that it is, as `fathom catalog vms` names it: its limits are then known
    #[arg(long, value_name = "NAME", requires = "prometheus")]
    pub machine: Option<String>,
    /// The disk that it has, as `fathom catalog disks` names it
    #[arg(long, value_name = "SKU", requires = "prometheus")]
    pub disk: Option<String>,
}

/// A moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// So long before now.
    Ago(Nanos),
    At(Timestamp),
}

impl Moment {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if let Ok(at) = text.parse::<Timestamp>() {
            return Ok(Self::At(at));
        }
        let ago = fathom_dialect::duration(text).map_err(|_| {
            format!(
                "{text:?} is no time: give how long ago, as 90m or 6h, or a moment, as 2026-11-23T09:00:00Z"
            )
        })?;
        Ok(Self::Ago(ago))
    }
}

/// Whose evidence is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EvidenceOf {
    Disturbance(usize),
    All,
}

impl EvidenceOf {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Self::All),
            number => match number.parse() {
                Ok(number) if number > 0 => Ok(Self::Disturbance(number)),
                _ => Err(String::from("give the number of a disturbance, from 1, or `all`")),
            },
        }
    }
}

/// Write what was recorded as CSV, Parquet, blkparse's text, fio's logs or iolog
#[derive(Debug, Args)]
#[command(
    long_about = EXPORT_ABOUT,
    after_help = EXPORT_EXAMPLES,
    override_usage = "fathom export [OPTIONS] <FORM> <DIR>"
)]
pub(crate) struct ExportArgs {
    /// A run directory
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,
    #[command(flatten)]
    pub form: Form,
    /// What to write as CSV or Parquet [default: io]; as iolog io or block [default: as fathom replay takes]
    #[arg(long, value_name = "STREAM", conflicts_with_all = ["blkparse", "fio_log"])]
    #[arg(value_parser = stream())]
    pub stream: Option<StreamKind>,
    /// Which version of fio's iolog: 2, which knows only milliseconds, or 3 [default: 3]
    #[arg(long, value_name = "N", requires = "iolog", value_parser = clap::value_parser!(u8).range(2..=3))]
    pub iolog_version: Option<u8>,
    /// Write here, not to stdout
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::AnyPath, conflicts_with = "iolog")]
    pub output: Option<PathBuf>,
    /// Replace files that are there (regular files only)
    #[arg(long)]
    pub force: bool,
}

/// The forms of an export: one of them.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Form {
    /// Comma-separated values with a line of names
    #[arg(long)]
    pub csv: bool,
    /// One Parquet file (needs -o)
    #[arg(long)]
    pub parquet: bool,
    /// The requests of the devices, as blkparse prints them
    #[arg(long)]
    pub blkparse: bool,
    /// fio's latency logs, of each job (needs -o, a directory)
    #[arg(long)]
    pub fio_log: bool,
    /// fio's iolog, which fio and `fathom replay` play: into this file; - is stdout
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub iolog: Option<PathBuf>,
}

fn stream() -> impl TypedValueParser<Value = StreamKind> {
    let named = |name: &str| StreamKind::ALL.into_iter().find(|kind| kind.name() == name);
    PossibleValuesParser::new(StreamKind::ALL.map(StreamKind::name))
        .map(move |name| named(&name).unwrap_or(StreamKind::Io))
}

pub(super) fn streams(text: &str) -> Result<Streams, String> {
    let mut streams = Streams::default();
    for word in text.split(',').filter(|word| !word.is_empty()) {
        match word {
            "io" => streams.io = true,
            "block" => streams.block = true,
            "counters" => streams.counters = true,
            other => return Err(format!("{other:?} is none of io, block, counters")),
        }
    }
    if streams.is_none() {
        return Err(String::from("give one or more of io, block, counters"));
    }
    Ok(streams)
}
