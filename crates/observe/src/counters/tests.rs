use super::*;
use crate::fixture::{Tree, dev};
use expect_test::{Expect, expect};

/// A system with one disk of which everything is known.
fn whole() -> Tree {
    let mut tree = Tree::new();
    tree.disk("vda", dev(254, 0));
    tree.attribute(
        "vda",
        "stat",
        "  100 1 800 50 200 2 1600 90 3 120 140 5 6 4096 7 8 9",
    );
    tree.file(
        "/proc/stat",
        "cpu  300 0 40 500 6 0 7 8 0 0\n\
         cpu0 150 1 20 250 3 0 4 5 0 0\n\
         cpu1 150 2 20 250 3 0 3 3 0 0\n\
         intr 777 0 1 2\nctxt 4242\nbtime 1\nprocesses 9\nprocs_running 2\nprocs_blocked 1\n",
    );
    tree.file(
        "/proc/meminfo",
        "MemTotal: 24684096 kB\nMemAvailable:   1000 kB\nCached: 2000 kB\nSwapCached: 7 kB\nDirty: 3 kB\n\
         Writeback: 4 kB\nWritebackTmp: 9 kB\n",
    );
    tree.file(
        "/proc/vmstat",
        "nr_dirty 1\nnr_dirtied 11\nnr_written 12\npgpgin 13\npgpgout 14\npgmajfault 15\n",
    );
    tree.file(
        "/proc/net/dev",
        "Inter-|   Receive                                                |  Transmit\n face |bytes    packets errs drop fifo frame \
         compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n    lo: 5 5 0 0 0 0 0 0 5 5 0 0 0 0 0 0\n  eth0: \
         1000 10 1 2 0 0 0 0 2000 20 3 4 0 0 0 0\n",
    );
    tree.file("/sys/class/net/eth0/speed", "10000\n");
    tree.file("/proc/loadavg", "0.19 0.28 0.73 1/91 22742\n");
    for (name, full) in [("cpu", 0), ("io", 500_000), ("memory", 0)] {
        tree.file(
            &format!("/proc/pressure/{name}"),
            format!(
                "some avg10=0.04 avg60=0.37 avg300=0.60 total=1500000\n\
                 full avg10=0.00 avg60=0.00 avg300=0.00 total={full}\n"
            ),
        );
    }
    tree.file("/proc/self/cgroup", "2:blkio:/load\n1:cpu,cpuacct:/load\n0::/\n");
    tree.file("/proc/self/io", "read_bytes: 0\nwrite_bytes: 0\n");
    tree.file("/proc/self/schedstat", "1 2 3\n");
    tree.mounts(&["8:1 / ext4 /dev/root rw", "0:35 /cg/blkio cgroup cgroup rw,blkio"]);
    tree.file("/cg/blkio/load/blkio.throttle.read_iops_device", "254:0 1100\n");
    tree.file("/cg/blkio/load/blkio.throttle.write_bps_device", "");
    tree.mounts(&[
        "8:1 / ext4 /dev/root rw",
        "0:35 /cg/blkio cgroup cgroup rw,blkio",
        "0:36 /cg/cpu cgroup cgroup rw,cpu,cpuacct",
        "0:37 /cg/unified cgroup2 cgroup2 rw",
    ]);
    tree.file("/cg/cpu/load/cpu.cfs_quota_us", "50000\n");
    tree.file("/cg/cpu/load/cpu.cfs_period_us", "100000\n");
    tree.file(
        "/cg/cpu/load/cpu.stat",
        "nr_periods 5\nnr_throttled 1\nthrottled_time 2500000000\n",
    );
    tree
}

fn disks() -> Vec<String> {
    vec!["vda".to_owned()]
}

#[track_caller]
fn check(rows: &[CounterRow], expect: &Expect) {
    let lines: Vec<String> = rows
        .iter()
        .map(|row| match &*row.labels {
            "" => format!("{} {}\n", row.metric, row.value),
            labels => format!("{}{{{labels}}} {}\n", row.metric, row.value),
        })
        .collect();
    expect.assert_eq(&lines.concat());
}

