//! Where a container's seccomp profile keeps `io_uring` away: said, and libaio in its place where that was asked for.

use crate::harness::{Outcome, Place, at, finish, skipped, start};
use serde_json::Value;
use std::process::Command;

/// Allows all but `io_uring_setup` (425 on every architecture), and becomes the program.
const UNDER_A_FILTER: &str = r#"
import ctypes, os, struct, sys
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, 425), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
code = b"".join(struct.pack("HBBI", *step) for step in steps)
text = ctypes.create_string_buffer(code, len(code))
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
program = Program(len(steps), ctypes.addressof(text))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program), 0, 0):
    sys.exit(77)
os.execv(sys.argv[1], sys.argv[1:])
"#;

/// Runs it there; `None`: this machine has no such filters, or no Python.
fn filtered(place: &Place, line: &str) -> Option<Outcome> {
    let plain = place.command(line);
    let mut command = Command::new("python3");
    command
        .args(["-c", UNDER_A_FILTER])
        .arg(plain.get_program())
        .args(plain.get_args())
        .current_dir(place.path(""))
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    if Command::new("python3").arg("--version").output().is_err() {
        return None;
    }
    let found = finish(start(&mut command));
    (found.code != Some(77)).then_some(found)
}

#[test]
fn a_ring_that_is_blocked_is_said_or_replaced_where_that_is_asked_for() {
    let place = Place::new();
    place.write(
        "a.fio",
        "[global]\nsize=1m\nrw=randread\nbs=4k\n[ring]\nioengine=io_uring\niodepth=4\nregisterfiles=1\n[plain]\nioengine=psync\n",
    );
    let Some(refused) = filtered(&place, "run a.fio -o none") else {
        return skipped(
            "a_ring_that_is_blocked_is_said_or_replaced_where_that_is_asked_for",
            "seccomp filters, or python3",
        );
    };
    assert_ne!(refused.code, Some(0), "{}", refused.stdout);
    assert!(
        refused.stderr.contains("io_uring is not allowed"),
        "{}",
        refused.stderr
    );
    let said = "ring: libaio was used in the place of io_uring: io_uring is not allowed";
    let whole = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let run = filtered(&place, "run a.fio --libaio-if-blocked -o d")
        .expect("filters are there")
        .expect(0);
    assert!(whole(&run.stdout).contains(said), "{}", run.stdout);
    let shown = place.fathom("show d").expect(0);
    assert!(whole(&shown.stdout).contains(said), "{}", shown.stdout);
    let text = std::fs::read(place.path("d/run.json")).expect("kept");
    let record: Value = serde_json::from_slice(&text).expect("JSON");
    let engine = |job: usize| at(&record, &format!("workload.jobs.{job}.engine.kind")).clone();
    assert_eq!([engine(0), engine(1)], ["libaio", "psync"]);
    // Where it is to be had, it is used.
    let free = place.fathom("run a.fio --libaio-if-blocked -o e").expect(0);
    assert!(
        !whole(&free.stdout).contains("in the place of"),
        "{}",
        free.stdout
    );
}
