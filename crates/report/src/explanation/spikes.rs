//! The spikes and their causes.

use super::percent;
use crate::layout::{fit, table, width};
use crate::style::Look;
use crate::text::Page;
use crate::words::plural;
use fathom_analysis::explain::answer::{Cause, Period, Process, Spike, SpikeReport, Split, Verdict};
use fathom_core::units::{Bytes, Nanos, three_digits};

/// Spikes that are listed, and that are told in full: the worst ones.
const LISTED_MAX: usize = 10;
const TOLD_MAX: usize = 5;
/// Others that the device served, and processes, that are named.
const NAMED_MAX: usize = 4;

/// Where nothing was recorded that a spike shows in.
pub(crate) const NOT_LOOKED_FOR: &str =
    "Not looked for: neither the I/Os of the load nor the requests of its devices are in the record.";

pub(super) fn render(page: &mut Page, report: Option<&SpikeReport>) {
    page.gap();
    page.painted(Look::Bold, "Spikes", 2);
    let Some(report) = report else {
        page.paragraph(&format!("  {NOT_LOOKED_FOR}"), 4);
        return;
    };
    if report.found == 0 {
        page.paragraph("  None: no I/O took far longer than those around it.", 4);
        return;
    }
    let mut text = plural(report.found, "spike");
    if (report.kept.len() as u64) < report.found {
        text = format!("{text}, the worst {} of them kept", report.kept.len());
    }
    let causes: Vec<String> = report
        .causes
        .iter()
        .map(|(cause, n)| format!("{} {n}", cause.name()))
        .collect();
    page.paragraph(&format!("  {text}: {}", causes.join(", ")), 4);
    for period in &report.periods {
        page.paragraph(&format!("  {}", regular(period)), 4);
    }
    let mut worst: Vec<&Spike> = report.kept.iter().collect();
    worst.sort_by_key(|spike| std::cmp::Reverse(spike.worst.response_ns));
    worst.truncate(LISTED_MAX);
    if worst.len() > 1 {
        page.gap();
        list(page, &worst);
    }
    for spike in worst.into_iter().take(TOLD_MAX) {
        page.gap();
        told(page, spike);
    }
}

pub(crate) fn regular(period: &Period) -> String {
    let which = period
        .cause
        .map_or(String::from("they"), |cause| format!("those by {}", cause.name()));
    format!(
        "{which} of {} and more come every {}, first at {}: {} on time to {}, {} none came",
        Nanos(period.worst_min_ns),
        Nanos(period.period_ns),
        at(period.phase_ns),
        plural(period.spikes, "spike"),
        Nanos(period.jitter_ns),
        plural(period.missed, "time")
    )
}

/// A moment since the start: `0:04:07.250`.
pub(crate) fn at(ns: u64) -> String {
    let ms = ns / 1_000_000;
    let (s, ms) = (ms / 1000, ms % 1000);
    format!("{}:{:02}:{:02}.{ms:03}", s / 3600, s / 60 % 60, s % 60)
}

pub(crate) fn who(cause: Cause, process: Option<&Process>) -> String {
    match process {
        Some(process) => format!("{} by {} ({})", cause.name(), process.comm, process.pid),
        None => String::from(cause.name()),
    }
}

/// A line a spike: numbers in columns, then the cause in what is left of the width.
fn list(page: &mut Page, spikes: &[&Spike]) {
    let mut rows: Vec<Vec<String>> = vec![
        ["at", "for", "slow I/Os", "worst", "usual"]
            .map(str::to_owned)
            .into(),
    ];
    rows.extend(spikes.iter().map(|spike| {
        vec![
            at(spike.start_ns),
            Nanos(spike.duration_ns).to_string(),
            spike.slow_ios.to_string(),
            Nanos(spike.worst.response_ns).to_string(),
            Nanos(spike.usual_ns).to_string(),
        ]
    }));
    let causes = spikes.iter().map(|spike| {
        let verdict = &spike.verdict;
        let cause = verdict.cause.name();
        match verdict.process {
            _ if verdict.cause == Cause::Unknown => String::from(cause),
            Some(process) => format!("{cause}: {}, {}", process.comm, percent(verdict.confidence)),
            None => format!("{cause}, {}", percent(verdict.confidence)),
        }
    });
    let causes = std::iter::once(String::from("cause")).chain(causes);
    for (line, cause) in table(&rows, 0, 2).iter().zip(causes) {
        let room = page.columns().saturating_sub(width(line) + 2);
        page.line(&format!("{line}  {}", fit(&cause, room)));
    }
}

