use super::*;
use crate::spec::KIB;
use crate::testing::disk;

fn merge(unit_bytes: u64, merged_streams: u32, whole_units: bool) -> Merge {
    let spec = DiskSpec {
        io_unit_bytes: unit_bytes,
        merged_streams,
        whole_units,
        ..disk()
    };
    Merge::new(&spec).expect("it merges")
}

fn units(merge: &mut Merge, ios: &[(u64, u64)]) -> u64 {
    ios.iter()
        .map(|&(offset, len)| merge.cost(offset, len as u32).units)
        .sum()
}

/// Documented (ebs-io-characteristics.md): eight contiguous I/Os of 32 KiB count as one of 256 KiB, eight random ones as
/// eight; one of 1,024 KiB counts as four.
#[test]
fn io_counting_of_aws() {
    let sequential: Vec<(u64, u64)> = (0..8).map(|at| (at * 32 * KIB, 32 * KIB)).collect();
    let random: Vec<(u64, u64)> = (0..8).map(|at| (at * 4096 * KIB, 32 * KIB)).collect();
    assert_eq!(units(&mut merge(256 * KIB, 16, false), &sequential), 1);
    assert_eq!(units(&mut merge(256 * KIB, 16, false), &random), 8);
    assert_eq!(units(&mut merge(256 * KIB, 16, false), &[(0, 1024 * KIB)]), 4);
    // HDD: a random I/O of any size costs a whole MiB.
    let mut hdd = merge(1024 * KIB, 16, true);
    assert_eq!(
        hdd.cost(0, 4096),
        Cost {
            units: 1,
            bytes: 1 << 20
        }
    );
    assert_eq!(hdd.cost(4096, 4096), Cost { units: 0, bytes: 0 });
    assert_eq!(
        hdd.cost(1 << 30, 16 << 10),
        Cost {
            units: 1,
            bytes: 1 << 20
        }
    );
}

#[test]
fn streams_are_told_apart_up_to_their_number() {
    let both = |streams| {
        let mut merge = merge(256 * KIB, streams, false);
        let ios: Vec<(u64, u64)> = (0..64)
            .flat_map(|at| [(at * 4 * KIB, 4 * KIB), ((1 << 30) + at * 4 * KIB, 4 * KIB)])
            .collect();
        units(&mut merge, &ios)
    };
    assert_eq!(both(2), 2);
    assert_eq!(both(1), 128);
}

#[test]
fn nothing_is_counted_twice_or_lost() {
    // A stream in I/Os of odd sizes costs its bytes, rounded up to a unit.
    let mut merge = merge(256 * KIB, 1, true);
    let (mut at, mut units, mut bytes) = (0, 0, 0);
    for len in [512u64, 300 * KIB, 4096, 1 << 20, 255 * KIB, 7 * 512] {
        let cost = merge.cost(at, len as u32);
        at += len;
        units += cost.units;
        bytes += cost.bytes;
    }
    assert_eq!(
        (units, bytes),
        (at.div_ceil(256 * KIB), at.next_multiple_of(256 * KIB))
    );
}
