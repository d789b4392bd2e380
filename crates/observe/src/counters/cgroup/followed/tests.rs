use super::*;
use crate::fixture::Tree;

fn told(followed: &mut Followed) -> Vec<String> {
    let mut out = Vec::new();
    followed.sample(&mut Rows {
        at_ns: 0,
        out: &mut out,
    });
    out.iter()
        .map(|row| format!("{}{{{}}} {}", row.metric, row.labels, row.value))
        .collect()
}

#[test]
fn groups_of_version_1_tell_what_holds_their_tasks_up() {
    let tree = Tree::new();
    tree.mounts(&[
        "8:1 / ext4 /dev/root rw",
        "0:35 /cg/blkio cgroup cgroup rw,blkio",
        "0:36 /cg/cpu cgroup cgroup rw,cpu,cpuacct",
        "0:37 /cg/memory cgroup cgroup rw,memory",
        "0:38 /cg/freezer cgroup cgroup rw,freezer",
    ]);
    tree.file("/sys/class/block/vda/dev", "254:0\n");
    tree.file(
        "/proc/77/cgroup",
        "4:freezer:/f\n3:memory:/p/c\n2:blkio:/p\n1:cpu,cpuacct:/p/c\n",
    );
    tree.file("/cg/cpu/p/cpu.cfs_quota_us", "50000\n");
    tree.file("/cg/cpu/p/cpu.cfs_period_us", "100000\n");
    tree.file(
        "/cg/cpu/p/cpu.stat",
        "nr_periods 9\nnr_throttled 4\nthrottled_time 5\n",
    );
    tree.file("/cg/cpu/p/c/cpu.cfs_quota_us", "-1\n");
    tree.file("/cg/cpu/p/c/cpu.cfs_period_us", "100000\n");
    tree.file("/cg/cpu/p/c/cpu.stat", "nr_periods 0\nnr_throttled 0\n");
    tree.file("/cg/memory/p/c/memory.limit_in_bytes", "1048576\n");
    tree.file("/cg/memory/p/c/memory.failcnt", "12\n");
    tree.file("/cg/memory/memory.limit_in_bytes", "9223372036854771712\n");
    tree.file("/cg/freezer/f/freezer.state", "FROZEN\n");
    tree.file(
        "/cg/blkio/p/blkio.throttle.io_serviced",
        "7:0 Read 1\n254:0 Read 20\n254:0 Write 3\n254:0 Sync 23\nTotal 24\n",
    );
    let mut followed = Followed::new(&tree.root, &[String::from("vda")]);
    let mut remarks = Remarks::default();
    followed.follow(77, 0, &mut remarks);
    followed.follow(78, 0, &mut remarks);
    let rows = told(&mut followed);
    assert_eq!(
        rows,
        [
            "fathom_cgroup_member{cgroup=\"/f\",controller=\"freezer\",pid=\"77\"} 1",
            "fathom_cgroup_member{cgroup=\"/p/c\",controller=\"memory\",pid=\"77\"} 1",
            "fathom_cgroup_member{cgroup=\"/p\",controller=\"blkio\",pid=\"77\"} 1",
            "fathom_cgroup_member{cgroup=\"/p/c\",controller=\"cpu,cpuacct\",pid=\"77\"} 1",
            "fathom_cgroup_frozen{cgroup=\"/f\"} 1",
            "fathom_cgroup_memory_limit_bytes{cgroup=\"/p/c\"} 1048576",
            "fathom_cgroup_memory_limit_hits_total{cgroup=\"/p/c\"} 12",
            "fathom_cgroup_io_serviced_total{cgroup=\"/p\",device=\"254:0\",op=\"read\"} 20",
            "fathom_cgroup_io_serviced_total{cgroup=\"/p\",device=\"254:0\",op=\"write\"} 3",
            "fathom_cgroup_cpu_quota_ratio{cgroup=\"/p\"} 0.5",
            "fathom_cgroup_cpu_throttled_periods_total{cgroup=\"/p\"} 4",
        ]
    );
    // A process is told of once, until it is moved.
    followed.follow(77, 1, &mut remarks);
    assert_eq!(told(&mut followed), rows[4..]);
    tree.file("/proc/77/cgroup", "4:freezer:/\n");
    followed.follow(77, ASK_AGAIN_NS, &mut remarks);
    let members = told(&mut followed);
    assert_eq!(
        members[0],
        "fathom_cgroup_member{cgroup=\"/\",controller=\"freezer\",pid=\"77\"} 1"
    );
    assert_eq!(remarks.0, Vec::<String>::new());
}

