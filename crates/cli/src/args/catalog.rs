//! `fathom catalog`: its part of the command line.
//!
//! Data in: what clap matched. Data out: [`CatalogArgs`]. It must not know the catalogue's rows.

use clap::{Args, ValueEnum, ValueHint};
use std::path::PathBuf;

const ABOUT: &str = "\
Lists the disks and virtual machines of a cloud, with their limits and prices: what `model:azure/…`, `model:aws/…` and \
`model:gcp/…` targets are made from. A blank that no source fills is shown as \"not known\".";

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
  cached_mbps, cache (GiB), price (USD an hour). Of limits: name, series,
  family, vcpus, read_iops, write_iops, read_mbps, write_mbps, together.
  --csv shows all columns.";

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
  another cloud's
    fathom catalog disks --cloud aws
    fathom catalog vms n2-standard --cloud gcp
    fathom catalog limits n2-standard-8 --cloud gcp
  a catalogue of one's own: cloud.toml, disks.csv, flex-disks.csv, vms.csv
    fathom catalog disks --catalog DIR";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listing {
    Disks,
    Vms,
    Limits,
    Sources,
}

/// List the disks and virtual machines that can be modelled
#[derive(Debug, Args)]
#[command(
    long_about = ABOUT,
    after_help = "Filters and examples: fathom catalog --help",
    after_long_help = format!("{FILTERS}\n\n{EXAMPLES}")
)]
pub(crate) struct CatalogArgs {
    /// disks, vms (virtual machines), limits (those of machines by family of disks, where a cloud has such), or sources (where the
    /// rows are from)
    #[arg(value_name = "WHAT", hide_possible_values = true)]
    pub listing: Listing,
    /// Only these: a name, or what is in the names or families of those meant
    #[arg(value_name = "NAME", num_args = 0..)]
    pub names: Vec<String>,
    /// Only rows that meet it, as in iops>=5000 (repeatable)
    #[arg(long = "filter", value_name = "EXPR")]
    pub filters: Vec<String>,
    /// Whose disks and machines: azure (unless told otherwise), aws or gcp
    #[arg(long, value_name = "CLOUD", conflicts_with = "dir")]
    pub cloud: Option<String>,
    /// A catalogue of one's own: a directory with the same files
    #[arg(long = "catalog", value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dir: Option<PathBuf>,
    /// Print one JSON document, with all columns
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print comma-separated values, with all columns
    #[arg(long)]
    pub csv: bool,
}
