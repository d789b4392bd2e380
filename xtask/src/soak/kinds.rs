//! What is killed, and what must be so afterwards.

use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Something that is killed.
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// What is started.
    pub(super) line: &'static str,
    /// It is killed at some time below this after its start, in µs.
    pub(super) longest_us: u64,
    /// What has to be there before.
    pub(super) prepare: fn(&Place) -> Result<()>,
    /// What must be so afterwards: given when it was killed, and how long after its start.
    pub(super) check: fn(&Place, u64, Duration) -> Result<Left>,
}

/// What a kill left.
pub(super) struct Left {
    /// Nothing yet.
    pub(super) early: bool,
    /// How long before the kill the last row is.
    pub(super) lost_ms: u64,
}

/// All of them.
pub(super) const KINDS: [Kind; 4] = [
    Kind {
        name: "recorded run",
        line: "run --rw randrw --bs 4k --size 8m --rate_iops 400,400 --time_based --runtime 30s --record -q -o run data",
        longest_us: 3_500_000,
        prepare: nothing,
        check: run_is_whole,
    },
    Kind {
        name: "sweep",
        line: "sweep --rw randread,randwrite --bs 4k,8k --iodepth 1,2 --warmup 0 --duration 1 --size 4m -q -o sweep data",
        longest_us: 4_000_000,
        prepare: nothing,
        check: sweep_is_whole,
    },
    Kind {
        name: "recording",
        line: "record --device . --duration 30s -q -o recording",
        longest_us: 3_000_000,
        prepare: nothing,
        check: recording_is_whole,
    },
    Kind {
        name: "report",
        line: "report model -o r.html -o r.md -o r.csv -q",
        longest_us: 700_000,
        prepare: a_record,
        check: report_is_whole,
    },
];

/// A directory with files of a user's, where fathom runs.
pub(super) struct Place {
    dir: tempfile::TempDir,
    program: PathBuf,
}

impl Place {
    pub(super) fn new(program: &Path) -> Result<Self> {
        let place = Self {
            dir: tempfile::tempdir_in(program.parent().context("a directory")?)?,
            program: program.to_owned(),
        };
        std::fs::write(place.path("dear"), vec![7; 1 << 20])?;
        std::fs::create_dir(place.path("docs"))?;
        std::fs::write(place.path("docs/dear.md"), "dear")?;
        Ok(place)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The user's files, as they are.
    pub(super) fn dear(&self) -> Result<Vec<Vec<u8>>> {
        let names = ["dear", "docs/dear.md"];
        names
            .iter()
            .map(|name| std::fs::read(self.path(name)).with_context(|| format!("{name} is gone")))
            .collect()
    }

    pub(super) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(line.split_whitespace())
            .current_dir(self.dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Runs a command that must succeed; what it printed.
    pub(super) fn fathom(&self, line: &str) -> Result<String> {
        let output = self
            .command(line)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .output()?;
        if !output.status.success() {
            bail!(
                "fathom {line}: {}\n{}",
                output.status,
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// `CLOCK_MONOTONIC`, to 10 ms: the machine was not asleep since it was started.
pub(super) fn monotonic_ns() -> Result<u64> {
    let text = std::fs::read_to_string("/proc/uptime")?;
    let seconds: f64 = text.split_whitespace().next().context("an uptime")?.parse()?;
    Ok((seconds * 1e9) as u64)
}

#[expect(clippy::unnecessary_wraps, reason = "others need more")]
fn nothing(_: &Place) -> Result<()> {
    Ok(())
}

fn a_record(place: &Place) -> Result<()> {
    let line = "run --rw randread --bs 4k --size 1g --time_based --runtime 20s --iodepth 4 --ioengine libaio --direct 1 \
                --on model:azure/P10 --record=io -q -o model";
    place.fathom(line).map(drop)
}

fn run_is_whole(place: &Place, killed_ns: u64, after: Duration) -> Result<Left> {
    // The streams come after it.
    if !place.path("run/run.json").exists() || !place.path("run/io").exists() {
        return Ok(nothing_yet());
    }
    let last_ns = last(&place.fathom("export run --csv")?, "completed_ns")?;
    whole(place, "run")?;
    // What it wrote to is its own still.
    place.fathom("run --rw randwrite --bs 4k --size 64k --number_ios 4 -o none -q data")?;
    Ok(lost(last_ns, killed_ns, after))
}

fn recording_is_whole(place: &Place, killed_ns: u64, after: Duration) -> Result<Left> {
    if !place.path("recording/run.json").exists() {
        return Ok(nothing_yet());
    }
    let _ = (killed_ns, after);
    whole(place, "recording")?;
    Ok(Left {
        early: false,
        lost_ms: 0,
    })
}

/// It can be shown, recovered, and shown again.
fn whole(place: &Place, dir: &str) -> Result<()> {
    place.fathom(&format!("show {dir}"))?;
    place.fathom(&format!("recover {dir}"))?;
    place.fathom(&format!("show {dir} --json")).map(drop)
}

fn sweep_is_whole(place: &Place, _: u64, _: Duration) -> Result<Left> {
    if !place.path("sweep/sweep.json").exists() {
        return Ok(nothing_yet());
    }
    place.fathom("show sweep --json")?;
    let points = std::fs::read_dir(place.path("sweep/points"))?;
    for point in points {
        let point = point?.file_name();
        let name = point.to_string_lossy();
        if !name.ends_with(".part") {
            place.fathom(&format!("show sweep/points/{name}"))?;
        }
    }
    Ok(Left {
        early: false,
        lost_ms: 0,
    })
}

/// Each is whole, or not there.
fn report_is_whole(place: &Place, _: u64, _: Duration) -> Result<Left> {
    let mut early = true;
    for name in ["r.html", "r.md", "r.csv"] {
        let Ok(text) = std::fs::read_to_string(place.path(name)) else {
            continue;
        };
        early = false;
        // A page ends with its last tag, tables and text with a line.
        let end = if name == "r.html" { "</html>" } else { "\n" };
        ensure!(text.ends_with(end) && text.len() > 100, "{name} is half a report");
    }
    // The next one is not in the way of what the last one left.
    place.fathom("report model -o r.html -o r.md -o r.csv -q --force")?;
    Ok(Left { early, lost_ms: 0 })
}

const fn nothing_yet() -> Left {
    Left {
        early: true,
        lost_ms: 0,
    }
}

/// How long before the kill the last row is. A load of 400 I/Os a second in each direction never pauses for long; before
/// its first second has passed there may be none.
fn lost(last_ns: Option<u64>, killed_ns: u64, after: Duration) -> Left {
    let lost_ms = last_ns.map_or(0, |last_ns| killed_ns.saturating_sub(last_ns) / 1_000_000);
    let early = last_ns.is_none() && after < Duration::from_secs(2);
    Left {
        early,
        lost_ms: if last_ns.is_none() && !early {
            u64::MAX
        } else {
            lost_ms
        },
    }
}

/// The largest number of a column.
fn last(csv: &str, column: &str) -> Result<Option<u64>> {
    let mut lines = csv.lines();
    let names = lines.next().context("a line of names")?;
    let at = names
        .split(',')
        .position(|name| name == column)
        .context("the column")?;
    let numbers = lines.filter_map(|line| line.split(',').nth(at)?.parse().ok());
    Ok(numbers.max())
}
