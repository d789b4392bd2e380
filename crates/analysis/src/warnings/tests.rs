use super::*;
use crate::fixtures::{file, quiet};
use fathom_core::run::CpuUsage;
use fathom_core::units::Nanos;
use fathom_core::workload::{Mix, Rate, ThinkTime, ThinkTimeBasis};

/// Warnings after one change to the quiet run.
fn with(change: impl FnOnce(&mut Run)) -> Vec<Warning> {
    let mut run = quiet();
    change(&mut run);
    judge(&run)
}

/// As [`with`], for a change to the job and its summary.
fn with_job(change: impl FnOnce(&mut Job, &mut JobSummary)) -> Vec<Warning> {
    with(|run| change(&mut run.workload.jobs[0], &mut run.summary.jobs[0]))
}

fn job() -> String {
    String::from("quiet")
}

#[test]
fn a_sound_run_has_no_warnings() {
    assert_eq!(with(|_| {}), []);
}

#[test]
fn debug_builds() {
    assert_eq!(with(|run| run.build.debug = true), [Warning::DebugBuild]);
}

#[test]
fn warnings_already_recorded_are_not_repeated() {
    let warnings = with(|run| {
        run.build.debug = true;
        run.summary.warnings = vec![Warning::DebugBuild];
    });
    assert_eq!(warnings, []);
}

#[test]
fn busy_hosts_are_those_that_were_judged_so_before_the_run() {
    let judged = |met: Option<bool>| {
        move |run: &mut Run| {
            run.environment.load_1min = 1.21;
            run.requirements = vec![Requirement {
                name: QUIET_HOST.to_owned(),
                met,
                detail: String::new(),
            }];
        }
    };
    let expected = Warning::BusyHost {
        load_1min: 1.21,
        cpus: 4,
    };
    assert_eq!(with(judged(Some(false))), [expected]);
    assert_eq!(with(judged(Some(true))), []);
    assert_eq!(with(judged(None)), [], "not known");
    let loaded = with(|run| run.environment.load_1min = 100.0);
    assert_eq!(loaded, [], "there is no second verdict");
    let modelled = with(|run| {
        judged(Some(false))(run);
        run.summary.target.modelled = true;
    });
    assert_eq!(modelled, [], "virtual time does not care");
}

#[test]
fn clocks() {
    let source = String::from("clock_monotonic");
    let slow = with(|run| run.environment.clock_source.clone_from(&source));
    assert_eq!(slow, [Warning::SlowClock { source }]);
    assert_eq!(with(|run| run.environment.clock_source.clear()), [], "not known");
    let arm = with(|run| run.environment.clock_source = String::from("arch_sys_counter"));
    assert_eq!(arm, [], "a counter as good as the TSC");
}

#[test]
fn devices_that_are_not_known() {
    let warnings = with(|run| {
        run.summary.target.files = vec![
            file("a", Some("overlay")),
            file("b", None),
            file("c", Some("tmpfs")),
            file("d", Some("overlay")),
            file("e", Some("overlay")),
        ];
    });
    let unknown = |path: &str, reason: &str| Warning::DeviceUnknown {
        path: String::from(path),
        reason: String::from(reason),
    };
    assert_eq!(
        warnings,
        [unknown("a and 2 more", "overlay"), unknown("c", "tmpfs")]
    );
    let null = with(|run| {
        run.summary.target.files = vec![file("null:", Some("nothing there"))];
        run.summary.target.files[0].kind = TargetKind::Null;
    });
    assert_eq!(null, []);
}

#[test]
fn writes_that_stay_in_the_page_cache() {
    let writing = |change: &dyn Fn(&mut Job)| {
        with_job(|job, _| {
            job.pattern.mix = Mix::ReadWrite { read_percent: 50 };
            job.direct = false;
            change(job);
        })
    };
    let expected = [Warning::BufferedWrites { job: job() }];
    assert_eq!(writing(&|_| {}), expected);
    assert_eq!(writing(&|job| job.pattern.mix = Mix::Read), []);
    assert_eq!(writing(&|job| job.pattern.mix = Mix::Trim), []);
    assert_eq!(writing(&|job| job.direct = true), []);
    assert_eq!(writing(&|job| job.sync.mode = SyncMode::DataSync), []);
    assert_eq!(writing(&|job| job.sync.fsync_every = 100), []);
    assert_eq!(writing(&|job| job.sync.fdatasync_every = 1), []);
    assert_eq!(writing(&|job| job.sync.fsync_at_end = true), []);
    assert_eq!(writing(&|job| job.sync.fsync_on_close = true), []);
    assert_eq!(writing(&|job| job.engine.kind = EngineKind::Null), []);
    let mapped = |job: &mut Job| {
        job.engine.kind = EngineKind::Mmap;
        job.depth.iodepth = 1;
        job.direct = true;
    };
    assert_eq!(writing(&mapped), expected);
}

