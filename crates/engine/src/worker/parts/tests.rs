use super::*;

fn parts(every: u32) -> Parts {
    let rule = RangeSync {
        every,
        waits_before: true,
        writes: true,
        waits_after: false,
    };
    *Parts::new(rule, 2).expect("a rule")
}

#[test]
fn a_part_reaches_from_the_first_byte_to_the_last() {
    // As fio 3.33 with sync_file_range=wait_before,write:3 and these random writes.
    let mut parts = parts(3);
    assert_eq!(parts.wrote(0, 8192, 4096), None);
    assert_eq!(parts.wrote(0, 0, 4096), None);
    assert_eq!(parts.wrote(0, 53_248, 4096), Some(0));
    assert_eq!(
        parts.next,
        Some(PartSync {
            bytes: 57_344,
            flags: 3
        })
    );
    for at in [4096, 12_288] {
        assert_eq!(parts.wrote(0, at, 4096), None);
    }
    assert_eq!(parts.wrote(0, 20_480, 4096), Some(4096));
}

#[test]
fn each_file_has_its_own() {
    let mut parts = parts(2);
    parts.wrote(0, 0, 4096);
    assert_eq!(parts.wrote(1, 4096, 4096), Some(4096));
    assert_eq!(
        parts.next.take(),
        Some(PartSync {
            bytes: 4096,
            flags: 3
        })
    );
    parts.wrote(1, 65_536, 4096);
    assert_eq!(parts.wrote(0, 8192, 4096), Some(0));
    assert_eq!(
        parts.next.take(),
        Some(PartSync {
            bytes: 12_288,
            flags: 3
        })
    );
}

#[test]
fn without_a_count_there_are_none() {
    assert!(Parts::new(RangeSync::default(), 1).is_none());
}
