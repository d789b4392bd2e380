//! `fathom record`: a device is watched while somebody else uses it.

use crate::harness::{LoopDevice, Place, at, count, finish, signal, skipped, start, tool};
use crate::recorded::{number, rows, stream};
use fathom_testkit::{Needs, telling};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// The number of loop devices (Documentation/admin-guide/devices.txt): below, the program itself is read as well.
const LOOP_MAJOR: &str = "7";
/// What `dd` reads, in how many I/Os.
const READ: (u64, usize) = (65_536, 40);

fn read_directly(device: &LoopDevice) {
    let (bytes, ios) = READ;
    let line = format!(
        "dd if={} of=/dev/null bs={bytes} count={ios} iflag=direct",
        device.path
    );
    tool(&line).expect("direct reads of a loop device");
}

#[test]
fn what_another_process_reads_is_recorded_request_by_request() {
    let test = "what_another_process_reads_is_recorded_request_by_request";
    let place = Place::new();
    let device = match LoopDevice::new(&place, 16 << 20) {
        Ok(device) => device,
        Err(missing) => return skipped(test, &missing),
    };
    let line = format!("record -q --device {} --duration 3s -o d", device.path);
    let child = start(&mut place.command(&line));
    std::thread::sleep(Duration::from_millis(1500));
    read_directly(&device);
    finish(child).expect(0);
    let run = place.fathom("show d --json").expect(0).json();
    assert_eq!(at(&run, "jobs").as_array().map(Vec::len), Some(0));
    let block = stream(&run, "block");
    if count(block, "rows") == 0 {
        return skipped(test, "the kernel's tracepoints of block devices");
    }
    assert_eq!(count(block, "dropped"), 0);
    let csv = place.fathom("export d --csv --stream block").expect(0).stdout;
    let reads: Vec<_> = rows(&csv)
        .into_iter()
        .filter(|row| row["comm"] == "dd" && row["device_major"] == LOOP_MAJOR)
        .collect();
    let (bytes, ios) = READ;
    let whole = reads
        .iter()
        .filter(|row| number(row, "len_bytes") == bytes)
        .count();
    assert_eq!((reads.len(), whole), (ios, ios));
    let explained = place.fathom("explain d --evidence all").expect(0).stdout;
    assert!(
        explained.contains("because it served dd 100 % of the bytes in 40 requests"),
        "{explained}"
    );
    // The disk below the loop device has its name as well.
    // Headings are indented by two, what stands below them by more.
    assert!(!explained.contains("\n  device "), "{explained}");
}

#[test]
fn counters_come_each_second_and_queues_ten_times() {
    telling(
        "counters_come_each_second_and_queues_ten_times",
        &Needs::cpus().timely(),
        counters_come_in_time,
    );
}

fn counters_come_in_time() {
    let place = Place::new();
    let device = match LoopDevice::new(&place, 1 << 20) {
        Ok(device) => device,
        Err(missing) => return skipped("counters_come_each_second_and_queues_ten_times", &missing),
    };
    let line = format!(
        "record -q --record=counters --device {} --duration 4s -o d",
        device.path
    );
    place.fathom(&line).expect(0);
    let csv = place.fathom("export d --csv --stream counters").expect(0).stdout;
    let name = device.path.trim_start_matches("/dev/");
    // Labels are quoted as CSV wants it; only the first two columns are looked at.
    let moments = |metric: &str, labels: &str| -> BTreeSet<u64> {
        let lines = csv
            .lines()
            .filter(|line| line.contains(metric) && line.contains(labels));
        lines
            .filter_map(|line| line.split(',').next()?.parse().ok())
            .collect()
    };
    let seconds = moments("node_context_switches_total", "").len();
    let queues = moments("node_disk_io_now", name).len();
    // 4 and 40 on an idle machine, and one reading at the end.
    assert!((4..=6).contains(&seconds), "{seconds} readings of all");
    assert!((20..=45).contains(&queues), "{queues} readings of the queues");
}

#[test]
fn an_interrupt_ends_it_at_once_and_what_was_seen_stays() {
    let place = Place::new();
    let device = match LoopDevice::new(&place, 1 << 20) {
        Ok(device) => device,
        Err(missing) => return skipped("an_interrupt_ends_it_at_once_and_what_was_seen_stays", &missing),
    };
    for (name, duration, code) in [
        ("INT", "", 0),
        ("INT", "--duration 1h", 130),
        ("HUP", "--duration 1h", 130),
    ] {
        let dir = format!("d{name}{code}");
        let line = format!(
            "record -q --record=counters {duration} --device {} -o {dir}",
            device.path
        );
        let child = start(&mut place.command(&line));
        std::thread::sleep(Duration::from_millis(1800));
        let begin = Instant::now();
        signal(&child, name);
        finish(child).expect(code);
        assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
        let run = place.fathom(&format!("show {dir} --json")).expect(0).json();
        let shown = place.fathom(&format!("show {dir}")).expect(0).stdout;
        assert_eq!(shown.contains("interrupted:"), code == 130, "{shown}");
        assert!(count(stream(&run, "counters"), "rows") > 0);
    }
}

#[test]
fn what_cannot_be_watched_is_said_and_nothing_is_made() {
    let place = Place::new();
    place.write("F", b"x");
    for (line, said) in [
        (
            "record --device nothing",
            "there is no such device, file or directory",
        ),
        (
            "record --device F --record=io",
            "there is no load whose I/Os could be kept",
        ),
        (
            "record --device /proc/self/stat",
            "no block device is known below it",
        ),
        ("record --device F --duration soon", "`soon` is not a time"),
        ("record --device F --duration 0s", "`0s` is no time at all"),
    ] {
        place.fathom(line).expect(2).saying(said);
        assert_eq!(place.names(), ["F"], "{line}");
    }
}
