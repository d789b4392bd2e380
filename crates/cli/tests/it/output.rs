//! What goes where, and how it looks.

use crate::harness::{Place, finish, skipped, start, tool};
use std::io::Read;

const SHORT: &str = "run --rw randread --bs 4k --size 1m --runtime 1s --time_based --ioengine null F";

#[test]
fn show_prints_what_run_printed() {
    let place = Place::new();
    let run = place
        .fathom("run --rw randrw --bs 4k --size 4m --direct 1 --runtime 1s --time_based F -o d")
        .expect(0);
    let shown = place.fathom("show d").expect(0);
    assert_eq!(run.stdout, shown.stdout);
    let run = place.fathom(&format!("{SHORT} -o e --json")).expect(0);
    assert_eq!(run.stdout, place.fathom("show e --json").expect(0).stdout);
}

#[test]
fn a_pipe_gets_plain_text_of_80_columns() {
    let place = Place::new();
    let outcome = place.fathom(&format!("{SHORT} -o none")).expect(0);
    assert!(!outcome.stdout.contains('\x1b'), "{}", outcome.stdout);
    assert!(outcome.stdout.starts_with("fathom "), "{}", outcome.stdout);
    for line in outcome.stdout.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn colours_come_when_they_are_asked_for() {
    let place = Place::new();
    assert!(
        place
            .fathom(&format!("{SHORT} -o none --color always"))
            .expect(0)
            .stdout
            .contains("\x1b[")
    );
}

#[test]
fn progress_goes_to_stderr_and_quiet_has_none() {
    let place = Place::new();
    let line = "run --rw randread --bs 4k --size 1m --runtime 3s --time_based --ioengine null F -o none";
    let outcome = place.fathom(line).expect(0);
    let progress: Vec<&str> = outcome
        .stderr
        .lines()
        .filter(|line| line.contains("left, read"))
        .collect();
    assert_eq!(
        progress.len(),
        1,
        "one line early, the next only after 10 s:\n{}",
        outcome.stderr
    );
    let quiet = place.fathom(&format!("{line} --quiet")).expect(0);
    assert_eq!(quiet.stderr, "");
}

#[test]
fn the_run_directory_is_named_after_time_and_job() {
    let place = Place::new();
    place.fathom(&format!("{SHORT} --name my/job")).expect(0);
    let runs = std::fs::read_dir(place.path("fathom-runs")).expect("fathom-runs");
    let names: Vec<String> = runs
        .map(|run| run.expect("a run").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names.len(), 1);
    assert!(
        names[0].starts_with("20") && names[0].ends_with("Z-my-job"),
        "{names:?}"
    );
    place.fathom(&format!("show fathom-runs/{}", names[0])).expect(0);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = Place::new();
    let mut child = start(&mut place.command("options"));
    let mut stdout = child.stdout.take().expect("stdout");
    let mut byte = [0];
    stdout.read_exact(&mut byte).expect("a byte");
    drop(stdout);
    let outcome = finish(child);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
}

#[test]
fn showing_what_is_no_run_is_a_clear_error() {
    let place = Place::new();
    place.fathom("show .").expect(2).saying("is not a run directory");
    place.fathom("show missing").expect(2).saying("missing");
    std::fs::create_dir(place.path("d")).expect("mkdir");
    place.write("d/run.json", "{\"schema\": \"fathom.run/1\", \"build\": 7}");
    place.fathom("show d").expect(2).saying("d/run.json:1:");
    place.write("d/run.json", "{\"schema\": \"fathom.run/999\"}");
    place.fathom("show d").expect(2).saying("fathom.run/999");
}

#[test]
fn a_terminal_has_a_live_line_that_is_gone_at_the_end() {
    if let Err(missing) = tool("script --version") {
        return skipped("a_terminal_has_a_live_line_that_is_gone_at_the_end", &missing);
    }
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_fathom");
    let line = "run --rw randread --bs 4k --size 1m --runtime 2s --time_based --ioengine null F -o none";
    let output = std::process::Command::new("script")
        .args([
            "--quiet",
            "--return",
            "--command",
            &format!("{program} {line}"),
            "/dev/null",
        ])
        .current_dir(place.path(""))
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .output()
        .expect("run script");
    assert!(output.status.success());
    let text = String::from_utf8_lossy(&output.stdout);
    let (live, report) = text.split_once("fathom 0").expect("a report");
    assert!(live.contains("left"), "{live:?}");
    assert!(live.contains("\x1b[2K"), "the line is cleared: {live:?}");
    assert!(!report.contains(" left "), "{report}");
}
