use super::{Aspect, Resource, Usage, UseRow, UseScan, UseVerdict};
use crate::explain::{KnownDisk, LimitScope};
use fathom_core::record::CounterRow;

const SECOND: u64 = 1_000_000_000;

/// A machine whose counters go on as told; two CPUs, one disk.
#[derive(Default)]
struct Node {
    scan: UseScan,
    at_ns: u64,
    sums: std::collections::BTreeMap<(&'static str, &'static str), f64>,
}

/// What happens in a second.
#[derive(Clone, Copy)]
struct Rates {
    busy: f64,
    ios: f64,
    bytes: f64,
    queue: f64,
    memory_stalled: f64,
    available: f64,
}

const IDLE: Rates = Rates {
    busy: 0.02,
    ios: 3.0,
    bytes: 20_000.0,
    queue: 0.01,
    memory_stalled: 0.0,
    available: 0.8,
};

impl Node {
    fn go_on(&mut self, step_s: f64, rates: Rates) {
        self.at_ns += (step_s * 1e9) as u64;
        let grown = [
            (
                "node_cpu_seconds_total",
                "cpu=\"0\",mode=\"user\"",
                2.0 * rates.busy,
            ),
            (
                "node_cpu_seconds_total",
                "cpu=\"0\",mode=\"idle\"",
                2.0 - 2.0 * rates.busy,
            ),
            ("node_cpu_seconds_total", "cpu=\"0\",mode=\"steal\"", 0.0),
            (
                "node_disk_reads_completed_total",
                "device=\"sda\"",
                rates.ios * 0.75,
            ),
            (
                "node_disk_writes_completed_total",
                "device=\"sda\"",
                rates.ios * 0.25,
            ),
            ("node_disk_read_bytes_total", "device=\"sda\"", rates.bytes),
            (
                "node_disk_io_time_seconds_total",
                "device=\"sda\"",
                rates.queue.min(1.0),
            ),
            (
                "node_disk_io_time_weighted_seconds_total",
                "device=\"sda\"",
                rates.queue,
            ),
            (
                "node_pressure_memory_waiting_seconds_total",
                "",
                rates.memory_stalled * 1.5,
            ),
            (
                "node_pressure_memory_stalled_seconds_total",
                "",
                rates.memory_stalled,
            ),
            ("node_vmstat_oom_kill", "", 0.0),
        ];
        let mut rows = Vec::new();
        let mut push = |metric: &'static str, labels: &'static str, value| {
            rows.push(CounterRow {
                at_ns: self.at_ns,
                metric: metric.into(),
                labels: labels.into(),
                value,
            });
        };
        for (metric, labels, a_second) in grown {
            let sum = self.sums.entry((metric, labels)).or_default();
            *sum += a_second * step_s;
            push(metric, labels, *sum);
        }
        push("node_memory_MemTotal_bytes", "", 1e10);
        push("node_memory_MemAvailable_bytes", "", 1e10 * rates.available);
        self.scan.feed(&rows);
    }

    fn for_steps(step_s: f64, known: &[KnownDisk], each: impl IntoIterator<Item = Rates>) -> Usage {
        let mut node = Self::default();
        node.go_on(step_s, IDLE);
        each.into_iter().for_each(|rates| node.go_on(step_s, rates));
        node.scan.finish(known)
    }
}

fn known(name: &str, scope: LimitScope, iops: f64, own: bool) -> KnownDisk {
    KnownDisk {
        name: name.to_owned(),
        scope,
        iops: Some(iops),
        bytes_per_second: None,
        own,
    }
}

#[track_caller]
fn find<'a>(usage: &'a Usage, resource: &Resource, what: &str) -> &'a UseRow {
    let mut rows = usage
        .rows
        .iter()
        .filter(|row| row.resource == *resource && row.what == what);
    rows.next().unwrap_or_else(|| panic!("no {what} of {resource:?}"))
}

fn sda() -> Resource {
    Resource::Disk(String::from("sda"))
}

