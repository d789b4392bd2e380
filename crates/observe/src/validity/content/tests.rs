use super::*;
use proptest::prelude::*;

/// `FIEMAP_EXTENT_UNWRITTEN` of linux/fiemap.h.
const UNWRITTEN: u32 = 0x800;

fn extent(logical_bytes: u64, length_bytes: u64, flags: u32) -> Extent {
    Extent {
        logical_bytes,
        physical_bytes: 0,
        length_bytes,
        flags,
    }
}

#[test]
fn holes_and_unwritten_extents_are_missing() {
    let extents = [
        extent(0, 100, 0),
        extent(100, 100, UNWRITTEN),
        extent(300, 100, 0),
    ];
    let all = share(&extents, &(0..400), true);
    assert_eq!(
        all,
        Written {
            seen_bytes: 400,
            data_bytes: 200
        }
    );
    assert!((all.missing_percent() - 50.0).abs() < 1e-9);
    // Cut at both ends.
    let part = share(&extents, &(50..350), true);
    assert_eq!(
        part,
        Written {
            seen_bytes: 300,
            data_bytes: 100
        }
    );
}

#[test]
fn what_was_not_seen_is_not_judged() {
    let extents = [extent(0, 100, 0), extent(100, 100, UNWRITTEN)];
    assert_eq!(
        share(&extents, &(0..1000), false),
        Written {
            seen_bytes: 200,
            data_bytes: 100
        }
    );
    assert_eq!(
        share(&extents, &(0..1000), true),
        Written {
            seen_bytes: 1000,
            data_bytes: 100
        }
    );
}

proptest! {
    #[test]
    fn the_share_agrees_with_a_byte_map(
        pieces in prop::collection::vec((0u64..20, 1u64..20, any::<bool>()), 0..20),
        start in 0u64..200,
        length in 1u64..200,
    ) {
        let mut extents = Vec::new();
        let mut written = vec![false; 1000];
        let mut at = 0;
        for (gap, size, unwritten) in pieces {
            at += gap;
            extents.push(extent(at, size, if unwritten { UNWRITTEN } else { 0 }));
            written[at as usize..(at + size) as usize].fill(!unwritten);
            at += size;
        }
        let overlapping: Vec<Extent> = extents
            .into_iter()
            .filter(|e| e.logical_bytes + e.length_bytes > start && e.logical_bytes < start + length)
            .collect();
        let found = share(&overlapping, &(start..start + length), true);
        let bytes = &written[start as usize..(start + length) as usize];
        prop_assert_eq!(found.data_bytes, bytes.iter().filter(|&&b| b).count() as u64);
        prop_assert_eq!(found.seen_bytes, length);
    }
}

#[test]
fn seeking_finds_holes_where_the_file_system_knows_them() {
    use std::os::unix::fs::FileExt;
    let file = tempfile::tempfile().expect("a temporary file");
    file.set_len(1 << 20).expect("its size");
    file.write_all_at(&[7; 8192], 65536).expect("written");
    match by_seeking(&file, &(0..1 << 20)) {
        // Where nothing is known of holes, all is data (lseek(2)).
        Ok(Written {
            seen_bytes,
            data_bytes,
        }) => {
            assert_eq!(seen_bytes, 1 << 20);
            assert!(data_bytes == 8192 || data_bytes == 1 << 20, "{data_bytes}");
        }
        Err(error) => {
            fathom_testkit::skipped(
                "seeking_finds_holes_where_the_file_system_knows_them",
                format!("SEEK_DATA: {error}"),
            );
        }
    }
}
