use super::{Device, Units};
use crate::spec::{DiskSpec, Limit, OutageSpec, PathLimits};
use crate::testing::{MS, SECOND, SLICES, between, disk, flat, limits, seed};
use fathom_core::backend::Op;
use fathom_core::rng::Rng;

const KIB: u32 = 1024;

#[test]
fn a_unit_more_than_whole_ones_counts_in_full() {
    let units = Units::new(256 << 10);
    for (len, expected) in [
        (1, 1),
        (4 * KIB, 1),
        (256 * KIB, 1),
        (256 * KIB + 1, 2),
        (512 * KIB, 2),
        (512 * KIB + 1, 3),
        (1 << 30, 4096),
    ] {
        assert_eq!(units.of(len), expected, "{len}");
    }
}

/// How many of such I/Os a second, always one more waiting.
fn rate(spec: &DiskSpec, op: Op, len: u32) -> f64 {
    let mut device = Device::new(spec, SLICES, 1);
    let count = 64 * 100;
    let mut queue = [0; 64];
    for io in 0..count {
        let now = queue[io % 64];
        queue[io % 64] = device.alone(now, now, op, 0, len);
    }
    count as f64 * 1e9 / queue[63] as f64
}

#[test]
fn large_io_costs_units() {
    let spec = DiskSpec {
        limits: PathLimits {
            iops: Limit::At(1000),
            ..PathLimits::default()
        },
        ..disk()
    };
    for (len, units) in [(256 * KIB, 1.0), (256 * KIB + 1, 2.0), (1024 * KIB, 4.0)] {
        let found = rate(&spec, Op::Read, len) * units;
        assert!(
            (found / 1000.0 - 1.0).abs() < 0.01,
            "{found} units a second at {len}"
        );
    }
}

#[test]
fn writes_have_a_ceiling_of_their_own() {
    let spec = DiskSpec {
        limits: limits(100_000, 200_000_000),
        write_bytes_per_second: Limit::At(67_000_000),
        ..disk()
    };
    for (op, expected) in [(Op::Write, 67e6), (Op::Read, 200e6), (Op::Trim, 200e6)] {
        let found = rate(&spec, op, 1024 * KIB) * 1_048_576.0;
        assert!((found / expected - 1.0).abs() < 0.02, "{op:?}: {found}");
    }
    let mut device = Device::new(&spec, SLICES, 1);
    for _ in 0..100 {
        device.alone(0, 0, Op::Write, 0, 1024 * KIB);
    }
    let (iops, bytes) = device.held_ns();
    assert!(iops == 0 && bytes > SECOND, "{iops} {bytes}");
}

/// A flush takes its time and no credit; a limit that holds all else does not hold it.
#[test]
fn a_flush_costs_no_credit() {
    let spec = DiskSpec {
        limits: limits(20, 4096),
        ..disk()
    };
    let mut device = Device::new(&spec, SLICES, 1);
    for _ in 0..1000 {
        assert_eq!(device.alone(7, 7, Op::Sync, 0, 0), 7 + MS);
        assert_eq!(device.alone(7, 7, Op::DataSync, 0, 0), 7 + MS);
    }
    assert_eq!(device.counters(0).flush_ios, 2000);
    let later = device.alone(7, 7, Op::Write, 0, 4096);
    assert!(later > 900 * MS, "the write is held: {later}");
    assert_eq!(device.alone(8, 8, Op::Sync, 0, 0), 8 + MS);
}

/// The time in which anything was in flight: intervals sorted and joined.
fn union(intervals: &mut [(u64, u64)]) -> u64 {
    intervals.sort_unstable();
    let (mut sum, mut to) = (0, 0);
    for &mut (from, end) in intervals {
        sum += end.saturating_sub(from.max(to));
        to = to.max(end);
    }
    sum
}

#[test]
fn counters_agree_with_a_list() {
    let seed = seed();
    for case in 0..50 {
        let mut rng = Rng::stream(seed, case);
        let spec = DiskSpec {
            read: between(100.0, 9000.0),
            write: between(100.0, 3000.0),
            limits: limits(500, 50_000_000),
            outages: vec![OutageSpec::Every {
                period_ns: SECOND,
                first_ns: SECOND / 3,
                duration_ns: 100 * MS,
            }],
            ..disk()
        };
        let mut device = Device::new(&spec, SLICES, seed);
        let (mut now, mut intervals) = (0, Vec::new());
        let (mut ios, mut bytes, mut times) = ([0u64; 4], [0u64; 4], [0u64; 4]);
        for _ in 0..1000 {
            now += rng.below(10 * MS);
            let op = [Op::Read, Op::Write, Op::Trim, Op::Sync][rng.below(4) as usize];
            let len = if op == Op::Sync {
                0
            } else {
                (1 + rng.below(100) as u32) * 4 * KIB
            };
            // Held elsewhere for a while: that is time in flight, too.
            let due = device.alone(now, now + case * MS, op, 0, len);
            intervals.push((now, due));
            let at = op.index();
            (ios[at], bytes[at], times[at]) =
                (ios[at] + 1, bytes[at] + u64::from(len), times[at] + due - now);
        }
        let found = device.counters(77);
        let message = format!("seed {seed}, case {case}: {found:?}");
        assert_eq!(
            [
                found.read_ios,
                found.write_ios,
                found.discard_ios,
                found.flush_ios
            ],
            ios,
            "{message}"
        );
        assert_eq!([found.read_bytes, found.write_bytes], bytes[..2], "{message}");
        assert_eq!([found.read_time_ns, found.write_time_ns], times[..2], "{message}");
        assert_eq!(found.weighted_busy_ns, times.iter().sum::<u64>(), "{message}");
        assert_eq!(found.busy_ns, union(&mut intervals), "{message}");
        assert_eq!((found.duration_ns, found.name.as_str()), (77, "disk"));
    }
}

