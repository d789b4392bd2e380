//! `fathom fio`.

use crate::harness::{Place, finish, skipped, start};

#[test]
fn a_command_line_of_fio_runs_and_leaves_no_record() {
    let place = Place::new();
    let line = "fio --name=a --rw=randread --bs=4k --size=1m --filename=F --name=b --rw=read --filename=F --size=64k \
                --eta=never";
    let outcome = place.fathom(line).expect(0);
    assert!(
        outcome.stdout.contains("256") || outcome.stdout.contains("IOPS"),
        "{}",
        outcome.stdout
    );
    assert_eq!(place.names(), ["F"]);
}

#[test]
fn a_job_file_runs_and_the_report_goes_where_it_was_told() {
    let place = Place::new();
    place.write(
        "j.fio",
        "[a]\nioengine=null\nsize=1m\n[b]\nioengine=null\nsize=1m\n",
    );
    let outcome = place
        .fathom("fio --section=b --output=report.txt j.fio")
        .expect(0);
    assert_eq!(outcome.stdout, "");
    let report = std::fs::read_to_string(place.path("report.txt")).expect("the report");
    assert!(
        report.starts_with("b: (g=0): rw=read,") && report.contains("\nb: (groupid=0, jobs=1): err= 0: pid="),
        "{report}"
    );
}

#[test]
fn what_is_wrong_is_refused_with_fios_exit() {
    let place = Place::new();
    place.write("other.txt", "thesis");
    for (line, expected) in [
        ("fio --nmae=a", "unknown option `nmae`; did you mean `--name`?"),
        ("fio --otuput=x --name=a --size=1m", "did you mean `--output`?"),
        (
            "fio --alow-overwrite=x --name=a",
            "did you mean `--allow-overwrite`?",
        ),
        ("fio", "No job(s) defined"),
        (
            "fio --readonly --name=a --rw=write --size=1m --filename=F",
            "--readonly",
        ),
        ("fio --output-format=foo --name=a", "invalid output format foo"),
        ("fio --terse-version=9 --name=a", "bad terse version format"),
        ("fio none.fio", "none.fio"),
        (
            "fio --output=other.txt --name=a --ioengine=null --size=1m",
            "other.txt exists",
        ),
        (
            "fio --output=F --name=a --rw=write --filename=F --size=1m",
            "that is what the load is for",
        ),
        (
            "fio --write_iops_log=x --trigger=reboot --name=a --ioengine=null --size=1m",
            "--allow-exec",
        ),
    ] {
        place.fathom(line).expect(1).saying(expected);
    }
    assert_eq!(place.names(), ["other.txt"]);
}

#[test]
fn safety_holds_for_it_too_and_a_script_may_lift_it() {
    let place = Place::new();
    place.write("F", "mine");
    let line = "fio --name=a --rw=write --size=64k --filename=F";
    place.fathom(line).expect(1).saying("FATHOM_ALLOW_OVERWRITE");
    assert_eq!(std::fs::read(place.path("F")).expect("F"), b"mine");
    let mut command = place.command(line);
    command.env(
        "FATHOM_ALLOW_OVERWRITE",
        format!("/nowhere:{}", place.path("").display()),
    );
    finish(start(&mut command)).expect(0);
    place.write("F", "mine again");
    place
        .fathom("fio --allow-overwrite F --name=a --rw=write --size=64k --filename=F")
        .expect(0);
}

#[test]
fn through_a_link_it_is_fio() {
    let place = Place::new();
    let link = place.path("fio");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fathom"), &link).expect("a link");
    let fio = |line: &str| {
        let mut command = std::process::Command::new(&link);
        command
            .args(line.split_whitespace())
            .current_dir(place.path(""))
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        finish(start(&mut command))
    };
    assert_eq!(fio("--version").expect(0).stdout, "fio-3.33\n");
    let outcome = fio("--output-format=json --name=a --ioengine=null --size=1m").expect(0);
    assert_eq!(outcome.stderr, "");
    assert_eq!(outcome.json()["jobs"][0]["read"]["total_ios"], 256);
    assert_eq!(
        fio("--bs=4k --name=a --readwrite=read --showcmd")
            .expect(0)
            .stdout,
        "fio --bs=4k --name=a --rw=read \n"
    );
    assert_eq!(fio("--parse-only --name=a --size=1m").expect(0).stdout, "");
    assert!(fio("--enghelp").expect(0).stdout.contains("\tpsync\n"));
    fio("--enghelp=nope").expect(1);
    fio("--cmdhelp=nope").expect(0).saying("No such command: nope");
}

/// A script that runs again finds its last output and its last logs, and replaces them.
#[test]
fn outputs_and_logs_are_replaced_when_a_script_runs_again() {
    let place = Place::new();
    let line = "fio --name=a --rw=read --bs=4k --size=64k --filename=F --output=out.json --output-format=json \
                --write_lat_log=x --write_bw_log=x --log_offset=1";
    for _ in 0..2 {
        let outcome = place.fathom(line).expect(0);
        assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("", ""));
    }
    assert_eq!(
        place.names(),
        [
            "F",
            "out.json",
            "x_bw.1.log",
            "x_clat.1.log",
            "x_lat.1.log",
            "x_slat.1.log"
        ]
    );
    let log = std::fs::read_to_string(place.path("x_clat.1.log")).expect("a log");
    assert_eq!(log.lines().count(), 16);
    assert!(log.lines().all(|row| row.split(", ").count() == 6), "{log}");
    place.write("x_bw.1.log", "my own notes");
    place.fathom(line).expect(1).saying("x_bw.1.log exists");
}

