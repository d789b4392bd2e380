use super::*;
use fathom_testkit::make;
use fathom_testkit::scenarios::empty_run;

fn scan(rows: &[(u64, &'static str, &'static str, f64)]) -> CounterScanned {
    let run = empty_run();
    let facts = Facts::new(&run);
    let mut scan = CounterScan::new(&facts);
    let start = facts.started_ns();
    let rows: Vec<CounterRow> = rows
        .iter()
        .map(|&(second, metric, labels, value)| {
            make::counter(start + second * SECOND_NS, metric, labels, value)
        })
        .collect();
    scan.feed(&rows);
    scan.finish()
}

#[test]
fn labels_are_found_among_others_and_behind_escapes() {
    assert_eq!(label("cpu=\"0\",mode=\"idle\"", "mode"), Some("idle"));
    assert_eq!(label("a=\"x\\\"y,b=\\\"\",b=\"2\"", "b"), Some("2"));
    assert_eq!(label("a=\"x\"", "b"), None);
    assert_eq!(label("broken", "b"), None);
    assert_eq!(label("a=\"open", "a"), None);
}

/// What a counter grew by belongs to the second before it was read; a reset is no growth.
#[test]
fn counters_become_differences_in_their_second() {
    let reads = "node_disk_reads_completed_total";
    let vda = "device=\"vda\"";
    let found = scan(&[
        (0, reads, vda, 100.0),
        (1, reads, vda, 150.0),
        (2, reads, vda, 10.0),
        (3, reads, vda, 25.0),
    ]);
    let disk = &found.disks["vda"];
    let ios: Vec<(u64, f32)> = disk.iter().map(|(second, disk)| (*second, disk.ios)).collect();
    assert_eq!(ios, [(0, 50.0), (2, 15.0)]);
}

#[test]
fn cpus_are_summed_by_what_they_did() {
    let cpu = "node_cpu_seconds_total";
    let rows = [
        (0, cpu, "cpu=\"0\",mode=\"idle\"", 0.0),
        (0, cpu, "cpu=\"1\",mode=\"idle\"", 0.0),
        (0, cpu, "cpu=\"0\",mode=\"user\"", 0.0),
        (1, cpu, "cpu=\"0\",mode=\"idle\"", 0.25),
        (1, cpu, "cpu=\"1\",mode=\"idle\"", 1.0),
        (1, cpu, "cpu=\"0\",mode=\"user\"", 0.75),
    ];
    let found = scan(&rows);
    let second = found.system[&0];
    assert!((second.idle - 1.25).abs() < 1e-6 && (second.busy - 0.75).abs() < 1e-6);
}

#[test]
fn limits_and_threads_are_kept_as_they_last_were() {
    let limit = "fathom_cgroup_io_limit";
    let found = scan(&[
        (0, limit, "device=\"254:0\",kind=\"riops\"", 1100.0),
        (1, limit, "device=\"254:0\",kind=\"riops\"", 500.0),
        (1, limit, "device=\"254:0\",kind=\"unheard\"", 1.0),
        (0, "fathom_worker_thread_id", "job=\"1\",worker=\"2\"", 4711.0),
    ]);
    assert_eq!(found.cgroup_limits.len(), 1);
    assert!((found.cgroup_limits[0].value - 500.0).abs() < 1e-9);
    assert_eq!(found.tasks, [(1, 2, 4711)]);
}

#[test]
fn waits_for_memory_belong_to_their_second() {
    let waiting = "node_pressure_memory_waiting_seconds_total";
    let found = scan(&[
        (0, waiting, "", 7.0),
        (1, waiting, "", 7.0),
        (2, waiting, "", 7.25),
    ]);
    let waited: Vec<(u64, f32)> = found
        .system
        .iter()
        .map(|(second, system)| (*second, system.memory_waiting))
        .collect();
    assert_eq!(waited, [(0, 0.0), (1, 0.25)]);
}

/// What was lost before the first reading counts, and a reading that tells of nothing new is no loss.
#[test]
fn rows_that_streams_lost_are_known_by_their_time() {
    let lost = "fathom_record_dropped_rows_total";
    let found = scan(&[
        (1, lost, "stream=\"sched\"", 5.0),
        (1, lost, "stream=\"block\"", 0.0),
        (2, lost, "stream=\"sched\"", 5.0),
        (3, lost, "stream=\"sched\"", 5.0),
        (3, lost, "stream=\"block\"", 7.0),
        (4, lost, "stream=\"sched\"", 6.0),
        (4, lost, "stream=\"no such\"", 6.0),
    ]);
    let start = Facts::new(&empty_run()).started_ns();
    let grown = |from: u64, to: u64, by: f64| Grown {
        from_ns: start + from * SECOND_NS,
        to_ns: start + to * SECOND_NS,
        by,
    };
    assert_eq!(
        found.lost_rows,
        BTreeMap::from([
            (StreamKind::Block, vec![grown(1, 3, 7.0)]),
            (StreamKind::Sched, vec![grown(0, 1, 5.0), grown(3, 4, 1.0)]),
        ])
    );
    assert!(found.is_empty(), "what a recording says of itself is no evidence");
}

/// Of a task that is in several hierarchies that one is told which says most; one at the root of all is in none.
#[test]
fn the_cgroup_of_a_task_is_its_most_telling_one() {
    let member = "fathom_cgroup_member";
    let found = scan(&[
        (
            0,
            member,
            "cgroup=\"/freezing\",controller=\"freezer\",pid=\"7\"",
            1.0,
        ),
        (
            0,
            member,
            "cgroup=\"/pod/a\",controller=\"cpu,cpuacct\",pid=\"7\"",
            1.0,
        ),
        (0, member, "cgroup=\"/\",controller=\"\",pid=\"7\"", 1.0),
        (
            0,
            member,
            "cgroup=\"/pod/b\",controller=\"memory\",pid=\"7\"",
            1.0,
        ),
        (0, member, "cgroup=\"/\",controller=\"\",pid=\"8\"", 1.0),
        (0, member, "cgroup=\"/user.slice\",controller=\"\",pid=\"9\"", 1.0),
        (
            1,
            member,
            "cgroup=\"/system.slice\",controller=\"\",pid=\"9\"",
            1.0,
        ),
    ]);
    let path = |pid: u32| found.cgroups.get(&pid).map(|cgroup| cgroup.path.as_str());
    assert_eq!(path(7), Some("/pod/a"));
    assert_eq!(path(8), Some("/"));
    assert_eq!(path(9), Some("/system.slice"));
    assert_eq!(path(10), None);
}
