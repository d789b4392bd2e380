//! Round trips through the kernel, and the edges of the queue.

use super::*;
use crate::arena::PageKind;
use crate::testing::{bytes, open, scratch, seed, skipped};
use fathom_core::backend::Errno;
use fathom_core::rng::Rng;
use std::time::Instant;

const DEPTH: u32 = 32;
const REGION: usize = 64 << 10;
const BLOCK: usize = 512;

/// A queue on the files, or `None` (said) where AIO is missing.
fn queue(test: &str, depth: u32, files: Vec<File>) -> Option<Aio> {
    let arena = Arena::new(depth, REGION, PageKind::Normal).expect("arena");
    match Aio::new(AioConfig::new(depth), files, arena) {
        Ok(aio) => Some(aio),
        Err(error) => {
            skipped(test, format!("Linux AIO ({error})"));
            None
        }
    }
}

/// Random reads and writes, each slot in its own region, checked against a model in memory.
fn round_trip(test: &str, direct: bool, use_ring: bool) {
    let mut rng = Rng::new(seed());
    let (scratch, mut model) = scratch(&mut rng, DEPTH as usize * REGION);
    let Ok(file) = open(&scratch, direct) else {
        return skipped(test, "O_DIRECT in /tmp");
    };
    let Some(mut aio) = queue(test, DEPTH, vec![file]) else {
        return;
    };
    if !use_ring {
        aio.context.forget_ring();
    }
    let mut pending = vec![None; DEPTH as usize];
    let (mut pushed, mut completed) = (0, 0);
    while completed < 2_000 {
        for slot in 0..DEPTH {
            if pending[slot as usize].is_some() || pushed == 2_000 {
                continue;
            }
            let len = BLOCK * (1 + rng.next_u64() as usize % (REGION / BLOCK));
            let within = BLOCK * (rng.next_u64() as usize % ((REGION - len) / BLOCK + 1));
            let offset = slot as usize * REGION + within;
            let write = rng.next_u64().is_multiple_of(2);
            if write {
                let data = bytes(&mut rng, len);
                aio.buffer(slot)[..len].copy_from_slice(&data);
                model[offset..offset + len].copy_from_slice(&data);
            }
            let op = if write { Op::Write } else { Op::Read };
            aio.push(slot, op, 0, offset as u64, len as u32).expect("room");
            pending[slot as usize] = Some((write, offset, len));
            pushed += 1;
        }
        aio.commit().expect("commit");
        assert_eq!(aio.queued(), 0);
        let mut done = Vec::new();
        let min = 1 + (rng.next_u64() % 4) as u32;
        let reaped = aio
            .reap(min, DEPTH, None, &mut |slot, result| done.push((slot, result)))
            .expect("reap");
        assert_eq!(reaped as usize, done.len());
        assert!(reaped >= min.min(aio.in_flight() + reaped), "{reaped} of {min}");
        for (slot, result) in done {
            let (write, offset, len) = pending[slot as usize]
                .take()
                .expect("a completion of what was pushed");
            assert_eq!(result, len as i32);
            assert!(
                write || aio.buffer(slot)[..len] == model[offset..offset + len],
                "{len} at {offset}"
            );
            completed += 1;
        }
    }
    assert_eq!(
        (aio.in_flight(), aio.sync_now(0, false), aio.sync_now(0, true)),
        (0, Ok(0), Ok(0))
    );
    drop(aio);
    assert!(std::fs::read(scratch.path()).expect("read") == model);
}

#[test]
fn round_trip_direct() {
    round_trip("aio::round_trip_direct", true, true);
}

#[test]
fn round_trip_without_the_mapped_ring() {
    round_trip("aio::round_trip_without_the_mapped_ring", true, false);
}

#[test]
fn round_trip_buffered() {
    round_trip("aio::round_trip_buffered", false, true);
}

#[test]
fn the_mapped_ring_is_used_here() {
    let Some(aio) = queue("aio::the_mapped_ring_is_used_here", 1, vec![]) else {
        return;
    };
    assert!(aio.context.has_ring());
}

#[test]
fn a_full_queue_and_synchronous_work_are_values() {
    let (scratch, _) = scratch(&mut Rng::new(1), 1 << 20);
    let file = open(&scratch, false).expect("open");
    let Some(mut aio) = queue("aio::a_full_queue", 2, vec![file]) else {
        return;
    };
    for op in [Op::Sync, Op::DataSync, Op::Trim] {
        assert_eq!(aio.push(0, op, 0, 0, 0), Err(PushError::Synchronous));
    }
    aio.push(0, Op::Read, 0, 0, 512).expect("room");
    aio.push(1, Op::Read, 0, 512, 512).expect("room");
    assert_eq!(aio.push(0, Op::Read, 0, 0, 512), Err(PushError::Full));
    assert_eq!((aio.in_flight(), aio.queued()), (2, 2));
    // A wait commits what is queued.
    assert_eq!(
        aio.reap(2, 1, None, &mut |_, _| ()).expect("reap"),
        1,
        "max binds"
    );
    assert_eq!(
        aio.reap(9, 9, None, &mut |_, _| ()).expect("reap"),
        1,
        "no more than are in flight"
    );
    let buffer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        aio.push(1, Op::Read, 0, 0, 512).expect("room");
        aio.buffer(1).fill(0);
    }));
    assert!(buffer.is_err(), "the buffer of a slot in flight was lent");
    assert_eq!(
        aio.trim_sync(0, 0, 4096).is_ok(),
        crate::sync_io::trim(&aio.files()[0], 0, 4096).is_ok()
    );
}

