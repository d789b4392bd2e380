//! Alignment, isolation and cost of the buffers.

use super::*;

#[test]
fn slots_are_aligned_and_apart() {
    for slot_bytes in [0, 1, 511, 4096, 4097, 100_000] {
        let mut arena = Arena::new(5, slot_bytes, PageKind::Normal).expect("arena");
        assert_eq!((arena.slots(), arena.slot_bytes()), (5, slot_bytes));
        for slot in 0..5 {
            assert_eq!(arena.slot(slot).as_ptr().addr() % SLOT_ALIGN_BYTES, 0);
            assert!(arena.slot(slot).iter().all(|&byte| byte == 0));
            arena.slot_mut(slot).fill(slot as u8 + 1);
        }
        for slot in 0..5 {
            assert_eq!(arena.slot(slot).len(), slot_bytes);
            assert!(
                arena.slot(slot).iter().all(|&byte| byte == slot as u8 + 1),
                "slot {slot} was overwritten"
            );
        }
    }
}

#[test]
fn untouched_slots_cost_nothing() {
    let resident_pages = || -> u64 {
        let statm = std::fs::read_to_string("/proc/self/statm").expect("/proc");
        statm
            .split_whitespace()
            .nth(1)
            .and_then(|pages| pages.parse().ok())
            .expect("statm's second number")
    };
    let before = resident_pages();
    let mut arena = Arena::new(1024, 16 << 20, PageKind::Normal).expect("16 GiB of address space");
    arena.slot_mut(1023)[0] = 1;
    let grown = resident_pages().saturating_sub(before);
    // Other tests run meanwhile: the bound is loose, and still far below 16 GiB (4 Mi pages).
    assert!(grown < 100_000, "{grown} pages");
}

#[test]
fn an_impossible_size_is_an_error() {
    let error = Arena::new(u32::MAX, usize::MAX / 2, PageKind::Normal).expect_err("too large");
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
}

#[test]
#[should_panic(expected = "slot 2 of 2")]
fn a_slot_that_does_not_exist_is_refused() {
    let arena = Arena::new(2, 4096, PageKind::Normal).expect("arena");
    arena.slot(2);
}

#[test]
fn huge_pages_work_or_say_what_is_missing() {
    match Arena::new(3, 4096, PageKind::Huge) {
        Ok(mut arena) => arena.slot_mut(2).fill(1),
        Err(error) => {
            let missing = match error.raw_os_error() {
                Some(libc::ENOMEM) => "free 2 MiB pages (vm.nr_hugepages)",
                Some(libc::EINVAL) => "a kernel that has pages of 2 MiB",
                _ => panic!("{error}"),
            };
            fathom_testkit::skipped("huge_pages_work", missing);
        }
    }
}
