use super::*;

fn at(read_percent: u8, block_size_bytes: u64, iodepth: u32) -> Coordinates {
    Coordinates {
        random: true,
        read_percent,
        block_size_bytes,
        iodepth,
        threads: 1,
    }
}

/// Reads take 1 ms and 1 µs for each KiB, writes twice that.
fn iops(at: Coordinates) -> f64 {
    let read = f64::from(at.read_percent) / 100.0;
    let us = (1000.0 + at.block_size_bytes as f64 / 1024.0) * (2.0 - read);
    f64::from(at.iodepth) * 1e6 / us
}

fn sources(places: &[Coordinates]) -> Vec<Source> {
    (0..)
        .zip(places)
        .map(|(number, &at)| Source {
            number,
            at,
            iops: iops(at),
        })
        .collect()
}

#[test]
fn latency_is_interpolated_in_size_and_in_mix() {
    let known = sources(&[at(100, 4096, 1), at(100, 1 << 20, 1), at(0, 4096, 1)]);
    let (found, along) = interpolated(&known, at(100, 65536, 1)).expect("between two sizes");
    assert!(along == Along::Size && (found / iops(at(100, 65536, 1)) - 1.0).abs() < 1e-9);
    let (found, along) = interpolated(&known, at(30, 4096, 1)).expect("between two mixes");
    assert!(along == Along::Mix && (found / iops(at(30, 4096, 1)) - 1.0).abs() < 1e-9);
    // Never beyond what is known.
    assert_eq!(interpolated(&known, at(100, 1 << 21, 1)), None);
    assert_eq!(interpolated(&known, at(0, 65536, 1)), None);
}

#[test]
fn a_law_is_proved_by_two_points_and_broken_by_one() {
    let places = [4096, 16384, 65536, 1 << 20].map(|size| at(100, size, 1));
    let mut known = sources(&places);
    assert!(Laws::of(&known).holds(Along::Size));
    assert!(!Laws::of(&known).holds(Along::Mix), "no mix lies between others");
    assert!(
        !Laws::of(&known[..3]).holds(Along::Size),
        "one point proves nothing"
    );
    known[1].iops *= 0.8;
    assert!(!Laws::of(&known).holds(Along::Size));
}

#[test]
fn more_depth_is_expected_to_bring_more() {
    let known = sources(&[
        at(100, 4096, 1),
        at(100, 1 << 20, 1),
        at(0, 4096, 1),
        at(0, 1 << 20, 1),
    ]);
    let expected = expected(&known, at(50, 65536, 8)).expect("corners");
    assert!(
        (expected / iops(at(50, 65536, 8)) - 1.0).abs() < 1e-9,
        "{expected}"
    );
    assert_eq!(super::expected(&[], at(50, 65536, 8)), None);
}
