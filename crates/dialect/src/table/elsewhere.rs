//! Options: of interfaces that are about no file of this machine.

use super::row::OptionRow as Row;
use super::rule::{Field, Rule, field};
use crate::draft::Draft;
use fathom_core::units::Nanos;

const EXEC: &[&str] = &["exec"];
const NBD: &[&str] = &["nbd"];

/// A text, as long as there is one.
fn given(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn program(draft: &Draft) -> Option<String> {
    given(&draft.job.program.path)
}

pub(super) static ROWS: &[&[Row]] = &[EXEC_AND_NBD_ROWS];

static EXEC_AND_NBD_ROWS: &[Row] = &[
    Row::new(
        "program",
        Rule::Text(
            "path",
            |d, text| {
                text.trim().clone_into(&mut d.job.program.path);
                Ok(())
            },
            program,
        ),
        "Program that the job runs in place of I/O; only with --allow-exec",
    )
    .example("/usr/bin/vmstat")
    .only_for(EXEC),
    Row::new(
        "arguments",
        Rule::Text(
            "text",
            |d, text| {
                text.trim().clone_into(&mut d.job.program.arguments);
                Ok(())
            },
            |d| given(&d.job.program.arguments),
        ),
        "What it is given, divided at spaces; %r is the runtime in seconds, %n the job's name",
    )
    .example("-n 1")
    .only_for(EXEC),
    Row::new(
        "grace_time",
        Rule::Number(
            0,
            86_400,
            Field {
                set: |d, seconds| d.job.program.grace = Nanos::from_secs(seconds as u64),
                get: |d| Some((d.job.program.grace.0 / 1_000_000_000) as i64),
            },
        ),
        "How many seconds it may take to end when the job is over, before it is killed",
    )
    .example("5")
    .only_for(EXEC),
    Row::new(
        "std_redirect",
        Rule::Bool(field!(job.program.keeps_output)),
        "What it prints goes to NAME.stdout and NAME.stderr, after the job's name",
    )
    .only_for(EXEC),
    Row::new(
        "uri",
        Rule::Text(
            "uri",
            |d, text| {
                text.trim().clone_into(&mut d.job.uri);
                Ok(())
            },
            |d| given(&d.job.uri),
        ),
        "The export of an NBD server: nbd://host:port/export, or nbd+unix:///export?socket=path",
    )
    .example("nbd://localhost:10809/disk")
    .only_for(NBD),
];
