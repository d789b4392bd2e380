//! The lines of a job file: sections of raw options, each with its place.
//!
//! Data in: text. Data out: sections in order, with comments cut, included files read, `${NAME}` and
//! `$pagesize`, `$mb_memory`, `$ncpus` replaced. It must not know any option.

use crate::diagnostic::{Fault, Findings, Place};
use crate::input::{Context, Override, Source};
use crate::value;
use std::path::Path;

/// Files included by files included by files… beyond this are refused.
const MAX_INCLUDE_DEPTH: u32 = 8;
/// Included files in all beyond this are refused.
const MAX_INCLUDES: u32 = 256;

/// An option as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawOption {
    pub(crate) written: Override,
    pub(crate) at: Place,
    pub(crate) value_at: Place,
}

/// A section as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawSection {
    pub(crate) name: String,
    pub(crate) at: Place,
    pub(crate) options: Vec<RawOption>,
}

impl RawSection {
    /// Whether its options count for the jobs after it, rather than being a job.
    pub(crate) fn is_global(&self) -> bool {
        is_global(&self.name)
    }
}

/// Any name that begins so makes a section global.
pub(crate) fn is_global(name: &str) -> bool {
    name.starts_with("global")
}

/// The sections of a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Scanned {
    /// Without those that `--section` excludes.
    pub(crate) sections: Vec<RawSection>,
    /// The names of those.
    pub(crate) excluded: Vec<String>,
}

/// Reads the sections of `source`.
pub(crate) fn scan(source: &Source<'_>, ctx: &Context<'_>, findings: &mut Findings) -> Scanned {
    let mut scanner = Scanner {
        ctx,
        findings,
        sections: Vec::new(),
        excluded: Vec::new(),
        state: State::Outside,
        includes: 0,
        depth: 0,
    };
    scanner.text(source.name, source.text);
    Scanned {
        sections: scanner.sections,
        excluded: scanner.excluded,
    }
}

/// Where the next option belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// To no section: an error.
    Outside,
    /// To the last section.
    Within,
    /// To a section that is left out.
    Excluded,
}

struct Scanner<'a, 'c> {
    ctx: &'a Context<'c>,
    findings: &'a mut Findings,
    sections: Vec<RawSection>,
    excluded: Vec<String>,
    state: State,
    includes: u32,
    depth: u32,
}

