use super::*;
use crate::fixtures::quiet;

/// The remedy after one change to the quiet run, for an error with this number.
fn of(errno: i32, change: impl FnOnce(&mut Run)) -> String {
    let mut run = quiet();
    run.workload.jobs[0].direct = false;
    change(&mut run);
    remedy(&run, 0, &error(errno)).unwrap_or_default()
}

fn error(errno: i32) -> RunError {
    RunError {
        what: String::from("write"),
        errno,
        message: String::new(),
        count: 1,
        path: String::from("F"),
        offset_bytes: 0,
        length_bytes: 4096,
    }
}

#[test]
fn each_known_number_has_its_remedy() {
    for (errno, expected) in [
        (EIO, "dmesg"),
        (EROFS, "read-only"),
        (ENODEV, "gone"),
        (ENXIO, "gone"),
        (EFBIG, "ulimit -f"),
        (ENOSPC, "full after 0 B written"),
        (EDQUOT, "quota"),
        (EAGAIN, "lower iodepth"),
        (ESTALE, "mount"),
        (ETIMEDOUT, "dmesg"),
    ] {
        let text = of(errno, |_| {});
        assert!(text.contains(expected), "{errno}: {text}");
        assert!(text.ends_with('.') && !text.ends_with(".."), "{text}");
    }
    assert_eq!(of(0, |_| {}), "", "a failed verification has no number");
    assert_eq!(of(EINVAL, |_| {}), "", "it may mean anything");
    assert_eq!(of(EOPNOTSUPP, |_| {}), "");
}

#[test]
fn the_same_number_has_another_remedy_where_something_else_was_asked_for() {
    let polled = |run: &mut Run| run.workload.jobs[0].engine.poll = true;
    assert!(of(EOPNOTSUPP, polled).contains("poll_queues"));
    assert!(of(EINVAL, polled).contains("poll_queues"));
    assert!(of(EAGAIN, |run| run.workload.jobs[0].engine.nowait = true).contains("nowait"));
    let direct = |run: &mut Run| run.workload.jobs[0].direct = true;
    assert!(of(EINVAL, direct).contains("sector size"));
    let told = |run: &mut Run| {
        direct(run);
        run.summary.warnings = vec![Warning::DirectUnaligned {
            path: String::from("F"),
            block_bytes: 1000,
            need_bytes: 512,
        }];
    };
    assert!(of(EINVAL, told).contains("see the warning"));
    assert!(of(EIO, |run| run.workload.jobs[0].engine.kind = EngineKind::Mmap).contains("shrank"));
}

#[test]
fn how_much_was_written_is_said_where_there_is_no_more_room() {
    let text = of(ENOSPC, |run| run.summary.jobs[0].write.bytes = 3 << 20);
    assert!(text.contains("after 3 MiB written"), "{text}");
}

#[test]
fn every_rule_can_be_reached() {
    // A rule behind a plain one for the same number would never count.
    let mut plain: Vec<i32> = Vec::new();
    let run = quiet();
    let error = error(0);
    let job = Job::default();
    assert!(!job.direct, "the plainest of jobs");
    let case = Case {
        run: &run,
        job: &job,
        summary: &run.summary.jobs[0],
        error: &error,
    };
    for rule in RULES {
        assert!(
            rule.errnos.iter().any(|errno| !plain.contains(errno)),
            "{:?}",
            rule.errnos
        );
        if (rule.when)(&case) {
            plain.extend(rule.errnos);
        }
    }
}

#[test]
fn an_error_of_a_job_that_is_not_there_has_none() {
    let run = quiet();
    assert_eq!(remedy(&run, 7, &error(EIO)), None);
}

#[test]
fn what_did_not_start_has_remedies_of_its_own() {
    let of_call = |what: &str, errno| {
        let mut run = quiet();
        run.workload.jobs[0].direct = true;
        let error = RunError {
            what: String::from(what),
            ..error(errno)
        };
        remedy(&run, 0, &error).unwrap_or_default()
    };
    assert!(of_call("open with O_DIRECT", EINVAL).contains("does no direct I/O"));
    assert!(of_call("read", EINVAL).contains("sector size"));
    assert!(of_call("open", EROFS).contains("rw=read"));
    assert!(of_call("write", EROFS).contains("dmesg"));
    assert!(of_call("sched_setaffinity", EINVAL).contains("cpus_allowed"));
    assert!(of_call("open", 13).contains("Run as a user"));
}
