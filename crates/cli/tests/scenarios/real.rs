//! The scenarios.

use crate::culprits::{Crowd, HAMMER, HOG, Hog, Throttle, stay_on};
use crate::disk::LimitedDisk;
use crate::harness::{Place, at, count, skipped};
use crate::judge::{explain, load};
use crate::{alone, pause, quiet};
use fathom_testkit::telling;
use serde_json::Value;
use std::time::Duration;

/// The value, or what is missing said and the scenario over.
macro_rules! or_skip {
    ($test:literal, $value:expr) => {
        match $value {
            Ok(value) => value,
            Err(missing) => return skipped($test, &missing),
        }
    };
}

/// A disk without limits. Its latency is one beside which it does not show that the disk is a process, which now and
/// then waits some milliseconds for a CPU.
const FREE: &str = "--size-mib 512 --latency-us 5000 --slice-ms 0";

/// The shape of a P15: one budget for reads and writes, in slices.
const P15: &str = "--size-mib 512 --iops 1100 --bytes-per-second 125000000 --latency-us 2000 --slice-ms 50";

/// A disk that stands still for 300 ms every two seconds.
#[test]
fn a_stalling_disk_is_blamed() {
    let _alone = alone();
    telling(
        "a_stalling_disk_is_blamed",
        &quiet().timely(),
        a_stalling_disk_is_blamed_once,
    );
}

fn a_stalling_disk_is_blamed_once() {
    let place = Place::new();
    let flags = format!("{P15} --stall every=2s,for=300ms");
    let disk = or_skip!("a_stalling_disk_is_blamed", LimitedDisk::start(&place, &flags));
    let line = format!(
        "--rw randread --bs 4k --iodepth 32 --ioengine libaio --direct 1 --time_based --runtime 6s --on {}",
        disk.device
    );
    let (explained, _) = explain(&place, &mut load(&place, &line), Vec::new);
    let stalls = disk.end();
    explained.blames(&stalls, "device", None);
    explained.accuses_nobody_but(None);
}

/// The limits of a disk are found, and what holds the load back is not taken for trouble.
#[test]
fn the_limit_of_a_disk_is_found() {
    let _alone = alone();
    telling(
        "the_limit_of_a_disk_is_found",
        &quiet().timely(),
        the_limit_of_a_disk_is_found_once,
    );
}

fn the_limit_of_a_disk_is_found_once() {
    let place = Place::new();
    let disk = or_skip!("the_limit_of_a_disk_is_found", LimitedDisk::start(&place, P15));
    let line = format!(
        "--rw randread --bs 4k --iodepth 32 --ioengine libaio --direct 1 --time_based --runtime 5s --on {}",
        disk.device
    );
    let (explained, _) = explain(&place, &mut load(&place, &line), Vec::new);
    explained.is_limited_by("iops");
    explained.accuses_nobody_but(None);
}

/// A control group lets through 500 reads a second of a disk that could do six times as many.
#[test]
fn a_control_group_is_told_from_the_device() {
    let _alone = alone();
    telling(
        "a_control_group_is_told_from_the_device",
        &quiet().timely(),
        a_control_group_is_told_from_the_device_once,
    );
}

fn a_control_group_is_told_from_the_device_once() {
    let place = Place::new();
    let disk = or_skip!(
        "a_control_group_is_told_from_the_device",
        LimitedDisk::start(&place, FREE)
    );
    let throttle = or_skip!(
        "a_control_group_is_told_from_the_device",
        Throttle::reads(disk.name(), 500)
    );
    let line = format!(
        "--rw randread --bs 4k --iodepth 16 --ioengine libaio --direct 1 --time_based --runtime 5s --on {}",
        disk.device
    );
    let mut command = throttle.around(&load(&place, &line));
    let (explained, _) = explain(&place, &mut command, Vec::new);
    explained.is_limited_by("above_block_layer");
    explained.causes_are_among(&["cgroup_throttle", "unknown"]);
    explained.accuses_nobody_but(None);
}

/// A real-time process takes the load's CPU for 200 ms, three times.
#[test]
fn a_cpu_hog_is_named() {
    let _alone = alone();
    telling("a_cpu_hog_is_named", &quiet(), a_cpu_hog_is_named_once);
}

fn a_cpu_hog_is_named_once() {
    let place = Place::new();
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        return skipped("a_cpu_hog_is_named", "a second CPU");
    }
    let hog = or_skip!("a_cpu_hog_is_named", Hog::on(1, &place.path("")));
    // A file on the real disk: the disk for tests is a process too, and would go hungry with the load.
    let mut command = load(
        &place,
        "--rw randread --bs 4k --ioengine psync --direct 1 --cpus_allowed 1 --size 64m --time_based --runtime 6s F",
    );
    let (explained, bursts) = explain(&place, &mut command, || {
        std::thread::scope(|scope| {
            let inject = || {
                stay_on(0);
                pause(2_000);
                let burst = |_| {
                    let window = hog.burst(Duration::from_millis(200));
                    pause(1_000);
                    window
                };
                (0..3).map(burst).collect()
            };
            scope.spawn(inject).join().expect("the hog")
        })
    });
    explained.blames(&bursts, "cpu_starvation", Some(HOG));
    explained.accuses_nobody_but(Some(HOG));
}

