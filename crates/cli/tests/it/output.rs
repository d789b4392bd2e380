//! What goes where, and how it looks.

use crate::harness::{Outcome, Place, finish, skipped, start, tool};
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

/// How often `text` is on both streams together, whatever the lines.
#[track_caller]
fn said(outcome: &Outcome, text: &str) -> usize {
    let both = format!("{}{}", outcome.stdout, outcome.stderr);
    let words: Vec<&str> = both.split_whitespace().collect();
    words.join(" ").matches(text).count()
}

#[test]
fn what_is_done_otherwise_or_left_out_is_said_once() {
    let place = Place::new();
    let options = "iodepth=8\nallow_mounted_write=1\ngtod_cpu=1\nerror_dump=1\n";
    place.write(
        "j.fio",
        format!("[global]\nfilename=F\nsize=64k\n{options}[a]\n[b]\n{options}"),
    );
    let messages = [
        "iodepth=8 has no effect",
        "`allow_mounted_write` is left out",
        "`gtod_cpu` has no effect",
        "`error_dump` is carried out in another way",
    ];
    for line in [
        "run j.fio -o none",
        "run j.fio -o d",
        "run j.fio -o none --json",
        "run j.fio --dry-run",
        "run j.fio --dry-run --json",
        "run j.fio --cpus_allowed 999",
    ] {
        let outcome = place.fathom(line);
        for text in messages {
            // The document is for programs, and has it in any case.
            let times = if line.contains("--json") {
                outcome.stderr.matches(text).count()
            } else {
                said(&outcome, text)
            };
            assert_eq!(times, 1, "{line}: `{text}`:\n{outcome:?}");
        }
    }
    let shown = place.fathom("show d").expect(0);
    assert_eq!(said(&shown, "iodepth=8 has no effect"), 1);
    assert_eq!(said(&shown, "`allow_mounted_write` is left out"), 1);
}

#[test]
fn blocks_that_direct_io_cannot_have_are_told_of_once() {
    let place = Place::new();
    let line = "run --rw read --bs 1000 --size 1m --direct 1 F -o none";
    for line in [line.to_owned(), format!("{line} --dry-run")] {
        let outcome = place.fathom(&line);
        let told = said(&outcome, "needs multiples of") + said(&outcome, "use multiples of");
        if told == 0 && said(&outcome, "IOPS") > 0 {
            return skipped(
                "blocks_that_direct_io_cannot_have_are_told_of_once",
                "strict direct I/O",
            );
        }
        assert_eq!(told, 1, "{line}: {outcome:?}");
        if !line.contains("--dry-run") {
            // One is one, its number is said once, and what to do is known.
            assert!(outcome.stdout.contains("1 read failed"), "{outcome:?}");
            assert_eq!(
                said(&outcome, "error 22") + said(&outcome, "errno 22"),
                1,
                "{outcome:?}"
            );
            assert_eq!(said(&outcome, "Direct I/O must be aligned"), 1, "{outcome:?}");
        }
    }
}