/// All that is in flight ends together, right after an outage; nothing ends in it.
#[test]
fn an_outage_hits_all_that_is_in_flight() {
    let spec = DiskSpec {
        read: between(1000.0, 3000.0),
        write: flat(5e6),
        outages: vec![OutageSpec::Once {
            at_ns: 10 * MS,
            duration_ns: SECOND,
        }],
        ..disk()
    };
    let mut device = Device::new(&spec, SLICES, seed());
    // One that outlasts the outage does not hide it.
    assert_eq!(device.alone(0, 0, Op::Write, 0, 4096), 5 * SECOND);
    let mut ends = Vec::new();
    for now in (0..200).map(|io| io * MS / 10) {
        ends.push((now, device.alone(now, now, Op::Read, 0, 4096)));
    }
    let outage = 10 * MS..10 * MS + SECOND;
    assert!(ends.iter().all(|(_, end)| !outage.contains(end)));
    let (hit, clear): (Vec<_>, Vec<_>) = ends.iter().partition(|(now, _)| *now > 9 * MS);
    assert!(hit.iter().all(|(_, end)| *end == outage.end));
    assert!(
        clear
            .iter()
            .filter(|(now, _)| *now < 7 * MS)
            .all(|(now, end)| end - now <= 3 * MS)
    );
}

/// What is held by a limit is not in service: it does not crowd the others.
#[test]
fn only_what_is_in_service_crowds() {
    let crowded = |limits| DiskSpec {
        crowding: Some(crate::spec::CrowdingSpec {
            ns_per_io: 1000,
            most: 100,
        }),
        limits,
        read: flat(500.0),
        ..disk()
    };
    let mut free = Device::new(&crowded(PathLimits::default()), SLICES, 1);
    let ends: Vec<u64> = (0..50).map(|_| free.alone(0, 0, Op::Read, 0, 4096)).collect();
    assert_eq!(
        ends,
        (0..50).map(|others| MS / 2 + others * 1000).collect::<Vec<u64>>()
    );
    // Ten a slice: nine others at most.
    let mut held = Device::new(&crowded(limits(200, 1 << 40)), SLICES, 1);
    let ends = (0..50).map(|_| held.alone(0, 0, Op::Read, 0, 4096));
    for (io, end) in (0u64..).zip(ends) {
        assert_eq!(end, io / 10 * 50 * MS + MS / 2 + io % 10 * 1000);
    }
}

/// One after the other, and time for the I/O and for its bytes adds up; of two limits the longer one would hold.
#[test]
fn what_handles_all_takes_them_in_turn() {
    let mut device = Device::new(
        &DiskSpec {
            handling: Some(crate::spec::HandlingSpec {
                read_ns: 10_000,
                read_ns_per_kib: 1_000,
                write_ns: 20_000,
                write_ns_per_kib: 5_000,
            }),
            limits: PathLimits::default(),
            read: flat(50.0),
            write: flat(70.0),
            ..disk()
        },
        SLICES,
        1,
    );
    let mut ends = |op, kib: u32| device.alone(0, 0, op, 0, kib << 10);
    assert_eq!(ends(Op::Read, 4), 50_000);
    assert_eq!(ends(Op::Read, 16), 14_000 + 50_000);
    assert_eq!(ends(Op::Write, 4), 14_000 + 26_000 + 70_000);
    assert_eq!(ends(Op::Sync, 0), 14_000 + 26_000 + 40_000 + 70_000);
    assert_eq!(ends(Op::Read, 4), 14_000 + 26_000 + 40_000 + 20_000 + 50_000);
    // What comes when nothing is handled waits for nothing.
    assert_eq!(device.alone(MS, MS, Op::Read, 0, 4096), MS + 50_000);
}

impl Device {
    /// An I/O that costs what it is.
    fn alone(&mut self, queued_ns: u64, now_ns: u64, op: Op, offset: u64, len: u32) -> u64 {
        let cost = self.cost(offset, len);
        self.admit((queued_ns, now_ns), (op, offset, len), cost)
    }
}
