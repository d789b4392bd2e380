//! The command line of `fathom plan`.
//!
//! Data in: what clap matched. Data out: [`PlanArgs`]. It must not know the catalogue.

use super::evidence::Moment;
use crate::terminal::Colour;
use clap::{Args, ValueEnum, ValueHint};
use fathom_core::units::Nanos;
use fathom_model::catalog::decimal_micro;
use fathom_plan::layout::{Cache, GIB, MB};
use fathom_plan::need::Bound;
use std::path::PathBuf;

const ABOUT: &str = "\
Finds the cheapest disks and machine that meet a need, over the whole catalogue, and shows each on the disk model: what it costs \
and delivers, which limit binds first, what is left, and the command that verifies it. Without --for a load is planned to last: \
burst credit counts for nothing then.";

// No line is longer than 80 columns: wrapped ones would not be commands any more.
const EXAMPLES: &str = "\
Examples:
  a database's need, in any machine with 4 processors and 16 GiB
    fathom plan --iops 12000 --mbps 180 --gib 1500 --read 70 \\
                --vcpus 4 --memory 16GiB
  disks for a machine that is settled, Premium SSD only, at most 8 striped
    fathom plan --mbps 192 --gib 500 --vm Standard_DS3_v2 \\
                --family premium --raid0-max 8
  fast enough for a log: the model decides
    fathom plan --iops 2000 --bs 8k --read 0 --gib 100 --latency 'p99<2ms'
  what a recorded load needs, replayed on each layout, beside what stands now
    fathom plan --from runs/monday runs/tuesday --slo 'p99<10ms' \
                --current azure/P30,vm=Standard_D8s_v3
  what a node of a cluster needs, by a week of its own history
    fathom plan --prometheus http://localhost:9090 --instance node-3 \
                --device sdc --since 7d --gib 1024
  the cheapest of three clouds
    fathom plan --iops 12000 --gib 1500 --vcpus 4 --memory 16GiB \
                --cloud azure,aws,gcp
  a peak of half an hour, with credit
    fathom plan --iops 3000 --gib 64 --for 30m
  why a layout delivers what it delivers, and two side by side
    fathom plan --explain azure/P40,vm=Standard_DS3_v2
    fathom plan --compare azure/P40,vm=Standard_DS3_v2 \\
                --compare azure/2xP15,vm=Standard_DS3_v2
  what creates the second layout, and a disk for Kubernetes
    fathom plan --iops 12000 --gib 1500 --emit terraform --pick 2
    fathom plan --gib 200 --iops 4000 --raid0-max 1 --emit storageclass
  a page with charts, and the answer for programs
    fathom plan --iops 12000 --gib 1500 -o plan.html
    fathom plan --iops 12000 --gib 1500 --json | jq '.layouts[0].target'";

/// A year.
const LASTS_MAX_NS: u64 = 365 * 24 * 3_600 * 1_000_000_000;

/// Which ways of caching are considered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CacheWord {
    None,
    Ro,
    Rw,
}

impl From<CacheWord> for Cache {
    fn from(word: CacheWord) -> Self {
        match word {
            CacheWord::None => Self::None,
            CacheWord::Ro => Self::ReadOnly,
            CacheWord::Rw => Self::ReadWrite,
        }
    }
}

/// For how long machines are committed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CommitWord {
    #[value(name = "1y")]
    OneYear,
    #[value(name = "3y")]
    ThreeYears,
}

/// What creates a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EmitWord {
    Az,
    Terraform,
    #[value(name = "storageclass")]
    StorageClass,
    Mdadm,
}

