//! The command line of what records and explains: `--record`, `record`, `explain`, `export`.
//!
//! Data in: matched words. Data out: what was typed. It must not know devices or run directories.

use super::definition::{colour as colour_flag, directory, force, switch};
use crate::terminal::Colour;
use clap::builder::ValueParser;
use clap::{Arg, ArgGroup, ArgMatches, Command, ValueHint, value_parser};
use fathom_core::record::StreamKind;
use fathom_core::units::Nanos;
use fathom_session::Streams;
use std::path::PathBuf;

const RECORD_ABOUT: &str = "\
Watches a device without any load of its own: every request that the kernel sends to it, the system's counters each \
second, and who ran while a request was slow. `fathom explain` then says what limits the device and where each spike \
came from. Ctrl-C ends it; a recording that was killed is read as it is.";

const RECORD_EXAMPLES: &str = "\
Examples:
  fathom record --device /dev/nvme0n1 --duration 24h -o runs/production
  fathom record --device /var/lib/postgresql --record=counters";

const EXPLAIN_ABOUT: &str = "\
Says what limited a run, where each latency spike came from and how sure that is, and what one-second averages hid. It \
reads what `fathom run --record` or `fathom record` kept, and says what is missing where something was not recorded.";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  fathom run jobs.fio --record -o runs/first && fathom explain runs/first
  fathom explain runs/first --json | jq '.spikes.kept[] | {start_ns, verdict}'";

const EXPORT_ABOUT: &str = "\
Writes what was recorded in a form that other tools read. The streams of a run directory are Parquet already: for \
DuckDB, pandas and Spark nothing needs to be exported.";

const EXPORT_EXAMPLES: &str = "\
Examples:
  fathom export runs/first --csv > io.csv
  fathom export runs/first --csv --stream block -o block.csv
  fathom export runs/first --blkparse | less
  fathom export runs/first --fio-log -o logs/      # logs/fathom_lat.1.log, …";

/// `fathom record`.
#[derive(Debug)]
pub(crate) struct RecordArgs {
    /// The device, or what lies on it.
    pub device: PathBuf,
    /// How long; `None`: until it is stopped.
    pub duration: Option<Nanos>,
    /// What to keep.
    pub streams: Streams,
    pub output: Option<PathBuf>,
    /// No progress and no notes.
    pub quiet: bool,
    /// The command line, word by word, for the record.
    pub words: Vec<String>,
}

/// `fathom explain`.
#[derive(Debug)]
pub(crate) struct ExplainArgs {
    /// The run directory.
    pub dir: PathBuf,
    /// Disks to compare the limits with come from this catalogue.
    pub catalog: Option<PathBuf>,
    /// JSON on stdout.
    pub json: bool,
    /// Colours on stdout.
    pub colour: Colour,
}

/// The forms of `fathom export`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExportForm {
    /// Comma-separated values.
    Csv,
    /// One Parquet file.
    Parquet,
    /// As `blkparse` prints.
    Blkparse,
    /// As fio's `write_lat_log`.
    FioLog,
}

/// `fathom export`.
#[derive(Debug)]
pub(crate) struct ExportArgs {
    /// The run directory.
    pub dir: PathBuf,
    pub form: ExportForm,
    pub stream: StreamKind,
    /// Where to; `None`: stdout.
    pub output: Option<PathBuf>,
    /// Replace files that are there.
    pub force: bool,
}

/// The flag `--record` of `run` and `record`.
pub(super) fn record_flag(default: &'static str, help: &'static str) -> Arg {
    Arg::new("record")
        .long("record")
        .value_name("STREAMS")
        .help(help)
        .long_help(
            "What to keep beside the statistics: io (every I/O of the load), block (every request of the devices, and \
             who had the CPUs while an I/O was slow; needs root), counters (the system's and each process's, every \
             second). --record alone keeps all three; --record=io,counters only those. What the system does not allow \
             is said, and the run goes on without it.",
        )
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value(default)
        .value_parser(ValueParser::new(streams))
}

