//! What this machine's own scheduler says of threads whose doings are known.

use super::*;
use fathom_core::record::{BlockedOn, CpuShare, SchedSlice, TaskState};
use fathom_sys::process::{allowed_cpus, resource_usage_thread, set_affinity, thread_id};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// What was seen of some threads.
struct Seen {
    stays: Vec<SchedSlice>,
    shares: Vec<CpuShare>,
}

impl Seen {
    /// Of all time that the CPU's shares are of, what this task had; and all time.
    fn had(&self, cpu: u32, tid: u32) -> (u64, u64) {
        let of_cpu = self.shares.iter().filter(|share| share.cpu == cpu);
        let own: u64 = of_cpu
            .clone()
            .filter(|share| share.tid == tid)
            .map(|share| share.ran_ns)
            .sum();
        (own, of_cpu.map(|share| share.ran_ns).sum())
    }
}

/// Watches `tids` while `meanwhile` runs, which is told them all when it begins; `None` where that is not possible here.
fn watched<T>(test: &str, tids: Vec<u32>, meanwhile: impl FnOnce() -> T) -> Option<(T, Seen)> {
    let load = Load {
        comm_prefixes: vec![String::from("fathom-known")],
        tids,
    };
    let outcome = SchedTracer::start(&SystemRoot::default(), &load, 4096);
    let (mut tracer, remarks) = started(test, outcome)?;
    if !remarks.is_empty() {
        skipped(test, remarks.join("; "));
        return None;
    }
    let stop = AtomicBool::new(false);
    let mut seen = Seen {
        stays: Vec::new(),
        shares: Vec::new(),
    };
    let outcome = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(20));
                tracer.poll().expect("polled");
                tracer.take(&mut seen.stays, &mut seen.shares);
            }
        });
        let outcome = meanwhile();
        stop.store(true, Ordering::Relaxed);
        reader.join().expect("a reader");
        outcome
    });
    tracer.stop().expect("stopped");
    let audit = tracer.finish(&mut seen.stays, &mut seen.shares);
    assert_eq!(audit.lost, 0, "{audit:?}");
    Some((outcome, seen))
}

/// A thread of this name that does `body` on one CPU alone; its number and what it used itself.
fn on_cpu(cpu: usize, body: impl FnOnce() + Send) -> (u32, u64) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name(String::from("fathom-known"));
        let thread = thread.spawn_scoped(scope, || {
            set_affinity(&[cpu]).expect("an allowed CPU");
            let before = resource_usage_thread().expect("usage");
            body();
            let after = resource_usage_thread().expect("usage");
            let used = |usage: &fathom_core::run::CpuUsage| usage.user_ns + usage.system_ns;
            (thread_id(), used(&after) - used(&before))
        });
        thread.expect("a thread").join().expect("it ends")
    })
}

fn busy(time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time {
        std::hint::spin_loop();
    }
}

#[test]
fn a_pinned_hog_is_who_had_the_cpu() {
    let test = "a_pinned_hog_is_who_had_the_cpu";
    for cpu in allowed_cpus().expect("CPUs") {
        let hog = || on_cpu(cpu, || busy(Duration::from_millis(300)));
        let Some(((tid, used_ns), seen)) = watched(test, vec![], hog) else {
            return;
        };
        let (had_ns, of_ns) = seen.had(cpu as u32, tid);
        // The host may take the CPU away meanwhile: what seems to have been had is more than was used.
        assert!(
            had_ns * 10 >= used_ns * 9,
            "CPU {cpu}: {tid} had {had_ns} of {used_ns}: {:?}, {:?}",
            seen.shares,
            seen.stays
        );
        assert!(of_ns > had_ns && had_ns <= 5_000_000_000);
        let stays = seen
            .stays
            .iter()
            .filter(|stay| stay.tid == tid && stay.cpu == cpu as u32);
        let ran: u64 = stays.map(|stay| stay.end_ns - stay.start_ns).sum();
        assert!(
            ran.abs_diff(had_ns) < 5_000_000,
            "CPU {cpu}: {ran} in stays, {had_ns} in shares"
        );
    }
}

#[test]
fn what_was_idle_is_nobodys_on_each_cpu() {
    telling(
        "what_was_idle_is_nobodys_on_each_cpu",
        &Needs::cpus(),
        what_was_idle_is_nobodys,
    );
}

