//! What limits each section, by the USE method: utilisation, saturation and errors of each thing that can be a limit.
//!
//! Data in: the sections with their sums, the counters, a few seconds of each section row by row. Data out: the limit of
//! each section with its figures. iowait and the share of time in which a disk is busy convict nobody here; where they point
//! the wrong way, that is said.

mod capped;
mod command;
mod known;
mod measures;
mod misleading;
mod rules;
mod sample;
mod unloaded;

pub(super) use command::of as of_commands;

use super::answer::{Candidate, Figure, LimitKind, SectionLimit, Unit};
use super::section::Section;
use super::{Evidence, Facts, Scanned};
use measures::{Measures, SECONDS_TO_VARY};

/// A limit with its evidence.
#[derive(Debug, Clone)]
struct Found {
    kind: LimitKind,
    confidence: f64,
    because: Vec<String>,
    change: String,
    candidates: Vec<Candidate>,
    missing: Vec<String>,
}

impl Found {
    fn new(kind: LimitKind, confidence: f64, because: String, change: &str) -> Self {
        Self {
            kind,
            confidence,
            because: vec![because],
            change: String::from(change),
            candidates: Vec::new(),
            missing: Vec::new(),
        }
    }

    /// With this it would be surer.
    fn lacks(&mut self, what: &str) {
        self.missing.push(String::from(what));
    }
}

/// What is known of a section when its limit is judged.
struct Question<'q, 'a> {
    facts: &'q Facts<'a>,
    scanned: &'q Scanned,
    section: &'q Section<'a>,
    measures: Measures,
    sample: sample::Sample,
    others: Vec<Other>,
}

/// Another section.
struct Other {
    name: String,
    measures: Measures,
    /// Whether it is on a device of this one.
    same_devices: bool,
}

/// The limits of all sections.
pub(super) fn of<E: Evidence>(
    facts: &Facts<'_>,
    scanned: &Scanned,
    sections: &[Section<'_>],
    evidence: &mut E,
) -> Result<Vec<SectionLimit>, E::Error> {
    let measures: Vec<Measures> = sections
        .iter()
        .map(|section| Measures::of(facts, scanned, section))
        .collect();
    let samples = sample::read(facts, scanned, sections, &measures, evidence)?;
    let limits = sections.iter().zip(samples).enumerate();
    Ok(limits
        .map(|(index, (section, sample))| {
            let others = sections.iter().zip(&measures).enumerate();
            let question = Question {
                facts,
                scanned,
                section,
                measures: measures[index].clone(),
                sample,
                others: others
                    .filter(|(other, _)| *other != index)
                    .map(|(_, (other, measures))| Other {
                        name: other.name.clone(),
                        measures: measures.clone(),
                        same_devices: same_devices(section, other),
                    })
                    .collect(),
            };
            answer(&question)
        })
        .collect())
}

/// Whether two sections share a device. Where none is known they may.
fn same_devices(a: &Section<'_>, b: &Section<'_>) -> bool {
    let number = |section: &Section<'_>| -> Vec<u32> {
        let devices = section.devices.iter();
        devices.map(|device| device.device).collect()
    };
    let (a, b) = (number(a), number(b));
    a.is_empty() || b.is_empty() || a.iter().any(|device| b.contains(device))
}

fn answer(question: &Question<'_, '_>) -> SectionLimit {
    let found = if question.section.load.is_some() {
        rules::judge(question)
    } else {
        unloaded::judge(question)
    };
    SectionLimit {
        name: question.section.name.clone(),
        limit: found.kind,
        confidence: found.confidence.clamp(0.0, 0.99),
        figures: figures(question),
        candidates: found.candidates,
        misleading: misleading::of(&question.measures, found.kind),
        because: found.because,
        change: found.change,
        missing: found.missing,
    }
}

fn figures(question: &Question<'_, '_>) -> Vec<Figure> {
    let measures = &question.measures;
    let mut figures = Vec::new();
    let mut add = |what: &str, value: f64, unit: Unit| {
        if value.is_finite() {
            figures.push(Figure {
                what: String::from(what),
                value,
                unit,
            });
        }
    };
    add("rate", measures.iops, Unit::Iops);
    add("bandwidth", measures.bytes_per_second, Unit::BytesPerSecond);
    if measures.iops > 0.0 {
        add("mean size", measures.mean_bytes(), Unit::Bytes);
        add("mean latency", measures.latency_ns, Unit::Nanoseconds);
    }
    add("in flight", measures.in_flight, Unit::Number);
    if measures.rates.len() >= SECONDS_TO_VARY {
        add(
            "rate varies from second to second by",
            measures.rate_varies * 100.0,
            Unit::Percent,
        );
    }
    if let Some(block) = measures.block {
        add("requests of the device", block.iops, Unit::Iops);
        if block.iops > 0.0 {
            add("time at the device", block.device_ns, Unit::Nanoseconds);
        }
        add("in flight at the device", block.in_flight, Unit::Number);
    } else if let Some(disk) = measures.disk {
        if disk.iops > 0.0 {
            add("await of the disk", disk.await_ns, Unit::Nanoseconds);
        }
        add("in flight at the disk", disk.in_flight, Unit::Number);
    }
    if let Some(disk) = measures.disk {
        add("disk busy", disk.busy * 100.0, Unit::Percent);
    }
    if let Some(system) = measures.system {
        add("iowait", system.iowait * 100.0, Unit::Percent);
        add("CPU busy", system.busy * 100.0, Unit::Percent);
    }
    figures
}

#[cfg(test)]
mod tests;
