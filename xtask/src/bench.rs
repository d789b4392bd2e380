//! Pairs against fio and against bare loops, in one run: ratios, not figures, hold from machine to machine.
//!
//! Data in: the release build, fio, a zram device where there is root. Data out: `docs/benchmarks.md`.

mod bare;
mod measure;
mod model;
mod plan;
mod record;
mod repeats;
mod served;
mod sweep;
mod zram;

use crate::{packages, shell};
use anyhow::{Context, Result, bail};
use measure::{Sample, fathom, fio};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use zram::Zram;

/// How the pairs are run.
#[derive(Debug, Clone)]
struct Settings {
    rounds: usize,
    seconds: u32,
    fathom: PathBuf,
    scratch: PathBuf,
}

/// One line of the table.
struct Row {
    what: String,
    ours: String,
    theirs: String,
    ratio: String,
    bar: &'static str,
}

/// What `--only` takes: a part of the table, measured alone.
const GROUPS: [&str; 9] = [
    "psync", "record", "served", "null", "files", "model", "plan", "sweep", "diskspd",
];

/// Runs all pairs and writes the table; `--quick`, `--only GROUP`: a few of them, and prints them.
pub(crate) fn run(options: &[&str]) -> Result<()> {
    packages::install(packages::TESTS);
    shell::run(&mut shell::cargo(&[
        "build",
        "--release",
        "--locked",
        "-p",
        "fathom",
        "-p",
        "xtask",
        "-p",
        "limited-disk",
    ]))?;
    let quick = options.contains(&"--quick");
    let only = match options {
        [.., "--only", group] => Some(*group),
        _ => None,
    };
    if let Some(group) = only
        && !GROUPS.contains(&group)
    {
        bail!("--only {group}: one of {}", GROUPS.join(", "));
    }
    let wanted = |group: &str| only.is_none_or(|only| only == group);
    let scratch = tempfile::tempdir_in(shell::root().join("target")).or_else(|_| tempfile::tempdir())?;
    let settings = Settings {
        rounds: if quick { 3 } else { 5 },
        seconds: if quick { 1 } else { 2 },
        fathom: crate::ci::target_directory()?.join("release/fathom"),
        scratch: scratch.path().to_owned(),
    };
    let mut rows = Vec::new();
    let on_zram = ["psync", "record", "served"].into_iter().any(wanted);
    match on_zram.then(|| Zram::new(4 << 30)) {
        Some(Ok(zram)) => {
            if wanted("psync") {
                psync(&settings, zram.path(), &mut rows)?;
            }
            if wanted("record") {
                record::ios(&settings, zram.path(), &mut rows)?;
            }
            if wanted("served") {
                served::zram(&settings, zram.path(), &mut rows)?;
            }
            if wanted("record") {
                record::everything(
                    &settings,
                    ("on zram", "≥ 0.88 at 400 k/s"),
                    zram.path(),
                    &mut rows,
                )?;
            }
        }
        Some(Err(error)) => eprintln!("SKIPPED: psync on zram: {error:#}"),
        None => {}
    }
    if wanted("null") {
        null(&settings, &mut rows)?;
    }
    if wanted("served") {
        served::null(&settings, &mut rows)?;
    }
    if wanted("files") {
        asynchronous(&settings, &mut rows)?;
        memory(&settings, &mut rows)?;
        start(&settings, &mut rows)?;
    }
    if wanted("model") {
        model::rows(&settings, &mut rows)?;
    }
    if wanted("plan") {
        plan::rows(&mut rows)?;
    }
    if wanted("record") {
        record::block(&settings, &mut rows)?;
        let file = settings.scratch.join("data");
        record::everything(&settings, ("on a file", "≥ 0.96 at 100 k/s"), &file, &mut rows)?;
        record::counters(&settings, &mut rows)?;
        record::explained(&settings, &mut rows)?;
        record::day(&settings, &mut rows)?;
    }
    if wanted("sweep") {
        sweep::rows(&settings, &mut rows)?;
    }
    if wanted("diskspd") {
        repeats::rows(&settings, &mut rows)?;
    }
    let size = std::fs::metadata(&settings.fathom)?.len();
    rows.push(Row {
        what: String::from("size of the binary"),
        ours: format!("{:.1} MiB", size as f64 / f64::from(1 << 20)),
        theirs: String::from("-"),
        ratio: String::from("-"),
        bar: "< 25 MB",
    });
    let text = render(&rows, &settings);
    println!("{text}");
    if quick || only.is_some() {
        eprintln!("a part, or quickly: docs/benchmarks.md is left as it is");
        return Ok(());
    }
    std::fs::write(shell::root().join("docs/benchmarks.md"), text).context("cannot write docs/benchmarks.md")
}

