//! Ctrl-C, and worse.

use crate::harness::{Place, at, finish, number, signal, skipped, start};
use rustix::pty::OpenptFlags;
use std::time::{Duration, Instant};

const LONG: &str = "run --rw randread --bs 4k --size 1m --ioengine null --runtime 50s --time_based F";

fn wait_ms(ms: u64) {
    std::thread::sleep(Duration::from_millis(ms));
}

#[test]
fn the_first_interrupt_gives_the_results_so_far() {
    for name in ["INT", "TERM", "HUP"] {
        let place = Place::new();
        let child = start(&mut place.command(&format!("{LONG} --json -o d")));
        wait_ms(1300);
        signal(&child, name);
        let run = finish(child).expect(130).json();
        let seconds = number(&run, "jobs.0.runtime_ns") / 1e9;
        assert!((0.5..10.0).contains(&seconds), "{seconds}");
        assert!(number(&run, "jobs.0.read.ios") > 0.0);
        let shown = place.fathom("show d").expect(0);
        assert!(shown.stdout.contains("interrupted:"), "{}", shown.stdout);
    }
}

#[test]
fn a_second_interrupt_ends_the_program_at_once() {
    let place = Place::new();
    // A think time between I/Os: the first interrupt has to wait for it, if at all.
    let child = start(&mut place.command(&format!("{LONG} -o none")));
    wait_ms(500);
    let begin = Instant::now();
    signal(&child, "INT");
    signal(&child, "INT");
    let outcome = finish(child);
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    assert!(begin.elapsed() < Duration::from_secs(5));
}

#[test]
fn an_interrupted_layout_leaves_no_half_made_file() {
    let place = Place::new();
    let child = start(&mut place.command("run --rw read --size 60g --bs 1m F -o d"));
    wait_ms(400);
    signal(&child, "INT");
    finish(child).expect(130).saying("nothing was measured");
    assert_eq!(place.names(), Vec::<String>::new());
}

#[test]
fn a_killed_run_can_be_shown_and_recovered() {
    let place = Place::new();
    let child = start(&mut place.command(&format!("{LONG} -o d")));
    wait_ms(3300);
    let busy = place.fathom("recover d").expect(2);
    busy.saying("still under way");
    signal(&child, "KILL");
    finish(child);
    let shown = place.fathom("show d").expect(0);
    assert!(shown.stdout.contains("unfinished:"), "{}", shown.stdout);
    let run = place.fathom("show d --json").expect(0).json();
    assert!(number(&run, "jobs.0.read.ios") > 0.0);
    let p99 = at(&run, "jobs.0.read.lat_ns.p99").clone();
    assert!(
        p99.as_u64().is_some_and(|ns| ns > 0),
        "the histograms so far: {p99}"
    );
    let recovered = place.fathom("recover d").expect(0);
    assert!(recovered.stdout.contains("recovered d"), "{}", recovered.stdout);
    let again = place.fathom("recover d").expect(0);
    assert!(again.stdout.contains("nothing to recover"), "{}", again.stdout);
    let after = place.fathom("show d --json").expect(0).json();
    assert_eq!(at(&after, "jobs.0.read.ios"), at(&run, "jobs.0.read.ios"));
    assert_eq!(at(&after, "jobs.0.read.lat_ns.p99"), &p99);
    assert!(place.fathom("show d").expect(0).stdout.contains("interrupted:"));
}

/// A shell passes the loss of its connection on, and the kernel does once more when the shell is gone.
#[test]
fn a_connection_that_is_lost_twice_keeps_the_results() {
    let place = Place::new();
    let child = start(&mut place.command(&format!("{LONG} --json -o d")));
    wait_ms(1300);
    signal(&child, "HUP");
    signal(&child, "HUP");
    let run = finish(child).expect(130).json();
    assert!(number(&run, "jobs.0.read.ios") > 0.0);
    assert!(place.fathom("show d").expect(0).stdout.contains("interrupted:"));
}

