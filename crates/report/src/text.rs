//! A run as text for a terminal: what a person understands at a glance, then the details.
//!
//! Data in: a run and what the terminal can show. Data out: lines of at most its width. It must not judge (that
//! is done and recorded as warnings) nor know where the run is stored.

pub(crate) mod facts;
pub(crate) mod latency;
pub(crate) mod model;
mod overview;
pub(crate) mod section;
pub(crate) mod streams;
mod sweep;

use crate::Style;
use crate::layout::wrap;
use crate::style::Look;
use crate::words::{describe, plural};
pub(crate) use facts::warnings;
pub use facts::{error_texts, in_full};
use fathom_core::run::{Run, Status};
use fathom_core::units::WallTime;
use section::Section;
pub use sweep::sweep;

/// Lines being collected.
pub(crate) struct Page {
    style: Style,
    text: String,
}

impl Page {
    pub(crate) fn new(style: Style) -> Self {
        Self {
            style,
            text: String::new(),
        }
    }
    pub(crate) fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }
    /// An empty line, unless there is one already.
    pub(crate) fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }
    /// A paragraph, wrapped, its later lines indented.
    pub(crate) fn paragraph(&mut self, text: &str, indent: usize) {
        for line in wrap(text, self.style.columns(), indent) {
            self.line(&line);
        }
    }
    /// A paragraph in a look.
    pub(crate) fn painted(&mut self, look: Look, text: &str, indent: usize) {
        for line in wrap(text, self.style.columns(), indent) {
            let line = self.style.paint(look, &line);
            self.line(&line);
        }
    }
    /// One line in a look, its spaces kept.
    pub(crate) fn painted_line(&mut self, look: Look, line: &str) {
        let line = self.style.paint(look, line);
        self.line(&line);
    }
    pub(crate) fn columns(&self) -> usize {
        self.style.columns()
    }
    /// A paragraph whose first word is in a look: `warning: …`.
    pub(crate) fn labelled(&mut self, look: Look, label: &str, text: &str) {
        let lines = wrap(&format!("{label} {text}"), self.style.columns(), 2);
        for (index, line) in lines.iter().enumerate() {
            match line.strip_prefix(label).filter(|_| index == 0) {
                Some(rest) => {
                    let line = format!("{}{rest}", self.style.paint(look, label));
                    self.line(&line);
                }
                None => self.line(line),
            }
        }
    }
    pub(crate) fn finish(self) -> String {
        self.style.finish(self.text)
    }
}

/// The report of a run.
pub fn render(run: &Run, style: Style) -> String {
    let mut page = Page::new(style);
    let sections = section::of(run);
    title(&mut page, run, &sections);
    if sections.len() > 1 {
        page.gap();
        overview::render(&mut page, &sections);
    }
    section::total_lines(&mut page, run);
    for section in &sections {
        page.gap();
        details(&mut page, section, sections.len() > 1);
    }
    facts::disks(&mut page, run);
    model::render(&mut page, run);
    streams::render(&mut page, run);
    facts::errors(&mut page, run);
    facts::warnings(&mut page, &run.summary.warnings);
    facts::floor(&mut page, run);
    page.finish()
}

fn title(page: &mut Page, run: &Run, sections: &[Section<'_>]) {
    let mut title = format!("fathom {}", run.build.version);
    if !run.environment.host.is_empty() {
        title = format!("{title} on {}", run.environment.host);
    }
    title = format!("{title}, {}", started(run));
    page.painted(Look::Bold, &title, 2);
    match run.status {
        Status::Complete => {}
        Status::Interrupted => {
            page.labelled(Look::Yellow, "interrupted:", "the results are those up to then.");
        }
        Status::Failed => page.labelled(Look::Red, "failed:", "errors ended a job early; see below."),
        Status::Running => page.labelled(
            Look::Yellow,
            "unfinished:",
            "the run is under way or was killed; `fathom recover` completes a killed one.",
        ),
    }
    let target = &run.summary.target.description;
    let on = if target.is_empty() {
        String::new()
    } else {
        format!(" on {target}")
    };
    match run.workload.jobs.as_slice() {
        [] => page.paragraph(&format!("Watched {target}, without a load of its own"), 2),
        [job] => page.paragraph(&format!("{}{on}", describe(job)), 2),
        jobs => page.paragraph(&format!("{}{on}", plural(jobs.len() as u64, "job")), 2),
    }
    if run.summary.target.modelled {
        page.paragraph("The disk is a model and the time virtual.", 2);
    }
    if sections.is_empty() && !run.workload.jobs.is_empty() {
        page.gap();
        page.paragraph("No results: no job came to its end.", 2);
    }
}

/// Civil time of the start, to the second, in UTC.
fn started(run: &Run) -> String {
    civil(run.started_unix_ns)
}

/// Civil time to the second, in UTC.
pub(crate) fn civil(time: WallTime) -> String {
    jiff::Timestamp::from_nanosecond(i128::from(time.0)).map_or_else(
        |_| format!("{} ns after the Unix epoch", time.0),
        |time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
    )
}

fn details(page: &mut Page, section: &Section<'_>, several: bool) {
    let summary = section.summary;
    let workers = plural(u64::from(summary.workers), "worker");
    let ran = fathom_core::units::Nanos(summary.runtime_ns);
    page.painted(Look::Bold, &format!("{}: {workers}, {ran}", summary.name), 2);
    if several {
        for job in &section.jobs {
            page.paragraph(&format!("  {}", describe(job)), 4);
        }
    }
    section::headlines(page, section);
    latency::render(page, section);
    facts::of_section(page, section);
}

#[cfg(test)]
mod tests;
