//! The table of metrics: the only source of what is exported, and of what dashboards and rules may ask for.
//!
//! A row says name, kind, labels, where its values come from and what it means. The names of the machine's counters are those of
//! Prometheus' node exporter, so that panels made for it work here. It must not know values.

/// How a metric's values are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A total that only grows.
    Counter,
    /// What is so at this moment.
    Gauge,
    /// What the node exporter leaves open.
    Untyped,
    /// A distribution, in classic and in native buckets.
    Histogram,
}

/// Where a metric's values come from, and so when they are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The program: always.
    Program,
    /// The load: of a run, a replay, a sweep.
    Load,
    /// A sweep alone.
    Sweep,
    /// A limit that the model states, or that the machine says it has.
    Limit,
    /// Modelled burst credit.
    Credit,
    /// What was judged of disturbances.
    Spikes,
    /// A modelled disk that is served live.
    Served,
    /// The machine, real or modelled, under the names of the node exporter.
    Node,
    /// What the node exporter does not tell: control groups, the record itself.
    Own,
}

/// A row of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct Metric {
    /// With the unit and, of a counter, `_total` at its end.
    pub name: &'static str,
    pub kind: Kind,
    pub source: Source,
    /// The names of its labels.
    pub labels: &'static [&'static str],
    /// One sentence without a full stop.
    pub help: &'static str,
}

macro_rules! metrics {
    ($($row:ident: $name:literal $kind:ident $source:ident [$($label:literal)*] $help:literal;)*) => {
        $(
            #[doc = concat!("`", $name, "`: ", $help, ".")]
            pub const $row: &Metric = &Metric {
                name: $name,
                kind: Kind::$kind,
                source: Source::$source,
                labels: &[$($label),*],
                help: $help,
            };
        )*
        /// The table.
        pub const ALL: &[&Metric] = &[$($row),*];
    };
}