#[test]
fn a_refused_io_completes_with_its_errno_and_holds_up_no_other() {
    let (scratch, _) = scratch(&mut Rng::new(2), 1 << 20);
    let files = vec![
        File::open(scratch.path()).expect("open"),
        open(&scratch, false).expect("open"),
    ];
    let Some(mut aio) = queue("aio::a_refused_io", 4, files) else {
        return;
    };
    for slot in 0..4 {
        // File 0 is open for reading only.
        aio.push(slot, Op::Write, slot % 2, u64::from(slot) * 4096, 4096)
            .expect("room");
    }
    assert_eq!(aio.commit().expect("commit"), 4);
    let mut results = [0; 4];
    while aio.in_flight() > 0 {
        aio.reap(1, 4, None, &mut |slot, result| results[slot as usize] = result)
            .expect("reap");
    }
    assert_eq!(results, [-libc::EBADF, 4096, -libc::EBADF, 4096]);
}

#[test]
fn a_timeout_passes_with_nothing_in_flight() {
    let Some(mut aio) = queue("aio::a_timeout_passes", 4, vec![]) else {
        return;
    };
    let start = Instant::now();
    let timeout = Duration::from_millis(20);
    assert_eq!(aio.reap(1, 4, Some(timeout), &mut |_, _| ()).expect("reap"), 0);
    assert!(start.elapsed() >= timeout, "{:?}", start.elapsed());
    assert_eq!(
        aio.reap(1, 4, None, &mut |_, _| ()).expect("reap"),
        0,
        "without a timeout: at once"
    );
    assert_eq!(aio.reap(0, 4, None, &mut |_, _| ()).expect("reap"), 0);
}

#[test]
fn a_drop_in_flight_waits_and_discards_what_was_not_committed() {
    let (scratch, mut model) = scratch(&mut Rng::new(3), DEPTH as usize * REGION);
    let test = "aio::a_drop_in_flight";
    let Ok(file) = open(&scratch, true) else {
        return skipped(test, "O_DIRECT in /tmp");
    };
    let Some(mut aio) = queue(test, DEPTH, vec![file]) else {
        return;
    };
    for slot in 0..DEPTH {
        if slot == DEPTH / 2 {
            aio.commit().expect("commit");
        }
        aio.buffer(slot).fill(slot as u8);
        aio.push(slot, Op::Write, 0, u64::from(slot) * REGION as u64, REGION as u32)
            .expect("room");
    }
    drop(aio);
    for slot in 0..DEPTH as usize / 2 {
        model[slot * REGION..][..REGION].fill(slot as u8);
    }
    assert!(std::fs::read(scratch.path()).expect("read") == model);
}

#[test]
fn a_spent_allowance_is_told_apart() {
    let arena = Arena::new(1, 4096, PageKind::Normal).expect("arena");
    let error = Aio::new(AioConfig::new(0), vec![], arena)
        .map(drop)
        .expect_err("refused");
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    let most: u32 = match std::fs::read_to_string("/proc/sys/fs/aio-max-nr") {
        Ok(text) => text.trim().parse().unwrap_or(u32::MAX),
        Err(error) => return skipped("aio::a_spent_allowance", format!("fs.aio-max-nr ({error})")),
    };
    if most > 1 << 20 {
        return skipped("aio::a_spent_allowance", "a limit that is quickly reached");
    }
    let arena = Arena::new(most + 1, 1, PageKind::Normal).expect("arena");
    match Aio::new(AioConfig::new(most + 1), vec![], arena) {
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
            skipped("aio::a_spent_allowance", "Linux AIO");
        }
        Err(error) => assert_eq!(Errno(error.raw_os_error().unwrap_or(0)), Errno(libc::EAGAIN)),
        Ok(_) => panic!("more than fs.aio-max-nr"),
    }
}

/// Writes of a store go out as they are there, and reads still come into the slots.
#[test]
fn writes_of_a_store() {
    let mut rng = Rng::new(seed());
    let (scratch, _) = scratch(&mut rng, 16 * REGION);
    let Ok(file) = open(&scratch, true) else {
        return skipped("aio::writes_of_a_store", "O_DIRECT in /tmp");
    };
    let Some(mut aio) = queue("aio::writes_of_a_store", DEPTH, vec![file]) else {
        return;
    };
    let contents = bytes(&mut rng, 4 * REGION);
    let source = Source::new(contents.len(), |store| store.copy_from_slice(&contents));
    aio.use_source(Arc::new(source.expect("memory")));
    let place = |slot: u32| (slot as usize * 4096 * 7) % (3 * REGION);
    let check = |result: i32| assert_eq!(result, REGION as i32);
    for slot in 0..16 {
        let offset = u64::from(slot) * REGION as u64;
        aio.push_from(slot, 0, offset, REGION as u32, place(slot))
            .expect("room");
    }
    assert_eq!(
        aio.reap(16, 16, None, &mut |_, result| check(result))
            .expect("reap"),
        16
    );
    for slot in 0..16 {
        let offset = u64::from(slot) * REGION as u64;
        aio.push(slot, Op::Read, 0, offset, REGION as u32).expect("room");
    }
    assert_eq!(
        aio.reap(16, 16, None, &mut |_, result| check(result))
            .expect("reap"),
        16
    );
    for slot in 0..16 {
        assert!(
            aio.buffer(slot) == &contents[place(slot)..][..REGION],
            "slot {slot}"
        );
    }
}
