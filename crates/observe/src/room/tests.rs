//! What is left, on trees that look like a system.

use super::*;
use crate::fixture::Tree;

const MIB: u64 = 1 << 20;

#[test]
fn the_tightest_limit_of_memory_binds() {
    let tree = Tree::new();
    assert_eq!(memory(&tree.root), None, "what is not told limits nothing");
    tree.file("/proc/meminfo", "MemTotal: 4096 kB\nMemAvailable:    2048 kB\n");
    let machine = memory(&tree.root).expect("a limit");
    assert_eq!(
        (machine.amount, machine.limit.as_str()),
        (2 * MIB, "the memory available")
    );
    tree.file("/proc/self/cgroup", "0::/a/b\n");
    tree.mounts(&["8:1 / ext4 /dev/root rw", "0:30 /cg cgroup2 cgroup2 rw"]);
    tree.file("/cg/a/b/memory.max", "max\n");
    tree.file("/cg/a/memory.max", "1572864\n");
    tree.file("/cg/a/memory.current", "1048576\n");
    tree.file("/cg/a/memory.stat", "anon 1\ninactive_file 262144\n");
    let group = memory(&tree.root).expect("a limit");
    assert_eq!(group.amount, 3 * MIB / 4);
    assert_eq!(group.limit, "memory.max of the control group /cg/a");
}

#[test]
fn the_first_version_of_control_groups_counts_too() {
    let tree = Tree::new();
    tree.file("/proc/self/cgroup", "4:memory:/x\n8:pids:/\n");
    tree.mounts(&[
        "8:1 / ext4 /dev/root rw",
        "0:32 /cgm cgroup cgroup rw,memory",
        "0:36 /cgp cgroup cgroup rw,pids",
    ]);
    tree.file("/cgm/x/memory.limit_in_bytes", "2097152\n");
    tree.file("/cgm/x/memory.usage_in_bytes", "1048576\n");
    tree.file("/cgm/memory.limit_in_bytes", "9223372036854771712\n");
    tree.file("/cgp/pids.max", "100\n");
    tree.file("/cgp/pids.current", "90\n");
    assert_eq!(memory(&tree.root).map(|left| left.amount), Some(MIB));
    assert_eq!(threads(&tree.root).map(|left| left.amount), Some(10));
}

#[test]
fn threads_are_limited_by_the_system_and_for_users() {
    let tree = Tree::new();
    tree.file("/proc/loadavg", "0.1 0.2 0.3 1/200 4242\n");
    tree.file("/proc/sys/kernel/threads-max", "1000\n");
    tree.file("/proc/sys/kernel/pid_max", "32768\n");
    let system = threads(&tree.root).expect("a limit");
    assert_eq!(
        (system.amount, system.limit.as_str()),
        (800, "kernel.threads-max")
    );
    tree.file(
        "/proc/self/limits",
        "Limit  Soft  Hard  Units\nMax processes   50   60   processes\n",
    );
    tree.file(
        "/proc/77/status",
        "Name: x\nUid:\t1000\t1000\t1000\t1000\nThreads:\t20\n",
    );
    tree.file("/proc/78/status", "Name: y\nUid:\t0\t0\t0\t0\nThreads:\t5\n");
    tree.file(
        "/proc/self/status",
        "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\n",
    );
    assert_eq!(threads(&tree.root).map(|left| left.amount), Some(30));
    tree.file(
        "/proc/self/status",
        "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000001000000\n",
    );
    assert_eq!(threads(&tree.root).map(|left| left.amount), Some(800));
}

#[test]
fn mappings_and_requests_in_use_are_not_left() {
    let tree = Tree::new();
    assert_eq!((mappings(&tree.root), aio_requests(&tree.root)), (None, None));
    tree.file("/proc/sys/vm/max_map_count", "65530\n");
    tree.file("/proc/self/maps", "a\nb\n");
    tree.file("/proc/sys/fs/aio-max-nr", "65536\n");
    tree.file("/proc/sys/fs/aio-nr", "36\n");
    assert_eq!(mappings(&tree.root).map(|left| left.amount), Some(65528));
    assert_eq!(aio_requests(&tree.root).map(|left| left.amount), Some(65500));
}
