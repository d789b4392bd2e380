//! Job files run by fio and by fathom side by side: accepted alike, as many I/Os and bytes in each direction.
//!
//! Data in: `alike/cases.txt`, and job files drawn from the options in `alike/drawn.rs`. Data out: what differs, one line a job
//! file, and the shares that agree. It knows fathom as its users do, by its command line.

mod drawn;

use crate::ci::target_directory;
use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

const CASES: &str = include_str!("alike/cases.txt");
/// Processes of either at a time.
const AT_ONCE: usize = 3;
/// A job file that takes longer than this hangs.
const SECONDS_MAX: &str = "15";
/// What `timeout` ends with then.
const HUNG: i32 = 137;
/// What reads and writes of a mix may differ by, as a share of all: fio itself varies as much by seed.
const SPLIT_MAX: f64 = 0.13;

/// What stands in a job file for an export of 16 MiB.
const EXPORT: &str = "nbd+unix:///disk?socket=nbd.sock";

/// One job file.
#[derive(Debug, Clone)]
struct Case {
    /// With `;` for the ends of its lines.
    line: String,
    /// How much it does depends on time or chance.
    acceptance_only: bool,
    /// How far amounts may be apart, as a share.
    apart_max: f64,
    /// fathom differs on purpose.
    on_purpose: bool,
}

impl Case {
    fn from_line(line: &str) -> Self {
        let (line, acceptance_only) = line.strip_prefix('~').map_or((line, false), |line| (line, true));
        let (line, by_chance) = line.strip_prefix('%').map_or((line, false), |line| (line, true));
        let (line, on_purpose) = line.strip_prefix('!').map_or((line, false), |line| (line, true));
        Self {
            line: line.to_owned(),
            acceptance_only,
            apart_max: if by_chance { 0.2 } else { 0.0 },
            on_purpose,
        }
    }

    fn job_file(&self) -> String {
        let header = if self.line.starts_with('[') { "" } else { "[j]\n" };
        format!("{header}{}\n", self.line.replace(';', "\n"))
    }
}

/// What one program made of a job file: I/Os and bytes of reads, writes and trims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Done {
    ios: [u64; 3],
    bytes: [u64; 3],
}

/// What became of a case.
#[derive(Debug)]
enum Verdict {
    Same,
    /// Both refuse it.
    Refused,
    Accepted(String),
    Amount(String),
    /// fio never ends: nothing to compare.
    Hung,
}

/// `[WORD]`: only job files that hold it.
pub(crate) fn run(options: &[&str]) -> Result<()> {
    let cases = CASES.lines().map(str::trim);
    let cases = cases.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let drawn = drawn::lines();
    let all = cases.chain(drawn.iter().map(String::as_str)).map(Case::from_line);
    let wanted = |case: &Case| options.iter().all(|word| case.line.contains(word));
    let cases: Vec<Case> = all.filter(wanted).collect();
    ensure!(!cases.is_empty(), "no job file holds {options:?}");
    let program = target_directory()?.join("debug/fathom");
    ensure!(
        program.exists(),
        "{} is not there: cargo build -p fathom first",
        program.display()
    );
    let verdicts: Mutex<Vec<Option<Verdict>>> = Mutex::new(cases.iter().map(|_| None).collect());
    let next = AtomicUsize::new(0);
    let work = || -> Result<()> {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = cases.get(at) else { return Ok(()) };
            let verdict = compared(case, &program).with_context(|| case.line.clone())?;
            verdicts.lock().unwrap_or_else(std::sync::PoisonError::into_inner)[at] = Some(verdict);
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })?;
    let verdicts = verdicts
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    report(&cases, &verdicts);
    Ok(())
}

/// Of how many job files something holds: of all, and where differences on purpose count as none.
#[derive(Debug, Default)]
struct Share {
    of: u32,
    alike: u32,
    on_purpose: u32,
}

impl Share {
    fn count(&mut self, alike: bool, on_purpose: bool) {
        self.of += 1;
        self.alike += u32::from(alike);
        self.on_purpose += u32::from(!alike && on_purpose);
    }

    fn in_words(&self) -> String {
        let percent = |n: u32| f64::from(n) * 100.0 / f64::from(self.of.max(1));
        let with = self.alike + self.on_purpose;
        format!(
            "{} of {} ({:.1} %); with the {} that differ on purpose {with} ({:.1} %)",
            self.alike,
            self.of,
            percent(self.alike),
            self.on_purpose,
            percent(with)
        )
    }
}

