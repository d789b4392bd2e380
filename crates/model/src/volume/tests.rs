use super::Volume;
use crate::spec::{DiskSpec, Limit, PathLimits, SeekSpec, Spec, VmSpec};
use crate::testing::{MS, disk, flat, limits, seed, spec};
use fathom_core::backend::Op;
use fathom_core::rng::Rng;

const CHUNK: u64 = 64 << 10;

#[test]
fn pieces_agree_with_going_byte_by_byte() {
    let seed = seed();
    let mut rng = Rng::new(seed);
    for disks in 1..=5usize {
        let mut volume = Volume::new(&spec(disks));
        assert_eq!(volume.size_bytes(), disks as u64 * (1 << 30));
        let (mut ios, mut bytes) = (vec![0u64; disks], vec![0u64; disks]);
        for turn in 0..300 {
            let offset = rng.below(1 << 28) / 512 * 512;
            let longest = 1u64 << (9 + rng.below(11));
            let len = (1 + rng.below(longest)) as u32;
            volume.admit(turn * 100 * MS, Op::Write, offset, len);
            let mut last = None;
            for byte in (offset..offset + u64::from(len))
                .step_by(64)
                .chain([offset + u64::from(len) - 1])
            {
                let (chunk, on) = (byte / CHUNK, (byte / CHUNK) as usize % disks);
                // One disk has no chunks.
                if last.is_none_or(|last| last != chunk && disks > 1) {
                    ios[on] += 1;
                }
                last = Some(chunk);
            }
            for byte in offset..offset + u64::from(len) {
                bytes[(byte / CHUNK) as usize % disks] += 1;
            }
        }
        let found = volume.counters(0);
        let found_ios: Vec<u64> = found.iter().map(|disk| disk.write_ios).collect();
        let found_bytes: Vec<u64> = found.iter().map(|disk| disk.write_bytes).collect();
        assert_eq!(
            (found_ios, found_bytes),
            (ios, bytes),
            "seed {seed}, {disks} disks"
        );
    }
}

/// Read from end to end, each disk is read from end to end: places on the disks follow each other.
#[test]
fn sequential_io_is_sequential_on_each_disk() {
    let mut spec = spec(3);
    for disk in &mut spec.disks {
        disk.seek = Some(SeekSpec {
            read_min_ns: 100 * MS,
            read_max_ns: 100 * MS,
            write_min_ns: 0,
            write_max_ns: 0,
            write_cost_bytes: 0,
            streams: 1,
        });
    }
    let mut volume = Volume::new(&spec);
    let mut seeks = 0;
    let step = 40 << 10;
    for turn in 0..1000 {
        let now = turn * 1000 * MS;
        seeks += u64::from(volume.admit(now, Op::Read, turn * step, step as u32) - now > 50 * MS);
    }
    // The first I/O needs one disk, the next two are the first to reach the others.
    assert_eq!(seeks, 3);
    assert!(volume.admit(u64::MAX / 4, Op::Read, 0, 4096) > u64::MAX / 4 + 50 * MS);
}

#[test]
fn an_io_ends_with_its_last_piece() {
    let mut spec = spec(2);
    spec.disks[1].read = flat(9000.0);
    let mut volume = Volume::new(&spec);
    let mut time = |op, offset, len| volume.admit(0, op, offset, len);
    assert_eq!(time(Op::Read, 0, 4096), MS, "the fast one only");
    assert_eq!(time(Op::Read, CHUNK, 4096), 9 * MS);
    assert_eq!(time(Op::Read, CHUNK - 512, 1024), 9 * MS, "both");
    assert_eq!(time(Op::Read, 2 * CHUNK - 512, 1024), 9 * MS, "both");
    assert_eq!(time(Op::Sync, 0, 0), MS, "writes are fast on both");
    let flushes: Vec<u64> = volume.counters(0).iter().map(|disk| disk.flush_ios).collect();
    assert_eq!(flushes, [1, 1]);
}

