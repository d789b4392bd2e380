//! What happens to a target while a load writes to it, or after it was killed.

use super::made;
use crate::harness::{Place, finish, signal, skipped, start, tool};
use std::os::unix::fs::symlink;
use std::process::Child;
use std::time::{Duration, Instant};

/// A load that goes on until it is told to stop.
fn long_load(place: &Place, target: &str) -> Child {
    long_load_with(place, target, "")
}

fn long_load_with(place: &Place, target: &str, more: &str) -> Child {
    let line = format!(
        "run --rw randwrite --bs 4k --size 8m --time_based --runtime 60s --rate_iops 100{more} -o none {target}"
    );
    let child = start(&mut place.command(&line));
    let begun = Instant::now();
    // Its workers have opened the file when its size is the planned one and somebody has it open.
    let open = |pid: u32| {
        std::fs::read_dir(format!("/proc/{pid}/fd")).is_ok_and(|fds| {
            fds.flatten()
                .filter_map(|fd| std::fs::read_link(fd.path()).ok())
                .filter(|path| path.ends_with(target))
                .count()
                > 1
        })
    };
    while !open(child.id()) {
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "the load does not start"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    // And they write: what comes before the first of them has looked at the file stops the run, as it should.
    let written = || {
        let file = std::fs::metadata(place.path(target)).expect("the file");
        (file.len(), file.modified().expect("a time"))
    };
    let mut seen = (written(), 0);
    while seen.1 < 3 {
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "the load does not write"
        );
        std::thread::sleep(Duration::from_millis(50));
        let now = written();
        let goes_on = now.0 == seen.0.0 && now.1 > seen.0.1;
        seen = (now, if goes_on { seen.1 + 1 } else { 0 });
    }
    child
}

#[test]
fn the_second_of_two_is_told() {
    let place = Place::new();
    let first = long_load(&place, "data");
    let outcome = place
        .fathom("run --rw randwrite --bs 4k --size 8m -o none -q data")
        .expect(3);
    outcome.saying("is in use");
    // Reading destroys nothing: it is told, and done.
    let outcome = place
        .fathom("run --rw randread --bs 4k --size 8m --number_ios 10 -o none data")
        .expect(0);
    outcome.saying("measured by another fathom at the same time");
    signal(&first, "INT");
    assert_eq!(finish(first).code, Some(130));
    place
        .fathom("run --rw randwrite --bs 4k --size 8m -o none -q data")
        .expect(0);
}

#[test]
fn a_loop_device_on_the_target_ends_the_run() {
    let place = Place::new();
    let load = long_load(&place, "data");
    let name = "a_loop_device_on_the_target_ends_the_run";
    let attached = tool(&format!("losetup --find --show {}", place.path("data").display()));
    let device = match attached {
        Ok(device) => device,
        Err(missing) => {
            signal(&load, "INT");
            finish(load);
            return skipped(name, &missing);
        }
    };
    let outcome = finish(load);
    tool(&format!("losetup --detach {device}")).expect("detached");
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let said = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(
        said.contains("the load was ended") && said.contains("backing file of"),
        "{said}"
    );
}

/// Another process flips a link between a file of fathom's and a user's, for as long as it may.
#[test]
fn a_link_that_is_flipped_leads_nowhere_else() {
    let place = Place::new();
    let dear = place.write("dear", vec![7; 1 << 20]);
    place
        .fathom("run --rw write --bs 64k --size 1m -o none -q ours")
        .expect(0);
    symlink("ours", place.path("link")).expect("a link");
    let done = std::sync::atomic::AtomicBool::new(false);
    let relaxed = std::sync::atomic::Ordering::Relaxed;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(relaxed) {
                for to in ["dear", "ours"] {
                    symlink(to, place.path("spare")).expect("a link");
                    std::fs::rename(place.path("spare"), place.path("link")).expect("flipped");
                }
            }
        });
        for _ in 0..40 {
            place.fathom("run --rw write --bs 64k --size 1m -o none -q link");
            if std::fs::read(&dear).expect("dear") != vec![7; 1 << 20] {
                break;
            }
        }
        done.store(true, relaxed);
    });
    assert_eq!(std::fs::read(&dear).expect("dear"), vec![7; 1 << 20]);
}

