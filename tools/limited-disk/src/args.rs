//! The command line.
//!
//! Duty: words to [`Settings`]. Data in: the words. Data out: settings that make sense together, or what is wrong. It must not
//! know what is done with them.

use crate::clock::{MS, SECOND};
use crate::stall::{Stall, Stalls};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use std::ffi::OsString;
use std::path::PathBuf;

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) mountpoint: PathBuf,
    pub(crate) size_bytes: u64,
    pub(crate) backing: Option<PathBuf>,
    pub(crate) iops: Option<u64>,
    pub(crate) bytes_per_second: Option<u64>,
    pub(crate) discard_bytes_per_second: Option<u64>,
    pub(crate) latency_ns: u64,
    pub(crate) slice_ns: u64,
    pub(crate) burst_ns: u64,
    pub(crate) stalls: Vec<Stall>,
}

/// Reads the words, the program's name first.
pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Settings, clap::Error> {
    let mut command = command();
    let matches = command.try_get_matches_from_mut(words)?;
    let number = |name: &str| matches.get_one::<u64>(name).copied();
    let settings = Settings {
        mountpoint: matches
            .get_one::<PathBuf>("mountpoint")
            .cloned()
            .unwrap_or_default(),
        size_bytes: number("size-mib").unwrap_or(0) << 20,
        backing: matches.get_one::<PathBuf>("backing").cloned(),
        iops: number("iops"),
        bytes_per_second: number("bytes-per-second"),
        discard_bytes_per_second: number("discard-bytes-per-second"),
        latency_ns: number("latency-us").unwrap_or(0) * 1_000,
        slice_ns: number("slice-ms").unwrap_or(0) * MS,
        burst_ns: number("burst-ms").unwrap_or(0) * MS,
        stalls: stalls(&matches),
    };
    if !Stalls::leave_time(&settings.stalls) {
        return Err(command.error(
            ErrorKind::ValueValidation,
            "--stall: together they leave no time to work in",
        ));
    }
    Ok(settings)
}

fn stalls(matches: &ArgMatches) -> Vec<Stall> {
    let given = matches.get_many::<Stall>("stall");
    given.map(|stalls| stalls.copied().collect()).unwrap_or_default()
}

fn command() -> Command {
    let number = |name: &'static str, range: std::ops::RangeInclusive<u64>, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_parser(value_parser!(u64).range(range))
            .help(help)
    };
    Command::new("limited-disk")
        .about("A file that takes as long as a limited cloud disk. Prints `ready FILE`, then each stall and change.")
        .after_help(
            "Lines on standard input change the disk while it works: `latency-us 4000`, `iops 500`,\n\
             `bytes-per-second 1000000`; `none` takes a limit away. Its end ends the disk.",
        )
        .arg(
            Arg::new("mountpoint")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("An empty directory; the file in it is called `disk`"),
        )
        .arg(number("size-mib", 1..=1 << 20, "Its size").default_value("512"))
        .arg(
            Arg::new("backing")
                .long("backing")
                .value_parser(value_parser!(PathBuf))
                .help("Keep the data in this file rather than in memory"),
        )
        .arg(number("iops", 1..=SECOND, "Reads and writes a second, together"))
        .arg(number(
            "bytes-per-second",
            1..=1 << 40,
            "Bytes a second, read and written together",
        ))
        .arg(
            number(
                "discard-bytes-per-second",
                1..=1 << 40,
                "Bytes that a discard passes in a second, as long as it has the bandwidth to itself",
            )
            .requires("bytes-per-second"),
        )
        .arg(
            number(
                "latency-us",
                0..=60_000_000,
                "Time that each takes beside the limits",
            )
            .default_value("0"),
        )
        .arg(
            number(
                "slice-ms",
                0..=1_000,
                "Release the limits in slices of this length; 0: smoothly",
            )
            .default_value("50"),
        )
        .arg(number("burst-ms", 0..=3_600_000, "How much an idle disk saves").default_value("0"))
        .arg(
            Arg::new("stall")
                .long("stall")
                .action(ArgAction::Append)
                .value_parser(Stall::parse)
                .help("Stand still: every=2s,for=300ms[,from=1s] or at=5s,for=3s, counted from the start"),
        )
}

#[cfg(test)]
mod tests;