/// Find the cheapest disks and machine that meet a need
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = "Examples: fathom plan --help", after_long_help = EXAMPLES)]
pub(crate) struct PlanArgs {
    /// Plan from what was recorded: run directories, or runs in object storage (s3://…), all to be carried by the same layout
    #[arg(long, value_name = "RUN", num_args = 1.., value_hint = ValueHint::DirPath, conflicts_with_all = ["iops", "mbps", "bs", "read", "lasts", "explain", "compare", "no_burst"], help_heading = "The load")]
    pub from: Vec<PathBuf>,
    #[arg(
        help = "Plan from what this server kept of a machine's disk, as http://localhost:9090: averages from scrape to scrape"
    )]
    #[arg(long, value_name = "URL", requires = "instance", conflicts_with_all = ["from", "iops", "mbps", "bs", "read", "lasts", "explain", "compare", "no_burst"], value_hint = ValueHint::Url, help_heading = "The load")]
    pub prometheus: Option<String>,
    /// A file with the bearer token that the server asks for
    #[arg(long, value_name = "FILE", requires = "prometheus", value_hint = ValueHint::FilePath, help_heading = "The load")]
    pub prometheus_token: Option<PathBuf>,
    /// Which machine: the label `instance` of its node exporter, with or without the port
    #[arg(long, value_name = "NODE", requires = "prometheus", help_heading = "The load")]
    pub instance: Option<String>,
    /// Of a server: from when on, as 7d or 2026-11-23T09:00:00Z [default: 24h]
    #[arg(long, value_name = "TIME", requires = "prometheus", value_parser = Moment::parse, help_heading = "The load")]
    pub since: Option<Moment>,
    /// Of a server: until when, likewise [default: now]
    #[arg(long, value_name = "TIME", requires = "prometheus", value_parser = Moment::parse, help_heading = "The load")]
    pub until: Option<Moment>,
    /// Of a recording: seconds to be carried in full, in percent, the busiest ones last [default: 99.9]
    #[arg(long, value_name = "PERCENT", value_parser = percentile, allow_negative_numbers = true, help_heading = "The load")]
    pub percentile: Option<f64>,
    /// Of a recording: only this device, as vda [default: those of its targets, together; of a server the only one in use]
    #[arg(long, value_name = "NAME", help_heading = "The load")]
    pub device: Option<String>,
    /// I/Os a second
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true, help_heading = "The load")]
    pub iops: Option<u64>,
    /// Throughput in MB a second (10^6 bytes)
    #[arg(long, value_name = "N", value_parser = megabytes, allow_negative_numbers = true, help_heading = "The load")]
    pub mbps: Option<u64>,
    /// Room, in GiB; or with a unit: 1500, 1.5t
    #[arg(long, value_name = "SIZE", value_parser = gib, allow_negative_numbers = true, help_heading = "The load")]
    pub gib: Option<u64>,
    /// Size of an I/O, as 16k [default: what IOPS and MB/s make it, or 16k]
    #[arg(long, value_name = "SIZE", value_parser = block, allow_negative_numbers = true, help_heading = "The load")]
    pub bs: Option<u64>,
    /// Reads, in percent of I/Os [default: 50]
    #[arg(long, value_name = "PERCENT", value_parser = count, allow_negative_numbers = true, help_heading = "The load")]
    pub read: Option<u64>,
    /// What is read and written again and again, in GiB: what a host's cache can help with [default: all of --gib]
    #[arg(long, value_name = "SIZE", value_parser = gib, allow_negative_numbers = true, help_heading = "The load")]
    pub working_set: Option<u64>,
    /// How long the load lasts at a stretch, from full burst credit [default: without end]
    #[arg(long = "for", value_name = "TIME", value_parser = lasting, help_heading = "The load")]
    pub lasts: Option<Nanos>,
    /// A bound on latency that the model must keep: 'p99<10ms', mean:2ms (repeatable)
    #[arg(long = "latency", visible_alias = "slo", value_name = "BOUND", value_parser = bound, help_heading = "The load")]
    pub latency: Vec<Bound>,
    /// Plan for so many times the load and the room, as 2x
    #[arg(long, value_name = "FACTOR", value_parser = factor, allow_negative_numbers = true, help_heading = "The load")]
    pub growth: Option<u64>,
    /// Clouds to choose from: azure, aws, gcp (repeatable) [default: azure]
    #[arg(
        long,
        value_name = "CLOUD",
        value_delimiter = ',',
        help_heading = "The choice"
    )]
    pub cloud: Vec<String>,
    /// The machine, where it is settled
    #[arg(long, value_name = "NAME", conflicts_with_all = ["vcpus", "memory", "explain", "compare"], help_heading = "The choice")]
    pub vm: Option<String>,
    /// Processors, at least
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true, conflicts_with_all = ["explain", "compare"], help_heading = "The choice")]
    pub vcpus: Option<u64>,
    /// Memory, at least, in GiB or with a unit: 16GiB
    #[arg(long, value_name = "SIZE", value_parser = gib, allow_negative_numbers = true, conflicts_with_all = ["explain", "compare"], help_heading = "The choice")]
    pub memory: Option<u64>,
    /// Only disks of this family: premium, standard-ssd, standard-hdd, premium-v2, ultra; of other clouds gp3, pd-ssd and so on
    /// (repeatable)
    #[arg(
        long,
        value_name = "FAMILY",
        value_delimiter = ',',
        help_heading = "The choice"
    )]
    pub family: Vec<String>,
    /// The host's cache: none, ro, rw (repeatable) [default: none,ro]
    #[arg(
        long,
        value_name = "MODE",
        value_delimiter = ',',
        conflicts_with = "no_cache",
        help_heading = "The choice"
    )]
    pub cache: Vec<CacheWord>,
    /// No host's cache
    #[arg(long, help_heading = "The choice")]
    pub no_cache: bool,
    /// Leave out what carries the load on burst credit alone
    #[arg(long, conflicts_with = "lasts", help_heading = "The choice")]
    pub no_burst: bool,
    /// Disks striped, at most
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true, help_heading = "The choice")]
    pub raid0_max: Option<u64>,
    /// Where it is to be: prices of this region
    #[arg(long, value_name = "REGION", help_heading = "The choice")]
    pub region: Option<String>,
    /// At most so much a month
    #[arg(long, value_name = "AMOUNT", value_parser = money, allow_negative_numbers = true, help_heading = "Prices")]
    pub budget: Option<u64>,
    /// Another catalogue, as of contract prices: a directory with the same files
    #[arg(long = "catalog", value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Prices")]
    pub catalog: Option<PathBuf>,
    /// Hours a month that a machine runs [default: 730]
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true, help_heading = "Prices")]
    pub hours: Option<u64>,
    /// Tell prices in this currency, at so much a US dollar: EUR=0.92
    #[arg(long, value_name = "CODE=RATE", value_parser = currency, help_heading = "Prices")]
    pub currency: Option<(String, f64)>,
    /// Machines committed to for so long, where the catalogue has such prices: 1y, 3y
    #[arg(long, value_name = "YEARS", help_heading = "Prices")]
    pub commit: Option<CommitWord>,
    /// Say why this layout delivers what it delivers
    #[arg(
        long,
        value_name = "LAYOUT",
        conflicts_with = "compare",
        help_heading = "Other questions"
    )]
    pub explain: Option<String>,
    /// Layouts side by side (twice or more)
    #[arg(long, value_name = "LAYOUT", num_args = 1.., help_heading = "Other questions")]
    pub compare: Vec<String>,
    /// What stands at present: the first row, to be compared with
    #[arg(long, value_name = "LAYOUT", conflicts_with_all = ["explain", "compare"], help_heading = "Other questions")]
    pub current: Option<String>,
    /// Print what creates the layout of --pick, or of --explain: az, terraform, storageclass, mdadm
    #[arg(long, value_name = "TOOL", conflicts_with_all = ["json", "compare"], help_heading = "Other questions")]
    pub emit: Option<EmitWord>,
    /// Which layout of the list --emit is about [default: 1]
    #[arg(long, value_name = "N", value_parser = count, requires = "emit", conflicts_with = "explain", help_heading = "Other questions")]
    pub pick: Option<u64>,
    /// Layouts listed
    #[arg(long, value_name = "N", value_parser = count, default_value = "10", conflicts_with_all = ["explain", "compare"], allow_negative_numbers = true, help_heading = "The answer")]
    pub top: u64,
    /// Write it to this file, too: .html, .md or .csv (repeatable)
    #[arg(short, long = "output", value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "The answer")]
    pub outputs: Vec<PathBuf>,
    /// Replace files that are there (regular files only)
    #[arg(long, help_heading = "The answer")]
    pub force: bool,
    /// Print one JSON document
    #[arg(long, help_heading = "The answer")]
    pub json: bool,
    /// Colours [default: auto]
    #[arg(
        long = "color",
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        help_heading = "The answer"
    )]
    pub colour: Colour,
    /// No progress on stderr
    #[arg(short, long, help_heading = "The answer")]
    pub quiet: bool,
}