fn report(cases: &[Case], verdicts: &[Option<Verdict>]) {
    let (mut accepted, mut amounts, mut refused) = (Share::default(), Share::default(), 0);
    for (case, verdict) in cases.iter().zip(verdicts) {
        let Some(verdict) = verdict else { continue };
        if matches!(verdict, Verdict::Hung) {
            println!("{}\n    fio hangs: not counted", case.line);
            continue;
        }
        refused += u32::from(matches!(verdict, Verdict::Refused));
        let on_purpose = case.on_purpose;
        accepted.count(!matches!(verdict, Verdict::Accepted(_)), on_purpose);
        // Only of what both carry out there are two amounts.
        if !case.acceptance_only && matches!(verdict, Verdict::Same | Verdict::Amount(_)) {
            amounts.count(matches!(verdict, Verdict::Same), on_purpose);
        }
        match verdict {
            Verdict::Accepted(what) | Verdict::Amount(what) => {
                let why = if on_purpose { "on purpose: " } else { "" };
                println!("{}\n    {why}{what}", case.line);
            }
            _ if on_purpose => println!("{}\n    no longer a difference", case.line),
            _ => {}
        }
    }
    println!(
        "accepted and refused alike: {} ({refused} refused by both)",
        accepted.in_words()
    );
    println!("equal I/Os and bytes: {}", amounts.in_words());
}

/// Runs `case` by both, each in a directory of its own.
fn compared(case: &Case, program: &Path) -> Result<Verdict> {
    let ours = {
        let scratch = tempfile::tempdir()?;
        let mut words = vec![
            "fio",
            "--output-format=json",
            "--output=result.json",
            "--allow-overwrite",
            "pre",
        ];
        if case.line.contains("exec") {
            words.push("--allow-exec");
        }
        if case.line.contains(EXPORT) {
            words.extend(["--allow-overwrite", EXPORT]);
        }
        words.push("job.fio");
        let _server = Server::of(case, program, &scratch)?;
        ran(case, program, &words, &scratch)?.done()
    };
    let scratch = tempfile::tempdir()?;
    let _server = Server::of(case, program, &scratch)?;
    let words = ["--output-format=json", "--output=result.json", "job.fio"];
    let fio = ran(case, Path::new("fio"), &words, &scratch)?;
    if fio.status.code() == Some(HUNG) {
        return Ok(Verdict::Hung);
    }
    let theirs = fio.done();
    Ok(match (theirs, ours) {
        (Err(_), Err(_)) => Verdict::Refused,
        (Err(why), Ok(_)) => Verdict::Accepted(format!("only fathom accepts it; fio: {why}")),
        (Ok(_), Err(why)) => Verdict::Accepted(format!("only fio accepts it; fathom: {why}")),
        (Ok(_), Ok(_)) if case.acceptance_only => Verdict::Same,
        (Ok(theirs), Ok(ours)) if alike(&theirs, &ours, case) => Verdict::Same,
        (Ok(theirs), Ok(ours)) => Verdict::Amount(format!(
            "fio {:?} {:?}, fathom {:?} {:?}",
            theirs.ios, theirs.bytes, ours.ios, ours.bytes
        )),
    })
}

/// What is left of one run.
#[derive(Debug)]
struct Ran {
    status: ExitStatus,
    stderr: String,
    json: String,
}

/// A server of [`EXPORT`], for as long as it is held.
struct Server(Child);

