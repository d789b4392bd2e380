//! What to know at once: what limited a run, what disturbed it, what to do.
//!
//! Data in: an explanation. Data out: a line each. It must not judge.

use super::groups::{Group, groups};
use super::percent;
use crate::words::{joined, plural};
use fathom_analysis::explain::Explanation;
use fathom_analysis::explain::answer::{OwnerClass, Process, SpikeReport};
use fathom_core::units::Nanos;

/// Sections whose limits are told, and owners that are.
const TOLD_MAX: usize = 3;
/// The part of what was lost from which on an owner is told.
const PART_MIN: f64 = 0.05;
/// A part of what was lost that is as good as all.
const NEARLY_ALL: f64 = 0.9;

/// The lines; fewer where nothing is known.
pub(crate) fn lines(explanation: &Explanation) -> Vec<String> {
    let lost = explanation.spikes.as_ref().map(lost).unwrap_or_default();
    let lines = [
        limited(explanation).map(|text| format!("What limited it: {text}.")),
        disturbed(explanation, &lost).map(|text| format!("What disturbed it: {text}.")),
        remedy(explanation, &lost).map(|text| format!("What to do: {text}.")),
    ];
    lines.into_iter().flatten().collect()
}

fn limited(explanation: &Explanation) -> Option<String> {
    let groups = groups(&explanation.limits);
    let mut each: Vec<String> = groups.iter().take(TOLD_MAX).map(Group::title).collect();
    if groups.len() > TOLD_MAX {
        each.push(format!("{} more below", groups.len() - TOLD_MAX));
    }
    (!each.is_empty()).then(|| each.join("; "))
}

/// Whose time was lost over all disturbances, the largest part first.
#[derive(Default)]
struct Lost {
    owners: Vec<(OwnerClass, Option<Process>, u64)>,
    ns: u64,
}

fn lost(found: &SpikeReport) -> Lost {
    let mut lost = Lost::default();
    for owned in found.kept.iter().flat_map(|spike| &spike.owners) {
        if owned.class == OwnerClass::Usual {
            continue;
        }
        lost.ns += owned.ns;
        let comm = |process: &Option<Process>| process.map(|process| process.comm);
        let mut owners = lost.owners.iter_mut();
        match owners.find(|known| known.0 == owned.class && comm(&known.1) == comm(&owned.process)) {
            Some(known) => known.2 += owned.ns,
            None => lost.owners.push((owned.class, owned.process, owned.ns)),
        }
    }
    lost.owners.sort_by_key(|(.., ns)| std::cmp::Reverse(*ns));
    lost
}

fn disturbed(explanation: &Explanation, lost: &Lost) -> Option<String> {
    let Some(found) = &explanation.spikes else {
        let known = !explanation.has_no_evidence();
        let why = "not known, since neither its I/Os nor the requests of its devices were recorded";
        return known.then(|| String::from(why));
    };
    if found.found == 0 {
        return Some(String::from(
            "nothing; no I/O took far longer than those around it",
        ));
    }
    let number = plural(found.found, "disturbance");
    if lost.ns == 0 {
        return Some(format!("{number}, of unknown cause"));
    }
    let least = lost.ns as f64 * PART_MIN;
    let told = lost.owners.iter().filter(|(.., ns)| *ns as f64 >= least);
    let told = told.take(TOLD_MAX).map(|(class, process, ns)| {
        let share = percent(*ns as f64 / lost.ns as f64);
        format!("{} ({share}) {}", Nanos(*ns), class.told(process.as_ref()))
    });
    let rest = if found.covered < NEARLY_ALL {
        format!("; {} of all that was lost lies in them", percent(found.covered))
    } else {
        String::new()
    };
    Some(format!(
        "of {} that I/Os lost in {number}, {}{rest}",
        Nanos(lost.ns),
        joined(told, ", ")
    ))
}

fn remedy(explanation: &Explanation, lost: &Lost) -> Option<String> {
    let change = || {
        let limit = explanation.limits.iter().find(|limit| !limit.change.is_empty())?;
        Some(format!("to go faster, {}", limit.change))
    };
    match lost.owners.first() {
        Some((class, process, _)) => Some(against(*class, process.as_ref())),
        None => change(),
    }
}

/// What to do about an owner of lost time.
fn against(class: OwnerClass, process: Option<&Process>) -> String {
    let who = process.map_or(String::from("who uses it"), |process| process.comm.to_string());
    match class {
        OwnerClass::Usual => String::from("nothing"),
        OwnerClass::Device => String::from(
            "ask who provides the disk, or take another one: nothing on this machine held its I/Os up",
        ),
        OwnerClass::Flush => String::from("sync less often, or put what syncs on a disk of its own"),
        OwnerClass::CompetingIo => {
            format!("move {who} to another disk, or limit its I/O (io.max)")
        }
        OwnerClass::KernelQueue => {
            String::from("raise the queue's depth (queue/nr_requests), or try another I/O scheduler")
        }
        OwnerClass::CgroupIo => String::from("raise or lift the I/O limit of its cgroup"),
        OwnerClass::Quota => String::from("raise the CPU quota of its cgroup"),
        OwnerClass::NoCpu => format!("give the load CPUs of its own, or move {who} to others"),
        OwnerClass::OwnCpu => {
            String::from("more CPUs for the load, or less work for each I/O: nobody else was in its way")
        }
        OwnerClass::OwnQueue => {
            String::from("ask for less at a time, or allow more in flight: nobody else was in its way")
        }
        OwnerClass::Journal => match process {
            Some(_) => format!("have {who} sync less often, or put it on another file system"),
            None => String::from("sync less often, or put the journal on another disk"),
        },
        OwnerClass::DirtyPages => String::from(
            "write less at once, or let less be dirty (vm.dirty_background_bytes), or take a disk that writes faster",
        ),
        OwnerClass::Memory => String::from("more memory for the load, or a higher limit of its cgroup"),
        OwnerClass::Lock => format!("see what {who} does while it has the lock"),
        OwnerClass::Stopped => String::from("see who stopped it"),
        OwnerClass::Frozen => String::from("see who froze its cgroup"),
        OwnerClass::NotSeen => {
            String::from("record more (fathom run --record, as root): what it waited for was not seen")
        }
    }
}

#[cfg(test)]
mod tests;