/// Other processes read the same disk as fast as it goes, for half a second, twice.
#[test]
fn a_process_that_hammers_the_disk_is_named() {
    let _alone = alone();
    telling(
        "a_process_that_hammers_the_disk_is_named",
        &quiet().timely(),
        a_process_that_hammers_the_disk_is_named_once,
    );
}

fn a_process_that_hammers_the_disk_is_named_once() {
    let place = Place::new();
    let flags = format!("{FREE} --bytes-per-second 125000000");
    let disk = or_skip!(
        "a_process_that_hammers_the_disk_is_named",
        LimitedDisk::start(&place, &flags)
    );
    let line = format!(
        "--rw randread --bs 4k --iodepth 2 --ioengine libaio --direct 1 --time_based --runtime 6s --on {}",
        disk.device
    );
    let (explained, blows) = explain(&place, &mut load(&place, &line), || {
        pause(1_500);
        let blow = |_| {
            let hammers = Crowd::readers(&place.path(""), HAMMER, 8, &disk.device, 1 << 20);
            pause(500);
            let window = hammers.end();
            pause(1_200);
            window
        };
        (0..2).map(blow).collect()
    });
    explained.blames(&blows, "competing_io", Some(HAMMER));
    explained.accuses_nobody_but(Some(HAMMER));
}

/// So many times what reaches the disk must have been written, for memory to be what answers beyond doubt.
const TAKEN_MIN: u64 = 3;

/// Bytes that the load has written, and that disk `name` was given meanwhile.
fn written(place: &Place, name: &str) -> (u64, u64) {
    let text = std::fs::read_to_string(place.path("d/run.json")).expect("the run");
    let run: Value = serde_json::from_str(&text).expect("JSON");
    let disks = at(&run, "summary.disks").as_array().expect("disks");
    let disk = disks.iter().find(|disk| at(disk, "name") == name);
    let disk = disk.unwrap_or_else(|| panic!("no {name} in {disks:?}"));
    (
        count(&run, "summary.jobs.0.write.bytes"),
        count(disk, "write_bytes"),
    )
}

/// Buffered writes: memory takes them, and the kernel writes them back meanwhile, for the load and nobody else.
#[test]
fn buffered_writes_are_the_page_caches() {
    let _alone = alone();
    telling(
        "buffered_writes_are_the_page_caches",
        &quiet().timely(),
        buffered_writes_are_the_page_caches_once,
    );
}

fn buffered_writes_are_the_page_caches_once() {
    let place = Place::new();
    let flags = "--size-mib 128 --iops 1100 --bytes-per-second 125000000 --latency-us 2000 --slice-ms 50";
    let disk = or_skip!(
        "buffered_writes_are_the_page_caches",
        LimitedDisk::start(&place, flags)
    );
    let line = format!(
        "--rw write --bs 64k --ioengine psync --time_based --runtime 4s --on {0} --allow-overwrite {0}",
        disk.device
    );
    let (explained, _) = explain(&place, &mut load(&place, &line), Vec::new);
    let (load, disk_bytes) = written(&place, disk.name());
    if load < disk_bytes * TAKEN_MIN {
        // Some kernels have a writer wait for pages that are on their way, or for the disk: then memory does not answer.
        let missing = format!(
            "a kernel that lets memory take writes at once ({load} bytes, {disk_bytes} reached the disk)"
        );
        return skipped("buffered_writes_are_the_page_caches", &missing);
    }
    explained.is_limited_by("page_cache");
    explained.accuses_nobody_but(None);
}

/// Nothing is done to the load: nothing and nobody is blamed.
#[test]
fn without_a_cause_nobody_is_accused() {
    let _alone = alone();
    telling(
        "without_a_cause_nobody_is_accused",
        &quiet().timely(),
        without_a_cause_nobody_is_accused_once,
    );
}

fn without_a_cause_nobody_is_accused_once() {
    let place = Place::new();
    let disk = or_skip!(
        "without_a_cause_nobody_is_accused",
        LimitedDisk::start(&place, FREE)
    );
    let line = format!(
        "--rw randread --bs 4k --iodepth 2 --ioengine libaio --direct 1 --time_based --runtime 5s --on {}",
        disk.device
    );
    let (explained, _) = explain(&place, &mut load(&place, &line), Vec::new);
    explained.accuses_nobody_but(None);
    // Behind the loop device a process serves: where this machine is itself a guest, its host holds that up now and then,
    // and the device is then what was slow.
    explained.causes_are_among(&["unknown", "load_itself", "device"]);
}