#[test]
fn nothing_is_short_on_an_idle_node() {
    let usage = Node::for_steps(15.0, &[], [IDLE; 60]);
    assert_eq!(usage.short(), Vec::<&UseRow>::new());
    assert_eq!((usage.step_ns, usage.readings), (15 * SECOND, 60));
    let ios = find(&usage, &sda(), "I/Os a second");
    assert!((ios.mean.expect("a mean") - 3.0).abs() < 0.01);
    assert_eq!((ios.verdict, &ios.limit), (UseVerdict::Fine, &None));
    let errors = find(&usage, &sda(), "failed requests");
    assert_eq!(errors.verdict, UseVerdict::NotCounted);
    // Each resource is asked all three.
    for resource in [Resource::Cpu, Resource::Memory, sda()] {
        for aspect in [Aspect::Utilization, Aspect::Saturation, Aspect::Errors] {
            assert!(
                usage
                    .rows
                    .iter()
                    .any(|row| row.resource == resource && row.aspect == aspect)
            );
        }
    }
}

#[test]
fn a_rate_that_stays_where_it_is_while_more_waits_is_a_limit() {
    let busy = Rates {
        ios: 1100.0,
        queue: 30.0,
        ..IDLE
    };
    let catalogue = [
        known("P10", LimitScope::Disk, 500.0, false),
        known("P15", LimitScope::Disk, 1100.0, false),
        known("a machine", LimitScope::Machine, 1100.0, false),
    ];
    // Half of the time, with scrapes a minute apart.
    let each = (0..60).map(|at| if at % 2 == 0 { busy } else { IDLE });
    let usage = Node::for_steps(60.0, &catalogue, each);
    let short = usage.short();
    assert_eq!(short.len(), 1);
    let limit = short[0].limit.as_ref().expect("a limit");
    assert!((limit.value / 1100.0 - 1.0).abs() < 0.01 && !limit.is_stated);
    assert_eq!(limit.whose, "where it stayed, near the limit of P15");
    assert!((short[0].at_limit - 0.5).abs() < 0.05);
    assert!(usage.hidden()[0].contains("60.0 s"), "{:?}", usage.hidden());
    // One I/O at a time keeps a rate as well, and is no limit of the disk's.
    let paced = Rates { queue: 0.9, ..busy };
    assert_eq!(
        Node::for_steps(60.0, &catalogue, [paced; 60]).short(),
        Vec::<&UseRow>::new()
    );
    // A rate that goes up and down has no limit.
    let uneven = (0..60).map(|at| Rates {
        ios: 200.0 + 15.0 * f64::from(at),
        bytes: 4096.0 * (200.0 + 15.0 * f64::from(at)),
        ..busy
    });
    assert_eq!(
        Node::for_steps(60.0, &catalogue, uneven).short(),
        Vec::<&UseRow>::new()
    );
}

#[test]
fn the_machines_own_limit_goes_before_what_is_on_sale() {
    let busy = Rates {
        ios: 3200.0,
        queue: 60.0,
        ..IDLE
    };
    let limits = [
        known("P15", LimitScope::Disk, 3200.0, false),
        known("Standard_B2s uncached", LimitScope::Machine, 3200.0, true),
    ];
    let usage = Node::for_steps(15.0, &limits, [busy; 40]);
    let limit = usage.short()[0].limit.clone().expect("a limit");
    assert_eq!(
        (limit.whose.as_str(), limit.is_stated),
        ("Standard_B2s uncached", true)
    );
    // Far below it a rate that stays is another limit, which nobody states.
    let busy = Rates { ios: 500.0, ..busy };
    let usage = Node::for_steps(15.0, &limits, [busy; 40]);
    let short = usage.short();
    assert_eq!((short.len(), short[0].what), (1, "I/Os a second"));
    let limit = short[0].limit.as_ref().expect("a limit");
    assert!(
        (limit.value - 500.0).abs() < 5.0 && limit.whose.contains("no stated limit"),
        "{limit:?}"
    );
}

#[test]
fn a_node_short_of_memory_is_told_by_what_waits_for_it() {
    let usage = Node::for_steps(
        15.0,
        &[],
        [Rates {
            memory_stalled: 0.2,
            available: 0.01,
            ..IDLE
        }; 40],
    );
    let short = usage.short();
    assert!(
        short.len() >= 2 && short.iter().all(|row| row.resource == Resource::Memory),
        "{short:?}"
    );
    assert_eq!(short[0].aspect, Aspect::Utilization);
}

