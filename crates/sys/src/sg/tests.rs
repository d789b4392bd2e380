//! Commands as the standard has them, and what is made of answers. Disks: `cargo xtask guest`.

use super::*;
use crate::arena::PageKind;

#[test]
fn small_commands_have_ten_bytes_and_others_sixteen() {
    let cdb = cdb::transfer(false, false, (0x12_3456_0000, 8 << 10), 512).expect("whole blocks");
    assert_eq!(cdb[..10], [0x28, 0, 0x09, 0x1a, 0x2b, 0, 0, 0, 16, 0]);
    assert_eq!(cdb::length(&cdb), 10);
    let cdb = cdb::transfer(true, true, (4096, 4096), 4096).expect("whole blocks");
    assert_eq!(cdb[..10], [0x2a, 8, 0, 0, 0, 1, 0, 0, 1, 0]);
    // Behind 2^32 blocks, and of more than 2^16 - 1.
    let cdb = cdb::transfer(true, true, (512 << 32, 512), 512).expect("whole blocks");
    assert_eq!(cdb, [0x8a, 8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0]);
    assert_eq!(cdb::length(&cdb), 16);
    let cdb = cdb::transfer(false, false, (0, 512 << 16), 512).expect("whole blocks");
    assert_eq!(cdb, [0x88, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
}

#[test]
fn parts_of_blocks_are_no_commands() {
    for place in [(0, 0), (0, 100), (512, 4096), (4096, 512)] {
        assert_eq!(cdb::transfer(false, false, place, 4096), None, "{place:?}");
        assert_eq!(cdb::unmap(place, 4096), None, "{place:?}");
    }
}

#[test]
fn unmap_has_one_range() {
    let (cdb, ranges) = cdb::unmap((1 << 20, 64 << 10), 512).expect("whole blocks");
    assert_eq!((cdb[0], cdb[8], cdb::length(&cdb)), (0x42, 24, 10));
    assert_eq!(ranges[..8], [0, 22, 0, 16, 0, 0, 0, 0]);
    assert_eq!(ranges[8..], [0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 128, 0, 0, 0, 0]);
}

#[test]
fn a_capacity_is_one_more_than_the_last_block() {
    assert_eq!(cdb::capacity_10([0, 0, 0, 9, 0, 0, 2, 0]), Some((10, 512)));
    assert_eq!(cdb::capacity_10([0xff, 0xff, 0xff, 0xff, 0, 0, 2, 0]), None);
    let mut long = [0; 32];
    long[3] = 1;
    long[10] = 0x10;
    assert_eq!(cdb::capacity_16(&long), Some(((1 << 32) + 1, 4096)));
    assert_eq!(cdb::capacity_16(&[0xff; 32]), None);
}

#[test]
fn what_a_disk_says_becomes_an_errno() {
    let fixed = |key: u8| Sense::of(&[0xf0, 0, key | 0x40, 0]);
    let described = |key: u8| Sense::of(&[0x72, key]);
    for sense in [fixed, described as fn(u8) -> Sense] {
        let ended = |key| Header::ended(0x02, 0, 4096, 0).errno(sense(key));
        assert_eq!(ended(0x1), None, "recovered");
        assert_eq!(ended(0x3), Some(libc::ENODATA));
        assert_eq!(ended(0x5), Some(libc::EREMOTEIO));
        assert_eq!(ended(0xb), Some(libc::EIO));
        assert!(sense(6).is_attention());
    }
    let nothing = Sense::of(&[]);
    assert_eq!(Header::ended(0, 0, 4096, 0).errno(nothing), None);
    assert_eq!(Header::ended(0x02, 0, 4096, 0).errno(nothing), Some(libc::EIO));
    assert_eq!(Header::ended(0x18, 0, 0, 0).errno(nothing), Some(libc::EBADE));
    assert_eq!(Header::ended(0, 0x03, 0, 0).errno(nothing), Some(libc::ETIMEDOUT));
    assert_eq!(Header::ended(0, 0, 4096, 1024).moved(), 3072);
    assert_eq!(Header::ended(0, 0, 4096, -1).moved(), 4096);
}

#[test]
fn what_is_no_disk_says_so() {
    let file = || tempfile::tempfile().expect("a file");
    let error = capacity(&file()).expect_err("no disk");
    assert_eq!(error.raw_os_error(), Some(libc::ENOTTY));
    let config = SgConfig {
        iodepth: 4,
        writes: false,
        reads_medium: false,
        writes_medium: false,
        polls: false,
    };
    let arena = |slots| Arena::new(slots, 4096, PageKind::Normal).expect("arena");
    let error = Sg::new(config, vec![file()], arena(4)).expect_err("no disk");
    assert_eq!(error.raw_os_error(), Some(libc::ENOTTY));
    let error = Sg::new(config, vec![], arena(2)).expect_err("too few buffers");
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
}
