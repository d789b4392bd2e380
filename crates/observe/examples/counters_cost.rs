//! What a sample of all counters costs on this machine: CPU time of this thread a sample.
//!
//! `cargo run --release -p fathom-observe --example counters_cost [DISK…]`, all disks where none is named
#![forbid(unsafe_code)]

use fathom_observe::SystemRoot;
use fathom_observe::counters::CounterSampler;
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

const SAMPLES: u32 = 20;

fn now_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn main() {
    let root = SystemRoot::default();
    let mut disks: Vec<String> = std::env::args().skip(1).collect();
    if disks.is_empty() {
        disks = root.list("/sys/block").unwrap_or_default();
    }
    let (mut sampler, remarks) = CounterSampler::new(&root, &disks);
    for remark in remarks {
        println!("{remark}");
    }
    let (mut rows, mut processes) = (Vec::new(), Vec::new());
    let (mut whole, mut queues) = (Vec::new(), Vec::new());
    for _ in 0..SAMPLES {
        // Apart, as in a run: what is warm in a tight loop is cold then.
        std::thread::sleep(Duration::from_secs(1));
        rows.clear();
        processes.clear();
        let begin = now_ns(ClockId::ThreadCPUTime);
        sampler.sample(now_ns(ClockId::Monotonic), &mut rows, &mut processes);
        whole.push(now_ns(ClockId::ThreadCPUTime) - begin);
        std::thread::sleep(Duration::from_millis(100));
        let begin = now_ns(ClockId::ThreadCPUTime);
        sampler.sample_disks(now_ns(ClockId::Monotonic), &mut rows);
        queues.push(now_ns(ClockId::ThreadCPUTime) - begin);
    }
    whole.sort_unstable();
    queues.sort_unstable();
    let us = |ns: u64| ns as f64 / 1e3;
    let count = root.list("/proc").unwrap_or_default();
    let count = count.iter().filter(|name| name.parse::<u32>().is_ok()).count();
    println!(
        "{} disks, {count} processes, {} rows, {} of processes",
        disks.len(),
        rows.len(),
        processes.len()
    );
    let middle = SAMPLES as usize / 2;
    println!(
        "all: median {:.0} us, most {:.0} us",
        us(whole[middle]),
        us(whole[whole.len() - 1])
    );
    println!(
        "queues: median {:.1} us, most {:.1} us",
        us(queues[middle]),
        us(queues[queues.len() - 1])
    );
    println!(
        "at 1 Hz and 10 Hz: {:.3} % of a core",
        (us(whole[middle]) + 10.0 * us(queues[middle])) / 1e4
    );
}
