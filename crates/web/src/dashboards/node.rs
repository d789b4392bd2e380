//! The dashboard of a machine by the USE method: of each resource utilization, saturation, errors.
//!
//! It asks for what the node exporter has under the same names, so that it is of use without fathom as well.

use super::expr::{Expr, of};
use super::grafana::{Dashboard, Row, lines};
use crate::metric;

fn mode(mode: &str) -> Expr {
    of(metric::CPU).with(&[("mode", mode)]).rate().avg_by("instance")
}

pub(super) fn dashboard() -> Dashboard {
    Dashboard {
        uid: "fathom-node",
        title: "fathom: a machine, by utilization, saturation, errors",
        about: "CPU, memory, disks and network by the USE method.",
        rows: vec![cpu(), memory(), disks(), latency(), network()],
    }
}

fn cpu() -> Row {
    Row {
        title: "CPU",
        panels: vec![
            lines("Utilization", "percentunit")
                .third()
                .of(mode("idle").one_minus(), "busy or stolen")
                .of(mode("iowait"), "idle, I/O pending"),
            lines("Saturation: waiting for a CPU", "percentunit")
                .third()
                .of(of(metric::PRESSURE_CPU).rate(), "waiting (PSI)")
                .of(of(metric::PROCS_RUNNING).now(), "runnable processes"),
            lines("Taken by the hypervisor", "percentunit")
                .third()
                .of(mode("steal"), "stolen"),
        ],
    }
}

fn memory() -> Row {
    let used = of(metric::MEMORY_AVAILABLE)
        .now()
        .over(of(metric::MEMORY_TOTAL).now())
        .one_minus();
    Row {
        title: "Memory",
        panels: vec![
            lines("Utilization", "percentunit").third().of(used, "used"),
            lines("Saturation: waiting for memory", "percentunit")
                .third()
                .of(of(metric::PRESSURE_MEMORY).rate(), "some waiting (PSI)")
                .of(of(metric::PRESSURE_MEMORY_FULL).rate(), "all stalled (PSI)"),
            lines("Errors: killed for lack of memory", "short")
                .third()
                .of(of(metric::OOM_KILLS).rate(), "kills a second"),
            lines("Waiting to be written", "bytes")
                .of(of(metric::MEMORY_DIRTY).now(), "dirty")
                .of(of(metric::MEMORY_WRITEBACK).now(), "being written"),
            lines("Major faults", "short").of(of(metric::MAJOR_FAULTS).rate(), "a second"),
        ],
    }
}

fn disks() -> Row {
    Row {
        title: "Disks",
        panels: vec![
            lines("Utilization: time with I/O in flight", "percentunit")
                .third()
                .about("Of a disk that serves many at once 100 % says only that it was never idle: compare rates with its limits.")
                .of(of(metric::DISK_BUSY).rate(), "{{device}}"),
            lines("Saturation: mean number in flight", "short").third().of(of(metric::DISK_WEIGHTED).rate(), "{{device}}"),
            lines("Saturation: waiting for I/O", "percentunit")
                .third()
                .of(of(metric::PRESSURE_IO).rate(), "some waiting (PSI)")
                .of(of(metric::PRESSURE_IO_FULL).rate(), "all stalled (PSI)"),
            lines("Operations a second", "iops")
                .of(of(metric::DISK_READS).rate(), "{{device}} reads")
                .of(of(metric::DISK_WRITES).rate(), "{{device}} writes"),
            lines("Throughput", "Bps")
                .of(of(metric::DISK_READ_BYTES).rate(), "{{device}} reads")
                .of(of(metric::DISK_WRITTEN_BYTES).rate(), "{{device}} writes"),
        ],
    }
}

fn latency() -> Row {
    let mean = |time, count| of(time).rate().over(of(count).rate());
    Row {
        title: "Disks: time and size of operations",
        panels: vec![
            lines("Mean time of an operation", "s")
                .about("A mean hides what is rare: a stall of a second among 100,000 fast operations is not seen in it.")
                .of(mean(metric::DISK_READ_TIME, metric::DISK_READS), "{{device}} read")
                .of(mean(metric::DISK_WRITE_TIME, metric::DISK_WRITES), "{{device}} write"),
            lines("Mean size of an operation", "bytes")
                .of(mean(metric::DISK_READ_BYTES, metric::DISK_READS), "{{device}} read")
                .of(mean(metric::DISK_WRITTEN_BYTES, metric::DISK_WRITES), "{{device}} write"),
        ],
    }
}

fn network() -> Row {
    Row {
        title: "Network",
        panels: vec![
            lines("Utilization: throughput", "Bps")
                .third()
                .of(of(metric::NET_RECEIVED).rate(), "{{device}} received")
                .of(of(metric::NET_SENT).rate(), "{{device}} sent"),
            lines("Saturation: dropped packets", "short")
                .third()
                .of(of(metric::NET_RECEIVE_DROPS).rate(), "{{device}} received")
                .of(of(metric::NET_SEND_DROPS).rate(), "{{device}} to be sent"),
            lines("Errors", "short")
                .third()
                .of(of(metric::NET_RECEIVE_ERRORS).rate(), "{{device}} received")
                .of(of(metric::NET_SEND_ERRORS).rate(), "{{device}} sent"),
        ],
    }
}
