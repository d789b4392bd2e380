use super::limits::IoKind;
use super::*;
use crate::fixture::{Tree, dev};
use fathom_core::record::CounterRow;
use proptest::prelude::*;

fn sample(cgroups: &mut Cgroups) -> (Vec<CounterRow>, Vec<String>) {
    let (mut out, mut remarks) = (Vec::new(), Remarks::default());
    cgroups.sample(
        &mut Rows {
            at_ns: 0,
            out: &mut out,
        },
        &mut remarks,
    );
    (out, remarks.0)
}

fn shown(rows: &[CounterRow]) -> Vec<String> {
    let row = |row: &CounterRow| format!("{}{{{}}} {}", row.metric, row.labels, row.value);
    rows.iter().map(row).collect()
}

fn unified(mount: &str, own: &str) -> Tree {
    let tree = Tree::new();
    tree.mounts(&["8:1 / ext4 /dev/root rw", mount]);
    tree.file("/proc/self/cgroup", own);
    tree
}

#[test]
fn the_strictest_limit_on_the_way_up_binds() {
    let tree = unified("0:30 /cg cgroup2 cgroup2 rw", "0::/a/b\n");
    tree.file(
        "/cg/a/io.max",
        "254:0 rbps=max wbps=5000 riops=900 wiops=max\n8:16 rbps=1 wbps=max riops=max wiops=max\n",
    );
    tree.file("/cg/a/b/io.max", "254:0 rbps=max wbps=9000 riops=300 wiops=max\n");
    tree.file("/cg/a/cpu.max", "150000 100000\n");
    tree.file("/cg/a/b/cpu.max", "max 100000\n");
    tree.file("/cg/a/cpu.stat", "usage_usec 9\nthrottled_usec 1000000\n");
    tree.file("/cg/a/b/cpu.stat", "throttled_usec 500000\n");
    tree.file(
        "/cg/a/b/io.pressure",
        "some avg10=0 total=2000000\nfull avg10=0 total=1000000\n",
    );
    let mut cgroups = Cgroups::new(&tree.root, &[], &mut Remarks::default());
    let (rows, remarks) = sample(&mut cgroups);
    assert_eq!(
        shown(&rows),
        [
            "fathom_cgroup_io_limit{device=\"8:16\",kind=\"rbps\"} 1",
            "fathom_cgroup_io_limit{device=\"254:0\",kind=\"riops\"} 300",
            "fathom_cgroup_io_limit{device=\"254:0\",kind=\"wbps\"} 5000",
            "fathom_cgroup_cpu_quota_cores{} 1.5",
            "fathom_cgroup_cpu_throttled_seconds_total{} 1.5",
            "fathom_cgroup_pressure_io_waiting_seconds_total{} 2",
            "fathom_cgroup_pressure_io_stalled_seconds_total{} 1",
        ]
    );
    assert_eq!(remarks, Vec::<String>::new());
    // A limit that is lifted or set meanwhile is in force from then on.
    tree.file("/cg/a/b/io.max", "");
    tree.file("/cg/a/cpu.max", "max 100000\n");
    let lifted = shown(&sample(&mut cgroups).0);
    assert!(lifted.contains(&"fathom_cgroup_io_limit{device=\"254:0\",kind=\"riops\"} 900".to_owned()));
    assert!(!lifted.iter().any(|row| row.contains("quota")), "{lifted:?}");
}

#[test]
fn a_throttle_of_version_1_binds_its_own_group_alone() {
    let tree = Tree::new();
    tree.mounts(&[
        "8:1 / ext4 /dev/root rw",
        "0:35 /cg/blkio cgroup cgroup rw,blkio",
        "0:36 /cg/cpu cgroup cgroup rw,cpu,cpuacct",
    ]);
    tree.file("/proc/self/cgroup", "7:blkio:/p/c\n1:cpu,cpuacct:/p/c\n");
    tree.file("/cg/blkio/p/blkio.throttle.read_iops_device", "254:0 200\n");
    tree.file("/cg/blkio/p/c/blkio.throttle.read_iops_device", "");
    tree.file("/cg/blkio/p/c/blkio.throttle.write_bps_device", "254:0 1000\n");
    for (group, quota) in [("p", "25000"), ("p/c", "-1")] {
        tree.file(&format!("/cg/cpu/{group}/cpu.cfs_quota_us"), quota);
        tree.file(&format!("/cg/cpu/{group}/cpu.cfs_period_us"), "50000\n");
    }
    let mut cgroups = Cgroups::new(&tree.root, &[], &mut Remarks::default());
    assert_eq!(
        shown(&sample(&mut cgroups).0),
        [
            "fathom_cgroup_io_limit{device=\"254:0\",kind=\"wbps\"} 1000",
            "fathom_cgroup_cpu_quota_cores{} 0.5",
        ]
    );
    // Moved out of its group.
    tree.file("/proc/self/cgroup", "7:blkio:/\n1:cpu,cpuacct:/p/c\n");
    assert_eq!(
        shown(&sample(&mut cgroups).0),
        ["fathom_cgroup_cpu_quota_cores{} 0.5"]
    );
}

#[test]
fn a_container_sees_a_part_of_the_hierarchy() {
    let part = Tree::new();
    part.file(
        "/proc/self/mountinfo",
        "31 1 0:30 /docker/abc /cg ro - cgroup2 cgroup rw\n",
    );
    part.file("/proc/self/cgroup", "0::/docker/abc/x\n");
    part.file("/cg/cpu.max", "100000 100000\n");
    let mut cgroups = Cgroups::new(&part.root, &[], &mut Remarks::default());
    assert_eq!(
        shown(&sample(&mut cgroups).0),
        ["fathom_cgroup_cpu_quota_cores{} 1"]
    );

    let outside = unified("0:30 /cg cgroup2 cgroup2 rw", "0::/../other\n");
    outside.file("/cg/cpu.max", "100000 100000\n");
    let mut remarks = Remarks::default();
    let mut cgroups = Cgroups::new(&outside.root, &[], &mut remarks);
    assert_eq!(sample(&mut cgroups).0, []);
    assert!(
        remarks.0[0].contains("/../other is not visible"),
        "{:?}",
        remarks.0
    );
}

proptest! {
    #[test]
    fn any_text_is_taken_or_left(text in "([0-9:= \n-]|max|rbps=|wiops=|throttled_usec |\\PC){0,80}") {
        let mut limits = Limits::default();
        limits.take_throttle(text.as_bytes(), IoKind::ReadIos);
        limits.take_io_max(text.as_bytes());
        limits.take_cfs(text.as_bytes(), limits::only_number(text.as_bytes()));
        limits.take_cpu_max(text.as_bytes());
        limits.take_cpu_stat(text.as_bytes());
        prop_assert!(limits.cores.is_none_or(f64::is_finite));
    }

    #[test]
    fn the_smallest_is_kept(values in prop::collection::vec(any::<u64>(), 1..9)) {
        let mut limits = Limits::default();
        for value in &values {
            limits.take_io_max(format!("254:0 riops={value}").as_bytes());
        }
        let kept: Vec<_> = limits.io().collect();
        prop_assert_eq!(kept, [((dev(254, 0), IoKind::ReadIos), *values.iter().min().expect("one"))]);
    }

    #[test]
    fn any_membership_is_taken_or_left(own in "([0-9:/.\n]|blkio|cpu|,|\\PC){0,60}") {
        let tree = unified("0:30 /cg cgroup2 cgroup2 rw", &own);
        let mut cgroups = Cgroups::new(&tree.root, &[], &mut Remarks::default());
        sample(&mut cgroups);
    }
}