metrics! {
    BUILD_INFO: "fathom_build_info" Gauge Program ["version"] "1, labelled with the version of fathom";
    TARGET_INFO: "fathom_target_info" Gauge Program ["title" "target"] "1, labelled with what is measured and on what";
    ELAPSED: "fathom_elapsed_seconds" Gauge Load [] "Time since the first job was let go, of a modelled disk in virtual time";
    MEASURED: "fathom_measured_seconds_total" Counter Load []
        "Time that the load's rows cover, of a modelled disk in virtual time, of a sweep's points one after the other: what a rate is divided by";
    RUNNING: "fathom_running" Gauge Program [] "1 while the measurement goes on, 0 once it has ended";
    DONE: "fathom_progress_ratio" Gauge Load ["group"] "Share of a reporting group that is done, where it can be told";
    WORKERS: "fathom_load_workers" Gauge Load ["group"] "Workers under way";

    LOAD_IOS: "fathom_load_ios_total" Counter Load ["section" "op"] "I/Os of the load completed, with ramp and cooldown";
    LOAD_BYTES: "fathom_load_bytes_total" Counter Load ["section" "op"] "Bytes that the load moved";
    LOAD_ERRORS: "fathom_load_errors_total" Counter Load ["section" "op"] "I/Os of the load that failed";
    LOAD_LATENCY: "fathom_load_latency_seconds" Histogram Load ["section" "op"] "Latency of the load's I/Os, created to completed";
    LOAD_RESPONSE: "fathom_load_response_seconds" Histogram Load ["section" "op"]
        "Response time of the load's I/Os, from when the schedule wanted them, of an open loop";
    LOAD_LATENCY_MAX: "fathom_load_latency_max_seconds" Gauge Load ["section" "op"] "Longest latency in the last interval";
    LOAD_BACKLOG: "fathom_load_backlog_ios" Gauge Load ["section"] "I/Os due and not yet sent, of an open loop";

    SWEEP_POINTS: "fathom_sweep_points" Gauge Sweep [] "Measurements that the sweep consists of";
    SWEEP_DONE: "fathom_sweep_points_done" Gauge Sweep [] "Measurements of the sweep that are done";
    SWEEP_IOPS: "fathom_sweep_point_ios_per_second" Gauge Sweep ["point"] "Mean I/Os a second of a point of the sweep";
    SWEEP_BYTES: "fathom_sweep_point_bytes_per_second" Gauge Sweep ["point"] "Mean bytes a second of a point of the sweep";

    LIMIT_IOPS: "fathom_limit_ios_per_second" Gauge Limit ["limit" "scope"] "I/Os a second that a limit allows";
    LIMIT_BYTES: "fathom_limit_bytes_per_second" Gauge Limit ["limit" "scope"] "Bytes a second that a limit allows";
    CREDIT_LEFT: "fathom_credit_left_ratio" Gauge Credit ["limit"] "Burst credit that is left, as a share of a full bucket";
    CREDIT_LEFT_AMOUNT: "fathom_credit_left" Gauge Credit ["limit" "unit"] "Burst credit that is left, in I/Os or bytes";

    DISTURBANCES: "fathom_disturbances_total" Counter Spikes ["cause"]
        "Intervals with an I/O far slower than usual, by cause as far as counters alone can tell";
    DISTURBED: "fathom_disturbed_seconds_total" Counter Spikes ["cause"] "Longest latencies of these intervals, summed";

    SERVED_ATTACHED: "fathom_served_attached" Gauge Served ["disk"] "1 while a disk that is served live is there, 0 after a power cut or a detach";
    SERVED_SIZE: "fathom_served_size_bytes" Gauge Served ["disk"] "Size of a disk that is served live";
    SERVED_IN_FLIGHT: "fathom_served_in_flight_ios" Gauge Served ["disk"] "I/Os that were taken and are not answered";
    SERVED_THROTTLED: "fathom_served_throttled_ratio" Gauge Served ["disk"]
        "Share of the time of I/Os in the last second for which the disk's own limits are to blame";
    SERVED_UNFLUSHED: "fathom_served_unflushed_bytes" Gauge Served ["disk"] "Bytes written that a power cut could take";
    SERVED_FAULTS: "fathom_served_faults" Gauge Served ["disk"] "Faults that go on";
    SERVED_LIMIT: "fathom_served_limit_per_second" Gauge Served ["disk" "limit" "unit"]
        "Nominal rate of a limit; of a machine's limits the disk is called all disks";
    SERVED_TAKEN: "fathom_served_limit_used_total" Counter Served ["disk" "limit" "unit"] "What a limit has let through, in what it counts";
    SERVED_HELD: "fathom_served_limit_held_seconds_total" Counter Served ["disk" "limit"]
        "Time for which a limit held I/Os back, summed over all of them";
    SERVED_CREDIT_END: "fathom_served_credit_ends_seconds" Gauge Served ["disk" "limit"]
        "Time until a burst credit is spent at the last second's rate; not there while it is not being spent";
    SERVED_LATENESS: "fathom_served_lateness_seconds" Histogram Served [] "How late the server gave its answers, by its own clock";
    SERVED_VALID: "fathom_served_valid" Gauge Served []
        "1 while the 99th percentile of lateness is within a tenth of the median service time, else 0; not there before the first I/O";
    SERVED_EARLY: "fathom_served_early_seconds" Gauge Served [] "What each answer is given earlier, which it takes to arrive";

    CPU: "node_cpu_seconds_total" Counter Node ["cpu" "mode"] "Seconds that each CPU spent in each mode";
    CONTEXT_SWITCHES: "node_context_switches_total" Counter Node [] "Context switches";
    INTERRUPTS: "node_intr_total" Counter Node [] "Interrupts served";
    PROCS_RUNNING: "node_procs_running" Gauge Node [] "Processes that are runnable";
    PROCS_BLOCKED: "node_procs_blocked" Gauge Node [] "Processes that wait for I/O";
    LOAD1: "node_load1" Gauge Node [] "Load average of one minute";
    PRESSURE_CPU: "node_pressure_cpu_waiting_seconds_total" Counter Node [] "Seconds in which processes waited for a CPU";
    PRESSURE_IO: "node_pressure_io_waiting_seconds_total" Counter Node [] "Seconds in which processes waited for I/O";
    PRESSURE_IO_FULL: "node_pressure_io_stalled_seconds_total" Counter Node [] "Seconds in which no process went on for I/O";
    PRESSURE_MEMORY: "node_pressure_memory_waiting_seconds_total" Counter Node [] "Seconds in which processes waited for memory";
    PRESSURE_MEMORY_FULL: "node_pressure_memory_stalled_seconds_total" Counter Node []
        "Seconds in which no process went on for lack of memory";
    MEMORY_TOTAL: "node_memory_MemTotal_bytes" Gauge Node [] "Memory of the machine";
    MEMORY_AVAILABLE: "node_memory_MemAvailable_bytes" Gauge Node [] "Memory that could be given to processes without swapping";
    MEMORY_CACHED: "node_memory_Cached_bytes" Gauge Node [] "Page cache";
    MEMORY_DIRTY: "node_memory_Dirty_bytes" Gauge Node [] "Memory that waits to be written to a disk";
    MEMORY_WRITEBACK: "node_memory_Writeback_bytes" Gauge Node [] "Memory that is being written to a disk";
    PAGED_IN: "node_vmstat_pgpgin" Untyped Node [] "KiB read from disks";
    PAGED_OUT: "node_vmstat_pgpgout" Untyped Node [] "KiB written to disks";
    MAJOR_FAULTS: "node_vmstat_pgmajfault" Untyped Node [] "Page faults that read from a disk";
    OOM_KILLS: "node_vmstat_oom_kill" Untyped Node [] "Processes killed for lack of memory";
    PAGES_DIRTIED: "node_vmstat_nr_dirtied" Untyped Node [] "Pages made dirty";
    PAGES_WRITTEN: "node_vmstat_nr_written" Untyped Node [] "Pages written";

    DISK_READS: "node_disk_reads_completed_total" Counter Node ["device"] "Reads completed";
    DISK_READS_MERGED: "node_disk_reads_merged_total" Counter Node ["device"] "Reads merged with a neighbour";
    DISK_READ_BYTES: "node_disk_read_bytes_total" Counter Node ["device"] "Bytes read";
    DISK_READ_TIME: "node_disk_read_time_seconds_total" Counter Node ["device"] "Seconds that all reads took, summed";
    DISK_WRITES: "node_disk_writes_completed_total" Counter Node ["device"] "Writes completed";
    DISK_WRITES_MERGED: "node_disk_writes_merged_total" Counter Node ["device"] "Writes merged with a neighbour";
    DISK_WRITTEN_BYTES: "node_disk_written_bytes_total" Counter Node ["device"] "Bytes written";
    DISK_WRITE_TIME: "node_disk_write_time_seconds_total" Counter Node ["device"] "Seconds that all writes took, summed";
    DISK_NOW: "node_disk_io_now" Gauge Node ["device"] "Requests in flight";
    DISK_BUSY: "node_disk_io_time_seconds_total" Counter Node ["device"] "Seconds with any request in flight";
    DISK_WEIGHTED: "node_disk_io_time_weighted_seconds_total" Counter Node ["device"]
        "Seconds with requests in flight, times their number";
    DISK_DISCARDS: "node_disk_discards_completed_total" Counter Node ["device"] "Discards completed";
    DISK_DISCARDS_MERGED: "node_disk_discards_merged_total" Counter Node ["device"] "Discards merged with a neighbour";
    DISK_DISCARDED: "node_disk_discarded_sectors_total" Counter Node ["device"] "Sectors discarded";
    DISK_DISCARD_TIME: "node_disk_discard_time_seconds_total" Counter Node ["device"] "Seconds that all discards took, summed";
    DISK_FLUSHES: "node_disk_flush_requests_total" Counter Node ["device"] "Flushes completed";
    DISK_FLUSH_TIME: "node_disk_flush_requests_time_seconds_total" Counter Node ["device"] "Seconds that all flushes took, summed";

    NET_RECEIVED: "node_network_receive_bytes_total" Counter Node ["device"] "Bytes received";
    NET_RECEIVE_DROPS: "node_network_receive_drop_total" Counter Node ["device"] "Packets received and dropped";
    NET_RECEIVE_ERRORS: "node_network_receive_errs_total" Counter Node ["device"] "Packets received with errors";
    NET_SENT: "node_network_transmit_bytes_total" Counter Node ["device"] "Bytes sent";
    NET_SEND_DROPS: "node_network_transmit_drop_total" Counter Node ["device"] "Packets dropped before they were sent";
    NET_SEND_ERRORS: "node_network_transmit_errs_total" Counter Node ["device"] "Packets that could not be sent";
    NET_SPEED: "node_network_speed_bytes" Gauge Node ["device"] "Speed of the link, where it says it";

    CGROUP_CPU_QUOTA: "fathom_cgroup_cpu_quota_cores" Gauge Own ["cgroup"] "CPUs that a control group may use";
    CGROUP_CPU_USED: "fathom_cgroup_cpu_quota_ratio" Gauge Own ["cgroup"] "Share of its CPU quota that a control group used";
    CGROUP_THROTTLED_PERIODS: "fathom_cgroup_cpu_throttled_periods_total" Counter Own ["cgroup"]
        "Periods in which a control group had used up its CPU quota";
    CGROUP_THROTTLED: "fathom_cgroup_cpu_throttled_seconds_total" Counter Own ["cgroup"]
        "Seconds for which a control group was kept from a CPU by its quota";
    CGROUP_FROZEN: "fathom_cgroup_frozen" Gauge Own ["cgroup"] "1 while a control group is frozen";
    CGROUP_IO_LIMIT: "fathom_cgroup_io_limit" Gauge Own ["device" "kind"] "Limit of a control group on a device, a second";
    CGROUP_IO_SERVICED: "fathom_cgroup_io_serviced_total" Counter Own ["cgroup" "device" "kind"] "I/O that a control group had";
    CGROUP_MEMORY_LIMIT: "fathom_cgroup_memory_limit_bytes" Gauge Own ["cgroup"] "Memory that a control group may use";
    CGROUP_MEMORY_HITS: "fathom_cgroup_memory_limit_hits_total" Counter Own ["cgroup"]
        "How often a control group reached its limit of memory";
    CGROUP_PRESSURE_CPU: "fathom_cgroup_pressure_cpu_waiting_seconds_total" Counter Own ["cgroup"]
        "Seconds in which tasks of a control group waited for a CPU";
    CGROUP_PRESSURE_CPU_FULL: "fathom_cgroup_pressure_cpu_stalled_seconds_total" Counter Own ["cgroup"]
        "Seconds in which no task of a control group went on for lack of a CPU";
    CGROUP_PRESSURE_IO: "fathom_cgroup_pressure_io_waiting_seconds_total" Counter Own ["cgroup"]
        "Seconds in which tasks of a control group waited for I/O";
    CGROUP_PRESSURE_IO_FULL: "fathom_cgroup_pressure_io_stalled_seconds_total" Counter Own ["cgroup"]
        "Seconds in which no task of a control group went on for I/O";
    CGROUP_PRESSURE_MEMORY: "fathom_cgroup_pressure_memory_waiting_seconds_total" Counter Own ["cgroup"]
        "Seconds in which tasks of a control group waited for memory";
    CGROUP_PRESSURE_MEMORY_FULL: "fathom_cgroup_pressure_memory_stalled_seconds_total" Counter Own ["cgroup"]
        "Seconds in which no task of a control group went on for lack of memory";
}

/// The row of that name.
pub fn find(name: &str) -> Option<&'static Metric> {
    ALL.iter().copied().find(|metric| metric.name == name)
}

#[cfg(test)]
mod tests;
