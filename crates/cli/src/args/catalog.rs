//! `fathom catalog`: its part of the command line.
//!
//! Data in: what clap matched. Data out: [`CatalogArgs`]. It must not know the catalogue's rows.

use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use std::path::PathBuf;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listing {
    Disks,
    /// Virtual machines.
    Vms,
    /// Where the rows are from.
    Sources,
}

/// How it is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// A table for people.
    Text,
    /// One JSON document.
    Json,
    /// Comma-separated values.
    Csv,
}

/// `fathom catalog`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CatalogArgs {
    pub listing: Listing,
    /// Names, or parts of them; empty: all.
    pub names: Vec<String>,
    /// `--filter`, each one; all must hold.
    pub filters: Vec<String>,
    /// `--catalog`.
    pub dir: Option<PathBuf>,
    /// How it is printed.
    pub format: Format,
}

// No line is longer than 80 columns: wrapped ones would not be commands any more.
const FILTERS: &str = "\
Filters:
  COLUMN OP VALUE, several joined with commas; all must hold.
  = !=            equal or not, in any case; `=not known` finds blanks
  ~               contains, in any case
  < <= > >=       numbers
  Quote them for the shell. Columns of disks: name, family, size (GiB), iops,
  mbps, burst_iops, burst_mbps, burst (credit, on-demand, none), caching,
  price (USD a month). Of vms: name, series, vcpus, memory (GiB), disks,
  premium, caching, iops, mbps, burst_iops, burst_mbps, cached_iops,
  cached_mbps, cache (GiB), price (USD an hour). --csv shows all columns.";

const EXAMPLES: &str = "\
Examples:
  all disks, one of them, and those of one family above a rate
    fathom catalog disks
    fathom catalog disks P15
    fathom catalog disks --filter 'family=Premium SSD,iops>=5000'
  virtual machines with premium storage and at least 200 MB/s, by name
    fathom catalog vms --filter 'premium=true,mbps>=200,name~D16'
  whose host cache is known, for a model of it
    fathom catalog vms --filter 'cache>0' --json
  a catalogue of one's own: disks.csv, flex-disks.csv and vms.csv
    fathom catalog disks --catalog DIR";

/// Its definition.
pub(super) fn command() -> Command {
    Command::new("catalog")
        .about("List the disks and virtual machines that can be modelled")
        .long_about(
            "Lists the disks and virtual machines of Azure, with their limits and prices: what `model:azure/…` \
             targets are made from. A blank that no source fills is shown as \"not known\".",
        )
        .after_help("Filters and examples: fathom catalog --help")
        .after_long_help(format!("{FILTERS}\n\n{EXAMPLES}"))
        .arg(
            Arg::new("listing")
                .value_name("WHAT")
                .help("disks, vms (virtual machines), or sources (where the rows are from)")
                .value_parser(["disks", "vms", "sources"])
                .hide_possible_values(true)
                .required(true),
        )
        .arg(
            Arg::new("names")
                .value_name("NAME")
                .help("Only these: a name, or what is in the names or families of those meant")
                .num_args(0..),
        )
        .arg(
            Arg::new("filter")
                .long("filter")
                .value_name("EXPR")
                .help("Only rows that meet it, as in iops>=5000 (repeatable)")
                .action(ArgAction::Append),
        )
        .arg(
            Arg::new("catalog")
                .long("catalog")
                .value_name("DIR")
                .help("Another catalogue: a directory with the same three files")
                .value_parser(value_parser!(PathBuf))
                .value_hint(ValueHint::DirPath),
        )
        .arg(
            switch("json", "Print one JSON document, with all columns").conflicts_with("csv"),
        )
        .arg(switch("csv", "Print comma-separated values, with all columns"))
}

fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).help(help).action(ArgAction::SetTrue)
}

/// What was typed.
pub(super) fn read(matches: &ArgMatches) -> CatalogArgs {
    CatalogArgs {
        listing: match matches.get_one::<String>("listing").map(String::as_str) {
            Some("vms") => Listing::Vms,
            Some("sources") => Listing::Sources,
            _ => Listing::Disks,
        },
        names: matches
            .get_many::<String>("names")
            .unwrap_or_default()
            .cloned()
            .collect(),
        filters: matches
            .get_many::<String>("filter")
            .unwrap_or_default()
            .cloned()
            .collect(),
        dir: matches.get_one::<PathBuf>("catalog").cloned(),
        format: match (matches.get_flag("json"), matches.get_flag("csv")) {
            (true, _) => Format::Json,
            (_, true) => Format::Csv,
            _ => Format::Text,
        },
    }
}
