use super::*;
use std::collections::BTreeSet;
use tempfile::tempfile;

/// 8 MiB and a little, so that the places counted from the end differ from those at round numbers.
const SIZE: u64 = (8 << 20) + 5 * 512;

fn image(writes: &[(u64, &[u8])]) -> File {
    let file = tempfile().expect("a temporary file");
    file.set_len(SIZE).expect("its size");
    for (offset, bytes) in writes {
        file.write_all_at(bytes, *offset).expect("written");
    }
    file
}

fn names(file: &File, size_bytes: u64) -> Vec<String> {
    let found = probe(file, size_bytes).expect("readable");
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn a_blank_device_has_nothing() {
    assert_eq!(names(&image(&[]), SIZE), Vec::<String>::new());
}

#[test]
fn each_magic_is_found_at_each_of_its_places() {
    for known in KNOWN {
        for magic in known.magics {
            for place in known.places {
                let offset = place.offset(SIZE).expect("large enough");
                if offset + magic.len() as u64 > SIZE {
                    continue;
                }
                let found = probe(&image(&[(offset, magic)]), SIZE).expect("readable");
                let expected = Signature {
                    what: known.what,
                    offset_bytes: offset,
                };
                assert!(found.contains(&expected), "{expected:?}: {found:?}");
            }
        }
    }
}

#[test]
fn places_that_are_counted_from_the_end() {
    let md_1_0 = End {
        align: 4 * KIB,
        back: 8 * KIB,
    };
    // drivers/md/md.c: (sectors - 16) & ~7, in sectors.
    for sectors in [16u64, 17, 2048, 2055, 16384 + 5] {
        assert_eq!(md_1_0.offset(sectors * 512), Some(((sectors - 16) & !7) * 512));
    }
    assert_eq!(md_1_0.offset(4096), None);
}

#[test]
fn the_table_is_sound() {
    let mut words = BTreeSet::new();
    for known in KNOWN {
        assert!(
            known.magics.iter().all(|magic| (2..=32).contains(&magic.len())),
            "{known:?}"
        );
        assert!(!known.places.is_empty());
        let article = ["a ", "an "]
            .iter()
            .any(|article| known.what.starts_with(article));
        assert!(article || known.what == "swap space", "{}", known.what);
        words.insert(known.what);
    }
    assert_eq!(words.len(), KNOWN.len() - 1, "only LUKS has two rows");
    assert_eq!(KNOWN.last().map(|known| known.what), Some(MBR));
}

#[test]
fn a_boot_sector_is_named_once() {
    let end: (u64, &[u8]) = (510, &[0x55, 0xaa]);
    assert_eq!(names(&image(&[end]), SIZE), [MBR]);
    assert_eq!(names(&image(&[end, (512, b"EFI PART")]), SIZE), [GPT]);
    assert_eq!(names(&image(&[end, (82, b"FAT32   ")]), SIZE), [FAT]);
    assert_eq!(
        names(&image(&[end, (0, b"XFSB")]), SIZE),
        ["an XFS file system", MBR]
    );
}

#[test]
fn all_that_is_there_is_named() {
    let file = image(&[
        (1080, &[0x53, 0xef]),
        (4086, b"SWAPSPACE2"),
        (512, b"LABELONE"),
        (1024, b"LABELONE"),
    ]);
    assert_eq!(
        names(&file, SIZE),
        [
            "an ext2/ext3/ext4 file system",
            "swap space",
            "an LVM physical volume"
        ]
    );
}

#[test]
fn small_devices_are_no_error() {
    for size in [0, 1, 511, 512, 4096, 65536] {
        assert_eq!(names(&image(&[]), size), Vec::<String>::new());
    }
}

#[test]
fn a_device_that_cannot_be_read_is_an_error() {
    let file = tempfile().expect("a temporary file");
    assert!(probe(&file, 4096).is_err(), "shorter than it says");
}
