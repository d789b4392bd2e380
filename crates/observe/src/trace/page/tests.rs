use super::*;
use proptest::prelude::*;

const HEADER: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;
";

fn layout() -> PageLayout {
    PageLayout::parse(HEADER).expect("a layout")
}

fn head(kind: u32, delta: u32) -> [u8; 4] {
    let word = if cfg!(target_endian = "little") {
        kind | delta << 5
    } else {
        kind << 27 | delta
    };
    word.to_ne_bytes()
}

fn page(time_ns: u64, flags: u64, data: &[&[u8]]) -> Vec<u8> {
    let data = data.concat();
    let mut page = time_ns.to_ne_bytes().to_vec();
    page.extend((data.len() as u64 | flags).to_ne_bytes());
    page.extend(data);
    page.resize(4096, 0xEE);
    page
}

fn all(page: &[u8]) -> (Vec<(u64, Vec<u8>)>, bool) {
    let mut records = layout().records(page);
    let mut found = Vec::new();
    for record in &mut records {
        found.push((record.time_ns, record.payload.to_vec()));
    }
    (found, records.is_torn())
}

#[test]
fn each_kind_of_record_is_read() {
    let page = page(
        1_000,
        0,
        &[
            // Two words.
            &head(2, 10),
            b"abcdefgh",
            // More time than 27 bits hold: 2^27 + 5 ns.
            &head(TIME_EXTEND, 5),
            &1u32.to_ne_bytes(),
            &head(1, 0),
            b"late",
            // Discarded: 8 bytes after its length.
            &head(PADDING, 1),
            &12u32.to_ne_bytes(),
            b"ignored!",
            // A time of its own.
            &head(TIME_STAMP, 7),
            &2u32.to_ne_bytes(),
            // The length in a word: 5 bytes and 3 of filling.
            &head(0, 3),
            &9u32.to_ne_bytes(),
            b"long.\0\0\0",
            // The rest is empty.
            &head(PADDING, 0),
            &[0xFF; 40],
        ],
    );
    let (found, torn) = all(&page);
    let expected = [
        (1_010, &b"abcdefgh"[..]),
        (1_010 + (1 << 27) + 5, b"late"),
        ((2 << 27) + 7 + 3, b"long.\0\0\0"),
    ];
    let expected: Vec<_> = expected
        .iter()
        .map(|(time, bytes)| (*time, bytes.to_vec()))
        .collect();
    assert_eq!((found, torn), (expected, false));
}

#[test]
fn lost_events_are_told_and_their_number_behind_the_data_is_no_record() {
    let mut page = page(5, u64::from(MISSED) | 1 << 30, &[&head(1, 0), b"four"]);
    page[16 + 8..16 + 16].copy_from_slice(&99u64.to_ne_bytes());
    assert!(layout().records(&page).missed());
    assert_eq!(all(&page).0.len(), 1);
    page[8..16].copy_from_slice(&8u64.to_ne_bytes());
    assert!(!layout().records(&page).missed());
}

#[test]
fn what_breaks_off_is_torn() {
    assert!(all(&page(5, 0, &[&head(5, 0), b"four"])).1);
    assert!(all(&page(5, 0, &[&head(0, 0), &3u32.to_ne_bytes()])).1);
    assert!(all(&page(5, 0, &[&head(PADDING, 1), &2u32.to_ne_bytes()])).1);
    assert!(all(&page(5, 5000, &[])).1, "more in use than a page holds");
    assert!(all(&[1, 2, 3]).1);
    assert!(!all(&page(5, 0, &[])).1);
}

#[test]
fn the_layout_is_the_kernels() {
    assert_eq!((layout().page_bytes(), layout().data_bytes()), (4096, 4080));
    let of_32_bits = HEADER
        .replace("offset:8;\tsize:8", "offset:8;\tsize:4")
        .replace("16;\tsize:4080", "12;\tsize:4084");
    assert_eq!(
        PageLayout::parse(&of_32_bits).expect("a layout").page_bytes(),
        4096
    );
    assert_eq!(layout().with_page_bytes(65_536).page_bytes(), 65_536);
    assert_eq!(layout().with_page_bytes(3).page_bytes(), 4096);
    let missing = PageLayout::parse(&HEADER.replace("commit", "omit"));
    assert_eq!(missing, Err(LayoutError::Missing("commit")));
    let wrong = PageLayout::parse(&HEADER.replace("size:8;\tsigned:0", "size:3;\tsigned:0"));
    assert_eq!(wrong, Err(LayoutError::Missing("timestamp")));
}

proptest! {
    #[test]
    fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..5000), commit in 0u64..4100) {
        let mut bytes = bytes;
        if bytes.len() >= 16 {
            bytes[8..16].copy_from_slice(&commit.to_ne_bytes());
        }
        let (found, _) = all(&bytes);
        let taken: usize = found.iter().map(|(_, payload)| payload.len() + 4).sum();
        prop_assert!(taken <= bytes.len());
    }
}