impl Scanner<'_, '_> {
    fn text(&mut self, file: &str, text: &str) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (index, line) in text.split('\n').enumerate() {
            let line = Line {
                file,
                number: index as u32 + 1,
                text: line,
            };
            self.line(&line);
        }
    }

    fn line(&mut self, line: &Line<'_>) {
        // fio cuts at the first of these wherever it stands, so no value can hold one.
        let end = line.text.find([';', '#']).unwrap_or(line.text.len());
        let body = line.text[..end].trim();
        if body.is_empty() {
            return;
        }
        let start = line.text.len() - line.text.trim_start().len();
        if let Some(header) = body.strip_prefix('[') {
            self.header(header, line, start);
        } else if let Some(path) = included_path(body) {
            self.include(path, line, start);
        } else {
            self.option(body, line, start);
        }
    }

    fn header(&mut self, header: &str, line: &Line<'_>, start: usize) {
        let at = line.place(start);
        self.state = State::Outside;
        let name = match header.split_once(']') {
            None => {
                let fault = Fault::new("this section header has no `]`");
                return self
                    .findings
                    .error(at, fault.remedy("write [name]; a name holds no `#` and no `;`"));
            }
            Some((_, after)) if !after.trim().is_empty() => {
                let fault = Fault::new(format!("`{}` stands behind the section header", after.trim()));
                return self
                    .findings
                    .error(at, fault.remedy("begin a new line after the `]`"));
            }
            Some((name, _)) if name.trim().is_empty() => {
                let fault = Fault::new("this section has no name");
                return self.findings.error(at, fault.remedy("write [name]"));
            }
            Some((name, _)) => name.trim(),
        };
        let wanted = self.ctx.sections.is_empty() || self.ctx.sections.iter().any(|section| section == name);
        if wanted || is_global(name) {
            self.state = State::Within;
            self.sections.push(RawSection {
                name: name.to_owned(),
                at,
                options: Vec::new(),
            });
        } else {
            self.state = State::Excluded;
            self.excluded.push(name.to_owned());
        }
        // A header within an included file is refused by fio: it would end the section around the include.
        if self.depth > 0 {
            let fault = Fault::new(format!("section `{name}` begins within an included file"));
            self.findings.error(
                line.place(start),
                fault.remedy("keep sections in the file that includes it"),
            );
        }
    }

    fn include(&mut self, path: &str, line: &Line<'_>, start: usize) {
        let at = line.place(start);
        match self.state {
            State::Excluded => return,
            State::Outside => {
                return self.findings.error(
                    at,
                    Fault::new("this include stands outside of a section")
                        .remedy("begin a section before it"),
                );
            }
            State::Within => {}
        }
        self.includes += 1;
        if self.depth >= MAX_INCLUDE_DEPTH || self.includes > MAX_INCLUDES {
            return self.findings.error(
                at,
                Fault::new("files include each other too deep or too often")
                    .remedy("does a file include itself?"),
            );
        }
        let path = Path::new(line.file)
            .parent()
            .unwrap_or_else(|| Path::new(""))
            .join(path);
        match (self.ctx.include)(&path) {
            Ok(text) => {
                self.depth += 1;
                self.text(&path.to_string_lossy(), &text);
                self.depth -= 1;
            }
            Err(why) => {
                let fault = Fault::new(format!("cannot read `{}`: {why}", path.display()));
                self.findings.error(
                    at,
                    fault.remedy("included paths are relative to the including file"),
                );
            }
        }
    }

    fn option(&mut self, body: &str, line: &Line<'_>, start: usize) {
        let at = line.place(start);
        match self.state {
            State::Excluded => return,
            State::Outside => {
                return self.findings.error(
                    at,
                    Fault::new(format!("`{body}` stands outside of a section"))
                        .remedy("begin a section before it, such as [global]"),
                );
            }
            State::Within => {}
        }
        let (name, value) = body
            .split_once('=')
            .map_or((body, None), |(name, value)| (name.trim(), Some(value)));
        let value_start = value.map_or(start, |value| {
            let leading = value.len() - value.trim_start().len();
            start + (body.len() - value.len()) + leading
        });
        let value_at = line.place(value_start);
        let value = match value.map(|value| self.replaced(value.trim())).transpose() {
            Ok(value) => value,
            Err(fault) => return self.findings.error(value_at, fault),
        };
        if let Some(section) = self.sections.last_mut() {
            let name = name.to_owned();
            section.options.push(RawOption {
                written: Override { name, value },
                at,
                value_at,
            });
        }
    }

    /// The value with environment variables and words such as `$ncpus` replaced, and sums with them done.
    fn replaced(&self, value: &str) -> Result<String, Fault> {
        let value = self.with_environment(value)?;
        let words = [
            ("$pagesize", self.ctx.pagesize),
            ("$mb_memory", self.ctx.memory_mib),
            ("$ncpus", self.ctx.ncpus),
        ];
        if !words.iter().any(|(word, _)| value.contains(word)) {
            return Ok(value);
        }
        let replaced = words
            .iter()
            .fold(value, |value, (word, n)| value.replace(word, &n.to_string()));
        // In parentheses numbers may have units, which only the option knows.
        let is_sum = !replaced.starts_with('(') && replaced.contains(['+', '-', '*', '/', '%', '^', '(']);
        if is_sum {
            value::plain_sum(&replaced)
        } else {
            Ok(replaced)
        }
    }

    fn with_environment(&self, value: &str) -> Result<String, Fault> {
        let mut result = String::new();
        let mut rest = value;
        while let Some((before, after)) = rest.split_once("${") {
            let Some((name, after)) = after.split_once('}') else {
                return Err(Fault::new("a `${` has no `}`").remedy("write ${NAME}"));
            };
            result.push_str(before);
            let set = (self.ctx.env)(name).ok_or_else(|| {
                Fault::new(format!("the environment variable `{name}` is not set"))
                    .remedy(format!("set it, for instance: {name}=… fathom …"))
            })?;
            result.push_str(&set);
            rest = after;
        }
        result.push_str(rest);
        Ok(result)
    }
}

/// One line with its origin.
struct Line<'a> {
    file: &'a str,
    number: u32,
    text: &'a str,
}

impl Line<'_> {
    /// The place of the byte `at` of the line.
    fn place(&self, at: usize) -> Place {
        let column = self.text.get(..at).map_or(0, |before| before.chars().count()) as u32 + 1;
        Place::Text {
            file: self.file.to_owned(),
            line: self.number,
            column,
        }
    }
}

/// The path of `include PATH` or `include=PATH`.
fn included_path(body: &str) -> Option<&str> {
    let path = body.strip_prefix("include")?;
    let path = path.strip_prefix(['=', ' ', '\t'])?.trim();
    (!path.is_empty()).then_some(path)
}

#[cfg(test)]
mod tests;
