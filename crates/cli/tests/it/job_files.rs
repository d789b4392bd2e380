//! Job files: run as they are, or refused with their place.

use crate::harness::{Place, at, count, finish, number, start};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

fn experiment(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    root.join(name).display().to_string()
}

#[test]
fn all_nine_sections_of_the_aks_experiment_run() {
    let place = Place::new();
    for section in 1..=9 {
        let line = format!(
            "run {} --section test{section} --filename F --size 16m --runtime 1s --time_based --cpus_allowed 0 -o none",
            experiment("aks-2019/jobs.fio")
        );
        let run = place.json(&line);
        assert_eq!(at(&run, "jobs.0.name"), &format!("test{section}"));
        let ios = number(&run, "jobs.0.write.ios");
        assert!(
            ios > 0.0 && number(&run, "jobs.0.read.ios") == 0.0,
            "test{section}: {ios} writes"
        );
        let seconds = number(&run, "jobs.0.runtime_ns") / 1e9;
        assert!((0.95..3.0).contains(&seconds), "test{section}: {seconds} s");
    }
}

#[test]
fn an_unknown_option_is_told_with_line_and_column_and_nothing_is_touched() {
    let place = Place::new();
    place.write("bad.fio", "[global]\nsize=1m\n[job]\nrw=write\n  blocksze=4k\n");
    let outcome = place.fathom("run bad.fio").expect(2);
    let outcome = outcome.saying("bad.fio:5:3: error: unknown option `blocksze`; did you mean `blocksize`?");
    assert_eq!(outcome.stdout, "");
    assert_eq!(place.names(), ["bad.fio"]);
}

#[test]
fn all_errors_of_a_job_file_are_told_at_once() {
    let place = Place::new();
    place.write("bad.fio", "[a]\nrw=sideways\nbs=4x\niodepth=0\n");
    let outcome = place.fathom("run bad.fio").expect(2);
    for line in ["bad.fio:2:", "bad.fio:3:", "bad.fio:4:"] {
        assert!(
            outcome.stderr.contains(line),
            "{line} is not in {}",
            outcome.stderr
        );
    }
}

#[test]
fn a_missing_job_file_is_a_clear_error() {
    let outcome = Place::new().fathom("run missing.fio").expect(2);
    outcome.saying("error: cannot read the job file missing.fio: No such file or directory");
}

#[test]
fn a_stonewalled_section_starts_when_those_before_it_have_ended() {
    let place = Place::new();
    let file = "[global]\nioengine=null\nsize=1g\ntime_based\nruntime=1s\n[a]\n[b]\n[c]\nstonewall\n";
    place.write("wall.fio", file);
    place.fathom("run wall.fio -o d -q").expect(0);
    let run = fathom_store::read(&place.path("d")).expect("the run directory");
    let seconds = |job| {
        let rows = run.series.iter().filter(move |row| row.job == job && row.ios > 0);
        let ends: Vec<u64> = rows.map(|row| row.end.0).collect();
        let starts = run.series.iter().filter(move |row| row.job == job && row.ios > 0);
        let starts: Vec<u64> = starts.map(|row| row.end.0 - row.duration_ns).collect();
        (
            starts.into_iter().min().expect("rows"),
            ends.into_iter().max().expect("rows"),
        )
    };
    let [a, b, c] = [0, 1, 2].map(seconds);
    assert!(a.0 < b.1 && b.0 < a.1, "a and b run together: {a:?} {b:?}");
    assert!(c.0 >= a.1.max(b.1), "c starts after both: {a:?} {b:?} {c:?}");
}

#[test]
fn sections_of_a_second_file_wait_and_groups_follow() {
    let place = Place::new();
    let file = |name: &str| format!("[{name}]\nioengine=null\nsize=1m\n");
    place.write("one.fio", file("one"));
    place.write("two.fio", file("two"));
    let run = place.json("run one.fio two.fio -o none");
    assert_eq!(at(&run, "groups").as_array().expect("groups").len(), 2);
    assert_eq!(at(&run, "jobs.1.name"), "two");
    assert_eq!(count(&run, "jobs.1.group"), 1);
}

#[test]
fn a_job_file_may_come_from_stdin() {
    let place = Place::new();
    let mut command = place.command("run - -o none -q --json");
    let mut child = start(command.stdin(Stdio::piped()));
    let mut stdin = child.stdin.take().expect("stdin");
    stdin
        .write_all(b"[piped]\nioengine=null\nsize=1m\n")
        .expect("write");
    drop(stdin);
    let run = finish(child).expect(0).json();
    assert_eq!(at(&run, "jobs.0.name"), "piped");
    assert_eq!(count(&run, "jobs.0.read.ios"), 256);
}

#[test]
fn a_section_that_does_not_exist_is_an_error() {
    let place = Place::new();
    place.write(
        "a.fio",
        "[randread]\nioengine=null\nsize=1m\n[randwrite]\nioengine=null\nsize=1m\n",
    );
    for (command, exit) in [("run", 2), ("fio", 1)] {
        place
            .fathom(&format!("{command} a.fio --section=nosuch"))
            .expect(exit)
            .saying("--section: error: no section is called nosuch; there are randread, randwrite");
        place
            .fathom(&format!("{command} --section=randread --section=randwrit a.fio"))
            .expect(exit)
            .saying("no section is called randwrit; did you mean `randwrite`? there are randread, randwrite");
    }
    assert_eq!(place.names(), ["a.fio"]);
}
