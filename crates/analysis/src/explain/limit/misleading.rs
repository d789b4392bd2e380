//! Figures that people look at first and that point the wrong way.
//!
//! Data in: a section's measures and its limit. Data out: sentences. iowait counts a CPU that is idle while a task sleeps on
//! I/O: a busy CPU, and a task that waits in another way (libaio), do not show in it. A disk counts as busy while one I/O
//! is in flight, however many it could serve at once.

use super::super::answer::LimitKind;
use super::measures::Measures;

pub(super) fn of(measures: &Measures, limit: LimitKind) -> Vec<String> {
    let mut lines = Vec::new();
    let saturated = matches!(limit, LimitKind::Iops | LimitKind::Bandwidth | LimitKind::Machine);
    if let Some(disk) = measures.disk {
        let busy = disk.busy * 100.0;
        if disk.busy >= 0.9 && disk.in_flight <= 1.5 && !saturated {
            lines.push(format!(
                "the disk is {busy:.0} % busy: with {:.1} in flight that says only that one is always under way, not that it can \
                 do no more",
                disk.in_flight
            ));
        }
        if disk.busy <= 0.3 && limit == LimitKind::AboveBlockLayer {
            lines.push(format!(
                "the disk looks idle ({busy:.0} % busy, {:.2} in flight): the I/Os wait before they come to it",
                disk.in_flight
            ));
        }
    }
    if let Some(system) = measures.system {
        let iowait = system.iowait * 100.0;
        if saturated && system.iowait < 0.1 {
            lines.push(format!("iowait is {iowait:.1} %, though the disk is saturated"));
        }
        if limit == LimitKind::AboveBlockLayer && system.iowait < 0.05 {
            lines.push(format!(
                "iowait is {iowait:.1} %, though I/O is what the load waits for"
            ));
        }
        if !saturated && limit != LimitKind::AboveBlockLayer && system.iowait >= 0.3 {
            lines.push(format!(
                "iowait is {iowait:.0} %: idle CPUs while I/O is under way, no sign of a limit"
            ));
        }
        if saturated && system.io_waiting < 0.05 {
            lines.push(format!(
                "I/O pressure (PSI) is {:.1} %, though the disk is saturated",
                system.io_waiting * 100.0
            ));
        }
    }
    lines
}
