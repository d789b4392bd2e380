//! Counters count, settings set; each in a thread of its own, so that the other tests keep theirs.

use super::*;
use std::thread;

#[test]
fn a_busy_thread_uses_cpu_time() {
    let used = thread::spawn(|| {
        let before = resource_usage_thread().expect("usage");
        let start = crate::clock::monotonic_ns();
        while crate::clock::monotonic_ns() - start < 50_000_000 {
            std::hint::spin_loop();
        }
        resource_usage_thread().expect("usage").since(&before)
    });
    let used = used.join().expect("thread");
    let cpu_ns = used.user_ns + used.system_ns;
    assert!((1_000_000..=60_000_000).contains(&cpu_ns), "{used:?}");
    assert!(resource_usage_self().expect("usage").user_ns >= used.user_ns);
}

#[test]
fn a_sleep_is_a_voluntary_switch() {
    let before = resource_usage_thread().expect("usage");
    thread::sleep(std::time::Duration::from_millis(1));
    let used = resource_usage_thread().expect("usage").since(&before);
    assert!(used.voluntary_switches >= 1, "{used:?}");
}

#[test]
fn touched_memory_raises_the_peak() {
    let touched = vec![1u8; 64 << 20];
    let peak = peak_rss_bytes().expect("VmHWM");
    assert!(peak >= std::hint::black_box(touched).len() as u64, "{peak}");
}

#[test]
fn a_thread_stays_where_it_is_put() {
    let cpus = allowed_cpus().expect("affinity");
    let last = *cpus.last().expect("a CPU");
    thread::spawn(move || {
        set_affinity(&[last]).expect("set_affinity");
        assert_eq!(allowed_cpus().expect("affinity"), [last]);
        assert_eq!(rustix::thread::sched_getcpu(), last);
    })
    .join()
    .expect("thread");
    assert_eq!(
        allowed_cpus().expect("affinity"),
        cpus,
        "the other threads keep theirs"
    );
    assert_eq!(
        set_affinity(&[9999]).expect_err("too high").kind(),
        io::ErrorKind::InvalidInput
    );
    assert!(set_affinity(&[]).is_err());
}

#[test]
fn cpu_lists_are_read_as_the_kernel_writes_them() {
    assert_eq!(parse_cpu_list("0-2,5,7-8"), Some(vec![0, 1, 2, 5, 7, 8]));
    assert_eq!(parse_cpu_list("0"), Some(vec![0]));
    assert_eq!(parse_cpu_list(""), Some(vec![]));
    for wrong in ["a", "3-1", "1-", "-1", "0-99999999999"] {
        assert_eq!(parse_cpu_list(wrong), None, "{wrong}");
    }
    let online = online_cpus().expect("sysfs");
    let allowed = allowed_cpus().expect("affinity");
    assert!(
        allowed.iter().all(|cpu| online.contains(cpu)),
        "{allowed:?} within {online:?}"
    );
}

#[test]
fn slack_nice_and_ioprio_are_set() {
    thread::spawn(|| {
        set_timer_slack_ns(1).expect("slack");
        assert_eq!(rustix::thread::current_timer_slack().expect("slack"), 1);
        set_nice(5).expect("nice");
        assert_eq!(rustix::process::getpriority_process(None).expect("nice"), 5);
        set_ioprio(IoPriorityClass::BestEffort, 6).expect("ioprio");
        // SAFETY: ioprio_get takes two integers and touches no memory.
        let priority = unsafe { libc::syscall(libc::SYS_ioprio_get, 1, 0) };
        assert_eq!(priority, (2 << 13) | 6);
        assert!(set_ioprio(IoPriorityClass::BestEffort, 8).is_err());
    })
    .join()
    .expect("thread");
}
