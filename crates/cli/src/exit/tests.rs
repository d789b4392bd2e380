use super::*;
use anyhow::anyhow;
use fathom_session::{AfterTouching as _, with_causes};

/// What the README has below its heading, as one line.
fn readme() -> String {
    let readme = include_str!("../../../../README.md");
    let (_, rest) = readme
        .split_once("## Exit codes\n")
        .expect("a section about exit codes");
    let (section, _) = rest.split_once("\n## ").expect("a section behind it");
    section.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_readme_says_what_the_table_says() {
    let table = TABLE.map(|(code, meaning)| format!("| {code} | {meaning} |"));
    assert_eq!(
        readme(),
        format!("| code | meaning | |---|---| {}", table.join(" "))
    );
}

#[test]
fn every_exit_is_in_the_table() {
    for exit in [
        Exit::Done,
        Exit::Errors,
        Exit::Wrong,
        Exit::Refused,
        Exit::Interrupted,
    ] {
        assert!(TABLE.iter().any(|(code, _)| *code == exit.code()), "{exit:?}");
    }
}

#[test]
fn an_error_behind_the_first_write_is_no_wrong_request() {
    let plain = anyhow!("no space").context("cannot make f");
    assert_eq!(of_error(&plain), Exit::Wrong);
    let after = touched(&plain, vec![String::from("g (1 MiB)")]);
    assert_eq!(of_error(&after), Exit::Errors);
    assert_eq!(
        with_causes(&after),
        "cannot make f: no space. What was written before stays: g (1 MiB)"
    );
    // Said once, however many steps it comes back through.
    let again =
        anyhow::Result::<()>::Err(touched(&plain, Vec::new())).after_touching(|| vec![String::from("g")]);
    assert_eq!(
        with_causes(&again.expect_err("an error")),
        "cannot make f: no space"
    );
}

#[test]
fn causes_that_a_message_quotes_are_said_once() {
    let error = anyhow!("inner").context("outer: inner").context("outermost");
    assert_eq!(with_causes(&error), "outermost: outer: inner");
}