/// A number of at most six decimals, times `unit`.
fn decimal(text: &str, unit: u64) -> Option<u64> {
    let all = u128::from(decimal_micro(text)?) * u128::from(unit) / 1_000_000;
    u64::try_from(all).ok().filter(|&all| i64::try_from(all).is_ok())
}

fn count(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let (number, unit) = match lower.strip_suffix('k') {
        Some(number) => (number, 1_000),
        None => lower
            .strip_suffix('m')
            .map_or((lower.as_str(), 1), |number| (number, 1_000_000)),
    };
    let whole = number.parse().ok().filter(|_: &u64| unit == 1);
    let scaled = || decimal(number, unit).filter(|_| unit > 1);
    whole
        .or_else(scaled)
        .ok_or_else(|| String::from("a whole number, not negative, goes here, as in 12000 or 12k"))
}

fn megabytes(text: &str) -> Result<u64, String> {
    decimal(text, MB).ok_or_else(|| String::from("MB a second go here (10^6 bytes), as in 180 or 62.5"))
}

fn money(text: &str) -> Result<u64, String> {
    decimal(text, 1_000_000).ok_or_else(|| String::from("an amount goes here, as in 400 or 99.50"))
}

/// A size with a unit in powers of 1024; a bare number counts `bare`.
pub(super) fn size(text: &str, bare: u64) -> Option<u64> {
    let lower = text.trim().to_ascii_lowercase();
    let end = lower
        .find(|letter: char| letter.is_ascii_alphabetic())
        .unwrap_or(lower.len());
    let (number, unit) = lower.split_at(end);
    let unit = match unit {
        "" => bare,
        "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => GIB,
        "t" | "tb" | "tib" => GIB << 10,
        _ => return None,
    };
    decimal(number.trim_end(), unit)
}