impl Server {
    /// Of the case where that needs one.
    fn of(case: &Case, program: &Path, scratch: &TempDir) -> Result<Option<Self>> {
        if !case.line.contains(EXPORT) {
            return Ok(None);
        }
        let words = "disk serve null: --size 16MiB --nbd unix:nbd.sock --control control.sock -q";
        let mut server = Command::new(program)
            .args(words.split(' '))
            .current_dir(scratch.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot run {}", program.display()))?;
        let told = server.stdout.take();
        let server = Self(server);
        for line in told.map(BufReader::new).into_iter().flat_map(BufRead::lines) {
            if line?.starts_with("ready") {
                return Ok(Some(server));
            }
        }
        bail!("{} {words}: it does not serve", program.display())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, which the case has shown then.
        let _ended = self.0.kill().and_then(|()| self.0.wait());
    }
}

/// A port that nobody has at the moment.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Runs `program` in a new directory with the job file and what it may need, and ends whatever it leaves behind.
fn ran(case: &Case, program: &Path, words: &[&str], scratch: &TempDir) -> Result<Ran> {
    let here = |name: &str| scratch.path().join(name);
    let mut job_file = case.job_file();
    if job_file.contains("PORT") {
        job_file = job_file.replace("PORT", &free_port()?.to_string());
    }
    std::fs::write(here("job.fio"), job_file)?;
    if case.line.contains("pre") {
        std::fs::write(here("pre"), vec![0x5a; 4 << 20])?;
    }
    if case.line.contains("pre.iolog") {
        let log = "fio version 3 iolog\n1 pre add\n2 pre open\n1000 pre read 0 8192\n30000 pre read 20480 4096\n\
                   60000 pre write 65536 16384\n61000 pre read 1048576 4096\n90000 pre close\n";
        std::fs::write(here("pre.iolog"), log)?;
    }
    if case.line.contains("pdir") {
        std::fs::create_dir(here("pdir"))?;
        std::fs::write(here("pdir/a"), vec![0x5a; 1 << 20])?;
        std::fs::write(here("pdir/b"), vec![0xa5; 1 << 20])?;
    }
    if case.line.contains("pattern.bin") {
        std::fs::write(here("pattern.bin"), "a pattern from a file")?;
    }
    // Into files: a job of fio's that outlives it would hold a pipe open.
    let status = Command::new("timeout")
        .args(["--signal=KILL", SECONDS_MAX])
        .arg(program)
        .args(words)
        .current_dir(scratch.path())
        .stdin(Stdio::null())
        .stdout(File::create(here("stdout"))?)
        .stderr(File::create(here("stderr"))?)
        .status()
        .with_context(|| format!("cannot run {}", program.display()))?;
    // Also of a fio that ended: where its engine exec finds no program, a copy of fio stays.
    end_all_in(scratch.path())?;
    let text =
        |name: &str| std::fs::read(here(name)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(Ran {
        status,
        stderr: text("stderr")?,
        json: text("result.json").or_else(|_| text("stdout"))?,
    })
}

/// Ends the processes that work in `directory`: jobs of a fio that is gone, which lead sessions of their own, and servers.
fn end_all_in(directory: &Path) -> Result<()> {
    for entry in std::fs::read_dir("/proc")? {
        let entry = entry?;
        let number = entry.file_name().to_str().and_then(|name| name.parse().ok());
        let Some(pid) = number.and_then(Pid::from_raw) else {
            continue;
        };
        if std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == directory) {
            match rustix::process::kill_process(pid, Signal::KILL) {
                // It ended meanwhile.
                Ok(()) | Err(rustix::io::Errno::SRCH) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(())
}

impl Ran {
    /// The sums over all jobs, or what the program said.
    fn done(&self) -> std::result::Result<Done, String> {
        let json = self.json.find('{').map_or("", |start| &self.json[start..]);
        let document: Value = match serde_json::from_str(json) {
            Ok(document) if self.status.success() => document,
            _ => {
                let mut lines = self.stderr.lines();
                let line = lines.find(|line| !line.contains("warning") && !line.contains("note"));
                return Err(format!("{} {}", self.status, line.unwrap_or_default()));
            }
        };
        let sum = |op: &str, field: &str| {
            let jobs = document["jobs"].as_array().into_iter().flatten();
            jobs.map(|job| {
                let mixed = job["mixed"][field].as_u64().filter(|_| op == "read");
                job[op][field].as_u64().unwrap_or(0) + mixed.unwrap_or(0)
            })
            .sum()
        };
        Ok(Done {
            ios: ["read", "write", "trim"].map(|op| sum(op, "total_ios")),
            bytes: ["read", "write", "trim"].map(|op| sum(op, "io_bytes")),
        })
    }
}

/// Equal in each direction; in a mix, equal in sum, and nearly so in each direction; with what the case allows beyond that.
fn alike(theirs: &Done, ours: &Done, case: &Case) -> bool {
    let apart_max = case.apart_max;
    // Where I/Os are counted, bytes follow the split, whose sizes may differ.
    let by_ios = case.line.contains("number_ios");
    let mixed = theirs.ios.iter().filter(|&&n| n > 0).count() > 1;
    // Of few I/Os the split varies by more: three standard deviations of a fair coin.
    let ios = theirs.ios.iter().sum::<u64>().max(1) as f64;
    let chance = if mixed {
        SPLIT_MAX.max(1.5 / ios.sqrt())
    } else {
        0.0
    };
    // Reads that verify the writes of a mix are as many as those.
    let verified = mixed && case.line.contains("verify=");
    let near = |a: &[u64; 3], b: &[u64; 3]| {
        let (sum_a, sum_b) = (a.iter().sum::<u64>(), b.iter().sum::<u64>());
        let share = |share: f64| (sum_a.max(sum_b) as f64 * share) as u64;
        let sums_apart = share(apart_max + if verified { chance } else { 0.0 });
        let most = share(apart_max + chance);
        sum_a.abs_diff(sum_b) <= sums_apart && a.iter().zip(b).all(|(a, b)| a.abs_diff(*b) <= most)
    };
    near(&theirs.ios, &ours.ios) && (by_ios || near(&theirs.bytes, &ours.bytes))
}
