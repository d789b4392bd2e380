//! The victim has no CPU, or may not use it.
//!
//! A zram disk: its I/Os are CPU time of the victim's own, and no other process has to serve them.

use super::bench::{Bench, FAST, SINGLE, Zram, two_cpus};
use super::truth::{Recorded, Truth};
use crate::culprits::{Crowd, Group, HOG, Hog, stay_on};
use crate::{Window, monotonic_ns, pause};
use std::process::{Child, Command};
use std::time::Duration;

/// As fast as it goes: all of CPU 1.
fn eager(bench: &Bench, zram: &Zram) -> Command {
    bench.load(&format!(
        "--rw randread --bs 256k --ioengine psync --direct 1 --cpus_allowed 1 --on {}",
        zram.device
    ))
}

/// A tenth of CPU 1, at times that were set beforehand.
fn paced(bench: &Bench, zram: &Zram) -> Command {
    bench.load(&format!(
        "--rw randread --bs 256k --ioengine psync --direct 1 --cpus_allowed 1 --rate_iops 2000 --on {}",
        zram.device
    ))
}

/// Does it from a thread on CPU 0, which nobody takes.
pub(super) fn from_cpu_0<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let pinned = || {
            stay_on(0);
            work()
        };
        scope.spawn(pinned).join().expect("it works")
    })
}

/// For so long something is as it is made by `on`, until `off`.
pub(super) fn during(length_ms: u64, on: impl FnOnce(), off: impl FnOnce()) -> Window {
    let start_ns = monotonic_ns();
    on();
    pause(length_ms);
    off();
    Window {
        start_ns,
        end_ns: monotonic_ns(),
    }
}

fn hog_did(windows: Vec<Window>, slower: f64) -> Truth {
    Truth {
        windows,
        causes: &["cpu_starvation"],
        guilty: &[HOG],
        slower,
        ..Truth::default()
    }
}

/// Bursts of a real-time hog.
pub(super) fn bursts(hog: &Hog) -> Vec<Window> {
    from_cpu_0(|| {
        let burst = |_| {
            let window = hog.burst(Duration::from_millis(300));
            pause(700);
            window
        };
        (0..3).map(burst).collect()
    })
}

pub(super) fn realtime_hog(bench: &Bench) -> Result<Recorded, String> {
    two_cpus()?;
    let zram = Zram::new()?;
    let hog = Hog::on(1, &bench.path())?;
    bench.run(paced(bench, &zram), |_| Ok(hog_did(bursts(&hog), 20.0)))
}

fn equal_hogs(bench: &Bench, count: usize, slower: f64) -> Result<Recorded, String> {
    two_cpus()?;
    let zram = Zram::new()?;
    bench.run(eager(bench, &zram), |_| {
        let hogs = Crowd::busy(&bench.path(), HOG, count, 1);
        pause(3_000);
        Ok(hog_did(vec![hogs.end()], slower))
    })
}

pub(super) fn four_equal_hogs(bench: &Bench) -> Result<Recorded, String> {
    equal_hogs(bench, 4, 3.0)
}

pub(super) fn one_equal_hog(bench: &Bench) -> Result<Recorded, String> {
    equal_hogs(bench, 1, 1.5)
}

/// A hog has another CPU to itself, from the moment on at which the disk is slow.
pub(super) fn hog_elsewhere(bench: &Bench) -> Result<Recorded, String> {
    two_cpus()?;
    let mut disk = bench.disk(FAST)?;
    let load = bench.load(&format!("{SINGLE} --cpus_allowed 1 --on {}", disk.device));
    bench.run(load, |_| {
        let start_ns = disk.change("latency-us 8000");
        let hog = Crowd::busy(&bench.path(), HOG, 1, 0);
        pause(2_000);
        let end_ns = disk.change("latency-us 1000");
        drop(hog);
        Ok(Truth {
            windows: vec![Window { start_ns, end_ns }],
            causes: &["device"],
            innocent: &[HOG],
            slower: 3.0,
            ..Truth::default()
        })
    })
}

/// Half of what the load needs at least.
const QUOTA_US: &str = "4000";

fn quota_of(bench: &Bench, hog: bool) -> Result<Recorded, String> {
    two_cpus()?;
    let zram = Zram::new()?;
    let group = Group::of("cpu")?;
    bench.run(group.around(&paced(bench, &zram)), |_| {
        let hog = hog.then(|| Crowd::busy(&bench.path(), HOG, 1, 1));
        let set = |value| group.set("cpu.cfs_quota_us", value).expect("a quota");
        let window = during(2_000, || set(QUOTA_US), || set("-1"));
        Ok(Truth {
            windows: vec![window],
            causes: &["cgroup_throttle"],
            guilty: if hog.is_some() { &[HOG] } else { &[] },
            slower: 20.0,
            ..Truth::default()
        })
    })
}

pub(super) fn quota(bench: &Bench) -> Result<Recorded, String> {
    quota_of(bench, false)
}

/// The quota leaves so little that the hog beside it takes little more.
pub(super) fn quota_and_hog(bench: &Bench) -> Result<Recorded, String> {
    quota_of(bench, true)
}

/// A third of a CPU, for a load that would take all of one: it is let go at times that the kernel does not tell.
const THIRD_US: &str = "30000";

pub(super) fn eager_quota(bench: &Bench) -> Result<Recorded, String> {
    two_cpus()?;
    let zram = Zram::new()?;
    let group = Group::of("cpu")?;
    bench.run(group.around(&eager(bench, &zram)), |_| {
        let set = |value| group.set("cpu.cfs_quota_us", value).expect("a quota");
        Ok(Truth {
            windows: vec![during(2_500, || set(THIRD_US), || set("-1"))],
            causes: &["cgroup_throttle"],
            slower: 2.0,
            ..Truth::default()
        })
    })
}

/// What stops a process that another one stopped.
pub(super) fn stopped_for(child: &Child, length_ms: u64) -> Window {
    during(
        length_ms,
        || crate::harness::signal(child, "STOP"),
        || crate::harness::signal(child, "CONT"),
    )
}

fn was_stopped(window: Window) -> Truth {
    Truth {
        windows: vec![window],
        causes: &["load_stopped"],
        slower: 20.0,
        ..Truth::default()
    }
}

pub(super) fn stopped(bench: &Bench) -> Result<Recorded, String> {
    let zram = Zram::new()?;
    bench.run(paced(bench, &zram), |child| {
        Ok(was_stopped(stopped_for(child, 1_500)))
    })
}

pub(super) fn frozen(bench: &Bench) -> Result<Recorded, String> {
    let zram = Zram::new()?;
    let group = Group::of("freezer")?;
    bench.run(group.around(&paced(bench, &zram)), |_| {
        let set = |value| group.set("freezer.state", value).expect("a freezer");
        Ok(was_stopped(during(1_500, || set("FROZEN"), || set("THAWED"))))
    })
}