/// Runs the bare loop, and prints what it came to.
pub(crate) fn bare_loop(device: &str, seconds: &str) -> Result<()> {
    println!("{}", bare::pread(Path::new(device), seconds.parse()?)?);
    Ok(())
}

/// The bare loop in a program of its own: as optimised as fathom, and as fresh.
fn bare(settings: &Settings, device: &Path) -> Result<Sample> {
    let program = settings.fathom.with_file_name("xtask");
    let output = std::process::Command::new(program)
        .arg("bare")
        .arg(device)
        .arg(settings.seconds.to_string())
        .output()?;
    let iops = String::from_utf8_lossy(&output.stdout).trim().parse();
    Ok(Sample {
        iops: iops.context("the bare loop failed")?,
        ..Sample::default()
    })
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    }
}

/// Runs `a` and `b` in turn, the first one changing each round. The samples of both.
fn pairs(
    settings: &Settings,
    mut a: impl FnMut() -> Result<Sample>,
    mut b: impl FnMut() -> Result<Sample>,
) -> Result<Vec<(Sample, Sample)>> {
    let mut samples = Vec::new();
    for round in 0..settings.rounds {
        samples.push(if round % 2 == 0 {
            let first = a()?;
            (first, b()?)
        } else {
            let first = b()?;
            (a()?, first)
        });
    }
    Ok(samples)
}

/// A row about one figure of the samples.
fn row(
    what: &str,
    samples: &[(Sample, Sample)],
    figure: impl Fn(&Sample) -> f64,
    show: impl Fn(f64) -> String,
    bar: &'static str,
) -> Row {
    let side = |pick: fn(&(Sample, Sample)) -> &Sample| {
        let mut values: Vec<f64> = samples.iter().map(|pair| figure(pick(pair))).collect();
        median(&mut values)
    };
    let mut ratios: Vec<f64> = samples
        .iter()
        .map(|(ours, theirs)| figure(ours) / figure(theirs))
        .collect();
    let ratio = median(&mut ratios);
    let (low, high) = (ratios[0], ratios[ratios.len() - 1]);
    Row {
        what: what.to_owned(),
        ours: show(side(|pair| &pair.0)),
        theirs: show(side(|pair| &pair.1)),
        ratio: format!("{ratio:.2} ({low:.2} to {high:.2})"),
        bar,
    }
}

fn millions(n: f64) -> String {
    format!("{:.2} M/s", n / 1e6)
}
fn thousands(n: f64) -> String {
    format!("{:.1} k/s", n / 1e3)
}
fn nanoseconds(n: f64) -> String {
    format!("{n:.0} ns")
}

fn psync(settings: &Settings, device: &Path, rows: &mut Vec<Row>) -> Result<()> {
    let target = device.display().to_string();
    let job = [
        "--rw=randread",
        "--bs=4k",
        "--ioengine=psync",
        "--direct=1",
        "--size=4g",
        "--time_based",
    ];
    for (map, label) in [
        ("--norandommap=1", ", norandommap"),
        ("--norandommap=0", ", random map"),
    ] {
        let args: Vec<&str> = job.iter().copied().chain([map]).collect();
        let samples = pairs(
            settings,
            || fathom(settings, &args, Some(&target)),
            || fio(settings, &args, Some(&target)),
        )?;
        rows.push(row(
            &format!("psync 4k randread on zram{label}: IOPS, against fio"),
            &samples,
            |s| s.iops,
            millions,
            "≥ 1.3",
        ));
    }
    let args: Vec<&str> = job.iter().copied().chain(["--norandommap=1"]).collect();
    let samples = pairs(
        settings,
        || fathom(settings, &args, Some(&target)),
        || bare(settings, device),
    )?;
    rows.push(row(
        "the same against a bare pread loop",
        &samples,
        |s| s.iops,
        millions,
        "≥ 0.92",
    ));
    Ok(())
}

