use super::*;

/// What fio 3.33 left of four writes of 4 KiB in sequence (`--name=s --rw=write --bs=4k --size=16k --verify=crc32c`).
const SEQUENCE: &str = "0300000000000000a8000000000000007c611572000000000100000000000000010000000100000004000000000000000000\
    0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000\
    0000000000000000000000007300000000000000000000000000000000000000000000000000000000000000000000000000\
    000000000000000000000000000000000000000000000000000000000000000000000030000000000000";
/// The same in a random order, with two in flight.
const RANDOM_ORDER: &str = "0300000000000000b800000000000000d1ec5e67000000000200000000000000020000000100000004000000000000000000\
    00000000000000000000000000003dadb9ccf827a305c8677e13000000000000000000000000000000000000000000000000\
    0000000000000000000000006200000000000000000000000000000000000000000000000000000000000000000000000000\
    0000000000000000000000000000000000000000000000000000000000000000000000100000000000000000000000000000\
    0030000000000000";

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(pair).collect()
}

fn sequence() -> WrittenSoFar {
    WrittenSoFar {
        writes: 4,
        depth: 1,
        last: LastWrites::Completed(vec![(0, 12_288)]),
    }
}

#[test]
fn a_state_of_fio_is_read_and_written_again_byte_by_byte() {
    let of_fio = bytes(SEQUENCE);
    let read = read_state(&of_fio).unwrap();
    assert_eq!(read.written, sequence());
    assert!(!read.is_of_random_order);
    assert_eq!(write_state(&sequence(), "s", 1), of_fio);
}

#[test]
fn a_random_order_of_fio_is_told() {
    let read = read_state(&bytes(RANDOM_ORDER)).unwrap();
    assert!(read.is_of_random_order);
    assert_eq!(read.written.depth, 2);
    assert_eq!(read.written.writes, 4);
    assert!(matches!(read.written.last, LastWrites::Completed(places) if places.len() == 2));
}

#[test]
fn what_is_damaged_is_refused_wherever_it_is() {
    let good = bytes(SEQUENCE);
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        assert!(read_state(&bad).is_err(), "byte {at}");
    }
    for len in 0..good.len() {
        assert!(read_state(&good[..len]).is_err(), "{len} bytes");
    }
}

#[test]
fn the_later_layout_names_what_was_in_flight() {
    let mut rest = vec![0; NEW_BYTES + 16];
    rest[..4].copy_from_slice(&2u32.to_le_bytes());
    rest[8..16].copy_from_slice(&10u64.to_le_bytes());
    rest[144..152].copy_from_slice(&7u64.to_le_bytes());
    rest[152..160].copy_from_slice(&u64::MAX.to_le_bytes());
    let mut file = Vec::new();
    file.extend(7u64.to_le_bytes());
    file.extend((rest.len() as u64).to_le_bytes());
    file.extend(u64::from(crc32c(&rest)).to_le_bytes());
    file.extend(rest);
    let written = read_state(&file).unwrap().written;
    let held: Vec<u64> = (0..12).filter(|&index| written.holds(index, 0, 0)).collect();
    assert_eq!(held, [0, 1, 2, 3, 4, 5, 6, 8, 9]);
}

#[test]
fn of_the_last_writes_those_hold_that_were_completed() {
    let written = WrittenSoFar {
        writes: 6,
        depth: 3,
        last: LastWrites::Completed(vec![(0, 4096 * 5), (1, 4096 * 4)]),
    };
    let held = |index: u64, file: u32| written.holds(index, file, 4096 * index);
    assert!(held(0, 0) && held(2, 0));
    assert!(!held(3, 0));
    assert!(!held(4, 0) && held(4, 1));
    assert!(held(5, 0) && !held(6, 0));
}

#[test]
fn a_name_is_that_of_fio() {
    assert_eq!(state_name("m/1", 3), "local-m.1-3-verify.state");
}
