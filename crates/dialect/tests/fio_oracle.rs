//! fio itself as the judge: what it accepts is accepted, what it refuses is refused, and sizes mean the same.
//!
//! Deliberate differences stand in `differences.txt`, each with its reason; one that is no difference any
//! more fails the test as well.

use fathom_core::workload::{BlockSize, Distribution, ZoneSize};
use fathom_dialect::{Context, Parsed, Source, find_exact, parse};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SIZE_VARIABLE: &str = "FATHOM_CORPUS_SIZE";

fn tests_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// Whether fio is there; says so on stderr if not.
fn fio_is_missing(test: &str) -> bool {
    let there = Command::new("fio")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let missing = !there.is_ok_and(|status| status.success());
    if missing {
        fathom_testkit::skipped(test, "fio is not installed");
    }
    missing
}

/// fio in a scratch directory.
fn fio(scratch: &Path) -> Command {
    let mut command = Command::new("fio");
    command
        .current_dir(scratch)
        .env(SIZE_VARIABLE, "1m")
        .stdin(Stdio::null());
    command
}

fn parse_here(name: &str, text: &str) -> Parsed {
    let include = |path: &Path| std::fs::read_to_string(path).map_err(|why| why.to_string());
    let env = |name: &str| (name == SIZE_VARIABLE).then(|| String::from("1m"));
    let context = Context {
        include: &include,
        env: &env,
        pagesize: 4096,
        memory_mib: 1024,
        ncpus: 2,
        seed: 1,
        sections: &[],
    };
    parse(&[Source { name, text }], &[], &context)
}

/// Reads `differences.txt`: for each file whether fathom accepts it.
fn differences() -> BTreeMap<String, bool> {
    let text = std::fs::read_to_string(tests_dir().join("differences.txt")).expect("differences.txt");
    let lines = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines
        .map(|line| {
            let mut parts = line.splitn(3, ": ");
            let (name, verdict) = (parts.next().expect("a name"), parts.next().expect("a verdict"));
            assert!(
                parts.next().is_some_and(|reason| !reason.is_empty()),
                "no reason: {line}"
            );
            let accepts = match verdict {
                "we accept" => true,
                "we refuse" => false,
                other => panic!("`{other}` in: {line}"),
            };
            (name.to_owned(), accepts)
        })
        .collect()
}

