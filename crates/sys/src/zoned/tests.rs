use super::{RawZone, Zone, ZoneCondition, ZoneKind, finish, reset, zone_at, zone_bytes, zones};

/// `linux/blkzoned.h`, for x86 and Arm.
#[test]
fn ioctls_are_the_kernels() {
    let numbers = [
        super::BLKREPORTZONE,
        super::BLKRESETZONE,
        super::BLKGETZONESZ,
        super::BLKGETNRZONES,
        super::BLKFINISHZONE,
    ];
    assert_eq!(
        numbers,
        [0xc010_1282, 0x4010_1283, 0x8004_1284, 0x8004_1285, 0x4010_1288]
    );
}

/// Sectors become bytes, and what a condition says of the pointer counts.
#[test]
fn a_zone_is_read_in_bytes() {
    let raw = |condition, write_pointer| RawZone {
        start: 1000,
        len: 200,
        write_pointer,
        kind: 2,
        condition,
        capacity: 150,
        ..RawZone::default()
    };
    let written = |condition, pointer| Zone::from_raw(&raw(condition, pointer), true).written_bytes;
    assert_eq!(written(1, 1000), 0);
    assert_eq!(written(2, 1010), 10 * 512);
    assert_eq!(written(4, 1149), 149 * 512);
    // Full: wherever the device says that its pointer is.
    assert_eq!(written(0xe, u64::MAX), 150 * 512);
    assert_eq!(written(0xe, 1000), 150 * 512);
    assert_eq!(written(0xf, 1100), 0);
    // A pointer outside is none.
    assert_eq!(written(2, 0), 0);
    assert_eq!(written(2, 5000), 150 * 512);
    let zone = Zone::from_raw(&raw(3, 1020), false);
    assert_eq!(
        zone,
        Zone {
            start_bytes: 512_000,
            len_bytes: 102_400,
            capacity_bytes: 102_400,
            written_bytes: 10_240,
            kind: ZoneKind::Sequential,
            condition: ZoneCondition::Open,
        }
    );
    let conventional = RawZone {
        kind: 1,
        ..raw(0, u64::MAX)
    };
    assert_eq!(Zone::from_raw(&conventional, true).kind, ZoneKind::Conventional);
}

/// What is no block device says so.
#[test]
fn a_file_has_no_zones() {
    let file = tempfile::tempfile().expect("a file");
    let enotty = Some(libc::ENOTTY);
    assert_eq!(zone_bytes(&file).expect_err("a file").raw_os_error(), enotty);
    assert_eq!(zones(&file).expect_err("a file").raw_os_error(), enotty);
    assert_eq!(zone_at(&file, 0).expect_err("a file").raw_os_error(), enotty);
    assert_eq!(reset(&file, 0, 512).expect_err("a file").raw_os_error(), enotty);
    assert_eq!(finish(&file, 0, 512).expect_err("a file").raw_os_error(), enotty);
}