fn with_vm(disks: usize, uncached: PathLimits) -> Spec {
    Spec {
        vm: Some(VmSpec {
            name: String::from("vm"),
            vcpus: None,
            uncached,
            cached: PathLimits::default(),
            cards: 1,
        }),
        ..spec(disks)
    }
}

/// I/Os a second over the whole volume, 64 at a time.
fn rate(spec: &Spec, len: u32) -> f64 {
    let mut volume = Volume::new(spec);
    let mut rng = Rng::new(3);
    let count = 6400;
    let mut queue = [0; 64];
    for io in 0..count {
        let now = queue[io % 64];
        let offset = rng.below((1 << 29) / u64::from(len)) * u64::from(len);
        queue[io % 64] = volume.admit(now, Op::Read, offset, len);
    }
    count as f64 * 1e9 / queue.iter().max().map_or(1.0, |&last| last as f64)
}

#[test]
fn the_machine_has_one_limit_for_all_disks() {
    for disks in [1, 2, 4] {
        let found = rate(&with_vm(disks, limits(1000, 1 << 40)), 4096);
        // The first share comes at once.
        assert!((found / 1000.0 - 1.0).abs() < 0.02, "{disks}: {found}");
        let found = rate(&with_vm(disks, limits(1 << 40, 100 << 20)), CHUNK as u32) / 1600.0;
        assert!((found - 1.0).abs() < 0.02, "{disks}: {found}");
    }
    // Each disk has its own limit besides.
    let mut slow = with_vm(4, limits(100_000, 1 << 40));
    for disk in &mut slow.disks {
        disk.limits.iops = Limit::At(300);
    }
    let found = rate(&slow, 4096);
    assert!((1000.0..=1260.0).contains(&found), "{found}");
}

#[test]
fn flushes_pass_the_machines_limit() {
    let mut volume = Volume::new(&with_vm(2, limits(1, 4096)));
    for now in 0..1000 {
        assert_eq!(volume.admit(now, Op::Sync, 0, 0), now + MS);
    }
    let names: Vec<&str> = volume.held_ns().iter().map(|(name, _)| *name).collect();
    assert_eq!(
        names,
        ["disk IOPS", "disk MB/s", "VM uncached IOPS", "VM uncached MB/s"]
    );
}

/// Cut into one disk's chunks and not cut come to the same, as long as no I/O spans two of them.
#[test]
fn one_striped_disk_is_a_disk() {
    let mut one = spec(1);
    one.disks[0] = DiskSpec {
        read: crate::testing::between(100.0, 5000.0),
        limits: limits(2000, 20 << 20),
        ..disk()
    };
    let (mut plain, mut striped) = (Volume::new(&one), Volume::new(&one));
    let mut rng = Rng::new(seed());
    let mut now = 0;
    for _ in 0..5000 {
        now += rng.below(MS);
        let (op, offset) = (
            [Op::Read, Op::Write, Op::Sync][rng.below(3) as usize],
            rng.below(1000) * CHUNK,
        );
        let len = if op == Op::Sync {
            0
        } else {
            1 + rng.below(CHUNK) as u32
        };
        assert_eq!(
            plain.admit(now, op, offset, len),
            striped.admit_striped(now, op, offset, len)
        );
    }
    assert_eq!(plain.counters(1), striped.counters(1));
}

/// Disks of one volume draw apart from each other.
#[test]
fn disks_are_not_in_step() {
    let mut two = spec(2);
    for disk in &mut two.disks {
        disk.read = crate::testing::between(1000.0, 9000.0);
    }
    let mut volume = Volume::new(&two);
    let equal = (0..1000).filter(|turn| {
        let now = turn * 1000 * MS;
        volume.admit(now, Op::Read, 0, 4096) == volume.admit(now, Op::Read, CHUNK, 4096)
    });
    assert!(equal.count() < 10);
}
