use super::*;
use fathom_core::sweep::Coordinates;

#[test]
fn points_in_words() {
    let at = Coordinates {
        random: true,
        read_percent: 80,
        block_size_bytes: 4096,
        iodepth: 16,
        threads: 2,
    };
    assert_eq!(
        point(at),
        "random, 80 % reads, 4 KiB, depth 16 on each of 2 threads"
    );
    let at = Coordinates {
        random: false,
        read_percent: 0,
        threads: 1,
        ..at
    };
    assert_eq!(point(at), "sequential writes, 4 KiB, depth 16");
}

#[test]
fn shares_never_vanish() {
    assert_eq!(percent(0.0), "0.1 %");
    assert_eq!(percent(0.021), "2.1 %");
    assert_eq!(percent(0.5), "50 %");
}

#[test]
fn lists_of_sizes() {
    assert_eq!(sizes(&[4096]), "4 KiB");
    assert_eq!(sizes(&[4096, 8192]), "4 KiB and 8 KiB");
    assert_eq!(sizes(&[4096, 8192, 1 << 20]), "4 KiB to 1 MiB");
}
