//! `fathom record -- COMMAND`: a command is watched with all that it starts.

use crate::harness::{LoopDevice, Mount, Place, at, count, finish, signal, skipped, start, tool};
use serde_json::Value;
use std::time::{Duration, Instant};

/// A file system of the test's own.
fn disk(place: &Place) -> Result<(LoopDevice, Mount), String> {
    let device = LoopDevice::new(place, 256 << 20)?;
    tool(&format!("mkfs.ext4 -qF {}", device.path))?;
    let mount = Mount::new(place, &device.path)?;
    Ok((device, mount))
}

/// The command of a recording whose words come after `--`.
fn recorded(place: &Place, options: &str, words: &[&str]) -> Value {
    let options = options.split_whitespace();
    let all = ["record", "-q", "--json"].into_iter().chain(options);
    let all = all.chain(["--"]).chain(words.iter().copied());
    let document = finish(start(&mut place.command_of(all))).expect(0).json();
    at(&document, "commands.0").clone()
}

fn traced(command: &Value) -> bool {
    command.get("waits").is_some() && command.get("devices").is_some()
}

/// Bytes of the command's at all devices that were counted.
fn at_devices(command: &Value, direction: &str) -> u64 {
    let devices = at(command, "devices").as_array().expect("devices");
    let bytes = devices.iter().map(|device| count(at(device, "tree"), direction));
    bytes.sum()
}

/// Against the kernel's own account: reads, buffered writes that the kernel carries out later, direct writes, by processes
/// that live for a moment. Beside it somebody else writes to the same disk.
#[test]
fn what_a_command_and_all_it_started_moved_is_its_own() {
    let test = "what_a_command_and_all_it_started_moved_is_its_own";
    let place = Place::new();
    let (_device, mount) = match disk(&place) {
        Ok(disk) => disk,
        Err(missing) => return skipped(test, &missing),
    };
    let mnt = mount.path.display();
    tool(&format!(
        "dd if=/dev/urandom of={mnt}/source bs=1M count=24 conv=fsync status=none"
    ))
    .expect("a file");
    let other = std::process::Command::new("sh")
        .args(["-c", &format!("while dd if=/dev/zero of={mnt}/other bs=64k count=16 oflag=direct status=none; do sleep 0.02; done")])
        .spawn();
    let mut other = other.expect("another process");
    let script = format!(
        "dd if={mnt}/source of=/dev/null iflag=direct bs=64k status=none; \
         for i in 1 2 3 4 5 6 7 8 9 10; do dd if=/dev/zero of={mnt}/f$i bs=64k count=24 status=none; done; \
         tar -cf {mnt}/all.tar -C {mnt} f1 f2 f3 f4 f5 f6 f7 f8; \
         dd if=/dev/zero of={mnt}/direct bs=128k count=40 oflag=direct status=none; sleep 0.2"
    );
    let command = recorded(
        &place,
        &format!("--device {mnt} --sync -o d"),
        &["sh", "-c", &script],
    );
    other.kill().expect("end the other one");
    other.wait().expect("its end");
    if !traced(&command) {
        return skipped(
            test,
            "the kernel's tracepoints of block devices and of the scheduler",
        );
    }
    // sh and 1 + 10 + 1 + 1 + 1 programs, each a process.
    assert_eq!(count(&command, "tasks"), 15, "{command}");
    let read = count(&command, "io.read_bytes");
    let wrote = count(&command, "io.written_bytes") - count(&command, "io.cancelled_bytes");
    assert!(read >= 24 << 20 && wrote >= 31 << 20, "{command}");
    // What the programs themselves are read from may lie on disks that are not counted.
    let seen_read = at_devices(&command, "read_bytes");
    let of_loop = count(&command, "devices.0.tree.read_bytes");
    assert!(of_loop >= 24 << 20 && seen_read <= read, "{command}");
    let wrote_seen = at_devices(&command, "write_bytes") as f64 / wrote as f64;
    assert!((0.99..1.02).contains(&wrote_seen), "{wrote_seen}: {command}");
    assert!(
        count(&command, "devices.0.tree_by_kernel.write_bytes") > 24 << 20,
        "{command}"
    );
    assert!(
        count(&command, "devices.0.others.write_bytes") > 1 << 20,
        "the other one: {command}"
    );
    // Its time, by what it was spent on, adds up.
    let took = count(&command, "ended_ns") - count(&command, "started_ns");
    let part = |name: &str| count(&command, &format!("waits.elapsed.{name}"));
    let spent = part("cpu_ns") + part("ready_ns") + part("disk_ns") + part("other_ns");
    assert!(
        spent <= took && spent as f64 > took as f64 * 0.9,
        "{spent} of {took}"
    );
    assert!(
        part("other_ns") >= 150_000_000 && part("disk_ns") > 0,
        "{command}"
    );
    let explained = place.fathom("explain d").expect(0).stdout;
    assert!(explained.contains("Its time: "), "{explained}");
    place.fathom("report d -o d.md -o d.html").expect(0);
    let page = std::fs::read_to_string(place.path("d.md")).expect("the page");
    assert!(
        page.contains("The command") && page.contains("not attributable"),
        "{page}"
    );
}

