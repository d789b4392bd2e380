//! The kernel's trace files: mounted by nobody, left behind by the dead, used by the living.

use crate::harness::{Place, count, finish, signal, skipped, start, tool};
use crate::recorded::stream;
use serde_json::Value;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const LOAD: &str =
    "run --name load --rw randread --bs 4k --size 16m --ioengine psync --direct 1 --time_based -q";

fn wait_ms(ms: u64) {
    std::thread::sleep(Duration::from_millis(ms));
}

/// The instances of fathoms, looked at through a mount that is gone at once; or what is missing.
fn instances() -> Result<Vec<String>, String> {
    let script = "mount -t tracefs nodev /mnt && ls /mnt/instances";
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", script])
        .output();
    let output = output.map_err(|error| format!("unshare: {error}"))?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(format!("leave to mount tracefs: {}", error.trim()));
    }
    let names = String::from_utf8_lossy(&output.stdout);
    let own = names.lines().filter(|name| name.starts_with("fathom-"));
    Ok(own.map(str::to_owned).collect())
}

fn of_process(pid: u32) -> usize {
    let all = instances().expect("as before");
    all.iter()
        .filter(|name| name.starts_with(&format!("fathom-{pid}-")))
        .count()
}

/// Ends a recorded run, and waits for it.
#[track_caller]
fn end(child: Child, pid: u32) {
    // For some I/O to be recorded.
    wait_ms(1500);
    tool(&format!("kill -INT {pid}")).expect("a signal");
    finish(child).expect(130);
}

/// Waits until process `pid` traces, however busy the machine is.
#[track_caller]
fn traces(pid: u32) {
    let begun = Instant::now();
    while of_process(pid) == 0 {
        assert!(begun.elapsed() < Duration::from_secs(30), "{pid} does not trace");
        wait_ms(100);
    }
}

/// What the record in `dir` lacks of the requests of its devices.
fn missing(place: &Place, dir: &str) -> Vec<Value> {
    let run = place.fathom(&format!("show {dir} --json")).expect(0).json();
    let block = stream(&run, "block");
    assert!(count(block, "rows") > 0, "{block}");
    let missing = block.get("missing").and_then(Value::as_array);
    missing.cloned().unwrap_or_default()
}

#[test]
fn what_killed_fathoms_left_is_swept_by_every_start_and_the_living_are_left_alone() {
    let test = "what_killed_fathoms_left_is_swept_by_every_start_and_the_living_are_left_alone";
    if let Err(reason) = instances() {
        return skipped(test, &reason);
    }
    let place = Place::new();
    let living = start(&mut place.command(&format!("{LOAD} --runtime 50s --record=block -o living A")));
    traces(living.id());
    let starts = [
        "run --rw randread --bs 4k --size 1m --ioengine null --runtime 200ms --time_based -q -o none F",
        "fio --name=x --rw=randread --bs=4k --size=1m --ioengine=null --runtime=1 --time_based --filename=F --eta=never",
        "sweep --rw randread --bs 4k --ioengine null --size 1m --runtime 1s --ramp_time 0 -q -o s F",
        "diskspd -d1 -W0 -c1M -o1 -b4K G",
    ];
    for (number, line) in starts.into_iter().enumerate() {
        let killed =
            start(&mut place.command(&format!("{LOAD} --runtime 50s --record=block -o d{number} B")));
        let pid = killed.id();
        traces(pid);
        signal(&killed, "KILL");
        finish(killed);
        // Its instances outlive it, until any fathom starts: one of another test may have done so already.
        place.fathom(line).expect(0);
        assert_eq!(of_process(pid), 0, "{line}");
        assert!(of_process(living.id()) > 0, "{line}: those of a living one");
    }
    let pid = living.id();
    end(living, pid);
    assert_eq!(of_process(pid), 0, "what has ended well leaves nothing");
    assert_eq!(missing(&place, "living"), Vec::<Value>::new());
}

/// Processes are numbered anew in a container: who looks for this number outside finds nobody.
#[test]
fn a_fathom_in_another_namespace_of_processes_is_left_alone() {
    let test = "a_fathom_in_another_namespace_of_processes_is_left_alone";
    if let Err(reason) = instances() {
        return skipped(test, &reason);
    }
    let place = Place::new();
    let inner = place.command(&format!("{LOAD} --runtime 50s --record=block -o inner A"));
    let mut command = Command::new("unshare");
    command
        .args(["--pid", "--fork", "--mount-proc", "--kill-child"])
        .arg(inner.get_program())
        .args(inner.get_args())
        .current_dir(inner.get_current_dir().expect("a directory"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = start(&mut command);
    // The first of its namespace.
    traces(1);
    let before = of_process(1);
    for _ in 0..2 {
        let line = format!("{LOAD} --runtime 200ms --record=block -o outer B");
        let outcome = place.fathom(&line);
        // A busy machine may lose rows of the scheduler's switches, which is told by 1.
        assert!(matches!(outcome.code, Some(0 | 1)), "{outcome:?}");
        std::fs::remove_dir_all(place.path("outer")).expect("removed");
    }
    assert!(of_process(1) >= before, "they were swept");
    let parent = child.id();
    let inside = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
    let inside = inside.expect("the program in the namespace");
    end(child, inside.trim().parse().expect("one number"));
    assert_eq!(missing(&place, "inner"), Vec::<Value>::new());
}

#[test]
fn what_fathom_mounts_is_seen_by_nobody() {
    let test = "what_fathom_mounts_is_seen_by_nobody";
    if let Err(reason) = instances() {
        return skipped(test, &reason);
    }
    let place = Place::new();
    let mounts = |process: &str| {
        let table = std::fs::read_to_string(format!("/proc/{process}/mountinfo")).expect("mounts");
        table.matches(" - tracefs ").count()
    };
    let before = mounts("self");
    let child = start(&mut place.command(&format!("{LOAD} --runtime 50s --record=block -o d A")));
    let pid = child.id();
    traces(pid);
    assert_eq!((mounts("self"), mounts(&pid.to_string())), (before, before));
    end(child, pid);
    assert_eq!(missing(&place, "d"), Vec::<Value>::new());
}
