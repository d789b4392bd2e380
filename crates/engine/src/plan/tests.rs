mod errors;

use super::{Kind, Plan, PlanError};
use crate::testing::job;
use fathom_core::workload::{Amount, EngineKind, Job, Mix, Region, Verify, VerifyAlgorithm, Workload};
use std::fs::File;
use std::path::Path;

const KIB: u64 = 1 << 10;
const BLOCK: u64 = 4 * KIB;

fn plan(jobs: &[Job]) -> Result<Plan, PlanError> {
    Plan::new(&Workload { jobs: jobs.to_vec() })
}

/// A job on the file `x` of a directory, or on made names.
fn on(directory: &Path, names: &[&str], region: Region) -> Job {
    let mut job = job(Mix::Read, BLOCK);
    job.files.directories = vec![directory.to_owned()];
    job.files.names = names.iter().map(Into::into).collect();
    job.region = region;
    job
}

fn make(directory: &Path, name: &str, bytes: u64) {
    let file = File::create(directory.join(name)).expect("a file");
    file.set_len(bytes).expect("its size");
}

#[expect(clippy::unnecessary_wraps, reason = "a region's amounts are optional")]
const fn kib(n: u64) -> Option<Amount> {
    Some(Amount::Bytes(n * KIB))
}

#[expect(clippy::unnecessary_wraps, reason = "a region's amounts are optional")]
const fn percent(n: u8) -> Option<Amount> {
    Some(Amount::Percent(n))
}

/// `existing` is the size of `x` beforehand in KiB (0: none), `files` how many made names (0: `x`).
/// Printed: each worker's spans as `start+length` in KiB, then the amount, then the sizes that files need.
fn check(existing: u64, files: u32, workers: u32, region: Region, expected: &str) {
    let directory = tempfile::tempdir().expect("a directory");
    if existing > 0 {
        make(directory.path(), "x", existing * KIB);
    }
    let names: &[&str] = if files == 0 { &["x"] } else { &[] };
    let mut job = on(directory.path(), names, region);
    job.files.nrfiles = files;
    job.numjobs = workers;
    let plan = plan(&[job]).expect("a plan");
    let in_kib = |bytes: u64| format!("{}", bytes as f64 / KIB as f64);
    let mut lines = Vec::new();
    for worker in &plan.jobs[0].workers {
        let spans = worker.files.iter().map(|file| {
            assert_eq!(file.span.start % 512, 0);
            format!("{}+{}", in_kib(file.span.start), in_kib(file.span.bytes))
        });
        let spans: Vec<String> = spans.collect();
        lines.push(format!("{} = {}", spans.join(" "), in_kib(worker.amount)));
    }
    let sizes: Vec<String> = plan.files.iter().map(|file| in_kib(file.size_needed)).collect();
    lines.push(format!("needs {}", sizes.join(" ")));
    assert_eq!(lines.join("; "), expected);
}

/// What fio 3.33 does in each of these cases, seen in its I/O logs and the files that it left (bs=4k).
#[test]
fn regions_are_those_of_fio() {
    let region = Region::default;
    // As the file is.
    check(40, 0, 1, region(), "0+40 = 40; needs 40");
    let at = |offset| Region {
        offset,
        ..Region::default()
    };
    check(40, 0, 1, at(kib(20)), "20+20 = 20; needs 40");
    // A share falls on the next whole block: 33 % of 42 KiB is 13.86.
    check(42, 0, 1, at(percent(33)), "16+26 = 26; needs 42");
    let sized = |offset, size| Region {
        offset,
        size,
        ..Region::default()
    };
    check(40, 0, 1, sized(None, kib(20)), "0+20 = 20; needs 20");
    check(40, 0, 1, sized(None, kib(60)), "0+60 = 60; needs 60");
    check(40, 0, 1, sized(kib(20), kib(40)), "20+40 = 40; needs 60");
    check(40, 0, 1, sized(None, percent(35)), "0+12 = 12; needs 12");
    // A share never reaches beyond the end.
    check(40, 0, 1, sized(percent(50), percent(80)), "20+20 = 20; needs 40");
    check(
        0,
        3,
        1,
        sized(None, kib(42)),
        "0+14 0+14 0+14 = 42; needs 14 14 14",
    );
    check(0, 2, 1, sized(kib(4), kib(40)), "4+20 4+20 = 40; needs 24 24");
}

#[test]
fn workers_begin_at_their_increment() {
    let by = |offset_increment| Region {
        offset_increment,
        size: kib(8),
        ..Region::default()
    };
    check(40, 0, 2, by(kib(12)), "0+8 = 8; 12+8 = 8; needs 20");
    check(40, 0, 2, by(percent(25)), "0+8 = 8; 12+8 = 8; needs 20");
}