#[test]
fn a_command_that_does_not_exist_or_fails_is_told() {
    let place = Place::new();
    for (line, said) in [
        (
            "record -o d -- no-such-program x",
            "no-such-program: no such program",
        ),
        ("record -o d --repeat 0 -- true", "0 is not in 1..=10000"),
        (
            "record -o d --warmup 1 -- false",
            "the warm-up ended with exit code 1",
        ),
        ("record -o d --prepare false -- true", "--prepare: `false` failed"),
        ("record -o d", "--device"),
        ("record -o d --repeat 3 --device /", "COMMAND"),
        ("record -o d --duration 3s -- true", "--duration"),
        ("record -o d --device nothing -- true", "there is no such device"),
    ] {
        place.fathom(line).expect(2).saying(said);
        assert_eq!(place.names(), [] as [&str; 0], "{line}");
    }
    let empty = ["record", "-o", "d", "--", ""];
    finish(start(&mut place.command_of(empty)))
        .expect(2)
        .saying("the command is empty");
    assert_eq!(place.names(), [] as [&str; 0]);
    let failing = [
        "record",
        "-q",
        "--record=counters",
        "-o",
        "d",
        "--",
        "sh",
        "-c",
        "exit 3",
    ];
    finish(start(&mut place.command_of(failing)))
        .expect(1)
        .saying("the command ended with exit code 3 (--ignore-failure");
    let run = place.fathom("show d --json").expect(0).json();
    assert_eq!(count(&run, "commands.0.exit.code"), 3);
    let ignored = recorded(
        &place,
        "--record=counters --ignore-failure -o e",
        &["sh", "-c", "kill -TERM $$"],
    );
    assert_eq!(count(&ignored, "exit.signal"), 15);
}

#[test]
fn what_a_command_prints_passes_through_or_goes_nowhere() {
    let place = Place::new();
    let line = "record -q --record=counters -o a -- echo hello";
    let outcome = place.fathom(line).expect(0);
    assert!(outcome.stdout.starts_with("hello\n"), "{}", outcome.stdout);
    let line = "record -q --record=counters --json -o b -- echo hello";
    let outcome = place.fathom(line).expect(0).saying("hello");
    outcome.json();
    let line =
        "record -q --record=counters --output-of-command null -o c -- ls /nowhere /proc/self/io --color";
    let outcome = place.fathom(&format!("{line} --ignore-failure"));
    // What is after -- is the command's.
    let outcome = outcome.expect(1);
    assert!(
        !outcome.stdout.contains("/proc/self/io\n") && !outcome.stderr.contains("/nowhere"),
        "{outcome:?}"
    );
}

#[test]
fn runs_are_repeated_with_what_comes_before_and_after() {
    let place = Place::new();
    let words = [
        "record",
        "-q",
        "--json",
        "--record=counters",
        "--repeat",
        "3",
        "--warmup",
        "2",
        "--prepare",
        "echo prepare >> log; echo 3",
        "--cleanup",
        "echo cleanup >> log",
        "-o",
        "all",
        "--",
        "sh",
        "-c",
        "echo run >> log; sleep 0.1",
    ];
    let document = finish(start(&mut place.command_of(words))).expect(0).json();
    assert_eq!(at(&document, "schema"), "fathom.repeats/1");
    assert_eq!(count(&document, "duration_ns.n"), 3);
    let log = std::fs::read_to_string(place.path("log")).expect("the log");
    assert_eq!(log, "prepare\nrun\ncleanup\n".repeat(5));
    assert_eq!(place.listing("all"), ["1", "2", "3", "repeats.json"]);
    let shown = place.fathom("show all").expect(0).stdout;
    assert!(
        shown.contains("in 3 runs") && shown.contains("after 2 warm-ups"),
        "{shown}"
    );
    place.fathom("show all/2").expect(0);
    place
        .fathom("explain all")
        .expect(2)
        .saying("nearest to the median");
}

#[test]
fn an_interrupt_ends_the_command_and_what_was_seen_stays() {
    for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        let place = Place::new();
        let words = [
            "record",
            "-q",
            "--record=counters",
            "-o",
            "d",
            "--",
            "sh",
            "-c",
            "sleep 60; true",
        ];
        let child = start(&mut place.command_of(words));
        std::thread::sleep(Duration::from_millis(1500));
        let begin = Instant::now();
        signal(&child, name);
        finish(child).expect(130);
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
        let run = place.fathom("show d --json").expect(0).json();
        assert_eq!(count(&run, "commands.0.exit.signal"), number);
    }
}
