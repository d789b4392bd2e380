//! What the tests of this crate share: parse a text in a fixed surrounding, and compare what comes out.

use crate::{Context, Override, Parsed, Source, parse, print};
use expect_test::Expect;
use std::fmt::Write as _;
use std::path::Path;

/// Files that tests may include.
fn included(path: &Path) -> Result<String, String> {
    match path.to_str() {
        Some("jobs/part.fio") => Ok(String::from("bs=8k # in a part\niodepth=4\n")),
        Some("jobs/broken.fio") => Ok(String::from("\n  blocksze=8k\n")),
        Some("jobs/section.fio") => Ok(String::from("[inner]\nbs=8k\n")),
        Some("jobs/self.fio") => Ok(String::from("include self.fio\n")),
        _ => Err(String::from("no such file")),
    }
}

fn environment(name: &str) -> Option<String> {
    (name == "SIZE").then(|| String::from("128k"))
}

/// Surroundings that do not change: 4 KiB pages, 1000 MiB of memory, 8 CPUs.
pub(crate) fn context(sections: &[String]) -> Context<'_> {
    Context {
        include: &included,
        env: &environment,
        pagesize: 4096,
        memory_mib: 1000,
        ncpus: 8,
        seed: 4711,
        sections,
    }
}

/// Parses `text` as the file `jobs/a.fio`.
pub(crate) fn parsed(text: &str) -> Parsed {
    parse(
        &[Source {
            name: "jobs/a.fio",
            text,
        }],
        &[],
        &context(&[]),
    )
}

/// Parses `text` under flags.
pub(crate) fn parsed_with(text: &str, overrides: &[Override]) -> Parsed {
    parse(
        &[Source {
            name: "jobs/a.fio",
            text,
        }],
        overrides,
        &context(&[]),
    )
}

/// Diagnostics, one a line, then the workload in canonical form.
pub(crate) fn shown(parsed: &Parsed) -> String {
    let mut text = String::new();
    for diagnostic in &parsed.diagnostics {
        let _ = writeln!(text, "{diagnostic}");
    }
    if let Some(workload) = &parsed.workload {
        text.push_str(&print(workload).expect("what came from a job file can be printed"));
    }
    text
}

/// Compares what comes of `text` with what is expected.
#[expect(
    clippy::needless_pass_by_value,
    reason = "a test writes expect![] as the last argument"
)]
pub(crate) fn check(text: &str, expected: Expect) {
    expected.assert_eq(&shown(&parsed(text)));
}

/// As [`check`], for one job with these options.
pub(crate) fn check_job(options: &str, expected: Expect) {
    check(&format!("[j]\n{options}\n"), expected);
}
