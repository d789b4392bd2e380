//! The machine, and what its processors did.
//!
//! Data in: facts. Data out: lines. Columns that would be alike in all rows are left out, as diskspd does.

use crate::diskspd::results::cpu::CpuUse;
use crate::diskspd::results::input::{CpuPlace, System};
use fathom_core::units::WallTime;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// How many different values `of` takes; 0: not known.
fn count<K: Ord>(system: &System, of: impl Fn(&CpuPlace) -> K) -> usize {
    let different: BTreeSet<K> = system.places.iter().map(of).collect();
    different.len()
}

/// `2026/11/21 03:37:25 UTC`; empty for 0.
pub(in crate::diskspd::results) fn start_time(started: WallTime) -> String {
    if started.0 == 0 {
        return String::new();
    }
    // 64 bits of nanoseconds end in 2554, far within what it takes.
    let time = jiff::Timestamp::from_nanosecond(i128::from(started.0)).unwrap_or_default();
    time.strftime("%Y/%m/%d %H:%M:%S UTC").to_string()
}

pub(super) fn write(text: &mut String, system: &System) {
    let counted = |count: usize| match count {
        0 => String::from("N/A"),
        count => count.to_string(),
    };
    let cores = counted(count(system, |place| (place.socket, place.core)));
    let nodes = counted(count(system, |place| place.node));
    let sockets = counted(count(system, |place| place.socket));
    let _ = write!(
        text,
        "System information:\n\n\tcomputer name: {}\n",
        system.computer_name
    );
    let _ = write!(text, "\tstart time: {}\n\n", start_time(system.started));
    let _ = writeln!(text, "\tcpu count:\t\t{}", system.processors);
    let _ = writeln!(text, "\tcore count:\t\t{cores}");
    let _ = writeln!(text, "\tgroup count:\t\t1");
    let _ = writeln!(text, "\tnode count:\t\t{nodes}");
    let _ = writeln!(text, "\tsocket count:\t\t{sockets}");
    let _ = write!(text, "\theterogeneous cores:\tn\n\n");
    let scheme = system.power_scheme.as_deref().unwrap_or("N/A");
    let _ = writeln!(text, "\tactive power scheme:\t{scheme}");
}

/// A column that stands before the processor's number where it tells something.
struct Column {
    /// Its heading, with the bar behind it.
    heading: &'static str,
    of: fn(&CpuPlace) -> u32,
}

fn columns(system: &System) -> Vec<Column> {
    let shares_cores = count(system, |at| (at.socket, at.core)) < system.places.len();
    let column = |tells: bool, heading, of| tells.then_some(Column { heading, of });
    let candidates = [
        column(count(system, |at| at.socket) > 1, "Socket | ", |at| at.socket),
        column(count(system, |at| at.node) > 1, "Node | ", |at| at.node),
        column(shares_cores, "Core | ", |at| at.core),
    ];
    candidates.into_iter().flatten().collect()
}

pub(super) fn cpus(text: &mut String, system: &System, cpus: &[CpuUse]) {
    let columns = columns(system);
    let headings: String = columns.iter().map(|column| column.heading).collect();
    let rule = "-".repeat(headings.len() + 40);
    let _ = writeln!(text, "\n{headings}CPU |  Usage |  User  | Kernel |  Idle\n{rule}");
    for cpu in cpus {
        for column in &columns {
            // Two less than the heading: the bar and the space behind it.
            let width = column.heading.len() - 2;
            match system.places.iter().find(|place| place.cpu == cpu.cpu) {
                Some(place) => {
                    let _ = write!(text, "{:width$}| ", (column.of)(place));
                }
                None => {
                    let _ = write!(text, "{:>width$}| ", "N/A");
                }
            }
        }
        let _ = writeln!(text, "{:4}| {}", cpu.cpu, shares(cpu));
    }
    let indent = " ".repeat(headings.len());
    let mean = CpuUse::mean(cpus);
    let shown = mean.map_or_else(
        || String::from("    N/A|     N/A|     N/A|     N/A"),
        |mean| shares(&mean),
    );
    let _ = writeln!(text, "{rule}\n{indent}avg.| {shown}");
}

fn shares(cpu: &CpuUse) -> String {
    format!(
        "{:6.2}%| {:6.2}%| {:6.2}%| {:6.2}%",
        cpu.usage_percent(),
        cpu.user_percent,
        cpu.kernel_percent,
        cpu.idle_percent
    )
}
