use super::*;
use crate::trace::real::{Loop, skipped, started};
use fathom_core::record::{BlockOp, SpanKind};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A file system on a device, until this is dropped.
struct Mounted(tempfile::TempDir);

impl Mounted {
    fn ext4(test: &str, device: &Path) -> Option<Self> {
        let dir = tempfile::TempDir::new().expect("a temporary directory");
        let run = |program: &str, arguments: &[&Path]| {
            let output = Command::new(program).args(arguments).output();
            output.is_ok_and(|output| output.status.success())
        };
        let made = run("mkfs.ext4", &[Path::new("-qF"), device]);
        if made && run("mount", &[device, dir.path()]) {
            return Some(Self(dir));
        }
        skipped(test, "mkfs.ext4 and the right to mount");
        None
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).output();
    }
}

fn device_of(name: &str) -> TraceDevice {
    let text = std::fs::read_to_string(format!("/sys/block/{name}/dev")).expect("a number");
    let (major, minor) = text.trim().split_once(':').expect("two numbers");
    let number = |text: &str| -> u32 { text.parse().expect("a number") };
    TraceDevice {
        name: name.to_owned(),
        dev: number(major) << 20 | number(minor),
        request_based: true,
        partition_devs: vec![],
    }
}

#[test]
fn a_sync_has_its_commit_and_writeback_its_writer() {
    let test = "a_sync_has_its_commit_and_writeback_its_writer";
    let Some(disk) = Loop::new(test, 64 << 20) else {
        return;
    };
    let Some(mounted) = Mounted::ext4(test, &disk.path) else {
        return;
    };
    let devices = [device_of(disk.name())];
    let root = SystemRoot::default();
    let Some((mut tracer, remarks)) = started(test, KernelTracer::start(&root, &devices, 1024)) else {
        return;
    };
    let block = crate::trace::BlockTracer::start(&root, &devices, 1024);
    let Some((mut block, _)) = started(test, block) else {
        return;
    };
    let me = fathom_sys::process::thread_id();
    let mut file = File::create(mounted.0.path().join("synced")).expect("a file");
    for _ in 0..5 {
        file.write_all(&[1; 8192]).expect("written");
        file.sync_all().expect("synced");
    }
    // Pages that somebody else writes back.
    let mut file = File::create(mounted.0.path().join("left")).expect("a file");
    file.write_all(&vec![2; 4 << 20]).expect("written");
    let synced = Command::new("sync").arg("-f").arg(mounted.0.path()).status();
    assert!(synced.expect("sync").success());
    let (mut rows, mut spans) = (Vec::new(), Vec::new());
    std::thread::sleep(Duration::from_millis(30));
    block.poll(&mut rows).expect("polled");
    block.finish(&mut rows);
    tracer.stop().expect("stopped");
    tracer.own(&mut rows);
    let dir = tracer.instance.dir().to_path_buf();
    let audit = tracer.finish(&mut spans);
    assert!(audit.remarks.is_empty() && !dir.exists(), "{audit:?}");
    assert_eq!(audit.lost, 0);
    if remarks.iter().any(|remark| remark.contains("ext4")) {
        return skipped(test, remarks.join("; "));
    }
    let of = |kind| spans.iter().filter(move |span: &&KernelSpan| span.kind == kind);
    let own = of(SpanKind::Sync).filter(|span| span.tid == me).count();
    assert_eq!(own, 5, "{spans:?}");
    let forced = of(SpanKind::JournalCommit).filter(|span| span.by_tid == me);
    assert!(forced.clone().count() >= 3, "{spans:?}");
    assert!(
        forced
            .clone()
            .all(|span| span.comm.as_bytes().starts_with(b"jbd2/"))
    );
    let written = of(SpanKind::Writeback).filter(|span| span.by_tid == me).count();
    assert!(written >= 1, "{spans:?}");
    let owned = |name: &[u8]| {
        let mine = rows
            .iter()
            .filter(|row| row.owner_pid == me && row.comm.as_bytes().starts_with(name));
        let written = mine.filter(|row| row.op == BlockOp::Write);
        written.map(|row| u64::from(row.len_bytes)).sum::<u64>()
    };
    assert!(owned(b"jbd2/") >= 3 * 4096, "{rows:?}");
    assert!(owned(b"kworker") >= 4 << 20, "{rows:?}");
}

#[test]
fn a_stop_is_of_who_sent_the_signal() {
    let test = "a_stop_is_of_who_sent_the_signal";
    let Some((mut tracer, _)) = started(test, KernelTracer::start(&SystemRoot::default(), &[], 256)) else {
        return;
    };
    let mut sleeper = Command::new("sleep");
    let mut child = sleeper.arg("100").stdin(Stdio::null()).spawn().expect("sleep");
    let pid = child.id();
    // It is told to have begun a moment before it has its name.
    while std::fs::read_to_string(format!("/proc/{pid}/comm")).expect("it lives") != "sleep\n" {
        std::thread::yield_now();
    }
    let mut signal = |name: &str| {
        let mut kill = Command::new("kill");
        let mut kill = kill.args([name, &pid.to_string()]).spawn().expect("kill");
        let sender = kill.id();
        assert!(kill.wait().expect("kill").success());
        std::thread::sleep(Duration::from_millis(50));
        tracer.poll().expect("polled");
        sender
    };
    let sender = signal("-STOP");
    signal("-CONT");
    child.kill().expect("killed");
    child.wait().expect("ended");
    tracer.stop().expect("stopped");
    let mut spans = Vec::new();
    let audit = tracer.finish(&mut spans);
    assert_eq!(audit.lost, 0);
    let stop = spans
        .iter()
        .find(|span| span.kind == SpanKind::Stopped && span.tid == pid)
        .unwrap_or_else(|| panic!("{spans:?}"));
    assert_eq!((stop.by_tid, stop.about), (sender, 19));
    assert_eq!(stop.comm.as_bytes(), b"sleep", "{spans:?}");
    assert!(stop.end_ns - stop.start_ns >= 45_000_000, "{stop:?}");
}