#[test]
fn every_counter_has_the_exporters_name_and_unit() {
    let tree = whole();
    let (mut sampler, remarks) = CounterSampler::new(&tree.root, &disks());
    assert_eq!(remarks, Vec::<String>::new());
    let mut rows = Vec::new();
    sampler.sample(7, &mut rows, &mut Vec::new());
    assert!(rows.iter().all(|row| row.at_ns == 7));
    check(
        &rows,
        &expect![[r#"
        node_disk_reads_completed_total{device="vda"} 100
        node_disk_reads_merged_total{device="vda"} 1
        node_disk_read_bytes_total{device="vda"} 409600
        node_disk_read_time_seconds_total{device="vda"} 0.05
        node_disk_writes_completed_total{device="vda"} 200
        node_disk_writes_merged_total{device="vda"} 2
        node_disk_written_bytes_total{device="vda"} 819200
        node_disk_write_time_seconds_total{device="vda"} 0.09
        node_disk_io_now{device="vda"} 3
        node_disk_io_time_seconds_total{device="vda"} 0.12
        node_disk_io_time_weighted_seconds_total{device="vda"} 0.14
        node_disk_discards_completed_total{device="vda"} 5
        node_disk_discards_merged_total{device="vda"} 6
        node_disk_discarded_sectors_total{device="vda"} 4096
        node_disk_discard_time_seconds_total{device="vda"} 0.007
        node_disk_flush_requests_total{device="vda"} 8
        node_disk_flush_requests_time_seconds_total{device="vda"} 0.009
        node_cpu_seconds_total{cpu="0",mode="user"} 1.5
        node_cpu_seconds_total{cpu="0",mode="nice"} 0.01
        node_cpu_seconds_total{cpu="0",mode="system"} 0.2
        node_cpu_seconds_total{cpu="0",mode="idle"} 2.5
        node_cpu_seconds_total{cpu="0",mode="iowait"} 0.03
        node_cpu_seconds_total{cpu="0",mode="irq"} 0
        node_cpu_seconds_total{cpu="0",mode="softirq"} 0.04
        node_cpu_seconds_total{cpu="0",mode="steal"} 0.05
        node_cpu_seconds_total{cpu="1",mode="user"} 1.5
        node_cpu_seconds_total{cpu="1",mode="nice"} 0.02
        node_cpu_seconds_total{cpu="1",mode="system"} 0.2
        node_cpu_seconds_total{cpu="1",mode="idle"} 2.5
        node_cpu_seconds_total{cpu="1",mode="iowait"} 0.03
        node_cpu_seconds_total{cpu="1",mode="irq"} 0
        node_cpu_seconds_total{cpu="1",mode="softirq"} 0.03
        node_cpu_seconds_total{cpu="1",mode="steal"} 0.03
        node_intr_total 777
        node_context_switches_total 4242
        node_procs_running 2
        node_procs_blocked 1
        node_memory_MemTotal_bytes 25276514304
        node_memory_MemAvailable_bytes 1024000
        node_memory_Cached_bytes 2048000
        node_memory_Dirty_bytes 3072
        node_memory_Writeback_bytes 4096
        node_vmstat_nr_dirtied 11
        node_vmstat_nr_written 12
        node_vmstat_pgpgin 13
        node_vmstat_pgpgout 14
        node_vmstat_pgmajfault 15
        node_load1 0.19
        node_pressure_cpu_waiting_seconds_total 1.5
        node_pressure_io_waiting_seconds_total 1.5
        node_pressure_io_stalled_seconds_total 0.5
        node_pressure_memory_waiting_seconds_total 1.5
        node_pressure_memory_stalled_seconds_total 0
        node_network_receive_bytes_total{device="eth0"} 1000
        node_network_receive_errs_total{device="eth0"} 1
        node_network_receive_drop_total{device="eth0"} 2
        node_network_transmit_bytes_total{device="eth0"} 2000
        node_network_transmit_errs_total{device="eth0"} 3
        node_network_transmit_drop_total{device="eth0"} 4
        node_network_speed_bytes{device="eth0"} 1250000000
        fathom_cgroup_io_limit{device="254:0",kind="riops"} 1100
        fathom_cgroup_cpu_quota_cores 0.5
        fathom_cgroup_cpu_throttled_seconds_total 2.5
    "#]],
    );
    assert_eq!(sampler.remarks(), Vec::<String>::new());
}

#[test]
fn the_disks_alone_ten_times_a_second() {
    let tree = whole();
    let names = ["vda".to_owned(), "vda".to_owned()];
    let (mut sampler, _) = CounterSampler::new(&tree.root, &names);
    let mut rows = Vec::new();
    sampler.sample_disks(1, &mut rows);
    check(
        &rows,
        &expect![[r#"
        node_disk_io_now{device="vda"} 3
        node_disk_io_time_seconds_total{device="vda"} 0.12
    "#]],
    );
}

#[test]
fn what_is_missing_is_said_once_with_its_reason() {
    let tree = Tree::new();
    let (mut sampler, remarks) = CounterSampler::new(&tree.root, &disks());
    let (mut rows, mut processes) = (Vec::new(), Vec::new());
    for second in 0..3 {
        sampler.sample(second, &mut rows, &mut processes);
        sampler.sample_disks(second, &mut rows);
    }
    assert_eq!((rows.len(), processes.len()), (0, 0));
    assert_eq!(sampler.remarks(), remarks);
    expect![[r#"
        the counters of disk vda: not available, because /sys/class/block/vda/stat cannot be read: No such file or directory (os error 2)
        CPU time, context switches and interrupts: not available, because /proc/stat cannot be read: No such file or directory (os error 2)
        memory that is dirty, written back, cached and available: not available, because /proc/meminfo cannot be read: No such file or directory (os error 2)
        paging and pages dirtied and written: not available, because /proc/vmstat cannot be read: No such file or directory (os error 2)
        the load average: not available, because /proc/loadavg cannot be read: No such file or directory (os error 2)
        pressure on the CPUs: not available, because /proc/pressure/cpu cannot be read: No such file or directory (os error 2); it takes Linux 4.20 with CONFIG_PSI, on many systems psi=1 on the kernel's command line
        pressure on storage: not available, because /proc/pressure/io cannot be read: No such file or directory (os error 2); it takes Linux 4.20 with CONFIG_PSI, on many systems psi=1 on the kernel's command line
        pressure on memory: not available, because /proc/pressure/memory cannot be read: No such file or directory (os error 2); it takes Linux 4.20 with CONFIG_PSI, on many systems psi=1 on the kernel's command line
        bytes, drops and errors of the network: not available, because /proc/net/dev cannot be read: No such file or directory (os error 2)
        the limits of control groups: not available, because /proc/self/cgroup cannot be read: No such file or directory (os error 2)
        the I/O of each process: not available, because /proc/self/io cannot be read: No such file or directory (os error 2); it takes a kernel with CONFIG_TASK_IO_ACCOUNTING
        how long each process waited for a CPU: not available, because /proc/self/schedstat cannot be read: No such file or directory (os error 2); it takes a kernel with CONFIG_SCHED_INFO"#]].assert_eq(&remarks.join("\n"));
}

/// The running system, whatever it is: nothing panics, and nothing that grows goes back.
#[test]
fn the_running_system_gives_counters_that_do_not_go_back() {
    let root = SystemRoot::default();
    let names = root.list("/sys/block").unwrap_or_default();
    let (mut sampler, _) = CounterSampler::new(&root, &names);
    let mut last = std::collections::BTreeMap::new();
    let (mut rows, mut processes) = (Vec::new(), Vec::new());
    for second in 0..20 {
        rows.clear();
        sampler.sample(second, &mut rows, &mut processes);
        for row in &rows {
            assert!(row.value.is_finite() && row.value >= 0.0, "{row:?}");
            let grows = row.metric.ends_with("_total") || row.metric.starts_with("node_vmstat_");
            let before = last.insert((row.metric.clone(), row.labels.clone()), row.value);
            assert!(
                !grows || before.is_none_or(|before| before <= row.value),
                "{row:?}"
            );
        }
    }
    assert!(processes.iter().all(|row| row.at_ns > 0 && row.duration_ns > 0));
    assert!(rows.iter().any(|row| row.metric == "node_context_switches_total"));
}