#[test]
fn schedules_that_were_not_kept() {
    // 100 000 I/Os in 10 s: a tenth of a second is 1000 of them.
    let behind = |max: u64, end: u64| {
        with_job(|job, summary| {
            job.pace.rate[0] = Some(Rate::Iops(10_000));
            summary.backlog_max = max;
            summary.backlog_end = end;
        })
    };
    let expected = |backlog_max, backlog_end| Warning::Backlog {
        job: job(),
        backlog_max,
        backlog_end,
    };
    assert_eq!(behind(0, 0), []);
    assert_eq!(behind(999, 10), []);
    assert_eq!(behind(1000, 10), [expected(1000, 10)]);
    let closed = with_job(|_, summary| summary.backlog_max = 5000);
    assert_eq!(closed, [], "a closed loop has no schedule");
    let nothing_done = with_job(|job, summary| {
        job.pace.rate[0] = Some(Rate::Iops(10));
        *summary = JobSummary {
            backlog_max: 1,
            ..JobSummary::default()
        };
    });
    assert_eq!(nothing_done, [expected(1, 0)]);
}

/// Two workers for 10 s: 18 s of CPU time are 90 %.
fn busy(summary: &mut JobSummary, total_ns: u64) {
    summary.cpu = CpuUsage {
        user_ns: total_ns / 3,
        system_ns: total_ns - total_ns / 3,
        ..CpuUsage::default()
    };
}

#[test]
fn busy_workers() {
    assert_eq!(with_job(|_, summary| busy(summary, 17_990_000_000)), []);
    let expected = Warning::CpuBound {
        job: job(),
        cpu_percent: 90.0,
    };
    assert_eq!(with_job(|_, summary| busy(summary, 18_000_000_000)), [expected]);
}

#[test]
fn workers_that_are_busy_on_purpose() {
    let excused = |change: &dyn Fn(&mut Job)| {
        with_job(|job, summary| {
            busy(summary, 20_000_000_000);
            change(job);
        })
    };
    assert_eq!(excused(&|_| {}).len(), 1);
    assert_eq!(excused(&|job| job.engine.poll = true), []);
    assert_eq!(excused(&|job| job.engine.kind = EngineKind::Null), []);
    assert_eq!(excused(&|job| job.pace.rate[0] = Some(Rate::Iops(1))), []);
    let spinning = ThinkTime {
        pause: Nanos(10),
        spin: Nanos(10),
        blocks: 1,
        basis: ThinkTimeBasis::Complete,
        puts_off: false,
        after_run: None,
    };
    assert_eq!(excused(&|job| job.pace.think = Some(spinning)), []);
    let behind = with_job(|job, summary| {
        busy(summary, 20_000_000_000);
        job.pace.rate[0] = Some(Rate::Iops(100_000));
        summary.backlog_max = 50_000;
    });
    assert_eq!(behind.len(), 2, "behind its schedule and out of CPU: {behind:?}");
}

#[test]
fn no_runtime_is_not_busy() {
    let warnings = with_job(|_, summary| {
        summary.runtime_ns = 0;
        summary.read.ios = 0;
    });
    assert_eq!(warnings, []);
}

#[test]
fn percentiles_that_were_asked_for() {
    let asked = |list: &[f64], read: u64, write: u64| {
        with_job(|job, summary| {
            job.percentiles.list = list.to_vec();
            summary.read.ios = read;
            summary.write.ios = write;
        })
    };
    let expected = |n, percentile| Warning::FewSamples {
        job: job(),
        n,
        percentile,
    };
    assert_eq!(asked(&[50.0, 99.9], 10_000, 0), []);
    assert_eq!(asked(&[50.0, 99.9], 9_999, 0), [expected(9_999, 99.9)]);
    assert_eq!(asked(&[50.0, 99.9], 10_000, 500), [expected(500, 99.9)]);
    assert_eq!(asked(&[100.0], 1, 0), [], "the maximum is exact");
    assert_eq!(asked(&DEFAULT_PERCENTILES, 3, 0), [], "nobody asked");
    assert_eq!(asked(&[], 3, 0), []);
}

#[test]
fn support_of_percentiles() {
    for (n, percentile, supported) in [
        (19, 50.0, false),
        (20, 50.0, true),
        (99_999, 99.99, false),
        (100_000, 99.99, true),
        (10_000_000, 99.9999, true),
        (0, 100.0, true),
        (0, 1.0, false),
    ] {
        assert_eq!(is_supported(n, percentile), supported, "{n} {percentile}");
    }
}

#[test]
fn short_runs() {
    let lasting = |runtime_ns: u64, kind: EngineKind| {
        with_job(|job, summary| {
            job.engine.kind = kind;
            summary.runtime_ns = runtime_ns;
            summary.cpu = CpuUsage::default();
        })
    };
    assert_eq!(lasting(5_000_000_000, EngineKind::IoUring), []);
    let expected = Warning::ShortRun {
        job: job(),
        runtime_ns: 4_999_999_999,
    };
    assert_eq!(lasting(4_999_999_999, EngineKind::IoUring), [expected]);
    assert_eq!(lasting(1, EngineKind::Null), []);
}
