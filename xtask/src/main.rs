//! The project's own chores: `cargo xtask ci|alike|arm|cluster|guest|tidy|bench|bless|soak|disturb|fuzz|dist`.
//!
//! Data in: the checkout. Data out: a verdict (exit code), or tables under `docs/`. It must not be needed to
//! build or to run `fathom`.
#![forbid(unsafe_code)]

mod alike;
mod arm;
mod bench;
mod ci;
mod cluster;
mod dist;
mod disturb;
mod fuzz;
mod guest;
mod packages;
mod shell;
mod soak;
mod tidy;

use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask COMMAND

  ci               everything that must hold: formatting, lints, tidy, tests, docs, a short fuzz run
  arm              the tests of the crates below the command line, as on an Arm machine
  cluster          the tests that need a Kubernetes cluster, on a real one of two nodes on this machine
  guest [WORD…]    checks in a guest of QEMU's, with another kernel and NVMe, zoned and SCSI disks; those with a word in their names
  guest script FILE  boots the same guest, and runs a script of yours in it
  tidy             the project's own rules on its source
  bench [--quick]  pairs against fio and bare loops; writes docs/benchmarks.md
  bless            writes the snapshots of the tests anew
  soak compare [TIMES]  compares a zram device with itself, measured in turns (20): one false difference at most
  soak identify [SETTINGS [SEED]]  identifies files with limits drawn at random (10): limits within 3 %, medians within 5 % of fio's
  soak replay      replays recorded runs where they were recorded: the same I/Os, latencies within 5 %; and records of hours: in
                   memory that does not grow
  soak postgres [CUTS]   cuts the power under PostgreSQL on a served disk (200), and looks for what was acknowledged
  soak served [HOURS [IOPS]]  serves a disk for so long (24) under so many I/Os a second (2000): its server's memory must be flat
  soak fleet [NODES]     puts so many nodes' records together (1000): in a minute, in 500 MB, the sum of each
  soak k8s [TIMES [SEED]]  kills runs on a real cluster (100), which cleanup removes; and fetches a GiB over a connection
                   that is cut ten times
  soak [KILLS [SEED]]  kills runs, sweeps, recordings and reports at random moments (1000) and looks at what is left
  disturb [--noisy] [--times N] [--only NAME] [--keep DIR]  disturbs real loads in every known way, and makes a table of
                   what `fathom explain` says of it; keeps the runs that were not told rightly; --noisy: does not wait for
                   a quiet machine, nor repeats what was told wrongly on another
  fuzz [SECONDS [SEED]]  fuzzes each parser for so long (60), from a new seed each time unless one is given
  alike [WORD…]    job files run by fio and by fathom (target/debug): what differs in acceptance, I/Os and bytes
  dist             what users install, for x86-64 and Arm: binaries, Debian packages, an image; into target/dist
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["ci"] => ci::run(),
        ["arm"] => arm::run(),
        ["arm", "nearest"] => arm::test_nearest().map(|counts| counts.tell()),
        ["dist"] => dist::run(),
        ["cluster"] => cluster::run(),
        ["guest", options @ ..] => guest::run(options),
        ["tidy"] => tidy::run(),
        ["bench", options @ ..] => bench::run(options),
        // Run by `bench`, from an optimised build of this program.
        ["bare", device, seconds] => bench::bare_loop(device, seconds),
        ["bless"] => ci::bless(),
        ["soak", options @ ..] => soak::run(options),
        ["disturb", options @ ..] => disturb::run(options),
        ["alike", words @ ..] => alike::run(words),
        ["fuzz", options @ ..] => fuzz::search(options),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
