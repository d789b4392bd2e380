use super::{Medium, Service};
use crate::spec::{DiskSpec, SeekSpec, ServiceSpec};
use crate::testing::{MS, disk, flat, seed};
use fathom_core::backend::Op;
use fathom_core::rng::Rng;

const LEN: u32 = 64 << 10;

fn with_heads(streams: u32) -> DiskSpec {
    DiskSpec {
        read: flat(2000.0),
        write: flat(3000.0),
        seek: Some(SeekSpec {
            read_min_ns: 4 * MS,
            read_max_ns: 14 * MS,
            write_min_ns: MS,
            write_max_ns: MS,
            write_cost_bytes: 12_345,
            streams,
        }),
        ..disk()
    }
}

/// How many of the reads of interleaved sequential streams pay for a seek; each has three in its turn.
fn seeks(heads: u32, streams: u64) -> usize {
    let mut medium = Medium::new(&with_heads(heads), 1);
    let places = (0..100).flat_map(|turn| {
        (0..3 * streams).map(move |io| ((io / 3) << 32) + (turn * 3 + io % 3) * u64::from(LEN))
    });
    places
        .filter(|&offset| medium.serve(Op::Read, offset, LEN).time_ns > 2 * MS)
        .count()
}

#[test]
fn as_many_streams_are_told_apart_as_there_are_places() {
    assert_eq!(seeks(4, 1), 1);
    assert_eq!(seeks(4, 4), 4, "each once");
    assert_eq!(seeks(4, 5), 500, "each forgets the others");
}

/// A stream that goes on is remembered, however many others come by once.
#[test]
fn a_stream_in_use_outlives_random_io() {
    let seed = seed();
    let mut rng = Rng::new(seed);
    let mut medium = Medium::new(&with_heads(4), seed);
    for turn in 0..1000u64 {
        let service = medium.serve(Op::Read, (1 << 40) + turn * u64::from(LEN), LEN);
        assert_eq!(service.time_ns > 2 * MS, turn == 0, "seed {seed}, turn {turn}");
        for _ in 0..3 {
            medium.serve(Op::Read, rng.below(1 << 30) * 4096 + 1, LEN);
        }
    }
}

#[test]
fn seeks_lie_within_their_bounds_and_cost_writes_bytes() {
    let seed = seed();
    let mut medium = Medium::new(&with_heads(1), seed);
    let (mut shortest, mut longest) = (u64::MAX, 0);
    for turn in 0..20_000u64 {
        let read = medium.serve(Op::Read, turn * 7_000_003, LEN);
        assert_eq!(read.extra_bytes, 0);
        (shortest, longest) = (shortest.min(read.time_ns), longest.max(read.time_ns));
        let write = medium.serve(Op::Write, turn * 7_000_003, LEN);
        let expected = Service {
            time_ns: 4 * MS,
            extra_bytes: 12_345,
        };
        assert_eq!(write, expected);
    }
    assert!(
        (6 * MS..6 * MS + MS / 50).contains(&shortest),
        "seed {seed}: {shortest}"
    );
    assert!(
        (16 * MS - MS / 50..=16 * MS).contains(&longest),
        "seed {seed}: {longest}"
    );
}

/// Reads and writes have their own tables; what moves no data does not move the heads.
#[test]
fn each_direction_has_its_table() {
    let slope = |us, ns_per_kib| ServiceSpec {
        ns_per_kib,
        ..flat(us)
    };
    let spec = DiskSpec {
        read: slope(100.0, 1000),
        write: slope(200.0, 5000),
        ..with_heads(1)
    };
    let mut medium = Medium::new(&spec, 1);
    let mut time = |op, offset, len| medium.serve(op, offset, len).time_ns;
    for op in [Op::Sync, Op::DataSync] {
        assert_eq!(time(op, 0, 0), 200_000, "as a write of a page");
    }
    assert_eq!(time(Op::Trim, 1 << 30, 8192), 220_000);
    time(Op::Read, 0, 4096);
    assert_eq!(time(Op::Read, 4096, 8192), 104_000);
    assert_eq!(time(Op::Write, 12_288, 8192), 220_000);
}
