//! How fast virtual time passes: whole runs of the program on modelled disks, from exec to exit.
//!
//! Data in: the release build. Data out: rows of the table. No other tool has a model: the null engine, which does the same
//! but for the disk, is measured beside it.

use super::measure::{Sample, fathom, measured};
use super::{Row, Settings, median, millions, pairs, row};
use anyhow::{Context, Result, ensure};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Modelled disks, and the depth of the load on them.
const CASES: [(&str, &str, u32, u32); 2] = [
    (
        "Ultra, 400 000 IOPS",
        "azure/Ultra,size=1t,iops=400000,mbps=10000",
        16,
        1_000,
    ),
    (
        "Ultra, 400 000 IOPS",
        "azure/Ultra,size=1t,iops=400000,mbps=10000",
        1024,
        60,
    ),
];

/// Appends the rows.
pub(super) fn rows(settings: &Settings, rows: &mut Vec<Row>) -> Result<()> {
    for depth in ["--iodepth=16", "--iodepth=1024"] {
        rows.push(beside_null(settings, depth)?);
    }
    for (name, target, depth, seconds) in CASES {
        let mut rates = Vec::new();
        for _ in 0..settings.rounds {
            rates.push(rate(settings, target, depth, seconds)?);
        }
        rows.push(Row {
            what: format!(
                "modelled {name}, 4k randread, iodepth={depth}: I/O/s of the whole program, recorded"
            ),
            ours: format!("{:.1} M/s", median(&mut rates) / 1e6),
            theirs: String::from("-"),
            ratio: String::from("-"),
            bar: "",
        });
    }
    for (name, what, bar) in [
        (
            "premium-24h",
            "24 hours at 120 I/O/s (`fathom reproduce premium-24h`)",
            "< 2 s",
        ),
        (
            "azure-a2-2016",
            "200 points, 23 hours (`fathom reproduce azure-a2-2016`)",
            "< 5 s",
        ),
    ] {
        let mut times = Vec::new();
        for _ in 0..settings.rounds {
            times.push(timed(Command::new(&settings.fathom).args(["reproduce", name]))?.0);
        }
        rows.push(Row {
            what: format!("modelled {what}"),
            ours: format!("{:.2} s", median(&mut times)),
            theirs: String::from("-"),
            ratio: String::from("-"),
            bar,
        });
    }
    Ok(())
}

/// Four hours on a P15 against the null engine at the same depth: I/Os in a second of CPU of the whole program.
fn beside_null(settings: &Settings, depth: &str) -> Result<Row> {
    // Past the page cache: through it libaio waits for each I/O, and the depth has no effect.
    let load = [
        "--rw=randread",
        "--bs=4k",
        "--direct=1",
        "--norandommap=1",
        "--time_based",
        depth,
    ];
    let null = [&load[..], &["--ioengine=null", "--size=1g"]].concat();
    let samples = pairs(
        settings,
        || four_hours(settings, &load),
        || fathom(settings, &null, None),
    )?;
    let what = format!(
        "modelled P15 over four hours, {}: recorded: I/Os a second of CPU, against the null engine",
        &depth[2..]
    );
    Ok(row(&what, &samples, |s| 1e9 / s.cpu_ns_per_io, millions, "≥ 0.8"))
}

fn four_hours(settings: &Settings, load: &[&str]) -> Result<Sample> {
    let mut command = Command::new(&settings.fathom);
    command.args([
        "run",
        "--json",
        "--quiet",
        "--no-record",
        "--runtime=4h",
        "--ioengine=libaio",
    ]);
    let (document, usage) = measured(command.args(load).arg("--on=model:azure/P15"))?;
    let read = &document["jobs"][0]["read"];
    super::measure::sample(&read["ios"], &read["iops"], usage)
}

/// Modelled I/Os in a second of real time.
fn rate(settings: &Settings, target: &str, depth: u32, seconds: u32) -> Result<f64> {
    let dir = settings.scratch.join("modelled");
    let mut command = Command::new(&settings.fathom);
    command
        .args(
            "run --rw randread --bs 4k --norandommap --ioengine libaio --direct 1 --time_based -q --json"
                .split(' '),
        )
        .args(["--iodepth", &depth.to_string(), "--runtime", &seconds.to_string()])
        .args(["--on", &format!("model:{target}"), "-o"])
        .arg(&dir);
    let (elapsed, stdout) = timed(&mut command)?;
    std::fs::remove_dir_all(&dir).context("the run left no record")?;
    let run: serde_json::Value = serde_json::from_slice(&stdout)?;
    let ios = run["jobs"][0]["read"]["ios"]
        .as_u64()
        .context("no I/Os in the results")?;
    Ok(ios as f64 / elapsed)
}

/// Runs a command to its end: seconds, and what it printed.
fn timed(command: &mut Command) -> Result<(f64, Vec<u8>)> {
    let begin = Instant::now();
    let output = command.stderr(Stdio::inherit()).output()?;
    let elapsed = begin.elapsed().as_secs_f64();
    ensure!(output.status.success(), "{command:?}: {}", output.status);
    Ok((elapsed, output.stdout))
}
