//! From sections to jobs: globals, overrides, groups, and what only shows between jobs.
//!
//! Data in: sources and flags. Data out: a [`Parsed`]. It must not know what any one option means.

use crate::args::FioCommand;
use crate::diagnostic::{Fault, Findings, Place, Severity};
use crate::draft::Draft;
use crate::input::{Context, Override, Parsed, Source};
use crate::resolve;
use crate::scan::{self, RawOption};
use crate::table::{Kind, OptionRow, Support, find, find_exact, is_secret, nearest, nearest_among};
use crate::value;
use fathom_core::workload::{Job, Workload, Written, WrittenSection};
use std::collections::HashSet;

/// The name of a job that only flags describe.
const NAMELESS: &str = "job";
/// The name under which flags are recorded.
const COMMAND_LINE: &str = "command line";

/// Reads job files, with flags that outrank them. Without job files the flags describe one job.
///
/// Between several files there is a stonewall, as in fio. What is wrong is in the result's diagnostics.
pub fn parse(sources: &[Source<'_>], overrides: &[Override], ctx: &Context<'_>) -> Parsed {
    let mut assembly = Assembly::new(ctx);
    for (index, source) in sources.iter().enumerate() {
        assembly.file(source, &Draft::default(), index > 0);
    }
    if sources.is_empty() {
        let mut draft = Draft::default();
        assembly.flags(&mut draft, overrides);
        assembly.jobs.push(Pending {
            draft,
            section: NAMELESS.to_owned(),
            at: None,
        });
    } else {
        let mut jobs = std::mem::take(&mut assembly.jobs);
        for job in &mut jobs {
            for flag in overrides {
                if let Some(row) = find(&flag.name) {
                    job.draft.give_way_to(row.name);
                }
                assembly.flags(&mut job.draft, std::slice::from_ref(flag));
            }
        }
        assembly.jobs = jobs;
    }
    if !overrides.is_empty() {
        assembly.record(COMMAND_LINE, overrides);
    }
    assembly.finish(sources)
}

/// Reads a fio command line whose job files the caller has read: options before the first `--name` count for
/// all jobs and are outranked by the files.
pub fn parse_fio(command: &FioCommand, sources: &[Source<'_>], ctx: &Context<'_>) -> Parsed {
    let ctx = Context {
        sections: &command.sections,
        ..*ctx
    };
    let mut assembly = Assembly::new(&ctx);
    let mut base = Draft::default();
    assembly.flags(&mut base, &command.globals);
    if !command.globals.is_empty() {
        assembly.record("global", &command.globals);
    }
    for flags in &command.jobs {
        assembly.command_job(flags, &mut base);
    }
    for (index, source) in sources.iter().enumerate() {
        assembly.file(source, &base, index > 0);
    }
    assembly.finish(sources)
}

/// A job whose options are all applied.
struct Pending {
    draft: Draft,
    section: String,
    at: Option<Place>,
}

struct Assembly<'a, 'c> {
    ctx: &'a Context<'c>,
    findings: Findings,
    jobs: Vec<Pending>,
    /// Sections that were left out, since `--section` names others.
    excluded: Vec<String>,
    written: Written,
}

impl<'a, 'c> Assembly<'a, 'c> {
    fn new(ctx: &'a Context<'c>) -> Self {
        Self {
            ctx,
            findings: Findings::default(),
            jobs: Vec::new(),
            excluded: Vec::new(),
            written: Written::default(),
        }
    }

    fn record(&mut self, name: &str, options: &[Override]) {
        let option = |option: &Override| {
            let hidden = is_secret(&option.name).then(|| String::from("…"));
            (option.name.clone(), hidden.or_else(|| option.value.clone()))
        };
        self.written.sections.push(WrittenSection {
            name: name.to_owned(),
            options: options.iter().map(option).collect(),
        });
    }

    /// Reads one file on top of `base`; its own globals end with it.
    fn file(&mut self, source: &Source<'_>, base: &Draft, behind_another: bool) {
        let scan::Scanned { sections, excluded } = scan::scan(source, self.ctx, &mut self.findings);
        self.excluded.extend(excluded);
        let mut global = base.clone();
        let mut wall = behind_another;
        for section in sections {
            let written = section.options.iter().map(|option| option.written.clone());
            self.record(&section.name, &written.collect::<Vec<_>>());
            if section.is_global() {
                self.options(&mut global, &section.options);
                global.name = None;
                continue;
            }
            let mut draft = global.clone();
            self.options(&mut draft, &section.options);
            draft.job.start.stonewall |= std::mem::take(&mut wall);
            self.jobs.push(Pending {
                draft,
                section: section.name,
                at: Some(section.at),
            });
        }
    }

    /// A job that a fio command line describes, or more options for all that follow it.
    fn command_job(&mut self, flags: &[Override], base: &mut Draft) {
        let name = flags
            .first()
            .and_then(|flag| flag.value.as_deref())
            .unwrap_or(NAMELESS);
        let global = scan::is_global(name);
        if !global && !self.ctx.sections.is_empty() && !self.ctx.sections.iter().any(|s| s == name) {
            self.excluded.push(name.to_owned());
            return;
        }
        self.record(name, flags);
        if global {
            self.flags(base, &flags[1..]);
            return;
        }
        let mut draft = base.clone();
        self.flags(&mut draft, flags);
        let at = Some(Place::Flag("name".to_owned()));
        self.jobs.push(Pending {
            draft,
            section: name.to_owned(),
            at,
        });
    }

    fn options(&mut self, draft: &mut Draft, options: &[RawOption]) {
        let rows = options
            .iter()
            .map(|option| (find_exact(&option.written.name), option));
        // What k means holds for all sizes of its section, wherever it stands, as in fio.
        let (first, then): (Vec<_>, Vec<_>) =
            rows.partition(|(row, _)| row.is_some_and(|row| row.name == "kb_base"));
        for (row, option) in first.into_iter().chain(then) {
            self.apply(draft, row, option);
        }
    }

    fn flags(&mut self, draft: &mut Draft, flags: &[Override]) {
        for flag in flags {
            let at = Place::Flag(flag.name.clone());
            let option = RawOption {
                written: flag.clone(),
                at: at.clone(),
                value_at: at,
            };
            self.apply(draft, find(&flag.name), &option);
        }
    }

    /// Applies one option, or says why not.
    fn apply(&mut self, draft: &mut Draft, row: Option<&'static OptionRow>, option: &RawOption) {
        let Some(row) = row else {
            let fault = Fault::new(format!("unknown option `{}`", option.written.name));
            let fault = match nearest(&option.written.name) {
                Some(known) => fault.remedy(format!("did you mean `{known}`?")),
                None => fault.remedy("no option has a similar name"),
            };
            return self.findings.error(option.at.clone(), fault);
        };
        let written = option.written.value.as_deref();
        let text = match (written.filter(|text| !text.trim().is_empty()), row.rule.bare()) {
            (Some(text), _) => text,
            (None, Some(bare)) if written.is_none() || bare.is_empty() => bare,
            _ => {
                let fault = Fault::new(format!("`{}` needs a value", row.name));
                return self.findings.error(
                    option.at.clone(),
                    fault.remedy(format!("write such as {}={}", row.name, row.example)),
                );
            }
        };
        self.warn_of_units(draft, row, text, &option.value_at);
        self.warn_of_rests(draft, row, text, &option.value_at);
        let own = row.support;
        match row.rule.apply(draft, text) {
            Err(fault) => {
                let message = format!("{}: {}", row.name, fault.message);
                self.findings.error(
                    option.value_at.clone(),
                    Fault {
                        message,
                        remedy: fault.remedy,
                    },
                );
            }
            Ok(_) if row.is_default(text) => {}
            Ok(chosen) => {
                self.explain(row, row.name, own, option);
                self.explain(row, &format!("{}={}", row.name, text.trim()), chosen, option);
            }
        }
        draft.places.insert(row.name, option.at.clone());
    }

    /// Says what becomes of an option that is not carried out to the letter.
    fn explain(&mut self, row: &'static OptionRow, what: &str, support: Support, option: &RawOption) {
        let at = &option.at;
        let (severity, message) = match support {
            Support::Exact => return,
            Support::Approximate(_) => (Severity::Note, format!("`{what}` is carried out in another way")),
            Support::NoEffect(_) => (Severity::Note, format!("`{what}` has no effect")),
            Support::LeftOut(_) => (Severity::Warning, format!("`{what}` is left out")),
            Support::NotYet(_) => (Severity::Error, format!("`{what}` is not supported yet")),
            Support::Never(_) => (Severity::Error, format!("`{what}` is not supported")),
        };
        let reason = support.reason().unwrap_or_default();
        let fault = if support.is_refused() {
            Fault::new(message).remedy(reason)
        } else {
            Fault::new(format!("{message}: {reason}"))
        };
        if severity == Severity::Error {
            self.findings.error(at.clone(), fault);
        } else {
            self.findings.explain(severity, row.name, at, || fault);
        }
    }

    /// fio reads `4KiB` as 4000 bytes, which hardly anyone means.
    fn warn_of_units(&mut self, draft: &Draft, row: &OptionRow, text: &str, at: &Place) {
        if row.rule.holds_sizes() && value::inverted_unit(text, draft.kb_base) {
            let fault = Fault::new(format!(
                "`{}={}` counts in powers of 1000, as in fio",
                row.name,
                text.trim()
            ));
            let remedy = "write k, m, g for powers of 1024, or put kb_base=1000 before it";
            self.findings.warning(at.clone(), fault.remedy(remedy));
        }
    }

    /// As fio, a size is what its text begins with: not in silence.
    fn warn_of_rests(&mut self, draft: &Draft, row: &OptionRow, text: &str, at: &Place) {
        let counts = row.rule.holds_sizes() || matches!(row.kind(), Kind::Number { .. });
        let is_sum = text.trim_start().starts_with('(');
        if !counts || is_sum || matches!(row.name, "rw" | "random_distribution") {
            return;
        }
        for part in text.split([',', ':', '-', '/']) {
            if let Some(read) = value::read_in_part(part, draft.kb_base) {
                let fault = Fault::new(format!(
                    "`{}={}` is read as {read}, as in fio",
                    row.name,
                    part.trim()
                ));
                let remedy =
                    "write a whole number with a unit, such as 4k, or a sum in parentheses, such as (1.5*1g)";
                self.findings.warning(at.clone(), fault.remedy(remedy));
            }
        }
    }

    /// Settles every job, and what only shows between them.
    fn finish(mut self, sources: &[Source<'_>]) -> Parsed {
        let names: Vec<&str> = sources.iter().map(|source| source.name).collect();
        self.written.source = if names.is_empty() {
            COMMAND_LINE.to_owned()
        } else {
            names.join(", ")
        };
        if !self.findings.has_errors() {
            self.missing_sections();
        }
        if self.jobs.is_empty() && !self.findings.has_errors() {
            let fault = Fault::new("there is no job").remedy("add a section that is not [global]");
            self.findings.error(None, fault);
        }
        let mut jobs: Vec<Job> = Vec::with_capacity(self.jobs.len());
        let mut names: HashSet<String> = HashSet::new();
        let mut group = 0;
        // Contradictions between options of which some were not understood would only mislead.
        let pending = if self.findings.has_errors() {
            Vec::new()
        } else {
            std::mem::take(&mut self.jobs)
        };
        for pending in pending {
            let mut job = resolve::resolve(
                &pending.draft,
                &pending.section,
                self.ctx.seed,
                &mut self.findings,
            );
            if !jobs.is_empty() && (job.start.stonewall || pending.draft.new_group) {
                group += 1;
            }
            job.group = group;
            self.check_wait(&job, &pending, &names);
            names.insert(job.name.clone());
            jobs.push(job);
        }
        let workload = (!self.findings.has_errors()).then_some(Workload { jobs });
        Parsed {
            workload,
            written: self.written,
            diagnostics: self.findings.into_list(),
        }
    }

    /// `--section` with a name that no section has.
    fn missing_sections(&mut self) {
        for wanted in self.ctx.sections {
            let found = |job: &Pending| job.section == *wanted;
            if scan::is_global(wanted) || self.jobs.iter().any(found) {
                continue;
            }
            let mut there: Vec<&str> = self.jobs.iter().map(|job| job.section.as_str()).collect();
            there.extend(self.excluded.iter().map(String::as_str));
            there.dedup();
            let near = nearest_among(wanted, || there.iter().copied());
            let near = near.map(|near| format!("did you mean `{near}`? "));
            let list = match there.as_slice() {
                [] => String::from("there are none"),
                [only] => format!("there is {only}"),
                all => format!("there are {}", all.join(", ")),
            };
            let fault = Fault::new(format!("no section is called {wanted}"))
                .remedy(format!("{}{list}", near.unwrap_or_default()));
            self.findings.error(Place::Flag("section".to_owned()), fault);
        }
    }

    fn check_wait(&mut self, job: &Job, pending: &Pending, earlier: &HashSet<String>) {
        let Some(awaited) = &job.start.wait_for else {
            return;
        };
        if earlier.contains(awaited) {
            return;
        }
        let at = pending.draft.place("wait_for").or(pending.at.as_ref()).cloned();
        let fault = if job.name == *awaited {
            Fault::new(format!("`{awaited}` cannot wait for itself"))
        } else {
            Fault::new(format!("no job before `{}` is called `{awaited}`", job.name))
        };
        self.findings
            .error(at, fault.remedy("name a job that stands before it"));
    }
}

#[cfg(test)]
mod tests;
