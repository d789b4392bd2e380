//! What being looked at costs the load: `--serve` with a scraper and viewers, against nobody.
//!
//! Data in: the release build, a zram device where there is one. Data out: rows of the table. The other side of each pair is the same load
//! that is not served.

use super::measure::{Sample, fathom, sample};
use super::{Row, Settings, median, millions, pairs};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{ChildStderr, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use wait4::Wait4;

/// What is looked for is half a percent: a median of many.
const ROUNDS: usize = 20;
const SCRAPED_EVERY: Duration = Duration::from_secs(1);

/// On a RAM disk, the most I/Os a second that this machine does with one worker.
pub(super) fn zram(settings: &Settings, device: &Path, rows: &mut Vec<Row>) -> Result<()> {
    let target = device.display().to_string();
    let args = [
        "--rw=randread",
        "--bs=4k",
        "--ioengine=psync",
        "--direct=1",
        "--size=4g",
        "--norandommap=1",
        "--time_based",
    ];
    for viewers in [1, 10] {
        let (what, target) = ("psync 4k randread on zram: IOPS", Some(target.as_str()));
        rows.push(pair(settings, (what, "≥ 0.995"), &args, target, viewers)?);
    }
    Ok(())
}

/// On a backend that does nothing: the floor that each report states.
pub(super) fn null(settings: &Settings, rows: &mut Vec<Row>) -> Result<()> {
    let args = [
        "--rw=randread",
        "--bs=4k",
        "--ioengine=null",
        "--size=1g",
        "--time_based",
    ];
    rows.push(pair(
        settings,
        ("null engine: I/Os a second", "≥ 0.995"),
        &args,
        None,
        1,
    )?);
    Ok(())
}

fn pair(
    settings: &Settings,
    (what, bar): (&str, &'static str),
    args: &[&str],
    target: Option<&str>,
    viewers: usize,
) -> Result<Row> {
    // A viewer that joins and a scrape that comes need a while to be seen.
    let settings = &Settings {
        rounds: settings.rounds.max(ROUNDS),
        seconds: settings.seconds.max(4),
        ..settings.clone()
    };
    let told = AtomicU64::new(0);
    let samples = pairs(
        settings,
        || served(settings, args, target, viewers, &told),
        || fathom(settings, args, target),
    )?;
    let mut ratios: Vec<f64> = samples
        .iter()
        .map(|(ours, theirs)| ours.iops / theirs.iops)
        .collect();
    let side = |pick: fn(&(Sample, Sample)) -> f64| {
        let mut values: Vec<f64> = samples.iter().map(pick).collect();
        millions(median(&mut values))
    };
    let ratio = median(&mut ratios);
    let quarter = ratios.len() / 4;
    Ok(Row {
        what: format!(
            "--serve, {what}, 1 scraper a second and {viewers} viewers ({:.0} KB told a run), against nobody",
            told.load(Ordering::Relaxed) as f64 / 1e3 / samples.len() as f64
        ),
        ours: side(|pair| pair.0.iops),
        theirs: side(|pair| pair.1.iops),
        ratio: format!(
            "{ratio:.4} (half of them {:.4} to {:.4})",
            ratios[quarter],
            ratios[ratios.len() - 1 - quarter]
        ),
        bar,
    })
}

/// One run while it is looked at; `told`: all bytes that whoever looked was sent.
fn served(
    settings: &Settings,
    args: &[&str],
    target: Option<&str>,
    viewers: usize,
    told: &AtomicU64,
) -> Result<Sample> {
    let mut command = Command::new(&settings.fathom);
    command
        .args(["run", "--json", "--quiet", "--no-record", "--serve=0"])
        .args(args)
        .arg(format!("--runtime={}s", settings.seconds))
        .args(target)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot run {command:?}"))?;
    let mut said = BufReader::new(child.stderr.take().context("no pipe")?);
    let at = address(&mut said)?;
    let ended = Arc::new(AtomicBool::new(false));
    let mut looking: Vec<JoinHandle<u64>> = (0..viewers).map(|_| viewer(&at)).collect();
    looking.push(scraper(&at, &ended));
    // What it says later must not fill the pipe.
    let rest = std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
    let mut output = String::new();
    child
        .stdout
        .take()
        .context("no pipe")?
        .read_to_string(&mut output)?;
    let result = child.wait4()?;
    ended.store(true, Ordering::Relaxed);
    for one in looking {
        let bytes = one.join().map_err(|_| anyhow::anyhow!("who looked failed"))?;
        if bytes == 0 {
            bail!("nothing was told to who looked");
        }
        told.fetch_add(bytes, Ordering::Relaxed);
    }
    rest.join()
        .map_err(|_| anyhow::anyhow!("its messages could not be read"))??;
    if !result.status.success() {
        bail!("{command:?} failed: {output}");
    }
    let document: Value = serde_json::from_str(&output)?;
    let read = &document["jobs"][0]["read"];
    sample(&read["ios"], &read["iops"], result.rusage)
}

fn address(said: &mut BufReader<ChildStderr>) -> Result<String> {
    let mut lines = String::new();
    while said.read_line(&mut lines)? > 0 {
        let last = lines.lines().next_back().unwrap_or_default();
        if let Some(rest) = last.strip_prefix("serving http://") {
            return Ok(rest.split('/').next().unwrap_or_default().to_owned());
        }
    }
    bail!("it does not serve: {lines}")
}

/// Reads all that one request is answered with: so many bytes, until it ends or is cut off by the end of the run.
fn read_all(at: &str, request: &str) -> u64 {
    let request = format!("{request}\r\nHost: {at}\r\nConnection: close\r\n\r\n");
    let Ok(mut stream) = TcpStream::connect(at) else {
        return 0;
    };
    if stream.write_all(request.as_bytes()).is_err() {
        return 0;
    }
    let (mut bytes, mut buffer) = (0, vec![0; 64 << 10]);
    while let Ok(n @ 1..) = stream.read(&mut buffer) {
        bytes += n as u64;
    }
    bytes
}

fn viewer(at: &str) -> JoinHandle<u64> {
    let at = at.to_owned();
    std::thread::spawn(move || read_all(&at, "GET /events HTTP/1.1"))
}

fn scraper(at: &str, ended: &Arc<AtomicBool>) -> JoinHandle<u64> {
    let (at, ended) = (at.to_owned(), Arc::clone(ended));
    std::thread::spawn(move || {
        let accept =
            "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";
        let request = format!("GET /metrics HTTP/1.1\r\nAccept: {accept}");
        let mut bytes = 0;
        while !ended.load(Ordering::Relaxed) {
            // The last one may come when it has gone.
            bytes += read_all(&at, &request);
            std::thread::sleep(SCRAPED_EVERY);
        }
        bytes
    })
}
