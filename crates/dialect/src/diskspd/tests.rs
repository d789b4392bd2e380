//! What the tests of the diskspd dialect share: command lines in a fixed surrounding.

mod dialects;
mod flags;
mod lowering;
mod printed;
mod table;
mod words;
mod xml_profiles;

use super::{Context, Dialect, Lowered, Lowering, ParsedProfile, Profile, Target, TimeSpan, lower, parse};
use fathom_core::workload::Job;

const TWO_SLOTS: &str = "<Profile><TimeSpans><TimeSpan><Duration>7</Duration><Targets>\
    <Target><Path>*1</Path></Target><Target><Path>*2</Path></Target>\
    </Targets></TimeSpan></TimeSpans></Profile>";

/// `data` and `other` have 1 GiB, `small` 1 MiB, `/dev/sdb` 8 GiB; nothing else exists.
fn look(path: &str) -> Option<u64> {
    match path {
        "data" | "other" => Some(1 << 30),
        "small" => Some(1 << 20),
        "/dev/sdb" => Some(8 << 30),
        _ => None,
    }
}

fn read_profile(path: &str) -> Result<String, String> {
    match path {
        "slots.xml" => Ok(String::from(TWO_SLOTS)),
        "broken.xml" => Ok(String::from("<Profile>\n  <TimeSpans\n</Profile>")),
        _ => Err(String::from("no such file")),
    }
}

fn read_bytes(path: &str, most: u64) -> Result<Vec<u8>, String> {
    match path {
        "words" => Ok(b"abc".to_vec()),
        "long" => Ok(vec![7; most as usize]),
        "empty" => Ok(Vec::new()),
        _ => Err(String::from("no such file")),
    }
}

fn parsed_as(dialect: Dialect, line: &str) -> ParsedProfile {
    let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let context = Context {
        dialect,
        look: &look,
        read_profile: &read_profile,
        seed: 4711,
    };
    let parsed = parse(&args, &context);
    let refused = parsed.errors().next().is_some();
    assert_eq!(
        parsed.profile.is_none() && !parsed.help,
        refused,
        "{line}: {parsed:?}"
    );
    parsed
}

fn parsed(line: &str) -> ParsedProfile {
    parsed_as(Dialect::Auto, line)
}

/// The profile of a line that is accepted.
fn profile(line: &str) -> Profile {
    let parsed = parsed(line);
    let said: Vec<String> = parsed.diagnostics.iter().map(ToString::to_string).collect();
    parsed.profile.unwrap_or_else(|| panic!("{line}: {said:?}"))
}

fn span(line: &str) -> TimeSpan {
    profile(line).time_spans.remove(0)
}

fn target(line: &str) -> Target {
    span(line).targets.remove(0)
}

/// What is said of a line, a finding a line.
fn said(line: &str) -> String {
    let list: Vec<String> = parsed(line).diagnostics.iter().map(ToString::to_string).collect();
    list.join("\n")
}

/// The errors of a line that is refused.
fn refused(line: &str) -> String {
    let parsed = parsed(line);
    let list: Vec<String> = parsed.errors().map(ToString::to_string).collect();
    assert!(!list.is_empty(), "{line} is accepted");
    assert!(
        parsed.errors().all(|error| error.remedy.is_some()),
        "{line}: no remedy in {list:?}"
    );
    list.join("\n")
}

fn assert_refused(line: &str, what: &str) {
    let errors = refused(line);
    assert!(errors.contains(what), "{line}: {errors}");
}

const LOWERING: Lowering<'_> = Lowering {
    cpus: &[0, 1, 2],
    look: &look,
    read_bytes: &read_bytes,
};

fn lowered(line: &str) -> Lowered {
    let lowered = lower(&profile(line), &LOWERING);
    let said: Vec<String> = lowered.diagnostics.iter().map(ToString::to_string).collect();
    let mut spans = lowered.spans;
    assert!(!spans.is_empty(), "{line}: {said:?}");
    spans.remove(0)
}

fn jobs(line: &str) -> Vec<Job> {
    lowered(line).workload.jobs
}

fn job(line: &str) -> Job {
    jobs(line).remove(0)
}

/// What turning a line into workloads says.
fn lowering_says(line: &str) -> String {
    let lowered = lower(&profile(line), &LOWERING);
    let list: Vec<String> = lowered.diagnostics.iter().map(ToString::to_string).collect();
    list.join("\n")
}