fn null(settings: &Settings, rows: &mut Vec<Row>) -> Result<()> {
    for depth in ["--iodepth=1", "--iodepth=32"] {
        let args = [
            "--rw=randread",
            "--bs=4k",
            "--ioengine=null",
            "--size=1g",
            "--norandommap=1",
            "--time_based",
            depth,
        ];
        let samples = pairs(
            settings,
            || fathom(settings, &args, None),
            || fio(settings, &args, None),
        )?;
        let what = format!("null engine, {}, one worker: I/O/s, against fio", &depth[2..]);
        rows.push(row(
            &what,
            &samples,
            |s| s.iops,
            millions,
            if depth == "--iodepth=1" { "≥ 25 M/s" } else { "" },
        ));
    }
    let args = [
        "--rw=randread",
        "--bs=4k",
        "--ioengine=null",
        "--size=1g",
        "--norandommap=1",
        "--time_based",
    ];
    let two: Vec<&str> = args
        .iter()
        .copied()
        .chain(["--numjobs=2", "--group_reporting=1"])
        .collect();
    let samples = pairs(
        settings,
        || fathom(settings, &two, None),
        || fathom(settings, &args, None),
    )?;
    rows.push(row(
        "null engine, two workers against one",
        &samples,
        |s| s.iops,
        millions,
        "≥ 1.9",
    ));
    Ok(())
}

fn asynchronous(settings: &Settings, rows: &mut Vec<Row>) -> Result<()> {
    let file = settings.scratch.join("data").display().to_string();
    for engine in ["libaio", "io_uring"] {
        let engine_flag = format!("--ioengine={engine}");
        let args = [
            "--rw=randread",
            "--bs=4k",
            engine_flag.as_str(),
            "--iodepth=32",
            "--direct=1",
            "--size=1g",
            "--time_based",
        ];
        let samples = pairs(
            settings,
            || fathom(settings, &args, Some(&file)),
            || fio(settings, &args, Some(&file)),
        )?;
        let what = format!("{engine} 4k randread QD32 on a file");
        rows.push(row(
            &format!("{what}: user CPU an I/O"),
            &samples,
            |s| s.user_ns_per_io,
            nanoseconds,
            "≤ 0.5",
        ));
        rows.push(row(
            &format!("{what}: user + system"),
            &samples,
            |s| s.cpu_ns_per_io,
            nanoseconds,
            "",
        ));
        rows.push(row(&format!("{what}: IOPS"), &samples, |s| s.iops, thousands, ""));
    }
    Ok(())
}

fn memory(settings: &Settings, rows: &mut Vec<Row>) -> Result<()> {
    let file = settings.scratch.join("data").display().to_string();
    let args = [
        "--rw=randread",
        "--bs=4k",
        "--ioengine=libaio",
        "--iodepth=256",
        "--direct=1",
        "--size=1g",
        "--time_based",
    ];
    let samples = pairs(
        settings,
        || fathom(settings, &args, Some(&file)),
        || fio(settings, &args, Some(&file)),
    )?;
    let show = |bytes: f64| format!("{:.1} MiB", bytes / f64::from(1 << 20));
    rows.push(row(
        "peak memory, libaio QD256, one worker",
        &samples,
        |s| s.peak_rss_bytes,
        show,
        "≤ 1",
    ));
    Ok(())
}

fn start(settings: &Settings, rows: &mut Vec<Row>) -> Result<()> {
    let file = settings.scratch.join("data").display().to_string();
    let mut times = Vec::new();
    for _ in 0..settings.rounds {
        times.push(measure::start_to_first_io(settings, &file)?);
    }
    rows.push(Row {
        what: String::from("from exec to the first I/O"),
        ours: format!("{:.1} ms", median(&mut times) * 1e3),
        theirs: String::from("-"),
        ratio: String::from("-"),
        bar: "< 20 ms",
    });
    Ok(())
}

fn render(rows: &[Row], settings: &Settings) -> String {
    let mut text = String::from("# Benchmarks\n\n");
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let model = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .unwrap_or("unknown");
    let kernel = read("/proc/sys/kernel/osrelease");
    let cpus = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let _ = writeln!(
        text,
        "Written by `cargo xtask bench`: pairs in turn, {} rounds of {} s each; medians, and the lowest and highest \
         ratio of a pair. Load average at the end: {}.\n",
        settings.rounds,
        settings.seconds,
        read("/proc/loadavg")
            .split_whitespace()
            .next()
            .unwrap_or("unknown"),
    );
    let _ = writeln!(
        text,
        "Machine: {cpus} CPUs, {}, Linux {}. {}.\n",
        model.trim_matches([' ', '\t', ':']),
        kernel.trim(),
        measure::fio_version(),
    );
    text.push_str("| what | fathom | the other | ratio | bar |\n|---|---|---|---|---|\n");
    for Row {
        what,
        ours,
        theirs,
        ratio,
        bar,
    } in rows
    {
        let _ = writeln!(text, "| {what} | {ours} | {theirs} | {ratio} | {bar} |");
    }
    text
}