fn told(page: &mut Page, spike: &Spike) {
    let title = format!(
        "  {}: {}, {}",
        at(spike.start_ns),
        Nanos(spike.duration_ns),
        verdict(&spike.verdict)
    );
    page.painted(Look::Bold, &title, 4);
    for because in &spike.verdict.because {
        page.paragraph(&format!("    because {because}"), 6);
    }
    for (cause, process) in &spike.verdict.also {
        page.paragraph(&format!("    also: {}", who(*cause, process.as_ref())), 6);
    }
    for missing in &spike.verdict.missing {
        page.paragraph(&format!("    missing to decide: {missing}"), 6);
    }
    let worst = &spike.worst;
    page.paragraph(
        &format!(
            "    {} of {}; the worst, a {} of {}, took {}, usual are {}",
            plural(spike.slow_ios, "slow I/O"),
            spike.sections.join(", "),
            worst.op,
            Bytes(u64::from(worst.length_bytes)),
            took(worst.latency_ns, worst.response_ns),
            Nanos(spike.usual_ns)
        ),
        6,
    );
    if let Some(split) = &spike.split {
        page.paragraph(&format!("    their time: {}", parts(split)), 6);
    }
    let depth = &spike.depth;
    let device = depth.device_during.map_or(String::new(), |device| {
        format!("; {} at the device meanwhile", three_digits(device))
    });
    page.paragraph(
        &format!(
            "    in flight: {} before, {} during, {} after{device}",
            three_digits(depth.before),
            three_digits(depth.during),
            three_digits(depth.after)
        ),
        6,
    );
    others(page, spike);
}

pub(crate) fn took(latency_ns: u64, response_ns: u64) -> String {
    let latency = Nanos(latency_ns);
    // An I/O that was sent in time has one number.
    if response_ns > latency_ns + latency_ns / 100 {
        format!("{latency} ({} from when it was due)", Nanos(response_ns))
    } else {
        latency.to_string()
    }
}

fn others(page: &mut Page, spike: &Spike) {
    for text in other_texts(spike) {
        page.paragraph(&format!("    {text}"), 6);
    }
}

/// Whom else the device served, and who was busy then and not before.
pub(crate) fn other_texts(spike: &Spike) -> Vec<String> {
    let mut texts = Vec::new();
    let served: Vec<String> = spike
        .served
        .iter()
        .filter(|served| !served.own)
        .take(NAMED_MAX)
        .map(|served| {
            format!(
                "{} ({}) {} of {}, {} in flight, before {}",
                served.process.comm,
                served.process.pid,
                plural(served.requests, "request"),
                Bytes(served.bytes),
                three_digits(served.in_flight),
                three_digits(served.in_flight_before)
            )
        })
        .collect();
    if !served.is_empty() {
        texts.push(format!("also served: {}", served.join("; ")));
    }
    let new: Vec<String> = spike
        .newcomers
        .iter()
        .take(NAMED_MAX)
        .map(|used| {
            format!(
                "{} ({}) {} of CPU, {} read, {} written",
                used.process.comm,
                used.process.pid,
                Nanos(used.cpu_ns),
                Bytes(used.read_bytes),
                Bytes(used.written_bytes)
            )
        })
        .collect();
    if !new.is_empty() {
        texts.push(format!(
            "busy then and not before (no proof of guilt): {}",
            new.join("; ")
        ));
    }
    texts
}

pub(crate) fn verdict(verdict: &Verdict) -> String {
    let who = who(verdict.cause, verdict.process.as_ref());
    if verdict.cause == Cause::Unknown {
        return who;
    }
    format!(
        "{who} ({}, {})",
        verdict.confidence_words,
        percent(verdict.confidence)
    )
}

/// The parts that took any of the time, in the order in which an I/O meets them.
pub(crate) fn parts(split: &Split) -> String {
    let total = split.total_ns().max(1.0);
    let each = [
        ("due and not sent", split.unsent_ns),
        ("above the block layer", split.above_ns),
        ("waiting for a tag", split.tag_ns),
        ("in the scheduler", split.scheduler_ns),
        ("at the device", split.device_ns),
        ("done and not seen", split.reap_ns),
    ];
    let shown = each.into_iter().filter(|(_, ns)| ns / total >= 0.005);
    let mut text: Vec<String> = shown
        .map(|(name, ns)| format!("{name} {} ({})", Nanos(ns.round() as u64), percent(ns / total)))
        .collect();
    if split.ambiguous >= 0.005 {
        text.push(format!(
            "for {} of them several requests fit, so this is approximate",
            percent(split.ambiguous)
        ));
    }
    text.join(", ")
}
