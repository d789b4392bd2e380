//! The job files of `experiments/` are accepted, and say what was published.

use fathom_core::units::Nanos;
use fathom_core::workload::{Amount, BlockSize, EngineKind, Job, Mix, Workload};
use fathom_dialect::{Context, Parsed, Severity, Source, parse, parse_fio, print, read_fio_args};
use std::path::{Path, PathBuf};

fn experiments() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments")
}

fn with_context<T>(run: impl FnOnce(&Context<'_>) -> T) -> T {
    run(&Context {
        include: &|path| std::fs::read_to_string(path).map_err(|why| why.to_string()),
        env: &|_| None,
        pagesize: 4096,
        memory_mib: 1024,
        ncpus: 2,
        seed: 1,
        sections: &[],
    })
}

fn parsed(path: &Path) -> Parsed {
    let text = std::fs::read_to_string(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let name = path.to_string_lossy();
    with_context(|context| {
        parse(
            &[Source {
                name: &name,
                text: &text,
            }],
            &[],
            context,
        )
    })
}

fn accepted(file: &str) -> Workload {
    let parsed = parsed(&experiments().join(file));
    let said: Vec<String> = parsed.diagnostics.iter().map(ToString::to_string).collect();
    parsed.workload.unwrap_or_else(|| panic!("{said:?}"))
}

fn job_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("experiments") {
        let path = entry.expect("entry").path();
        if path.is_dir() {
            job_files(&path, found);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "fio" || extension == "ini")
        {
            found.push(path);
        }
    }
}

#[test]
fn every_job_file_is_accepted_and_prints() {
    let mut files = Vec::new();
    job_files(&experiments(), &mut files);
    assert!(files.len() >= 12, "{files:?}");
    for path in files {
        let parsed = parsed(&path);
        let said: Vec<String> = parsed.diagnostics.iter().map(ToString::to_string).collect();
        let workload = parsed.workload.unwrap_or_else(|| panic!("{said:?}"));
        print(&workload).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    }
}

#[test]
fn the_nine_tests_are_those_of_the_article() {
    let workload = accepted("aks-2019/jobs.fio");
    let table = [
        ("test1", true, false, 4, 1),
        ("test2", false, false, 4, 1),
        ("test3", true, false, 4, 1),
        ("test4", true, false, 4, 16),
        ("test5", true, false, 128, 1),
        ("test6", false, false, 256, 1),
        ("test7", false, true, 4, 1),
        ("test8", false, true, 256, 16),
        ("test9", true, true, 256, 16),
    ];
    assert_eq!(workload.jobs.len(), table.len());
    for (job, (name, direct, random, kib, depth)) in workload.jobs.iter().zip(table) {
        assert_eq!(
            (job.name.as_str(), job.direct, job.pattern.random),
            (name, direct, random)
        );
        assert_eq!(job.block_size[1], BlockSize::Fixed(kib * 1024), "{name}");
        assert_eq!(
            (job.depth.iodepth, job.pattern.mix),
            (depth, Mix::Write),
            "{name}"
        );
        assert_eq!(job.limit.runtime, Some(Nanos::from_secs(300)), "{name}");
        assert_eq!(
            (job.region.size, job.cpus_allowed.as_slice()),
            (Some(Amount::Bytes(10 << 30)), &[1][..])
        );
        assert_eq!(
            (job.engine.kind, job.group_reporting),
            (EngineKind::Libaio, true),
            "{name}"
        );
    }
}

/// `fio --runtime 30 fiowrite.ini`, as the article runs it.
#[test]
fn four_writers_run_at_once() {
    for mount in ["sdc", "sdd", "md0"] {
        let path = experiments().join(format!("raid0-2019/fiowrite-{mount}.ini"));
        let text = std::fs::read_to_string(&path).expect("text");
        let args = ["--runtime", "30", "fiowrite.ini"].map(str::to_owned);
        let command = read_fio_args(&args, &[]).expect("accepted");
        let source = Source {
            name: "fiowrite.ini",
            text: &text,
        };
        let parsed = with_context(|context| parse_fio(&command, &[source], context));
        assert_eq!(parsed.diagnostics, []);
        let jobs = parsed.workload.expect("accepted").jobs;
        assert_eq!(jobs.len(), 4);
        for job in &jobs {
            assert_eq!(
                (job.group, job.start.stonewall, job.total_depth()),
                (0, false, 256)
            );
            assert_eq!(job.limit.runtime, Some(Nanos::from_secs(30)));
            assert_eq!(
                job.files.directories,
                [PathBuf::from(format!("/{mount}/nocache"))]
            );
        }
    }
}

/// Each job file of the comparison says the same as the command line that was published.
#[test]
fn command_lines_and_job_files_agree() {
    for volume in ["acstor", "azdisk"] {
        for rw in ["randread", "randwrite", "randrw"] {
            let line = format!(
                "--name=benchtest --size=800m --filename=/{volume}-volume/test --direct=1 --rw={rw} --ioengine=libaio \
                 --bs=16k --iodepth=16 --numjobs=8 --time_based --runtime=3600"
            );
            let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            let command = read_fio_args(&args, &[]).expect("accepted");
            let from_line = with_context(|context| parse_fio(&command, &[], context))
                .workload
                .expect("accepted");
            assert_eq!(from_line, accepted(&format!("acs-2024/{volume}-{rw}.fio")));
        }
    }
}

#[test]
fn the_quick_look_is_quick_and_cleans_up() {
    let jobs = accepted("quick.fio").jobs;
    let seconds: u64 = jobs
        .iter()
        .filter_map(|job| job.limit.runtime)
        .map(|time| time.get() / 1_000_000_000)
        .sum();
    assert!(seconds <= 5, "{seconds}");
    assert!(
        jobs.last()
            .is_some_and(|job: &Job| job.files.unlink && job.start.stonewall)
    );
    let parsed = parsed(&experiments().join("quick.fio"));
    assert!(
        parsed
            .diagnostics
            .iter()
            .all(|diagnostic| diagnostic.severity == Severity::Note)
    );
}
