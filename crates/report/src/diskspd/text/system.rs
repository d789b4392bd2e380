//! The machine, and what its processors did.
//!
//! Data in: facts. Data out: lines. Columns that would be alike in all rows are left out, as diskspd does.

use crate::diskspd::cpu::CpuUse;
use crate::diskspd::input::{CpuPlace, System};
use fathom_core::units::WallTime;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// How many different values `of` takes, or that it is not known.
fn count<K: Ord>(system: &System, of: impl Fn(&CpuPlace) -> K) -> String {
    let different: BTreeSet<K> = system.places.iter().map(of).collect();
    match different.len() {
        0 => String::from("N/A"),
        n => n.to_string(),
    }
}

/// `2026/11/21 03:37:25 UTC`; empty for 0.
pub(in crate::diskspd) fn start_time(started: WallTime) -> String {
    if started.0 == 0 {
        return String::new();
    }
    match jiff::Timestamp::from_nanosecond(i128::from(started.0)) {
        Ok(time) => {
            let time = time.to_zoned(jiff::tz::TimeZone::UTC).datetime();
            format!(
                "{}/{:02}/{:02} {:02}:{:02}:{:02} UTC",
                time.year(),
                time.month(),
                time.day(),
                time.hour(),
                time.minute(),
                time.second()
            )
        }
        Err(_) => String::new(),
    }
}

pub(super) fn write(text: &mut String, system: &System) {
    let cores = count(system, |place| (place.socket, place.core));
    let (nodes, sockets) = (
        count(system, |place| place.node),
        count(system, |place| place.socket),
    );
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
    let several = |of: fn(&CpuPlace) -> u32| {
        let different: BTreeSet<u32> = system.places.iter().map(of).collect();
        different.len() > 1
    };
    let cores: BTreeSet<(u32, u32)> = system.places.iter().map(|at| (at.socket, at.core)).collect();
    let shares_cores = cores.len() < system.places.len();
    let candidates = [
        (
            several(|at| at.socket),
            "Socket | ",
            (|at| at.socket) as fn(&CpuPlace) -> u32,
        ),
        (several(|at| at.node), "Node | ", |at| at.node),
        (shares_cores, "Core | ", |at| at.core),
    ];
    candidates
        .into_iter()
        .filter(|(shown, ..)| *shown)
        .map(|(_, heading, of)| Column { heading, of })
        .collect()
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
