//! Options of fio's that change what happens around the I/Os: flushes, files, locks, clocks, trims.

use crate::harness::{Place, skipped, tool};
use serde_json::Value;

/// Runs flags as `fathom fio`; the first job of its JSON.
fn job(place: &Place, flags: &str) -> Value {
    let line = format!("fio --output-format=json --name=j --bs=4k {flags}");
    let outcome = place.fathom(&line).expect(0);
    let all: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    all["jobs"][0].clone()
}

fn totals(job: &Value) -> [u64; 4] {
    ["read", "write", "trim", "sync"].map(|op| job[op]["total_ios"].as_u64().expect("a count"))
}

/// What fio 3.33 did with the same flags.
#[test]
fn behind_the_last_write_there_is_no_flush() {
    for (flags, syncs) in [
        ("--fsync=8", 7),
        ("--fdatasync=16", 3),
        ("--sync_file_range=wait_before,write:4", 15),
        ("--fsync=8 --loops=2", 15),
        ("--fsync=8 --ioengine=libaio --iodepth=4", 7),
    ] {
        let place = Place::new();
        let job = job(&place, &format!("--rw=write --size=256k --filename=F {flags}"));
        assert_eq!(totals(&job)[3], syncs, "{flags}");
    }
}

#[test]
fn each_loop_begins_with_new_files() {
    let place = Place::new();
    for engine in ["psync", "libaio", "io_uring"] {
        let flags =
            format!("--rw=write --size=64k --nrfiles=2 --loops=3 --unlink_each_loop=1 --ioengine={engine}");
        let one = job(&place, &flags);
        assert_eq!(totals(&one)[1], 48, "{engine}");
        assert_eq!(
            std::fs::metadata(place.path("j.0.0")).expect("a file").len(),
            32 << 10
        );
        let verified = job(&place, &format!("{flags} --verify=crc32c"));
        assert_eq!(totals(&verified)[..2], [48, 48], "{engine}");
    }
    place
        .fathom("fio --name=j --rw=read --size=64k --loops=2 --unlink_each_loop=1")
        .expect(1)
        .saying("unlink_each_loop");
}

#[test]
fn files_may_begin_empty() {
    let place = Place::new();
    let one = job(
        &place,
        "--rw=write --size=64k --filesize=1m --filename=F --create_on_open=1",
    );
    assert_eq!(totals(&one)[1], 16);
    assert_eq!(
        std::fs::metadata(place.path("F")).expect("a file").len(),
        64 << 10
    );
    // Nothing is there to be read: with fio that is an error as well.
    place
        .fathom("fio --name=j --rw=read --bs=4k --size=64k --filename=G --create_on_open=1")
        .expect(1);
}

#[test]
fn files_are_laid_out_at_once_where_that_is_asked_for() {
    let place = Place::new();
    let one = job(
        &place,
        "--rw=read --size=1m --nrfiles=4 --numjobs=3 --create_serialize=0 --group_reporting",
    );
    assert_eq!(totals(&one)[0], 768);
    for number in 0..3 {
        for file in 0..4 {
            let path = place.path(format!("j.{number}.{file}"));
            let bytes = std::fs::read(path).expect("a file");
            assert_eq!(bytes.len(), 256 << 10);
            assert!(bytes.iter().any(|&byte| byte != 0));
        }
    }
}

#[test]
fn a_clock_of_microseconds_has_them() {
    let place = Place::new();
    job(
        &place,
        "--rw=write --size=256k --filename=F --clocksource=gettimeofday --write_lat_log=l",
    );
    let rows = std::fs::read_to_string(place.path("l_lat.1.log")).expect("a log");
    let value = |row: &str| -> u64 {
        row.split(", ")
            .nth(1)
            .expect("a value")
            .parse()
            .expect("a number")
    };
    assert!(rows.lines().count() >= 64);
    assert!(rows.lines().all(|row| value(row).is_multiple_of(1000)), "{rows}");
}

#[test]
fn a_schedule_catches_up_for_pauses_or_is_put_off_by_them() {
    let place = Place::new();
    let flags = "--ioengine=null --rw=read --size=1g --rate_iops=200 --thinktime=100ms --thinktime_blocks=10 \
                 --runtime=1 --time_based";
    let reads = |more: &str| totals(&job(&place, &format!("{flags} {more}")))[0];
    // fio 3.33: 100 and 70.
    assert!((90..=110).contains(&reads("")));
    assert!((60..=80).contains(&reads("--rate_ignore_thinktime=1")));
}

#[test]
fn locks_leave_no_io_out() {
    for how in ["exclusive", "readwrite"] {
        for engine in ["psync", "libaio --iodepth=4 --direct=1"] {
            let place = Place::new();
            let flags = format!(
                "--rw=randrw --size=256k --filename=F --numjobs=3 --group_reporting --lockfile={how} --ioengine={engine}"
            );
            let [reads, writes, ..] = totals(&job(&place, &flags));
            assert_eq!(reads + writes, 192, "{how} {engine}");
        }
    }
}

#[test]
fn a_share_of_what_was_written_is_trimmed_and_reads_as_zero() {
    let place = Place::new();
    let flags =
        "--rw=randwrite --size=1m --filename=F --verify=crc32c --trim_percentage=50 --trim_backlog=16";
    for more in [
        "",
        "--trim_backlog_batch=4",
        "--trim_verify_zero=0",
        "--ioengine=libaio --iodepth=8 --direct=1",
    ] {
        let one = job(&place, &format!("{flags} {more}"));
        let [reads, writes, trims, _] = totals(&one);
        assert_eq!((reads, writes), (256, 256), "{more}");
        let most = if more.contains("batch") { 64 } else { 170 };
        assert!((40..=most).contains(&trims), "{more}: {trims}");
    }
    // Without a backlog nothing is trimmed, as with fio.
    let one = job(
        &place,
        "--rw=write --size=1m --filename=F --verify=crc32c --trim_percentage=50",
    );
    assert_eq!(totals(&one), [256, 256, 0, 0]);
}

#[test]
fn a_scheduler_that_there_is_not_fails_the_job_and_names_it() {
    let place = Place::new();
    let outcome = place.fathom("fio --name=j --rw=write --bs=4k --size=64k --filename=F --ioscheduler=bogus");
    if outcome.code == Some(0) {
        // Of what is in memory there is none, with fio neither.
        return skipped(
            "a_scheduler_that_there_is_not_fails_the_job_and_names_it",
            "no scheduler here",
        );
    }
    outcome.expect(1).saying("ioscheduler");
}

#[test]
fn a_control_group_is_made_and_removed() {
    let test = "a_control_group_is_made_and_removed";
    let root = std::path::Path::new("/sys/fs/cgroup/blkio");
    if tool("id -u").is_err() || !root.join("tasks").exists() || !rustix::process::geteuid().is_root() {
        return skipped(test, "no blkio controller of the first version");
    }
    let place = Place::new();
    let name = format!("fathom-test-{}", std::process::id());
    let flags = format!("--rw=write --size=64k --filename=F --cgroup={name}");
    assert_eq!(totals(&job(&place, &flags))[1], 16);
    assert!(!root.join(&name).exists());
    job(&place, &format!("{flags} --cgroup_nodelete=1"));
    assert!(root.join(&name).exists());
    std::fs::remove_dir(root.join(&name)).expect("the group goes");
    place
        .fathom("fio --name=j --rw=write --bs=4k --size=64k --filename=F --cgroup=../x")
        .expect(1)
        .saying("cgroup");
}