#[test]
fn groups_of_version_2_tell_the_same() {
    let tree = Tree::new();
    tree.mounts(&["8:1 / ext4 /dev/root rw", "0:30 /cg cgroup2 cgroup2 rw"]);
    tree.file("/proc/5/cgroup", "0::/a/b\n");
    tree.file("/cg/a/cpu.max", "150000 100000\n");
    tree.file("/cg/a/b/cpu.max", "max 100000\n");
    tree.file("/cg/a/b/cpu.stat", "usage_usec 9\nnr_periods 5\nnr_throttled 2\n");
    tree.file("/cg/a/b/memory.max", "max\n");
    tree.file("/cg/a/b/memory.events", "low 1\nhigh 2\nmax 3\noom 4\n");
    tree.file("/cg/a/b/cgroup.events", "populated 1\nfrozen 1\n");
    tree.file(
        "/cg/a/b/memory.pressure",
        "some avg10=0 total=2000000\nfull avg10=0 total=1000000\n",
    );
    let mut followed = Followed::new(&tree.root, &[]);
    followed.follow(5, 0, &mut Remarks::default());
    assert_eq!(
        told(&mut followed),
        [
            "fathom_cgroup_member{cgroup=\"/a/b\",controller=\"\",pid=\"5\"} 1",
            "fathom_cgroup_cpu_throttled_periods_total{cgroup=\"/a/b\"} 2",
            "fathom_cgroup_memory_limit_hits_total{cgroup=\"/a/b\"} 5",
            "fathom_cgroup_frozen{cgroup=\"/a/b\"} 1",
            "fathom_cgroup_pressure_memory_waiting_seconds_total{cgroup=\"/a/b\"} 2",
            "fathom_cgroup_pressure_memory_stalled_seconds_total{cgroup=\"/a/b\"} 1",
            "fathom_cgroup_cpu_quota_ratio{cgroup=\"/a\"} 1.5",
        ]
    );
}

#[test]
fn groups_are_bounded() {
    let tree = Tree::new();
    tree.mounts(&["8:1 / ext4 /dev/root rw", "0:30 /cg cgroup2 cgroup2 rw"]);
    let mut followed = Followed::new(&tree.root, &[]);
    let mut remarks = Remarks::default();
    for pid in 1..100 {
        tree.file(&format!("/proc/{pid}/cgroup"), format!("0::/g{pid}\n"));
        tree.file(&format!("/cg/g{pid}/cgroup.events"), "frozen 0\n");
        followed.follow(pid, 0, &mut remarks);
    }
    assert_eq!(followed.groups.len(), GROUPS_MAX);
    assert_eq!(remarks.0.len(), 1);
}

/// Of a task that is only named its groups are told, once, and nothing of what they do.
#[test]
fn a_task_that_is_named_has_its_groups_told() {
    let tree = Tree::new();
    tree.file("/proc/5/cgroup", "4:freezer:/f\n1:cpu,cpuacct:/a\n0::/a/b\n");
    tree.file("/cg/unified/a/b/cpu.max", "max 100000\n");
    tree.file("/proc/6/cgroup", "0::/\n");
    let mut followed = Followed::new(&tree.root, &[]);
    for tid in [0, 5, 5, 6, 7] {
        followed.name(tid);
    }
    assert_eq!(
        told(&mut followed),
        [
            "fathom_cgroup_member{cgroup=\"/a\",controller=\"cpu,cpuacct\",pid=\"5\"} 1",
            "fathom_cgroup_member{cgroup=\"/a/b\",controller=\"\",pid=\"5\"} 1",
        ]
    );
    followed.name(5);
    assert!(told(&mut followed).is_empty());
}
