//! What a run or a sweep was made of and on: the target, the machine, the time, the command.
//!
//! Data in: what a run or a plan says. Data out: facts and parts of sentences. It must not know results.

use super::content::Notice;
use crate::words::{joined, plural};
use fathom_core::run::{Build, Environment, Status, Target};
use fathom_core::units::{Bytes, WallTime};

/// Devices that are told.
const DEVICES_MAX: usize = 4;

/// A text, unless it is empty.
pub(super) fn some(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

/// ` on` this, where it has a name.
pub(super) fn on(name: &str) -> String {
    some(name).map_or_else(String::new, |name| format!(" on {name}"))
}

/// What to know of a disk that is none.
pub(super) fn modelled(target: &Target) -> Option<String> {
    let text = || String::from("The disk is a model and the time virtual.");
    target.modelled.then(text)
}

/// How it ended, where not as it should.
pub(super) fn ended(status: Status, failed: &str, unfinished: &str) -> Option<(Notice, String)> {
    let (notice, text) = match status {
        Status::Complete => return None,
        Status::Interrupted => (Notice::Interrupted, "the results are those up to then."),
        Status::Failed => (Notice::Failed, failed),
        Status::Running => (Notice::Unfinished, unfinished),
    };
    Some((notice, text.to_owned()))
}

/// Civil time to the second, in UTC.
pub(super) fn civil(time: WallTime) -> String {
    jiff::Timestamp::from_nanosecond(i128::from(time.0)).map_or_else(
        |_| format!("{} ns after the Unix epoch", time.0),
        |time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
    )
}

/// What it was aimed at, the machine as far as it is known, the command and the program.
pub(super) fn facts(
    target: &Target,
    environment: &Environment,
    command: &[String],
    build: &Build,
) -> Vec<(&'static str, String)> {
    let mut facts = self::target(target);
    let rest = [
        ("machine", machine(environment)),
        ("command", command.join(" ")),
        ("program", format!("fathom {}", build.version)),
    ];
    facts.extend(rest.into_iter().filter(|(_, text)| !text.is_empty()));
    facts
}

fn target(target: &Target) -> Vec<(&'static str, String)> {
    let mut facts = vec![("target", target.description.clone())];
    if target.modelled {
        facts.push(("time", String::from("virtual: the disk is a model")));
    }
    let devices = target.files.iter().filter_map(|file| file.device.as_ref());
    facts.extend(devices.take(DEVICES_MAX).map(|device| {
        let size = device.size_bytes.map(|size| Bytes(size).to_string());
        let scheduler = device.scheduler.as_ref().map(|name| format!("scheduler {name}"));
        let parts = [Some(device.name.clone()), device.model.clone(), size, scheduler];
        ("device", joined(parts.into_iter().flatten(), ", "))
    }));
    facts.dedup();
    facts
}

fn machine(environment: &Environment) -> String {
    let model = some(&environment.cpu_model).map_or_else(String::new, |model| format!(" ({model})"));
    let parts = [
        (environment.cpus > 0).then(|| format!("{}{model}", plural(environment.cpus, "CPU"))),
        (environment.memory_bytes > 0).then(|| Bytes(environment.memory_bytes).to_string()),
        some(&environment.kernel).map(|kernel| format!("Linux {kernel}")),
        environment.virtualization.clone(),
        environment.machine.clone(),
    ];
    joined(parts.into_iter().flatten(), ", ")
}