fn streams(text: &str) -> Result<Streams, String> {
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

/// What `--record` asked for.
pub(super) fn streams_of(matches: &ArgMatches) -> Streams {
    matches.get_one::<Streams>("record").copied().unwrap_or_default()
}

/// The definition of `record`.
pub(super) fn record_command() -> Command {
    Command::new("record")
        .about("Watch a device without a load: every request, counters, who ran")
        .long_about(RECORD_ABOUT)
        .after_help(RECORD_EXAMPLES)
        .arg(
            Arg::new("device")
                .long("device")
                .value_name("DEVICE")
                .help("The device: its node, or a file or directory that lies on it")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .value_hint(ValueHint::AnyPath),
        )
        .arg(
            Arg::new("duration")
                .long("duration")
                .value_name("TIME")
                .help("How long, as 90s, 15m, 24h, 7d [default: until Ctrl-C]")
                .value_parser(ValueParser::new(fathom_dialect::duration)),
        )
        .arg(record_flag(
            "block,counters",
            "Keep only some of: block, counters",
        ))
        .arg(output(
            "Keep the recording here [default: fathom-runs/TIME-DEVICE]",
            ValueHint::DirPath,
        ))
        .arg(switch("quiet", "No progress and no notes on stderr").short('q'))
}

/// The definition of `explain`.
pub(super) fn explain_command() -> Command {
    Command::new("explain")
        .about("Say what limited a run, and where each latency spike came from")
        .long_about(EXPLAIN_ABOUT)
        .after_help(EXPLAIN_EXAMPLES)
        .arg(directory("A run directory"))
        .arg(
            Arg::new("catalog")
                .long("catalog")
                .value_name("DIR")
                .help("Compare limits with the disks of this catalogue, not of the built-in one")
                .value_parser(value_parser!(PathBuf))
                .value_hint(ValueHint::DirPath),
        )
        .arg(switch("json", "Print the explanation as one JSON document"))
        .arg(colour_flag())
}

/// The definition of `export`.
pub(super) fn export_command() -> Command {
    Command::new("export")
        .about("Write what was recorded as CSV, Parquet, blkparse's text or fio's logs")
        .long_about(EXPORT_ABOUT)
        .after_help(EXPORT_EXAMPLES)
        .arg(directory("A run directory"))
        .arg(switch("csv", "Comma-separated values with a line of names"))
        .arg(switch("parquet", "One Parquet file (needs -o)"))
        .arg(switch(
            "blkparse",
            "The requests of the devices, as blkparse prints them",
        ))
        .arg(switch(
            "fio-log",
            "fio's latency logs, of each job (needs -o, a directory)",
        ))
        .group(
            ArgGroup::new("form")
                .args(["csv", "parquet", "blkparse", "fio-log"])
                .required(true),
        )
        .arg(
            Arg::new("stream")
                .long("stream")
                .value_name("STREAM")
                .help("What to write as CSV or Parquet [default: io]")
                .conflicts_with_all(["blkparse", "fio-log"])
                .value_parser(StreamKind::ALL.map(StreamKind::name)),
        )
        .arg(output("Write here, not to stdout", ValueHint::AnyPath))
        .arg(force())
}

fn output(help: &'static str, hint: ValueHint) -> Arg {
    Arg::new("output")
        .short('o')
        .long("output")
        .value_name("PATH")
        .help(help)
        .value_parser(value_parser!(PathBuf))
        .value_hint(hint)
}

/// What was typed after `record`.
pub(super) fn read_record(matches: &ArgMatches, words: Vec<String>) -> RecordArgs {
    let asked = streams_of(matches);
    let both = Streams {
        io: false,
        block: true,
        counters: true,
    };
    RecordArgs {
        device: super::path(matches, "device"),
        duration: matches.get_one::<Nanos>("duration").copied(),
        streams: if asked.is_none() { both } else { asked },
        output: matches.get_one::<PathBuf>("output").cloned(),
        quiet: matches.get_flag("quiet"),
        words,
    }
}

/// What was typed after `explain`.
pub(super) fn read_explain(matches: &ArgMatches) -> ExplainArgs {
    ExplainArgs {
        dir: super::path(matches, "dir"),
        catalog: matches.get_one::<PathBuf>("catalog").cloned(),
        json: matches.get_flag("json"),
        colour: super::colour(matches),
    }
}

/// What was typed after `export`.
pub(super) fn read_export(matches: &ArgMatches) -> ExportArgs {
    let form = match () {
        () if matches.get_flag("parquet") => ExportForm::Parquet,
        () if matches.get_flag("blkparse") => ExportForm::Blkparse,
        () if matches.get_flag("fio-log") => ExportForm::FioLog,
        () => ExportForm::Csv,
    };
    let named = matches.get_one::<String>("stream");
    let stream = named.and_then(|name| StreamKind::ALL.into_iter().find(|kind| kind.name() == name));
    ExportArgs {
        dir: super::path(matches, "dir"),
        form,
        stream: stream.unwrap_or(StreamKind::Io),
        output: matches.get_one::<PathBuf>("output").cloned(),
        force: matches.get_flag("force"),
    }
}