#[test]
fn file_sizes_of_their_own() {
    let of = |file_size: u64, offset, size| Region {
        file_size: Some((file_size * KIB, file_size * KIB)),
        offset,
        size,
        ..Region::default()
    };
    check(0, 0, 1, of(40, None, None), "0+40 = 40; needs 40");
    check(0, 0, 1, of(40, None, kib(20)), "0+40 = 20; needs 40");
    check(0, 0, 1, of(40, None, kib(80)), "0+40 = 40; needs 40");
    check(0, 0, 1, of(40, kib(8), kib(20)), "8+32 = 20; needs 40");
    check(40, 0, 1, of(20, None, None), "0+20 = 20; needs 20");
    check(
        0,
        4,
        1,
        of(8, None, kib(20)),
        "0+8 0+8 0+8 0+8 = 20; needs 8 8 8 8",
    );
    check(0, 2, 1, of(8, None, kib(40)), "0+8 0+8 = 16; needs 8 8");
}

#[test]
fn the_amount_may_differ_from_the_region() {
    let moved = |size, io_size| Region {
        size,
        io_size,
        ..Region::default()
    };
    check(40, 0, 1, moved(None, percent(50)), "0+40 = 20; needs 40");
    check(40, 0, 1, moved(kib(20), percent(50)), "0+20 = 10; needs 20");
    check(40, 0, 1, moved(kib(20), kib(600)), "0+20 = 600; needs 20");
}

#[test]
fn drawn_file_sizes_are_within_and_stay() {
    let directory = tempfile::tempdir().expect("a directory");
    let region = Region {
        file_size: Some((8 * KIB, 32 * KIB)),
        ..Region::default()
    };
    let mut job = on(directory.path(), &[], region);
    job.files.nrfiles = 50;
    let sizes = |job: &Job| -> Vec<u64> {
        let plan = plan(std::slice::from_ref(job)).expect("a plan");
        plan.files.iter().map(|file| file.size_needed).collect()
    };
    let first = sizes(&job);
    assert!(first.iter().all(|size| (8 * KIB..=32 * KIB).contains(size)));
    assert!(first.iter().min() < Some(&(14 * KIB)) && first.iter().max() > Some(&(26 * KIB)));
    assert_eq!(sizes(&job), first);
    job.random_seed = 1;
    assert_ne!(sizes(&job), first);
}

#[test]
fn the_null_engine_needs_no_files() {
    let mut job = on(Path::new("/nowhere"), &["x"], Region::default());
    job.engine.kind = EngineKind::Null;
    let plan = plan(&[job]).expect("a plan");
    assert_eq!(plan.jobs[0].workers[0].files[0].span.bytes, 1 << 40);
    assert_eq!(plan.files[0].kind, Kind::Null);
    assert!(!plan.files[0].touches());
}

#[test]
fn names_follow_the_format() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut job = on(directory.path(), &[], Region::default());
    job.files.name_format = String::from("$jobname-$filenum.of.$jobnum");
    job.files.nrfiles = 2;
    let names: Vec<_> = super::paths_of(&job, 7)
        .into_iter()
        .map(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()))
        .collect();
    let expected = ["job-0.of.7", "job-1.of.7"].map(|name| Some(name.to_owned()));
    assert_eq!(names, expected);
    job.files.directories.push("/other".into());
    assert!(super::paths_of(&job, 1)[0].starts_with("/other"));
    assert!(super::paths_of(&job, 2)[0].starts_with(directory.path()));
}

/// Nothing is filled but what is read and not there yet.
#[test]
fn files_are_filled_only_to_be_read() {
    let directory = tempfile::tempdir().expect("a directory");
    make(directory.path(), "small", 8 * KIB);
    make(directory.path(), "large", 64 * KIB);
    let size = Region {
        size: kib(16),
        ..Region::default()
    };
    let action = |name: &str, change: &dyn Fn(&mut Job)| {
        let mut job = on(directory.path(), &[name], size.clone());
        change(&mut job);
        let action = plan(&[job]).expect("a plan").files.remove(0);
        (
            action.fill,
            action.changes_size(),
            action.touches(),
            action.size_now.map(|size| size / KIB),
        )
    };
    let read = |_: &mut Job| {};
    let write = |job: &mut Job| job.pattern.mix = Mix::Write;
    assert_eq!(action("none", &read), (true, true, true, None));
    assert_eq!(action("small", &read), (true, true, true, Some(8)));
    assert_eq!(action("large", &read), (false, false, false, Some(64)));
    assert_eq!(action("none", &write), (false, true, true, None));
    assert_eq!(action("large", &write), (false, false, true, Some(64)));
    let mixed = |job: &mut Job| job.pattern.mix = Mix::ReadWrite { read_percent: 1 };
    assert!(action("none", &mixed).0);
    let overwrite = |job: &mut Job| {
        write(job);
        job.files.overwrite = true;
    };
    assert_eq!(action("large", &overwrite), (true, false, true, Some(64)));
    let only = |job: &mut Job| {
        write(job);
        job.verify = Some(Verify {
            algorithm: VerifyAlgorithm::Md5,
            interval_bytes: 0,
            pattern: Vec::new(),
            only: true,
            read_back: true,
            fatal: false,
            ..Verify::default()
        });
    };
    assert_eq!(action("large", &only), (false, false, false, Some(64)));
}