/// Killed at any moment: what it wrote to may be written to again, what came after it may not.
#[test]
fn a_killed_run_s_file_is_fathom_s_until_somebody_else_writes_to_it() {
    let place = Place::new();
    if made(&place, "data").is_none() {
        return skipped(
            "a_killed_run_s_file_is_fathom_s…",
            "user attributes where the tests run",
        );
    }
    let mut load = long_load(&place, "data");
    std::thread::sleep(Duration::from_millis(1500));
    load.kill().expect("killed");
    finish(load);
    place
        .fathom("run --rw randwrite --bs 4k --size 8m --number_ios 10 -o none -q data")
        .expect(0);
    let mut load = long_load(&place, "data");
    load.kill().expect("killed");
    finish(load);
    place.write("userdata", vec![3; 4 << 20]);
    std::thread::sleep(Duration::from_secs(5));
    tool(&format!(
        "cp {} {}",
        place.path("userdata").display(),
        place.path("data").display()
    ))
    .expect("cp");
    place
        .fathom("run --rw randwrite --bs 4k --size 4m -o none -q data")
        .expect(3)
        .saying("something else has written to it since");
    assert_eq!(std::fs::read(place.path("data")).expect("data"), vec![3; 4 << 20]);
}

/// What somebody adds to a file of the run while it goes on is neither removed with it nor overwritten by the next.
#[test]
fn what_came_during_a_run_outlives_it() {
    let place = Place::new();
    if made(&place, "probe").is_none() {
        return skipped(
            "what_came_during_a_run_outlives_it",
            "user attributes where the tests run",
        );
    }
    for unlink in ["", " --unlink 1"] {
        let _gone = std::fs::remove_file(place.path("data"));
        let load = long_load_with(&place, "data", unlink);
        let file = std::fs::File::options().append(true).open(place.path("data"));
        std::io::Write::write_all(&mut file.expect("open"), b"dear").expect("written");
        signal(&load, "INT");
        let outcome = finish(load).expect(130);
        let words = outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains("something else has written to it during the run"),
            "{words}"
        );
        let bytes = std::fs::read(place.path("data")).expect("it stays");
        assert!(bytes.ends_with(b"dear"), "{unlink}");
        place
            .fathom("run --rw write --bs 4k --size 16m -o none -q data")
            .expect(3)
            .saying("something else has written to it since");
    }
    // A section that has ended: nobody of the run writes to its file any more.
    place.write(
        "j.fio",
        "[global]\nrw=randwrite\nbs=4k\nsize=1m\ntime_based=1\nrate_iops=50\nunlink=1\n[a]\nruntime=1\nfilename=f1\n\
         [b]\nstonewall=1\nruntime=4\nfilename=f2\n",
    );
    let load = start(&mut place.command("run j.fio -o none -q"));
    std::thread::sleep(Duration::from_millis(3200));
    place.write("f1", vec![9; 1 << 20]);
    finish(load);
    assert_eq!(
        std::fs::read(place.path("f1")).expect("it stays"),
        vec![9; 1 << 20]
    );
    assert!(!place.path("f2").exists());
}

/// A link in the place of a point that was being measured leads to somebody else's run.
#[test]
fn a_sweep_that_goes_on_removes_only_its_own() {
    let place = Place::new();
    place
        .fathom("run --rw randread --bs 4k --size 1g --runtime 2s --on model:azure/P10 -q -o other")
        .expect(0);
    let line =
        "sweep --rw randread --bs 4k,8k --iodepth 1,2 --warmup 0 --duration 1 --size 4m -q -o sweep data";
    let mut child = start(&mut place.command(line));
    let points = place.path("sweep/points");
    let begun = Instant::now();
    let part = loop {
        let entries = std::fs::read_dir(&points).into_iter().flatten().flatten();
        let mut paths = entries.map(|entry| entry.path());
        if let Some(part) = paths.find(|path| path.extension().is_some_and(|end| end == "part")) {
            break part;
        }
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "the sweep does not start"
        );
        std::thread::sleep(Duration::from_millis(5));
    };
    child.kill().expect("killed");
    child.wait().expect("gone");
    let _half = std::fs::remove_dir_all(&part);
    symlink("../../other", &part).expect("a link");
    let before = std::fs::read(place.path("other/run.json")).expect("a run");
    let outcome = place.fathom("sweep --resume sweep -q");
    assert!(
        matches!(outcome.code, Some(1..=3)),
        "{:?}: {}",
        outcome.code,
        outcome.stderr
    );
    assert!(outcome.stderr.contains("left alone"), "{}", outcome.stderr);
    assert_eq!(
        std::fs::read(place.path("other/run.json")).expect("a run"),
        before
    );
    assert!(place.path("other/series.parquet").exists());
    // Out of the way, it goes on.
    std::fs::remove_file(&part).expect("removed");
    place.fathom("sweep --resume sweep -q").expect(0);
}
