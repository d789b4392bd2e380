//! States of verification: how far an interrupted job's writes came, left for a later run that verifies them; by fio and by
//! fathom, whichever wrote.

use crate::harness::{Place, skipped, tool};
use serde_json::Value;
use std::process::Command;
use std::time::Duration;

/// The first job of a document.
fn first_job(text: &str) -> Value {
    let start = text.find('{').expect("a document");
    let all: Value = serde_json::from_str(&text[start..]).expect("JSON");
    all["jobs"][0].clone()
}

fn total(job: &Value, op: &str) -> u64 {
    job[op]["total_ios"].as_u64().expect("a count")
}

const LOAD: &str = "--name=b --bs=4k --size=4m --verify=crc32c --filename=F";

/// A load that is stopped after half a second, of 300 writes a second: how many were written.
fn interrupted(place: &Place, rw: &str, more: &str) -> u64 {
    let line =
        format!("fio --output-format=json --trigger-timeout=500ms {LOAD} --rw={rw} {more} --rate_iops=300");
    let outcome = place.fathom(&line).expect(0);
    let written = total(&first_job(&outcome.stdout), "write");
    assert!((30..1000).contains(&written), "{written}");
    written
}

#[test]
fn what_was_written_before_a_stop_is_verified_and_nothing_else() {
    for (rw, read, depth) in [
        ("write", "read", ""),
        ("randwrite", "randread", ""),
        (
            "randwrite",
            "randread",
            "--ioengine=libaio --direct=1 --iodepth=8",
        ),
    ] {
        let place = Place::new();
        let written = interrupted(&place, rw, depth);
        let state = "local-b-0-verify.state";
        assert!(place.names().contains(&state.to_owned()), "{:?}", place.names());
        for back in [format!("--rw={rw} --verify_only=1"), format!("--rw={read}")] {
            let line = format!("fio --output-format=json {LOAD} {depth} {back} --verify_state_load=1");
            let outcome = place.fathom(&line).expect(0);
            assert_eq!(total(&first_job(&outcome.stdout), "read"), written, "{line}");
            // Without it, what was not written is found to be missing.
            let outcome = place.fathom(&format!("fio {LOAD} {depth} {back}"));
            assert_eq!(outcome.code, Some(1), "{}", outcome.stdout);
        }
    }
}

#[test]
fn ctrl_c_leaves_a_state_as_well() {
    let place = Place::new();
    let mut load = place
        .command(&format!("fio {LOAD} --rw=write --rate_iops=200"))
        .spawn()
        .expect("fathom");
    std::thread::sleep(Duration::from_millis(1500));
    let pid = rustix::process::Pid::from_child(&load);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("kill");
    assert_eq!(load.wait().expect("its end").code(), Some(128));
    let outcome = place
        .fathom(&format!(
            "fio --output-format=json {LOAD} --rw=read --verify_state_load=1"
        ))
        .expect(0);
    let read = total(&first_job(&outcome.stdout), "read");
    assert!((20..1000).contains(&read), "{read}");
}

#[test]
fn a_state_that_is_not_there_or_damaged_ends_the_run_before_it_begins() {
    let place = Place::new();
    let load = format!("fio {LOAD} --rw=read --verify_state_load=1");
    place.fathom(&load).expect(1).saying("local-b-0-verify.state");
    place.write("local-b-0-verify.state", [3; 200]);
    place.fathom(&load).expect(1).saying("damaged");
    assert!(!place.names().contains(&"F".to_owned()));
}

#[test]
fn a_state_goes_where_it_is_asked_for_and_replaces_nothing_else() {
    let place = Place::new();
    std::fs::create_dir(place.path("aux")).expect("a directory");
    let job = "--name=m/1 --bs=4k --size=64k --verify=md5 --rw=write --numjobs=2 --filename_format=x.$jobnum";
    place.fathom(&format!("fio --aux-path=aux {job}")).expect(0);
    let two = ["local-m.1-0-verify.state", "local-m.1-1-verify.state"];
    assert_eq!(place.listing("aux"), two);
    place
        .fathom(&format!("fio {LOAD} --rw=write --verify_state_save=0"))
        .expect(0);
    assert!(!place.names().iter().any(|name| name.starts_with("local-")));
    place.write("local-b-0-verify.state", "mine");
    place
        .fathom(&format!("fio {LOAD} --rw=write"))
        .expect(0)
        .saying("local-b-0-verify.state exists");
    assert_eq!(
        std::fs::read(place.path("local-b-0-verify.state")).expect("it"),
        b"mine"
    );
}

#[test]
fn a_trigger_runs_its_command_where_commands_are_allowed() {
    let place = Place::new();
    let job = "--name=a --rw=write --bs=4k --size=1m --filename=F --rate_iops=20";
    let mut refused = place.command_of(["fio", "--trigger-timeout=300ms", "--trigger=touch seen"]);
    let output = refused.args(job.split_whitespace()).output().expect("fathom");
    assert_eq!(output.status.code(), Some(1));
    let mut allowed = place.command_of([
        "fio",
        "--allow-exec",
        "--trigger-timeout=300ms",
        "--trigger=touch seen",
    ]);
    let output = allowed.args(job.split_whitespace()).output().expect("fathom");
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(place.path("seen").exists());
}

/// fio with these words; its first job, and its exit.
fn fio(place: &Place, words: &str) -> (Value, Option<i32>) {
    let output = Command::new("fio")
        .args(["--output-format=json", "--eta=never"])
        .args(words.split_whitespace())
        .current_dir(place.path(""))
        .output()
        .expect("fio");
    (
        first_job(&String::from_utf8_lossy(&output.stdout)),
        output.status.code(),
    )
}

/// In sequence: random orders are each program's own.
#[test]
fn fio_and_fathom_read_each_others_states() {
    if let Err(missing) = tool("fio --version") {
        return skipped("fio_and_fathom_read_each_others_states", &missing);
    }
    let place = Place::new();
    let written = interrupted(&place, "write", "--ioengine=libaio --iodepth=4");
    for back in ["--rw=read", "--rw=write --verify_only=1"] {
        let state = std::fs::read(place.path("local-b-0-verify.state")).expect("a state");
        let (job, exit) = fio(&place, &format!("{LOAD} {back} --verify_state_load=1"));
        assert_eq!((total(&job, "read"), exit), (written, Some(0)), "{back}");
        // A run of fio's that only verifies leaves a state of its own.
        place.write("local-b-0-verify.state", state);
    }
    let place = Place::new();
    let (job, exit) = fio(
        &place,
        &format!("--trigger-timeout=1 {LOAD} --rw=write --rate_iops=300"),
    );
    let written = total(&job, "write");
    assert_eq!(exit, Some(0));
    assert!((30..1000).contains(&written), "{written}");
    let line = format!("fio --output-format=json {LOAD} --rw=read --verify_state_load=1");
    let outcome = place.fathom(&line).expect(0);
    // fio keeps its state while the last write is in flight.
    let read = total(&first_job(&outcome.stdout), "read");
    assert!((written - 1..=written).contains(&read), "{read} of {written}");
    fio(
        &place,
        &format!("--trigger-timeout=1 {LOAD} --rw=randwrite --rate_iops=300"),
    );
    place
        .fathom(&format!("fio {LOAD} --rw=randread --verify_state_load=1"))
        .expect(1)
        .saying("a random order that fathom does not repeat");
}
