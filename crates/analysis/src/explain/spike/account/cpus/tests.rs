use super::*;
use fathom_core::record::{BlockedOn, Comm, TaskState};

fn share(end_ms: u64, tid: u32, ran_ms: u64) -> CpuShare {
    CpuShare {
        end_ns: end_ms * 1_000_000,
        duration_ns: 10_000_000,
        cpu: 0,
        tid,
        comm: Comm::from(if tid == 0 { "" } else { "sh" }),
        ran_ns: ran_ms * 1_000_000,
    }
}

fn ms(holders: &Holders, tid: Option<u32>) -> f64 {
    let of_it = holders
        .iter()
        .filter(|(holder, _)| holder.map(|process| process.pid) == tid);
    of_it.map(|(_, ns)| ns / 1e6).sum()
}

/// The one that waited ran for 4 of 10 ms: the others had the time that it waited.
#[test]
fn a_span_is_divided_among_those_who_had_the_cpu() {
    let shares = [
        share(10, 7, 4),
        share(10, 8, 3),
        share(10, 0, 3),
        share(20, 8, 10),
    ];
    let cpus = Cpus::new(&[], &shares);
    let holders = cpus.holders(0, 7, 4_000_000, 16_000_000);
    assert!((ms(&holders, Some(8)) - 9.0).abs() < 1e-6, "{holders:?}");
    assert!((ms(&holders, None) - 3.0).abs() < 1e-6, "{holders:?}");
    assert!(ms(&holders, Some(7)) == 0.0);
    // Of another CPU nothing is known.
    assert!(cpus.holders(1, 7, 4_000_000, 16_000_000).is_empty());
}

#[test]
fn stays_that_cover_a_span_are_exact() {
    let stay = SchedSlice {
        cpu: 0,
        tid: 9,
        comm: Comm::from("hog"),
        ready_ns: None,
        start_ns: 1_000_000,
        end_ns: 9_000_000,
        state: TaskState::Preempted,
        blocked_on: BlockedOn::Unknown,
        waker_tid: 0,
        waker_comm: Comm::default(),
    };
    let (stays, shares) = ([stay], [share(10, 8, 10)]);
    let cpus = Cpus::new(&stays, &shares);
    let holders = cpus.holders(0, 7, 2_000_000, 8_000_000);
    assert!((ms(&holders, Some(9)) - 6.0).abs() < 1e-6, "{holders:?}");
    assert!(ms(&holders, Some(8)) == 0.0, "{holders:?}");
}
