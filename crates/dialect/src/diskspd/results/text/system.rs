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
    let seconds = started.0 / 1_000_000_000;
    let (year, month, day) = civil(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year}/{month:02}/{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// Year, month and day so many days after the first of 1970. Counted in years that begin in March, the day that leap years
/// have more is their last.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (era * 400 + year + later, month, day)
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