/// Whoever asks for a log of a run of fathom's own gets it too.
#[test]
fn a_plain_run_writes_logs_as_well() {
    let place = Place::new();
    place
        .fathom("run --rw read --bs 4k --size 64k --filename F --write_iops_log=y --log_store_compressed=1 -q -o none")
        .expect(0);
    assert_eq!(place.names(), ["F", "y_iops.1.log.fz"]);
    let rows = place.fathom("fio --inflate-log=y_iops.1.log.fz").expect(0).stdout;
    assert_eq!(rows.lines().count(), 16);
    assert!(rows.lines().all(|row| row.ends_with(", 1, 0, 4096, 0")), "{rows}");
}

#[test]
fn a_report_comes_in_between_where_that_is_asked_for() {
    let place = Place::new();
    let line = "fio --name=a --ioengine=null --size=1g --time_based --runtime=2 --rate_iops=1000 --status-interval=1 \
                --output-format=json --bandwidth-log=agg";
    let outcome = place.fathom(line).expect(0);
    let documents = outcome.stdout.matches("\"fio version\"").count();
    assert!((2..=3).contains(&documents), "{}", outcome.stdout);
    assert_eq!(
        place.names(),
        ["agg-read_bw.log", "agg-trim_bw.log", "agg-write_bw.log"]
    );
    let rows = std::fs::read_to_string(place.path("agg-read_bw.log")).expect("a log");
    assert!((3..=5).contains(&rows.lines().count()), "{rows}");
    let line =
        "fio --name=a --ioengine=null --size=1m --eta=always --eta-interval=250ms --time_based --runtime=1";
    let text = place.fathom(line).expect(0).stdout;
    assert!(text.contains("\nJobs: 1 (f=1)"), "{text}");
}

#[test]
fn a_signal_ends_it_as_it_ends_fio() {
    let place = Place::new();
    let line = "fio --name=a --ioengine=null --size=1g --time_based --runtime=60 --rate_iops=1000";
    let child = start(&mut place.command(line));
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("kill");
    let outcome = finish(child).expect(128);
    assert!(
        outcome.stdout.contains("fio: terminating on signal 2\n")
            && outcome.stdout.contains("Run status group 0"),
        "{}",
        outcome.stdout
    );
}

/// What the disks counted stands in each report, where it stands in the last.
#[test]
fn a_report_in_between_has_what_the_disks_counted() {
    let place = Place::new();
    let line = "fio --name=a --rw=write --filename=F --size=1m --time_based --runtime=2 --rate_iops=200 \
                --status-interval=1 --output-format=json";
    let stdout = place.fathom(line).expect(0).stdout;
    let documents: Vec<serde_json::Value> = serde_json::Deserializer::from_str(&stdout)
        .into_iter()
        .map(|document| document.expect("JSON"))
        .collect();
    assert!(documents.len() >= 2, "{stdout}");
    let names = |document: &serde_json::Value| {
        let disks = document["disk_util"].as_array();
        disks.map(|disks| {
            disks
                .iter()
                .map(|disk| disk["name"].to_string())
                .collect::<Vec<_>>()
        })
    };
    let last = names(&documents[documents.len() - 1]);
    if last.is_none() {
        return skipped(
            "a_report_in_between_has_what_the_disks_counted",
            format!("a disk below {}", place.path("").display()),
        );
    }
    assert!(
        documents.iter().all(|document| names(document) == last),
        "{stdout}"
    );
}

#[test]
fn it_tells_how_idle_the_processors_were() {
    let place = Place::new();
    let line = "fio --name=a --ioengine=null --size=1g --time_based --runtime=1 --rate_iops=100 \
                --output-format=json,normal --idle-prof=";
    for (word, each) in [("system", false), ("percpu", true)] {
        let stdout = place.fathom(&format!("{line}{word}")).expect(0).stdout;
        let begin = stdout.find("{\n").expect("the beginning of the JSON");
        let end = stdout.find("\n}\n").expect("the end of the JSON") + 2;
        let document: serde_json::Value = serde_json::from_str(&stdout[begin..end]).expect("JSON");
        let told = document["cpu_idleness"].as_object().expect("an object");
        let share = |name: &str| {
            told[name]
                .as_f64()
                .is_some_and(|share| (0.0..=100.0).contains(&share))
        };
        assert!(share("system"), "{told:?}");
        assert!(told["unit_mean"].as_f64() > Some(0.0), "{told:?}");
        assert_eq!(
            told.keys().any(|name| name.starts_with("cpu-") && share(name)),
            each
        );
        let text = &stdout[end..];
        assert!(text.contains("\nCPU idleness:\n  system: "), "{text}");
        assert_eq!(text.contains("\n  percpu: "), each);
    }
    let stdout = place.fathom("fio --idle-prof=calibrate").expect(0).stdout;
    assert!(
        stdout.starts_with("CPU idleness:\n  unit work: mean="),
        "{stdout}"
    );
    place
        .fathom(&format!("{line}all"))
        .expect(1)
        .saying("incorrect idle-prof option: all");
    place
        .fathom(&format!("{line}system --on model:azure/P15"))
        .expect(1)
        .saying("--idle-prof");
}