/// The terminal itself goes away: what is printed meets an error then, and the exit code stays that of an interruption.
#[test]
fn a_terminal_that_goes_away_ends_a_run_as_an_interrupt_does() {
    let place = Place::new();
    // Nobody else may hold its other end: not the program either.
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let Ok(terminal) = rustix::pty::openpt(flags) else {
        return skipped(
            "a_terminal_that_goes_away_ends_a_run_as_an_interrupt_does",
            "/dev/ptmx",
        );
    };
    rustix::pty::unlockpt(&terminal).expect("unlocked");
    let name = rustix::pty::ptsname(&terminal, Vec::new()).expect("a name");
    let open = || {
        let path = name.to_str().expect("a path");
        std::fs::File::options()
            .read(true)
            .write(true)
            .open(path)
            .expect("a terminal")
    };
    let inner = place.command(&format!("{LONG} -o d"));
    let mut command = std::process::Command::new("setsid");
    command
        .arg("--ctty")
        .arg(inner.get_program())
        .args(inner.get_args())
        .current_dir(inner.get_current_dir().expect("a directory"))
        .stdin(open())
        .stdout(open())
        .stderr(open());
    let child = start(&mut command);
    drop(command);
    wait_ms(1500);
    drop(terminal);
    finish(child).expect(130);
    assert!(place.fathom("show d").expect(0).stdout.contains("interrupted:"));
}

#[test]
fn a_run_that_was_told_to_outlive_its_connection_does() {
    let place = Place::new();
    let line = "run --rw randread --bs 4k --size 1m --ioengine null --runtime 2s --time_based -o d F";
    let inner = place.command(line);
    let mut command = std::process::Command::new("nohup");
    command
        .arg(inner.get_program())
        .args(inner.get_args())
        .current_dir(inner.get_current_dir().expect("a directory"))
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let child = start(&mut command);
    wait_ms(1000);
    signal(&child, "HUP");
    finish(child).expect(0);
    assert!(!place.fathom("show d").expect(0).stdout.contains("interrupted:"));
}

#[test]
fn a_lost_connection_ends_every_command_that_measures() {
    let place = Place::new();
    let commands = [
        "fio --name=x --rw=randread --bs=4k --size=1m --ioengine=null --runtime=50 --time_based --filename=F",
        "sweep --rw randread --bs 4k,8k --ioengine null --size 1m --runtime 50s -o s F",
        "diskspd -d50 -W0 -c1M -o1 -b4K G",
    ];
    for line in commands {
        let child = start(&mut place.command(line));
        wait_ms(2000);
        signal(&child, "HUP");
        let outcome = finish(child);
        // As fio ends.
        let code = if line.starts_with("fio") { 128 } else { 130 };
        assert_eq!(outcome.code, Some(code), "{line}: {outcome:?}");
    }
}

/// The same of what else goes on in real time, by the words that its end is told with.
#[test]
fn a_lost_connection_ends_what_else_goes_on() {
    let place = Place::new();
    place
        .fathom("run --rw randread --bs 4k --size 1m --rate_iops 50 --runtime 60s --time_based --on model:azure/P10 --record=io -o REC -q")
        .expect(0);
    for (line, code) in [
        ("replay REC --buffered -q -o r --on F", 130),
        ("identify --size 16m --time 2m -q --keep kept G", 130),
        ("record -q -o rec -- sleep 60", 130),
        ("record --device . -q --duration 60s -o watched", 130),
        ("disk serve null: --size 1MiB --nbd unix:nbd -q", 0),
    ] {
        let mut child = start(&mut place.command(line));
        wait_ms(3000);
        if let Some(status) = child.try_wait().expect("asked") {
            // Without a kernel's trace there is nothing to record.
            assert!(
                line.starts_with("record") && status.code() == Some(2),
                "{line}: {status}"
            );
            skipped("a_lost_connection_ends_what_else_goes_on (record)", "tracefs");
            continue;
        }
        signal(&child, "HUP");
        let outcome = finish(child);
        assert_eq!(outcome.code, Some(code), "{line}: {outcome:?}");
    }
    assert!(place.fathom("show r").expect(0).stdout.contains("interrupted:"));
    assert!(!place.path("nbd").exists() && !place.path(".nbd.fathom").exists());
}