#[test]
fn busy_cpus_are_short_and_a_reset_counter_is_no_use() {
    let usage = Node::for_steps(1.0, &[], [Rates { busy: 0.97, ..IDLE }; 20]);
    assert_eq!(usage.short()[0].resource, Resource::Cpu);
    let mut node = Node::default();
    for at in 0..20 {
        if at == 10 {
            node.sums.clear();
        }
        node.go_on(1.0, IDLE);
    }
    let usage = node.scan.finish(&[]);
    let peak = find(&usage, &sda(), "I/Os a second").peak.expect("a peak");
    assert!(peak < 3.1, "{peak}");
}

#[test]
fn no_counters_make_no_table() {
    assert!(UseScan::default().finish(&[]).is_empty());
    assert_eq!(Usage::default().hidden(), Vec::<String>::new());
}

/// A row of a counter or a level at a moment.
fn row_at(at_ns: u64, metric: &'static str, labels: &'static str, value: f64) -> CounterRow {
    CounterRow {
        at_ns,
        metric: metric.into(),
        labels: labels.into(),
        value,
    }
}

#[test]
fn pods_are_told_by_their_share_of_the_disk_and_volumes_by_how_they_stood_last() {
    let mut scan = UseScan::default();
    for step in 0..=20_u64 {
        let (at_ns, sum) = (step * 15 * SECOND, step as f64 * 15.0);
        // The volume of one fills up; that of the other was emptied.
        scan.feed(&[
            row_at(
                at_ns,
                "node_disk_reads_completed_total",
                "device=\"sdc\"",
                sum * 100.0,
            ),
            row_at(
                at_ns,
                "container_fs_reads_total",
                "device=\"/dev/sdc\",namespace=\"data\",pod=\"pg-0\"",
                sum * 60.0,
            ),
            row_at(
                at_ns,
                "container_fs_writes_total",
                "device=\"/dev/sdc\",namespace=\"data\",pod=\"pg-0\"",
                sum * 20.0,
            ),
            row_at(
                at_ns,
                "container_fs_writes_bytes_total",
                "device=\"/dev/sdc\",namespace=\"data\",pod=\"pg-0\"",
                sum * 4096.0,
            ),
            row_at(
                at_ns,
                "container_fs_reads_total",
                "device=\"/dev/sdc\",namespace=\"ops\",pod=\"backup\"",
                sum * 5.0,
            ),
            row_at(
                at_ns,
                "container_fs_reads_total",
                "device=\"/dev/sdc\",namespace=\"ops\",pod=\"idle\"",
                7.0,
            ),
            row_at(
                at_ns,
                "kubelet_volume_stats_used_bytes",
                "namespace=\"data\",persistentvolumeclaim=\"pg\"",
                80.0 + step as f64 * 0.9,
            ),
            row_at(
                at_ns,
                "kubelet_volume_stats_capacity_bytes",
                "namespace=\"data\",persistentvolumeclaim=\"pg\"",
                100.0,
            ),
            row_at(
                at_ns,
                "kubelet_volume_stats_used_bytes",
                "namespace=\"data\",persistentvolumeclaim=\"old\"",
                if step < 18 { 99.0 } else { 10.0 },
            ),
            row_at(
                at_ns,
                "kubelet_volume_stats_capacity_bytes",
                "namespace=\"data\",persistentvolumeclaim=\"old\"",
                100.0,
            ),
        ]);
    }
    let usage = scan.finish(&[]);
    let told: Vec<(&str, &str, i64)> = usage
        .pods
        .iter()
        .map(|pod| {
            let percent = pod.share.map_or(-1, |share| (share * 100.0).round() as i64);
            (pod.pod.as_str(), pod.device.as_str(), percent)
        })
        .collect();
    assert_eq!(told, [("data/pg-0", "sdc", 80), ("ops/backup", "sdc", 5)]);
    assert!((usage.pods[0].bytes_per_second_mean - 4096.0).abs() < 0.01);
    let verdict = |name: &str| {
        let row = usage
            .rows
            .iter()
            .find(|row| row.resource == Resource::Volume(name.to_owned()) && row.what == "space used");
        row.map(|row| row.verdict)
    };
    assert_eq!(verdict("data/pg"), Some(UseVerdict::Short));
    assert_eq!(verdict("data/old"), Some(UseVerdict::Fine));
    assert!(
        usage
            .hidden()
            .iter()
            .any(|hidden| hidden.starts_with("which process of a pod"))
    );
}
