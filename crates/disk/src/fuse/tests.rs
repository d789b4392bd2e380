use super::{is_forced, may_ask_for_maps};
use fuser::{OpenFlags, Version};
use rustix::fs::OFlags;

#[test]
fn a_synchronous_write_is_known_by_its_flags() {
    let flags = |flags: OFlags| OpenFlags(flags.bits().cast_signed());
    for (given, forced) in [
        (OFlags::RDWR, false),
        (OFlags::RDWR | OFlags::DIRECT, false),
        (OFlags::WRONLY | OFlags::DSYNC, true),
        (OFlags::RDWR | OFlags::DIRECT | OFlags::SYNC, true),
    ] {
        assert_eq!(is_forced(flags(given)), forced, "{given:?}");
    }
}

#[test]
fn kernels_whose_mappings_hold_up_writers_are_not_asked_for_them() {
    // Linux 6.6 to 6.8, 6.9, 6.18.
    for (kernel, asked) in [
        (Version(7, 39), false),
        (Version(7, 40), true),
        (Version(7, 45), true),
    ] {
        assert_eq!(may_ask_for_maps(kernel), asked, "{kernel}");
    }
}
