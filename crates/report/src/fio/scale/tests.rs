//! Numbers in fio's words.

use super::{MSEC, NSEC, Scaled, USEC, in_words, unit_of};

/// As fio 3.33 printed them.
#[test]
fn numbers_are_as_fio_writes_them() {
    for (number, of, expected) in [
        (0, Scaled::Binary, "0B"),
        (4_096, Scaled::Binary, "4096B"),
        (10_000, Scaled::Binary, "9.77KiB"),
        (65_536, Scaled::Binary, "64.0KiB"),
        (65_536, Scaled::Decimal, "65.5kB"),
        (540_672, Scaled::Binary, "528KiB"),
        (540_672, Scaled::Decimal, "541kB"),
        (2_097_152, Scaled::Binary, "2048KiB"),
        (2_097_152, Scaled::Decimal, "2097kB"),
        (13_200, Scaled::Plain, "13.2k"),
        (2_003, Scaled::Plain, "2003"),
        (2_780_000, Scaled::Plain, "2780k"),
        (54_067_200, Scaled::Decimal, "54.1MB"),
        (21_938_618_368, Scaled::Binary, "20.4GiB"),
    ] {
        assert_eq!(in_words(number, 4, of), expected);
    }
    assert_eq!(in_words(1_163_600, 6, Scaled::Plain), "1163.6k");
    assert_eq!(in_words(426_444, 6, Scaled::Plain), "426444");
    assert_eq!(in_words(1 << 50, 4, Scaled::BinaryBits), "8192Tibit");
    assert_eq!(in_words(u64::MAX, 4, Scaled::Decimal), "18.4EB");
}

#[test]
fn times_have_the_unit_that_fits() {
    assert_eq!(unit_of(1_204, 76_219, Some(8_856.0)), NSEC);
    assert_eq!(unit_of(75_000, 1_095_000, Some(216_440.0)), USEC);
    assert_eq!(unit_of(426_444, 426_444, Some(0.0)), NSEC);
    assert_eq!(unit_of(428_032, 428_032, None), USEC);
    assert_eq!(unit_of(2_100_000, 100_000_000, Some(2e6)), MSEC);
}
