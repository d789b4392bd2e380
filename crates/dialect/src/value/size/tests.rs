//! fio 3.33 was asked for each of these: `bs=TEXT` with one I/O of the null engine, bytes read from its JSON.

use super::{amount, inverted_unit, number, read_in_part, seed, size};
use fathom_core::workload::Amount;

#[test]
fn sizes_are_those_of_fio() {
    let measured: [(&str, u64, u64); 17] = [
        ("4096", 4096, 4096),
        ("4096b", 4096, 4096),
        ("4k", 4096, 4000),
        ("4K", 4096, 4000),
        ("4kb", 4096, 4000),
        ("4kB", 4096, 4000),
        ("4Ki", 4096, 4000),
        ("4KiB", 4000, 4096),
        ("4kib", 4000, 4096),
        ("1m", 1 << 20, 1_000_000),
        ("1mb", 1 << 20, 1_000_000),
        ("1Mi", 1 << 20, 1_000_000),
        ("1MiB", 1_000_000, 1 << 20),
        ("1g", 1 << 30, 1_000_000_000),
        ("0x1000", 4096, 4096),
        ("0X1000", 4096, 4096),
        ("010", 10, 10),
    ];
    for (text, with_1024, with_1000) in measured {
        assert_eq!(size(text, 1024), Ok(with_1024), "{text}");
        assert_eq!(size(text, 1000), Ok(with_1000), "{text} with kb_base=1000");
    }
}

#[test]
fn large_units_and_the_largest_size() {
    assert_eq!(size("2t", 1024), Ok(2 << 40));
    assert_eq!(size("3p", 1024), Ok(3 << 50));
    assert_eq!(size("9223372036854775807", 1024), Ok(i64::MAX as u64));
    for text in ["9223372036854775808", "8192p", "99999999999999999999"] {
        assert!(size(text, 1024).is_err(), "{text}");
    }
}

/// As fio: up to where it is understood, and that is told.
#[test]
fn what_is_read_in_part() {
    for (text, bytes) in [
        ("4 k", 4),
        ("4x", 4),
        ("4kk", 4),
        ("4kib2", 4000),
        ("1e3", 1),
        ("4k*2", 4096),
        ("1s", 1),
        ("4é", 4),
    ] {
        assert_eq!(size(text, 1024), Ok(bytes), "{text}");
        assert_eq!(read_in_part(text, 1024), Some(bytes), "{text}");
    }
    for text in ["", "k", "-1", "\"4k\"", "0x", "1.2.3", "1.5x"] {
        assert!(size(text, 1024).is_err(), "{text}");
        assert_eq!(read_in_part(text, 1024), None, "{text}");
    }
    for (text, bytes) in [("4.5k", 4608), ("0.5m", 1 << 19), ("1.5", 1)] {
        assert_eq!(size(text, 1024), Ok(bytes), "{text}");
        assert_eq!(read_in_part(text, 1024), None, "{text}");
    }
}

#[test]
fn sums_in_parentheses() {
    for (text, bytes) in [
        ("(4k*2)", 8192),
        ("(1.5*1g)", 3 << 29),
        ("(8k-4096)", 4096),
        ("((1+1)^3*1m)", 8 << 20),
    ] {
        assert_eq!(size(text, 1024), Ok(bytes), "{text}");
    }
    assert!(size("(4k-8k)", 1024).is_err());
    assert!(size("(1p*1p)", 1024).is_err());
}

#[test]
fn amounts() {
    assert_eq!(amount("50%", 1024), Ok(Amount::Percent(50)));
    assert_eq!(amount("1g", 1024), Ok(Amount::Bytes(1 << 30)));
    for text in ["101%", "-1%", "%", "1.5%", "3z"] {
        assert!(amount(text, 1024).is_err(), "{text}");
    }
}

#[test]
fn numbers_and_seeds() {
    assert_eq!(number("-5", 1024), Ok(-5));
    assert_eq!(number("4k", 1024), Ok(4096));
    assert_eq!(number("0x10", 1024), Ok(16));
    assert!(number("--5", 1024).is_err());
    assert_eq!(seed("18446744073709551615"), Ok(u64::MAX));
    assert!(seed("5k").is_err());
}

#[test]
fn units_that_mean_the_opposite() {
    assert!(inverted_unit("4KiB", 1024));
    assert!(inverted_unit("4k,8MiB", 1024));
    assert!(!inverted_unit("4Ki", 1024));
    assert!(!inverted_unit("4KiB", 1000));
    assert!(!inverted_unit("lib", 1024));
}
