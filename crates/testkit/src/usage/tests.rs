use super::*;

fn process(parent: u32, name: &str, cpu_ticks: u64, children_ticks: u64) -> Process {
    Process {
        parent,
        name: name.to_owned(),
        cpu_ticks,
        children_ticks,
        disk_bytes: cpu_ticks * 1000,
    }
}

fn usage(busy_ticks: u64, processes: &[(u32, Process)]) -> Usage {
    Usage {
        busy_ticks,
        stolen_ticks: busy_ticks / 100,
        processes: processes.iter().cloned().collect(),
    }
}

#[test]
fn what_the_test_itself_and_the_kernel_use_is_not_others() {
    let before = usage(
        1000,
        &[
            (10, process(1, "test", 100, 50)),
            (5, process(2, "kworker", 10, 0)),
        ],
    );
    let after = usage(
        2000,
        &[
            // Its own work, and that of a child which has ended.
            (10, process(1, "test", 200, 250)),
            (11, process(10, "sh", 5, 0)),
            // A child of a child, new.
            (12, process(11, "fathom", 95, 0)),
            (5, process(2, "kworker", 110, 0)),
            (99, process(1, "rustc", 400, 0)),
        ],
    );
    let others = after.of_others_since(&before, 10, 10.0);
    // 1000 in all, without 300 + 5 + 95 of the test and 100 of the kernel; 100 of them are of who has ended meanwhile.
    assert!((others.cpus - 0.5).abs() < 1e-9, "{others:?}");
    assert!((others.stolen_cpus - 0.01).abs() < 1e-9, "{others:?}");
    assert_eq!(others.who[0], ("rustc".to_owned(), 0.4, 400_000));
}

#[test]
fn this_program_is_seen_in_the_running_system() {
    let usage = Usage::now();
    assert!(usage.busy_ticks > 0);
    assert!(usage.processes.contains_key(&std::process::id()));
    assert!(usage.descends_from(std::process::id(), std::process::id()));
    assert!(!usage.descends_from(1, std::process::id()));
}
