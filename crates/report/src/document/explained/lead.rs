//! What to know at once: what limited a run, what disturbed it, what to do.
//!
//! Data in: an explanation. Data out: a line each. It must not judge.

use super::super::{command, grouped};
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
/// Processes of a class that are named, and the part of its time from which on one is.
const NAMED_MAX: usize = 2;
const NAMED_MIN: f64 = 0.2;
/// A part of what was lost that is as good as all.
const NEARLY_ALL: f64 = 0.9;

/// The lines; fewer where nothing is known.
pub(crate) fn lines(explanation: &Explanation) -> Vec<String> {
    if explanation.limits.is_empty() && explanation.spikes.is_none() && explanation.commands.is_empty() {
        return super::usage::lines(&explanation.usage);
    }
    let lost = explanation.spikes.as_ref().map(lost).unwrap_or_default();
    let commands = explanation.commands.iter();
    let commands = commands.map(|command| format!("Its time: {}.", command::time(command)));
    let lines = [
        limited(explanation).map(|text| format!("What limited it: {text}.")),
        disturbed(explanation, &lost).map(|text| format!("What disturbed it: {text}.")),
        remedy(explanation, &lost).map(|text| format!("What to do: {text}.")),
    ];
    commands.chain(lines.into_iter().flatten()).collect()
}

fn limited(explanation: &Explanation) -> Option<String> {
    let groups = groups(&explanation.limits);
    let mut each: Vec<String> = groups.iter().take(TOLD_MAX).map(Group::title).collect();
    if groups.len() > TOLD_MAX {
        each.push(format!("{} more below", groups.len() - TOLD_MAX));
    }
    (!each.is_empty()).then(|| each.join("; "))
}

/// What was lost over all disturbances to one class of owners.
struct OfClass {
    class: OwnerClass,
    ns: u64,
    /// Who, where that is known, who had most first.
    processes: Vec<(Process, u64)>,
}

/// The same of all classes, the largest first.
#[derive(Default)]
struct Lost {
    classes: Vec<OfClass>,
    ns: u64,
}

fn lost(found: &SpikeReport) -> Lost {
    let owners = found.kept.iter().flat_map(|spike| &spike.owners);
    let owners = owners.filter(|owned| owned.class != OwnerClass::Usual);
    let mut classes: Vec<OfClass> = Vec::new();
    for (class, owned) in grouped(owners, |owned| owned.class) {
        let named = owned.iter().filter_map(|owned| Some((owned.process?, owned.ns)));
        let mut processes: Vec<(Process, u64)> = Vec::new();
        for (_, same) in grouped(named, |(process, _)| process.comm) {
            let most = same.iter().max_by_key(|(_, ns)| *ns);
            let ns = same.iter().map(|(_, ns)| ns).sum();
            processes.extend(most.map(|(process, _)| (*process, ns)));
        }
        processes.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
        classes.push(OfClass {
            class,
            ns: owned.iter().map(|owned| owned.ns).sum(),
            processes,
        });
    }
    classes.sort_by_key(|class| std::cmp::Reverse(class.ns));
    let ns = classes.iter().map(|class| class.ns).sum();
    Lost { classes, ns }
}

impl OfClass {
    /// Who had it: a few names.
    fn who(&self) -> Option<String> {
        let part = |ns: u64| ns as f64 / self.ns.max(1) as f64;
        let named = self.processes.iter().filter(|(_, ns)| part(*ns) >= NAMED_MIN);
        let named: Vec<&(Process, u64)> = named.take(NAMED_MAX).collect();
        let told: u64 = named.iter().map(|(_, ns)| ns).sum();
        let all: u64 = self.processes.iter().map(|(_, ns)| ns).sum();
        let mut names: Vec<String> = named
            .iter()
            .map(|(process, _)| process.comm.to_string())
            .collect();
        if !self.processes.is_empty() && part(all - told) >= PART_MIN {
            let others = if names.is_empty() { "several" } else { "others" };
            names.push(String::from(others));
        }
        let last = names.pop()?;
        Some(if names.is_empty() {
            last
        } else {
            format!("{} and {last}", names.join(", "))
        })
    }

    fn told(&self, of_ns: u64) -> String {
        let share = percent(self.ns as f64 / of_ns.max(1) as f64);
        let time = format!("{} ({share})", Nanos(self.ns));
        self.class.told(&time, self.who().as_deref())
    }
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
    let told = lost.classes.iter().filter(|class| class.ns as f64 >= least);
    let told = told.take(TOLD_MAX).map(|class| class.told(lost.ns));
    let rest = if found.covered < NEARLY_ALL {
        format!("; {} of all that was lost lies in them", percent(found.covered))
    } else {
        String::new()
    };
    Some(format!(
        "of {} that I/Os lost in {number}, {}{rest}",
        Nanos(lost.ns),
        joined(told, "; ")
    ))
}

fn remedy(explanation: &Explanation, lost: &Lost) -> Option<String> {
    let change = || {
        let limit = explanation.limits.iter().find(|limit| !limit.change.is_empty())?;
        Some(format!("to go faster, {}", limit.change))
    };
    match lost.classes.first() {
        Some(class) => Some(against(class.class, class.who())),
        None => change(),
    }
}

/// What to do about an owner of lost time.
fn against(class: OwnerClass, process: Option<String>) -> String {
    let known = process.is_some();
    let who = process.unwrap_or_else(|| String::from("who uses it"));
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
        OwnerClass::NoCpu => format!("give the load CPUs of its own, or move {who} elsewhere"),
        OwnerClass::OwnCpu => {
            String::from("more CPUs for the load, or less work for each I/O: nobody else was in its way")
        }
        OwnerClass::OwnQueue => {
            String::from("ask for less at a time, or allow more in flight: nobody else was in its way")
        }
        OwnerClass::Journal if known => {
            format!("have {who} sync less often, or put it on another file system")
        }
        OwnerClass::Journal => String::from("sync less often, or put the journal on another disk"),
        OwnerClass::DirtyPages => String::from(
            "write less at once, or let less be dirty (vm.dirty_background_bytes), or take a disk that writes faster",
        ),
        OwnerClass::Memory => String::from("more memory for the load, or a higher limit of its cgroup"),
        OwnerClass::Lock if known => format!("see what {who} did with the lock"),
        OwnerClass::Lock => String::from("see who had the lock"),
        OwnerClass::Stopped => String::from("see who stopped it"),
        OwnerClass::Frozen => String::from("see who froze its cgroup"),
        OwnerClass::Standstill => String::from(
            "ask who runs this machine: it stood still as a whole, as when a hypervisor runs others instead; nothing in it was in the way",
        ),
        OwnerClass::LateTimer => String::from(
            "look at the host: nothing in this machine held the load up; a hypervisor did not run it, or its CPU slept deep",
        ),
        OwnerClass::NotSeen => {
            String::from("see what is missing (--evidence 1): a recording as root (--record) has most of it")
        }
    }
}

#[cfg(test)]
mod tests;