/// One file of two jobs is one action, with the needs of both.
#[test]
fn jobs_share_files() {
    let directory = tempfile::tempdir().expect("a directory");
    let sized = |size, mix| {
        let region = Region {
            size: kib(size),
            ..Region::default()
        };
        let mut job = on(directory.path(), &["x"], region);
        job.pattern.mix = mix;
        job
    };
    let jobs = [sized(16, Mix::Write), sized(40, Mix::Read), sized(8, Mix::Read)];
    let plan = plan(&jobs).expect("a plan");
    assert_eq!(plan.files.len(), 1);
    let action = &plan.files[0];
    assert_eq!(
        (action.size_needed, action.reads, action.writes, action.fill),
        (40 * KIB, true, true, true)
    );
    assert_eq!(plan.buffer_bytes(), 3 * BLOCK);
}

#[test]
fn a_name_cannot_lead_out_of_the_directory() {
    let directory = tempfile::tempdir().expect("a directory");
    let region = || Region {
        size: kib(64),
        ..Region::default()
    };
    for name in ["../x", "a/../../x", "/tmp/x", ".."] {
        let mut job = on(directory.path(), &[], region());
        name.clone_into(&mut job.name);
        let error = plan(&[job.clone()]).expect_err(name).to_string();
        assert!(error.contains("outside the directory"), "{error}");
        job.files.names = vec!["x".into()];
        plan(&[job]).expect("the name is not used");
    }
    for name in ["..x", "x..", "...", "a b", "a.b"] {
        let mut job = on(directory.path(), &[], region());
        name.clone_into(&mut job.name);
        plan(&[job]).expect(name);
    }
}

/// A file without a size of its own is as large as an earlier job makes it.
#[test]
fn a_later_job_takes_the_size_that_an_earlier_one_makes() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("made");
    let mut first = Job {
        name: String::from("first"),
        ..Job::default()
    };
    first.pattern.mix = Mix::Write;
    first.files.names = vec![path.clone()];
    first.region.size = Some(Amount::Bytes(1 << 20));
    let mut second = first.clone();
    second.name = String::from("second");
    second.pattern.mix = Mix::Read;
    second.region.size = None;
    let workload = Workload {
        jobs: vec![first, second.clone()],
    };
    let plan = Plan::new(&workload).expect("a plan");
    assert_eq!(plan.jobs[1].workers[0].amount, 1 << 20);
    let alone = Workload { jobs: vec![second] };
    assert!(matches!(Plan::new(&alone), Err(PlanError::NoSize { .. })));
}

/// What is to be made has percentages; the null engine has the size that it is given; a range is whole blocks.
#[test]
fn sizes_of_what_is_not_there() {
    let directory = tempfile::tempdir().expect("a directory");
    let amount = |change: &dyn Fn(&mut Job)| {
        let mut job = Job {
            name: String::from("j"),
            ..Job::default()
        };
        job.files.directories = vec![directory.path().to_owned()];
        change(&mut job);
        let workload = Workload { jobs: vec![job] };
        Plan::new(&workload).map(|plan| plan.jobs[0].workers[0].amount)
    };
    let mib = 1 << 20;
    let percent = |job: &mut Job| {
        job.region.size = Some(Amount::Percent(50));
        job.region.file_size = Some((mib, mib));
    };
    assert_eq!(amount(&percent).expect("a plan"), mib / 2);
    let null = |job: &mut Job| {
        job.engine.kind = EngineKind::Null;
        job.region.file_size = Some((mib, mib));
    };
    assert_eq!(amount(&null).expect("a plan"), mib);
    let range = |job: &mut Job| job.region.file_size = Some((mib, 2 * mib));
    assert_eq!(amount(&range).expect("a plan") % 4096, 0);
    let nothing = |job: &mut Job| {
        job.region.size = Some(Amount::Bytes(mib));
        job.files.create_only = true;
    };
    assert_eq!(amount(&nothing).expect("a plan"), 0);
}