fn gib(text: &str) -> Result<u64, String> {
    size(text, GIB)
        .ok_or_else(|| String::from("a size in GiB goes here, or one with a unit, as in 1500, 1.5t or 16GiB"))
}

fn block(text: &str) -> Result<u64, String> {
    size(text, 1).ok_or_else(|| String::from("a size goes here, as in 16k or 4096"))
}

/// Whole seconds: what happens within one is not planned.
fn lasting(text: &str) -> Result<Nanos, String> {
    let lasts = fathom_dialect::duration(text)?;
    if lasts.0 == 0 || !lasts.0.is_multiple_of(1_000_000_000) {
        return Err(String::from("whole seconds go here, as in 90s, 30m or 2h"));
    }
    if lasts.0 > LASTS_MAX_NS {
        return Err(String::from(
            "up to a year goes here: what lasts longer has no end (leave --for out)",
        ));
    }
    Ok(lasts)
}

fn percentile(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_start_matches(['p', 'P']);
    let percent = number
        .parse()
        .ok()
        .filter(|percent| (1.0..=100.0).contains(percent));
    percent.ok_or_else(|| String::from("1 to 100 percent go here, as in 99.9"))
}

pub(super) fn factor(text: &str) -> Result<u64, String> {
    let number = text.trim_end_matches(['x', 'X']);
    let permille = decimal(number, 1_000).filter(|&permille| (1..=1_000_000).contains(&permille));
    permille.ok_or_else(|| String::from("a factor up to 1000 goes here, as in 2x or 1.5x"))
}

fn currency(text: &str) -> Result<(String, f64), String> {
    let wrong = || String::from("a code and what a US dollar is in it go here, as in EUR=0.92");
    let (code, rate) = text.split_once('=').ok_or_else(wrong)?;
    let letters = (1..=8).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_alphabetic());
    let rate: f64 = rate.parse().map_err(|_| wrong())?;
    if !letters || !rate.is_finite() || rate <= 0.0 || rate > 1e9 {
        return Err(wrong());
    }
    Ok((code.to_ascii_uppercase(), rate))
}

/// A latency with its unit: `10ms`, `0.5ms`, `250us`.
fn time_ns(text: &str) -> Option<u64> {
    let end = text
        .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = match unit.trim() {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => return None,
    };
    decimal(number, unit).filter(|&ns| ns > 0)
}

/// `p99<10ms`, `p99:10ms`, `mean<2ms`.
fn bound(text: &str) -> Result<Bound, String> {
    let wrong = || {
        String::from(
            "a percentile and a time go here, as in 'p99<10ms' (quoted for the shell) or p99:10ms; or the mean, as mean:2ms",
        )
    };
    let (what, time) = text.split_once(['<', ':', '=']).ok_or_else(wrong)?;
    let below_ns = time_ns(time.trim_start_matches('=').trim()).ok_or_else(wrong)?;
    let what = what.trim().to_ascii_lowercase();
    let percentile = match what.as_str() {
        "mean" | "avg" => None,
        "median" => Some(50.0),
        "max" => Some(100.0),
        other => {
            let number = other.strip_prefix('p').ok_or_else(wrong)?;
            let percentile: f64 = number.replace('_', ".").parse().map_err(|_| wrong())?;
            // The highest that a proof's I/Os can show.
            if !(0.0..=100.0).contains(&percentile) {
                return Err(wrong());
            }
            Some(percentile)
        }
    };
    Ok(Bound { percentile, below_ns })
}

#[cfg(test)]
mod tests;
