use super::*;
use crate::trace::real::{Buffer, Loop, Zram, counted, counters, open_direct, skipped, started};
use crate::trace::tracefs::Tracefs;
use fathom_core::record::{BlockFlags, BlockOp};
use fathom_sys::clock::monotonic_ns;
use fathom_sys::process::thread_id;
use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, Instant};

const BUFFER_KIB: u32 = 4096;

fn device(name: &str) -> TraceDevice {
    let root = SystemRoot::default();
    let target = crate::target::inspect(&root, &Path::new("/dev").join(name));
    let (devices, _) = crate::target::trace_devices(&root, &target);
    devices.into_iter().next().expect("a device")
}

fn start(test: &str, names: &[&str], buffer_kib: u32) -> Option<BlockTracer> {
    let devices: Vec<TraceDevice> = names.iter().map(|name| device(name)).collect();
    let (tracer, remarks) = started(
        test,
        BlockTracer::start(&SystemRoot::default(), &devices, buffer_kib),
    )?;
    eprintln!("{test}: {remarks:?}");
    Some(tracer)
}

/// Waits until a device has nothing on its way.
fn settle(name: &str) {
    let begin = Instant::now();
    let idle = |text: String| text.split_whitespace().all(|count| count == "0");
    while !std::fs::read_to_string(format!("/sys/block/{name}/inflight")).is_ok_and(idle) {
        assert!(
            begin.elapsed() < Duration::from_secs(20),
            "{name} does not come to rest"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn in_order(request: &BlockRequest) -> bool {
    let steps = [
        request.queued_ns,
        request.allocated_ns,
        request.inserted_ns,
        request.issued_ns,
        Some(request.completed_ns),
    ];
    steps.into_iter().flatten().is_sorted()
}

fn of(requests: &[BlockRequest], op: BlockOp) -> impl Iterator<Item = &BlockRequest> {
    requests.iter().filter(move |request| request.op == op)
}

#[test]
fn a_loop_device_gives_as_many_requests_as_it_counts() {
    let test = "a_loop_device_gives_as_many_requests_as_it_counts";
    let Some(disk) = Loop::new(test, 8 << 20) else {
        return;
    };
    let Some(mut tracer) = start(test, &[disk.name()], BUFFER_KIB) else {
        return;
    };
    let mut requests = Vec::new();
    // Whoever looks at each new disk (udev) may have begun before the counters were read.
    settle(disk.name());
    let (begun_ns, before) = (monotonic_ns(), counters(disk.name()));
    let file = open_direct(&disk.path);
    let (mut small, mut large) = (Buffer::new(4096), Buffer::new(4 << 20));
    for at in 0..500 {
        small.read(&file, at % 1000 * 4096).expect("read");
        if at % 2 == 0 {
            small.write(&file, at * 4096).expect("written");
        }
        if at % 100 == 0 {
            file.sync_all().expect("flushed");
            tracer.poll(&mut requests).expect("polled");
        }
    }
    // Longer than a request may be: split.
    large.read(&file, 0).expect("read");
    settle(disk.name());
    let counted = counted(&before, &counters(disk.name()));
    let audit = tracer.finish(&mut requests);
    assert_eq!((audit.lost, audit.late, audit.torn_pages), (0, 0, 0), "{audit:?}");
    assert_eq!(audit.counts.unmatched_completions, 0, "{audit:?}");
    assert_eq!(audit.counts.in_flight_at_end, 0, "{audit:?}");
    assert_eq!(audit.remarks, Vec::<String>::new());
    requests.retain(|request| request.completed_ns >= begun_ns);
    let reads: Vec<_> = of(&requests, BlockOp::Read).collect();
    let written = of(&requests, BlockOp::Write).count() + of(&requests, BlockOp::Flush).count();
    assert_eq!(reads.len() as u64, counted.read_ios);
    assert_eq!(written as u64, counted.write_ios);
    assert_eq!(
        of(&requests, BlockOp::Discard).count() as u64,
        counted.discard_ios
    );
    assert_eq!(audit.counts.flush_commands, counted.flush_ios);
    assert!(of(&requests, BlockOp::Flush).count() >= 5);
    let bytes: u64 = reads.iter().map(|read| u64::from(read.len_bytes)).sum();
    assert_eq!(bytes, counted.read_bytes);
    let mine: Vec<_> = requests
        .iter()
        .filter(|request| request.pid == thread_id())
        .collect();
    assert!(mine.len() >= 750, "{}", mine.len());
    for request in &requests {
        assert!(in_order(request), "{request:?}");
        assert!(!request.flags.has(BlockFlags::UNFINISHED));
    }
    assert!(requests.is_sorted_by_key(|request| request.completed_ns));
    for request in mine {
        let steps = (request.queued_ns, request.allocated_ns, request.issued_ns);
        assert!(matches!(steps, (Some(_), Some(_), Some(_))), "{request:?}");
    }
}

#[test]
fn the_disk_below_a_file_gives_this_threads_reads() {
    let test = "the_disk_below_a_file_gives_this_threads_reads";
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("file");
    std::fs::write(&path, vec![3; 4 << 20]).expect("a file");
    let target = crate::target::inspect(&SystemRoot::default(), &path);
    let Some(below) = target.device else {
        return skipped(test, target.device_missing.unwrap_or_default());
    };
    std::fs::File::open(&path)
        .and_then(|file| file.sync_all())
        .expect("a file on the disk");
    let file = open_direct(&path);
    let Some(mut tracer) = start(test, &[&below.name], BUFFER_KIB) else {
        return;
    };
    let mut requests = Vec::new();
    let mut buffer = Buffer::new(4096);
    for at in 0..500 {
        buffer.read(&file, at * 4096).expect("read");
    }
    tracer.poll(&mut requests).expect("polled");
    let audit = tracer.finish(&mut requests);
    let mine = requests.iter().filter(|request| request.pid == thread_id());
    let mine: Vec<_> = mine
        .filter(|request| request.op == BlockOp::Read && request.len_bytes == 4096)
        .collect();
    assert_eq!(audit.lost, 0);
    // One block of the file system's own may be read on the way.
    assert!((500..510).contains(&mine.len()), "{} {audit:?}", mine.len());
    assert!(mine.iter().all(|request| in_order(request)));
}

#[test]
fn a_device_without_requests_gives_its_ios() {
    let test = "a_device_without_requests_gives_its_ios";
    let Some(disk) = Zram::new(test, 32 << 20) else {
        return;
    };
    assert!(!device(disk.name()).request_based);
    let Some(mut tracer) = start(test, &[disk.name()], BUFFER_KIB) else {
        return;
    };
    let mut requests = Vec::new();
    // Whoever looks at each new disk (udev) may have begun before the counters were read.
    settle(disk.name());
    let (begun_ns, before) = (monotonic_ns(), counters(disk.name()));
    let file = open_direct(&disk.path);
    let (mut small, large) = (Buffer::new(4096), Buffer::new(4 << 20));
    large.write(&file, 0).expect("written");
    for at in 0..2000 {
        small.read(&file, at % 1024 * 4096).expect("read");
    }
    tracer.poll(&mut requests).expect("polled");
    let counted = counted(&before, &counters(disk.name()));
    let audit = tracer.finish(&mut requests);
    assert_eq!(
        (audit.lost, audit.counts.unmatched_completions),
        (0, 0),
        "{audit:?}"
    );
    requests.retain(|request| request.completed_ns >= begun_ns);
    assert_eq!(of(&requests, BlockOp::Read).count() as u64, counted.read_ios);
    assert_eq!(of(&requests, BlockOp::Write).count() as u64, counted.write_ios);
    for request in &requests {
        assert!(
            request.queued_ns.is_some() && request.issued_ns.is_none(),
            "{request:?}"
        );
        assert_eq!(request.queue_ns(), None);
        assert!(request.device_ns().is_some_and(|ns| ns < 10_000_000_000));
    }
}

#[test]
fn what_a_full_buffer_drops_is_counted_and_others_are_filtered() {
    let test = "what_a_full_buffer_drops_is_counted_and_others_are_filtered";
    let (Some(disk), Some(other)) = (Loop::new(test, 4 << 20), Loop::new(test, 4 << 20)) else {
        return;
    };
    let Some(small) = start(test, &[disk.name()], 8) else {
        return;
    };
    let Some(large) = start(test, &[disk.name()], BUFFER_KIB) else {
        return;
    };
    let (file, others) = (open_direct(&disk.path), open_direct(&other.path));
    let mut buffer = Buffer::new(4096);
    for at in 0..1000 {
        buffer.read(&file, at * 4096).expect("read");
        buffer.read(&others, at * 4096).expect("read");
    }
    settle(disk.name());
    let (mut few, mut all) = (Vec::new(), Vec::new());
    let (few_audit, all_audit) = (small.finish(&mut few), large.finish(&mut all));
    assert_eq!(all_audit.lost, 0);
    assert!(few_audit.lost > 1000, "{few_audit:?}");
    // Another device's event that interrupts an event here is counted as dropped before the filter is asked.
    let (told, happened) = (few_audit.counts.events + few_audit.lost, all_audit.counts.events);
    assert!(told >= happened, "{told} of {happened}");
    assert!(told - happened <= happened / 50, "{told} of {happened}");
    let disk = device(disk.name()).dev;
    assert!(all.iter().all(|request| request.device == disk));
    assert_eq!(all_audit.counts.foreign, 0);
    assert!(of(&all, BlockOp::Read).count() >= 1000);
}

#[test]
fn nothing_is_left_behind_and_what_others_left_is_swept() {
    let test = "nothing_is_left_behind_and_what_others_left_is_swept";
    let Some(disk) = Loop::new(test, 1 << 20) else {
        return;
    };
    let Some(tracer) = start(test, &[disk.name()], 64) else {
        return;
    };
    let dir = tracer.instance.dir().to_path_buf();
    // A number that no process has: pid_max is at most 2^22.
    let own = dir.file_name().expect("a name").to_string_lossy().into_owned();
    let namespace = own.split('-').nth(3).expect("a namespace");
    let stale = dir.with_file_name(format!("fathom-4194305-1-{namespace}-0"));
    std::fs::create_dir(&stale).expect("an instance");
    assert!(dir.exists());
    let tracefs = Tracefs::find(&SystemRoot::default()).expect("a tracefs");
    let there = |name: &OsStr| tracefs.instances().join(name).exists();
    assert_eq!(tracer.finish(&mut Vec::new()).remarks, Vec::<String>::new());
    assert!(!there(dir.file_name().expect("a name")));
    let stale = stale.file_name().expect("a name");
    // Tracers of other tests sweep as well: it may be gone already.
    let Some(tracer) = start(test, &[disk.name()], 64) else {
        return;
    };
    assert!(!there(stale), "a dead process's instance stays");
    let dir = tracer.instance.dir().to_path_buf();
    drop(tracer);
    let name = dir.file_name().expect("a name");
    assert!(!there(name), "a dropped tracer's instance stays");
}

#[test]
fn without_a_device_or_without_tracefs_it_says_what_is_missing() {
    let none = BlockTracer::start(&SystemRoot::default(), &[], 64).expect_err("no device");
    assert!(matches!(none, TraceUnavailable::NoDevice));
    let tree = tempfile::tempdir().expect("a directory");
    let disk = TraceDevice {
        name: "sda".to_owned(),
        dev: 8 << 20,
        request_based: true,
        partition_devs: vec![],
    };
    let error = BlockTracer::start(&SystemRoot::new(tree.path()), &[disk], 64).expect_err("no tracefs");
    expect_test::expect!["the kernel's trace files are not there (looked in /sys/kernel/tracing): run as root, or mount them with `mount -t tracefs nodev /sys/kernel/tracing`; in Kubernetes give the pod the host's /sys/kernel/tracing as a hostPath volume, writable"].assert_eq(&error.to_string());
}