/// Whether fio accepts a job file, and what it says.
fn judged(path: &Path, scratch: &Path) -> (bool, String) {
    let output = fio(scratch)
        .arg("--parse-only")
        .arg(path)
        .output()
        .expect("fio runs");
    (
        output.status.success(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

#[test]
fn fio_and_fathom_accept_the_same_job_files() {
    let scratch = tempfile::tempdir().expect("scratch directory");
    if fio_is_missing("fio_and_fathom_accept_the_same_job_files") {
        return;
    }
    let mut differences = differences();
    let mut files: Vec<PathBuf> = std::fs::read_dir(tests_dir().join("corpus"))
        .expect("corpus")
        .map(|entry| entry.expect("entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "fio"))
        .collect();
    files.sort();
    assert!(files.len() >= 60, "only {} job files", files.len());
    // fio takes a quarter of a second to start.
    let theirs: Vec<_> = std::thread::scope(|scope| {
        let chunks: Vec<_> = files
            .chunks(files.len().div_ceil(4))
            .map(|chunk| {
                scope.spawn(|| {
                    chunk
                        .iter()
                        .map(|path| judged(path, scratch.path()))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        chunks
            .into_iter()
            .flat_map(|chunk| chunk.join().expect("no panic"))
            .collect()
    });
    let mut wrong = Vec::new();
    for (path, (theirs, said_by_fio)) in files.iter().zip(theirs) {
        let name = path.file_name().expect("name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(path).expect("text");
        let parsed = parse_here(&path.to_string_lossy(), &text);
        let ours = parsed.workload.is_some();
        let told = || {
            let said: Vec<String> = parsed.diagnostics.iter().map(ToString::to_string).collect();
            format!("fathom {ours} {said:?}, fio {theirs} {said_by_fio}")
        };
        match differences.remove(&name) {
            Some(expected) if expected != ours => wrong.push(format!("{name}: not as listed: {}", told())),
            Some(_) if ours == theirs => wrong.push(format!("{name}: no longer a difference: {}", told())),
            None if ours != theirs => wrong.push(format!("{name}: {}", told())),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        differences.is_empty(),
        "differences without a job file: {differences:?}"
    );
}

/// The block size that fio really uses is read from the bytes of a single I/O on its null engine.
#[test]
fn sizes_mean_the_same() {
    let scratch = tempfile::tempdir().expect("scratch directory");
    if fio_is_missing("sizes_mean_the_same") {
        return;
    }
    let spellings = [
        "4096", "4k", "4K", "4kb", "4Ki", "4KiB", "1m", "1MiB", "0x1000", "010", "512b",
    ];
    // All spellings are jobs of one file: fio starts slowly.
    let mut text = String::from("[global]\nioengine=null\nrw=read\nsize=64m\nnumber_ios=1\n");
    for base in ["1024", "1000"] {
        for (index, spelling) in spellings.iter().enumerate() {
            let _ = write!(text, "[j{base}x{index}]\nkb_base={base}\nbs={spelling}\n");
        }
    }
    let path = scratch.path().join("sizes.fio");
    std::fs::write(&path, &text).expect("written");
    let output = fio(scratch.path())
        .args(["--output-format=terse", "--terse-version=3"])
        .arg(&path)
        .output()
        .expect("fio runs");
    let terse = String::from_utf8_lossy(&output.stdout).into_owned();
    let workload = parse_here("sizes.fio", &text).workload.expect("accepted");
    let mut seen = 0;
    for line in terse.lines().filter(|line| line.starts_with("3;")) {
        let fields: Vec<&str> = line.split(';').collect();
        let job = workload
            .jobs
            .iter()
            .find(|job| job.name == fields[2])
            .expect("a job of ours");
        let BlockSize::Fixed(bytes) = job.block_size[0] else {
            panic!("{} is not fixed", job.name)
        };
        // Terse counts KiB, rounded down.
        assert_eq!(
            fields[5],
            (bytes / 1024).to_string(),
            "{}: {bytes} bytes",
            job.name
        );
        seen += 1;
    }
    assert_eq!(
        seen,
        2 * spellings.len(),
        "{terse}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Nothing that fio's own help lists is unknown here, whatever becomes of it.
#[test]
fn every_option_of_fio_is_known() {
    let scratch = tempfile::tempdir().expect("scratch directory");
    if fio_is_missing("every_option_of_fio_is_known") {
        return;
    }
    let mut names = Vec::new();
    let of_engines =
        ["io_uring", "libaio", "pvsync2", "mmap", "exec", "nbd"].map(|engine| format!("--enghelp={engine}"));
    for help in std::iter::once("--cmdhelp=all".to_owned()).chain(of_engines) {
        let output = fio(scratch.path()).arg(help).output().expect("fio runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        names.extend(
            text.lines()
                .filter_map(|line| Some(line.split_once(':')?.0.trim().to_owned())),
        );
    }
    assert!(names.len() > 200, "{names:?}");
    let unknown: Vec<&String> = names.iter().filter(|name| find_exact(name).is_none()).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// Where fio sends the I/Os of zones is where the zones, as read here, say: by its own log of what it did on its null engine.
#[test]
fn zones_mean_the_same() {
    const SIZE: u64 = 16 << 20;
    let scratch = tempfile::tempdir().expect("scratch directory");
    if fio_is_missing("zones_mean_the_same") {
        return;
    }
    for words in [
        "zoned:60/10:30/20:8/30:2/40",
        "zoned:60/25:40/",
        "zoned:20/50:50/:30/25",
        "zoned:70/10:30/20",
        "zoned_abs:60/4m:40/8m",
    ] {
        let text = format!(
            "[z]\nioengine=null\nrw=randread\nnorandommap\nbs=4k\nsize=16m\nio_size=64m\nrandom_distribution={words}\nwrite_iolog=log\n"
        );
        let path = scratch.path().join("zones.fio");
        std::fs::write(&path, &text).expect("written");
        // fio appends to its log.
        drop(std::fs::remove_file(scratch.path().join("log")));
        let output = fio(scratch.path()).arg(&path).output().expect("fio runs");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let log = std::fs::read_to_string(scratch.path().join("log")).expect("fio's log");
        let offsets: Vec<u64> = (log.lines())
            .filter_map(|line| line.split_once(" read ")?.1.split(' ').next()?.parse().ok())
            .collect();
        assert_eq!(offsets.len(), 16_384, "{words}");
        let workload = parse_here("zones.fio", &text.replace("write_iolog=log\n", ""));
        let workload = workload.workload.expect("accepted");
        let Distribution::Zones(zones) = &workload.jobs[0].pattern.distribution[0] else {
            panic!("{words} are no zones");
        };
        let (mut start, mut inside) = (0, 0);
        for zone in zones {
            let bytes = match zone.size {
                ZoneSize::Bytes(bytes) => bytes,
                ZoneSize::Percent(percent) => (SIZE as f64 * percent / 100.0) as u64,
                ZoneSize::Rest => SIZE - start,
            };
            // A block at an edge may be on either side.
            let range = start.saturating_sub(4096)..start + bytes;
            let share = offsets.iter().filter(|offset| range.contains(offset)).count() as f64 / 16_384.0;
            let expected = zone.io_percent / 100.0;
            assert!((share - expected).abs() < 0.02, "{words}: {zone:?} has {share}");
            inside += offsets
                .iter()
                .filter(|&&offset| offset >= start && offset < start + bytes)
                .count();
            start += bytes;
        }
        assert!(inside > 16_384 - 50, "{words}: {inside} in the zones");
    }
}
