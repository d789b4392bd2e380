//! An XML profile, by the rules of diskspd's schema (`diskspd.xsd`).
//!
//! Data in: text, and the paths that fill its slots `*1`, `*2`. Data out: a [`Profile`]; errors name line and column. It
//! must not know files. What the schema does not know is refused. The schema's depth bounds the recursion here, and the
//! parser below has none; the text's length is bounded too.

mod element;
mod target;
pub(super) mod writer;

use super::PROFILE_BYTES_MAX;
use super::profile::{Affinity, Precreate, Profile, ResultFormat, TimeSpan};
use crate::diagnostic::{Fault, Findings, Place};
use element::{Element, Reader};

/// Reads the profile `text` of the file `name`.
pub(super) fn read(name: &str, text: &str, paths: &[&str], findings: &mut Findings) -> Option<Profile> {
    let at = |line, column| Place::Text {
        file: name.to_owned(),
        line,
        column,
    };
    if text.len() > PROFILE_BYTES_MAX {
        let fault = Fault::new(format!(
            "a profile of {} bytes is longer than {PROFILE_BYTES_MAX}",
            text.len()
        ));
        findings.error(at(1, 1), fault.remedy("split it"));
        return None;
    }
    // A byte order mark is what Windows' editors begin a text with.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let document = match roxmltree::Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let position = error.pos();
            let fault = Fault::new(format!("this is no XML: {error}"));
            findings.error(
                at(position.row, position.col),
                fault.remedy("write a profile as -Rpxml prints it"),
            );
            return None;
        }
    };
    let mut reader = Reader {
        name,
        document: &document,
        findings,
        slots: Slots::new(paths),
    };
    let root = Element(document.root_element());
    if root.name() != "Profile" {
        let fault = Fault::new(format!(
            "the outermost element is <{}>, not <Profile>",
            root.name()
        ));
        reader.error(root, fault.remedy("of a result, take out its <Profile>"));
        return None;
    }
    let profile = profile(&mut reader, root);
    for (number, path) in reader.slots.unused() {
        let fault = Fault::new(format!("no template target *{number} takes `{path}`"));
        findings.error(at(1, 1), fault.remedy("leave the path out, or use the template"));
    }
    Some(profile)
}

/// The paths for template targets, and which were taken.
pub(super) struct Slots<'a> {
    paths: Vec<(&'a str, bool)>,
}

impl<'a> Slots<'a> {
    fn new(paths: &[&'a str]) -> Self {
        Self {
            paths: paths.iter().map(|&path| (path, false)).collect(),
        }
    }
    fn unused(&self) -> Vec<(usize, String)> {
        let unused = self.paths.iter().enumerate().filter(|(_, (_, used))| !used);
        unused
            .map(|(index, (path, _))| (index + 1, (*path).to_owned()))
            .collect()
    }
    /// The path of a target as written: templates are filled if any path is given.
    pub(super) fn fill(&mut self, path: &str) -> Result<String, Fault> {
        let Some(number) = path.strip_prefix('*') else {
            return Ok(path.to_owned());
        };
        let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        let Some(number) = number.parse::<usize>().ok().filter(|&n| digits && n > 0) else {
            let fault = Fault::new(format!("`{path}` is no template target"));
            return Err(fault.remedy("write *1, *2 …"));
        };
        if self.paths.is_empty() {
            return Ok(path.to_owned());
        }
        let Some((filled, used)) = self.paths.get_mut(number - 1) else {
            let fault = Fault::new(format!("there is no path for the template target `{path}`"));
            return Err(fault.remedy("name one for each template behind the flags"));
        };
        *used = true;
        Ok((*filled).to_owned())
    }
}

fn profile<'d>(reader: &mut Reader<'_, 'd>, root: Element<'d>) -> Profile {
    let mut profile = Profile::default();
    for element in reader.children(root, &[]) {
        match element.name() {
            "Progress" => reader.number(element, &mut profile.progress),
            "Verbose" => reader.bool(element, &mut profile.verbose),
            "VerboseStats" => reader.bool(element, &mut profile.verbose_stats),
            "ExperimentFlags" => reader.number(element, &mut profile.experiment_flags),
            "ResultFormat" => {
                let formats = [("text", ResultFormat::Text), ("xml", ResultFormat::Xml)];
                reader.choice(element, &formats, &mut profile.result_format);
            }
            "PrecreateFiles" => {
                let words = Precreate::ALL.map(|choice| (choice.word(), Some(choice)));
                reader.choice(element, &words, &mut profile.precreate);
            }
            "ETW" => {
                let fault = Fault::new("event tracing is asked for");
                reader.error(
                    element,
                    fault.remedy(format!("leave <ETW> out: {}", super::flags::NO_ETW)),
                );
            }
            "TimeSpans" => {
                for inner in reader.children(element, &["TimeSpan"]) {
                    if inner.name() == "TimeSpan" {
                        let span = time_span(reader, inner);
                        profile.time_spans.push(span);
                    } else {
                        reader.unknown(inner, element);
                    }
                }
            }
            _ => reader.unknown(element, root),
        }
    }
    profile
}

fn time_span<'d>(reader: &mut Reader<'_, 'd>, parent: Element<'d>) -> TimeSpan {
    let mut span = TimeSpan::default();
    for element in reader.children(parent, &[]) {
        match element.name() {
            "Duration" => reader.number(element, &mut span.duration_s),
            "Warmup" => reader.number(element, &mut span.warmup_s),
            "Cooldown" => reader.number(element, &mut span.cooldown_s),
            "RandSeed" => reader.number(element, &mut span.random_seed),
            "RandomWriteData" => reader.bool(element, &mut span.random_write_data),
            "ThreadCount" => reader.number(element, &mut span.thread_count),
            "RequestCount" => reader.number(element, &mut span.request_count),
            "DisableAffinity" => reader.bool(element, &mut span.disable_affinity),
            // Processor groups are all that Windows has had since; diskspd itself passes this over.
            "GroupAffinity" => reader.bool(element, &mut false),
            "CompletionRoutines" => reader.bool(element, &mut span.completion_routines),
            "MeasureLatency" => reader.bool(element, &mut span.measure_latency),
            "CalculateIopsStdDev" => reader.bool(element, &mut span.iops_std_dev),
            "IoBucketDuration" => reader.number(element, &mut span.io_bucket_ms),
            "Affinity" => affinity(reader, element, &mut span.affinity),
            "Targets" => {
                for inner in reader.children(element, &["Target"]) {
                    if inner.name() == "Target" {
                        let target = target::read(reader, inner);
                        span.targets.push(target);
                    } else {
                        reader.unknown(inner, element);
                    }
                }
            }
            _ => reader.unknown(element, parent),
        }
    }
    if span.targets.is_empty() {
        let fault = Fault::new("a time span without a target");
        reader.error(
            parent,
            fault.remedy("give it <Targets> with at least one <Target>"),
        );
    }
    span
}

fn affinity<'d>(reader: &mut Reader<'_, 'd>, parent: Element<'d>, list: &mut Vec<Affinity>) {
    for element in reader.children(parent, &["AffinityAssignment", "AffinityGroupAssignment"]) {
        let (mut group, mut cpu) = (0u16, 0u16);
        match element.name() {
            "AffinityAssignment" => reader.number(element, &mut cpu),
            "AffinityGroupAssignment" => {
                reader.attribute(element, "Group", &mut group);
                reader.attribute(element, "Processor", &mut cpu);
                reader.nothing_within(element);
            }
            _ => {
                reader.unknown(element, parent);
                continue;
            }
        }
        list.push(Affinity { group, cpu });
    }
}