fn what_was_idle_is_nobodys() {
    let test = "what_was_idle_is_nobodys_on_each_cpu";
    for cpu in allowed_cpus().expect("CPUs") {
        let now_and_then = || {
            for _ in 0..40 {
                busy(Duration::from_millis(1));
                std::thread::sleep(Duration::from_millis(9));
            }
        };
        let Some(((tid, used_ns), seen)) = watched(test, vec![], || on_cpu(cpu, now_and_then)) else {
            return;
        };
        let (had_ns, of_ns) = seen.had(cpu as u32, tid);
        assert!(
            had_ns.abs_diff(used_ns) * 5 <= used_ns,
            "CPU {cpu}: {had_ns} told, {used_ns} used"
        );
        assert!(had_ns * 4 < of_ns, "CPU {cpu}: {had_ns} of {of_ns}");
        // It slept in between, and its stack says that it did so itself.
        let slept = seen
            .stays
            .iter()
            .filter(|stay| stay.tid == tid && stay.blocked_on == BlockedOn::Itself);
        let slept = slept.count();
        assert!(slept >= 30, "CPU {cpu}: {slept} of 40 sleeps have a reason");
    }
}

/// A process that does nothing but use CPU, killed at the end.
struct Hog(Child);

impl Hog {
    fn new() -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
        Self(shell.spawn().expect("sh"))
    }

    fn signal(&self, signal: &str) {
        let kill = Command::new("kill")
            .args([signal, &self.0.id().to_string()])
            .status();
        assert!(kill.expect("kill").success());
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_stopped_process_has_left_because_it_was_stopped() {
    let test = "a_stopped_process_has_left_because_it_was_stopped";
    let hog = Hog::new();
    let stop = || {
        std::thread::sleep(Duration::from_millis(50));
        hog.signal("-STOP");
        std::thread::sleep(Duration::from_millis(100));
        hog.signal("-CONT");
        std::thread::sleep(Duration::from_millis(50));
    };
    let Some(((), seen)) = watched(test, vec![hog.0.id()], stop) else {
        return;
    };
    let own = seen.stays.iter().filter(|stay| stay.tid == hog.0.id());
    let stays: Vec<_> = own.copied().collect();
    let stopped = stays.iter().position(|stay| stay.state == TaskState::Stopped);
    let stopped = stopped.unwrap_or_else(|| panic!("no stop: {stays:?}"));
    let (last, next) = (stays[stopped], stays[stopped + 1]);
    assert_eq!(last.blocked_on, BlockedOn::Stopped);
    let away_ns = next.ready_ns.expect("woken") - last.end_ns;
    assert!((80_000_000..2_000_000_000).contains(&away_ns), "{away_ns}");
    assert!(next.waker_tid != 0 && next.waker_tid != next.tid, "{next:?}");
}

/// A control group of version 1 with a CPU quota, removed at the end.
struct Quota(std::path::PathBuf);

impl Quota {
    fn new() -> std::io::Result<Self> {
        let path = Path::new("/sys/fs/cgroup/cpu").join(format!("fathom-test-{}", std::process::id()));
        std::fs::create_dir(&path)?;
        let group = Self(path);
        std::fs::write(group.0.join("cpu.cfs_period_us"), "50000")?;
        std::fs::write(group.0.join("cpu.cfs_quota_us"), "10000")?;
        Ok(group)
    }

    fn take_in(&self, pid: u32) -> std::io::Result<()> {
        std::fs::write(self.0.join("cgroup.procs"), pid.to_string())
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        for _ in 0..50 {
            if std::fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn what_the_quota_keeps_from_a_cpu_says_so() {
    let test = "what_the_quota_keeps_from_a_cpu_says_so";
    let quota = match Quota::new() {
        Ok(quota) => quota,
        Err(error) => return skipped(test, format_args!("a CPU quota of cgroup version 1: {error}")),
    };
    let hog = Hog::new();
    quota.take_in(hog.0.id()).expect("a process in its group");
    let wait = || std::thread::sleep(Duration::from_millis(600));
    let Some(((), seen)) = watched(test, vec![hog.0.id()], wait) else {
        return;
    };
    let held = seen
        .stays
        .iter()
        .filter(|stay| stay.blocked_on == BlockedOn::Quota);
    assert!(held.clone().all(|stay| stay.state == TaskState::Preempted));
    let held = held.count();
    drop(hog);
    // Kernels that hold the whole queue instead of the task (before 6.18) have no such stack.
    if held == 0 && !crate::trace::real::kernel_throttles_tasks() {
        return skipped(test, "a kernel that holds single tasks for the quota");
    }
    assert!((6..=20).contains(&held), "{held} in 12 periods: {:?}", seen.stays);
}
