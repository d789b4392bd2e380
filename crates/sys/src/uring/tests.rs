//! Round trips through the kernel in each mode, and the edges of the queue.

use super::*;
use crate::arena::PageKind;
use crate::testing::{bytes, open, scratch, seed, skipped};
use fathom_core::rng::Rng;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::time::Instant;

const DEPTH: u32 = 32;
const REGION: usize = 64 << 10;
const BLOCK: usize = 512;
const STEPS: usize = 2_000;

/// A ring on the files, or `None` (said) where `io_uring` is missing.
fn ring(test: &str, config: UringConfig, files: Vec<File>) -> Option<Uring> {
    let arena = Arena::new(config.iodepth, REGION, PageKind::Normal).expect("arena");
    match Uring::new(config, files, arena) {
        Ok(uring) => Some(uring),
        Err(error) => {
            assert_ne!(error.kind(), io::ErrorKind::InvalidInput, "{error}");
            skipped(test, format!("io_uring ({error})"));
            None
        }
    }
}

fn plain() -> UringConfig {
    UringConfig::new(DEPTH)
}

/// Random I/O, each slot in its own region, checked against a model in memory.
fn round_trip(test: &str, config: UringConfig, direct: bool) {
    let mut rng = Rng::new(seed());
    let (scratch, mut model) = scratch(&mut rng, DEPTH as usize * REGION);
    let Ok(file) = open(&scratch, direct) else {
        return skipped(test, "O_DIRECT in /tmp");
    };
    let Some(mut uring) = ring(test, config, vec![file]) else {
        return;
    };
    let mut pending = vec![None; DEPTH as usize];
    let (mut pushed, mut completed) = (0, 0);
    while completed < STEPS {
        for slot in 0..DEPTH {
            if pending[slot as usize].is_none() && pushed < STEPS {
                pending[slot as usize] = Some(push_random(&mut uring, &mut rng, slot, &mut model));
                pushed += 1;
            }
        }
        let min = 1 + (rng.next_u64() % 4) as u32;
        // Without a commit, the reap commits.
        if rng.next_u64().is_multiple_of(2) {
            uring.commit().expect("commit");
        }
        let mut done = Vec::new();
        let reaped = uring
            .reap(min, DEPTH, None, &mut |slot, result| done.push((slot, result)))
            .expect("reap");
        assert_eq!(reaped as usize, done.len());
        assert!(reaped >= min.min(uring.in_flight() + reaped), "{reaped} of {min}");
        for (slot, result) in done {
            let (op, offset, len) = pending[slot as usize]
                .take()
                .expect("a completion of what was pushed");
            let moved = if matches!(op, Op::Sync | Op::DataSync) {
                0
            } else {
                len
            };
            assert_eq!(result, moved as i32, "{op:?}");
            assert!(
                op != Op::Read || uring.buffer(slot)[..len] == model[offset..offset + len],
                "{len} at {offset}"
            );
            completed += 1;
        }
    }
    assert_eq!(uring.in_flight(), 0);
    drop(uring);
    assert!(std::fs::read(scratch.path()).expect("read") == model);
}

fn push_random(uring: &mut Uring, rng: &mut Rng, slot: u32, model: &mut [u8]) -> (Op, usize, usize) {
    let len = BLOCK * (1 + rng.next_u64() as usize % (REGION / BLOCK));
    let within = BLOCK * (rng.next_u64() as usize % ((REGION - len) / BLOCK + 1));
    let offset = slot as usize * REGION + within;
    let op = match rng.next_u64() % 100 {
        0..48 => Op::Read,
        48..96 => Op::Write,
        96 => Op::Sync,
        97 => Op::DataSync,
        _ => Op::Trim,
    };
    if op == Op::Write {
        let data = bytes(rng, len);
        uring.buffer(slot)[..len].copy_from_slice(&data);
        model[offset..offset + len].copy_from_slice(&data);
    } else if op == Op::Trim {
        model[offset..offset + len].fill(0);
    }
    uring.push(slot, op, 0, offset as u64, len as u32).expect("room");
    (op, offset, len)
}

#[test]
fn round_trip_direct() {
    round_trip("uring::round_trip_direct", plain(), true);
}

#[test]
fn round_trip_buffered() {
    round_trip("uring::round_trip_buffered", plain(), false);
}

#[test]
fn round_trip_registered() {
    let config = UringConfig {
        fixed_buffers: true,
        registered_files: true,
        ..plain()
    };
    round_trip("uring::round_trip_registered", config, true);
}

#[test]
fn round_trip_vectored() {
    let config = UringConfig {
        nonvectored: false,
        registered_files: true,
        ..plain()
    };
    round_trip("uring::round_trip_vectored", config, true);
}

#[test]
fn round_trip_sqpoll() {
    let config = UringConfig {
        sqpoll_idle_ms: Some(1),
        ..plain()
    };
    round_trip("uring::round_trip_sqpoll", config, true);
}

#[test]
fn round_trip_sqpoll_pinned_and_registered() {
    let config = UringConfig {
        sqpoll_idle_ms: Some(10),
        sqpoll_cpu: Some(0),
        fixed_buffers: true,
        registered_files: true,
        ..plain()
    };
    round_trip("uring::round_trip_sqpoll_pinned", config, true);
}

#[test]
fn a_polled_ring_takes_reads_and_writes_only() {
    let (scratch, _) = scratch(&mut Rng::new(1), 1 << 20);
    let config = UringConfig {
        iopoll: true,
        ..plain()
    };
    let file = open(&scratch, true).expect("open");
    let Some(mut uring) = ring("uring::a_polled_ring", config, vec![file]) else {
        return;
    };
    for op in [Op::Sync, Op::DataSync, Op::Trim] {
        assert_eq!(uring.push(0, op, 0, 0, 0), Err(PushError::Synchronous));
    }
    assert_eq!(uring.sync_now(0, true), Ok(0));
    uring.push(0, Op::Read, 0, 0, 4096).expect("room");
    uring.commit().expect("commit");
    let mut result = None;
    while uring.in_flight() > 0 {
        uring
            .reap(0, 1, None, &mut |_, got| result = Some(got))
            .expect("reap");
    }
    match result {
        Some(4096) => {}
        Some(errno) if errno == -libc::EOPNOTSUPP => {
            skipped("uring::a_polled_ring", "poll queues of the disk");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_full_queue_is_a_value() {
    let (scratch, _) = scratch(&mut Rng::new(2), 1 << 20);
    let file = open(&scratch, false).expect("open");
    let Some(mut uring) = ring("uring::a_full_queue", UringConfig::new(2), vec![file]) else {
        return;
    };
    uring.push(0, Op::Read, 0, 0, 512).expect("room");
    uring.push(1, Op::Read, 0, 512, 512).expect("room");
    assert_eq!(uring.push(0, Op::Read, 0, 0, 512), Err(PushError::Full));
    assert_eq!(uring.in_flight(), 2);
    // A wait commits what is queued.
    assert_eq!(
        uring.reap(2, 1, None, &mut |_, _| ()).expect("reap"),
        1,
        "max binds"
    );
    assert_eq!(
        uring.reap(9, 9, None, &mut |_, _| ()).expect("reap"),
        1,
        "no more than are in flight"
    );
    let lent = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        uring.push(1, Op::Read, 0, 0, 512).expect("room");
        uring.buffer(1).fill(0);
    }));
    assert!(lent.is_err(), "the buffer of a slot in flight was lent");
    let long = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        uring.push(0, Op::Read, 0, 0, REGION as u32 + 1)
    }));
    assert!(long.is_err(), "an I/O longer than the buffer was taken");
}

#[test]
fn an_error_is_a_completion() {
    let (scratch, _) = scratch(&mut Rng::new(3), 1 << 20);
    let files = vec![
        File::open(scratch.path()).expect("open"),
        open(&scratch, false).expect("open"),
    ];
    let Some(mut uring) = ring("uring::an_error", UringConfig::new(4), files) else {
        return;
    };
    for slot in 0..4 {
        // File 0 is open for reading only.
        uring
            .push(slot, Op::Write, slot % 2, u64::from(slot) * 4096, 4096)
            .expect("room");
    }
    assert_eq!(uring.commit().expect("commit"), 4);
    let mut results = [0; 4];
    uring
        .reap(4, 4, None, &mut |slot, result| results[slot as usize] = result)
        .expect("reap");
    assert_eq!(results, [-libc::EBADF, 4096, -libc::EBADF, 4096]);
}

#[test]
fn a_configuration_that_cannot_be_is_refused() {
    for (iodepth, slots) in [(0, 1), (3, 2)] {
        let arena = Arena::new(slots, 512, PageKind::Normal).expect("arena");
        let error = Uring::new(UringConfig::new(iodepth), vec![], arena)
            .map(drop)
            .expect_err("refused");
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}

/// A read of an empty pipe, which completes only when something is written.
fn pending_read(test: &str, config: UringConfig) -> Option<(Uring, std::io::PipeWriter)> {
    let (reader, writer) = std::io::pipe().expect("pipe");
    let mut uring = ring(test, config, vec![File::from(OwnedFd::from(reader))])?;
    uring.push(3, Op::Read, 0, 0, 5).expect("room");
    Some((uring, writer))
}

#[test]
fn a_timeout_passes_and_the_io_goes_on() {
    let timeout = Duration::from_millis(20);
    for config in [
        plain(),
        UringConfig {
            sqpoll_idle_ms: Some(1),
            ..plain()
        },
    ] {
        let Some((mut uring, mut writer)) = pending_read("uring::a_timeout_passes", config) else {
            return;
        };
        let start = Instant::now();
        uring.commit().expect("commit");
        assert_eq!(uring.reap(1, 9, Some(timeout), &mut |_, _| ()).expect("reap"), 0);
        assert!(start.elapsed() >= timeout, "{:?}", start.elapsed());
        assert_eq!(
            uring.reap(0, 9, None, &mut |_, _| ()).expect("reap"),
            0,
            "min 0 never waits"
        );
        writer.write_all(b"bytes").expect("write");
        let mut seen = None;
        let reaped = uring
            .reap(1, 9, None, &mut |slot, result| seen = Some((slot, result)))
            .expect("reap");
        assert_eq!((reaped, seen), (1, Some((3, 5))));
        assert_eq!(&uring.buffer(3)[..5], b"bytes");
    }
}

#[test]
fn a_timeout_passes_with_nothing_in_flight() {
    let Some(mut uring) = ring("uring::a_timeout_alone", plain(), vec![]) else {
        return;
    };
    let timeout = Duration::from_millis(20);
    let start = Instant::now();
    assert_eq!(uring.reap(1, 4, Some(timeout), &mut |_, _| ()).expect("reap"), 0);
    assert!(start.elapsed() >= timeout, "{:?}", start.elapsed());
    assert_eq!(
        uring.reap(1, 4, None, &mut |_, _| ()).expect("reap"),
        0,
        "without a timeout: at once"
    );
}

#[test]
fn polling_without_waiting_sees_completions() {
    let test = "uring::polling_without_waiting";
    let Some((mut uring, mut writer)) = pending_read(test, plain()) else {
        return;
    };
    uring.commit().expect("commit");
    writer.write_all(b"bytes").expect("write");
    let start = Instant::now();
    while uring.reap(0, 1, None, &mut |_, _| ()).expect("reap") == 0 {
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "the completion never came"
        );
    }
}

#[test]
fn signals_do_not_end_a_wait() {
    extern "C" fn ignore(_: libc::c_int) {}
    let test = "uring::signals_do_not_end_a_wait";
    let Some((mut uring, mut writer)) = pending_read(test, plain()) else {
        return;
    };
    let handler: extern "C" fn(libc::c_int) = ignore;
    // SAFETY: `sigaction` is integers and a null restorer, for which zero is a value.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as *const () as usize;
    // SAFETY: a handler that does nothing; no other test uses the signal. Without SA_RESTART: waits see EINTR.
    let installed = unsafe { libc::sigaction(libc::SIGUSR2, &raw const action, std::ptr::null_mut()) };
    assert_eq!(installed, 0);
    // SAFETY: always allowed.
    let waiter = unsafe { libc::pthread_self() };
    let shooter = std::thread::spawn(move || {
        for _ in 0..20 {
            std::thread::sleep(Duration::from_millis(5));
            // SAFETY: the waiter joins this thread before it ends.
            assert_eq!(unsafe { libc::pthread_kill(waiter, libc::SIGUSR2) }, 0);
        }
        writer.write_all(b"bytes").expect("write");
    });
    let start = Instant::now();
    let timeout = Duration::from_millis(50);
    assert_eq!(uring.reap(1, 1, Some(timeout), &mut |_, _| ()).expect("reap"), 0);
    assert!(
        start.elapsed() >= timeout && start.elapsed() < 20 * timeout,
        "{:?}",
        start.elapsed()
    );
    assert_eq!(uring.reap(1, 1, None, &mut |_, _| ()).expect("reap"), 1);
    shooter.join().expect("thread");
}

#[test]
fn a_drop_in_flight_waits() {
    let test = "uring::a_drop_in_flight";
    for config in [
        plain(),
        UringConfig {
            sqpoll_idle_ms: Some(1),
            ..plain()
        },
    ] {
        let Some((mut uring, mut writer)) = pending_read(test, config) else {
            return;
        };
        uring.commit().expect("commit");
        let late = Duration::from_millis(50);
        let start = Instant::now();
        let writing = std::thread::spawn(move || {
            std::thread::sleep(late);
            writer.write_all(b"bytes").expect("write");
        });
        drop(uring);
        assert!(start.elapsed() >= late, "{:?}", start.elapsed());
        writing.join().expect("thread");
    }
}

#[test]
fn a_drop_carries_out_what_was_committed_and_nothing_else() {
    let (scratch, mut model) = scratch(&mut Rng::new(4), DEPTH as usize * REGION);
    let test = "uring::a_drop_carries_out";
    let Ok(file) = open(&scratch, true) else {
        return skipped(test, "O_DIRECT in /tmp");
    };
    let Some(mut uring) = ring(test, plain(), vec![file]) else {
        return;
    };
    for slot in 0..DEPTH {
        if slot == DEPTH / 2 {
            assert_eq!(uring.commit().expect("commit"), DEPTH / 2);
        }
        uring.buffer(slot).fill(slot as u8);
        uring
            .push(slot, Op::Write, 0, u64::from(slot) * REGION as u64, REGION as u32)
            .expect("room");
    }
    drop(uring);
    for slot in 0..DEPTH as usize / 2 {
        model[slot * REGION..][..REGION].fill(slot as u8);
    }
    assert!(std::fs::read(scratch.path()).expect("read") == model);
}

/// Writes of a store go out as they are there, with a buffer of their own or not, and reads still come into the slots.
#[test]
fn writes_of_a_store() {
    for nonvectored in [true, false] {
        let mut rng = Rng::new(seed());
        let (scratch, _) = scratch(&mut rng, 16 * REGION);
        let Ok(file) = open(&scratch, true) else {
            return skipped("uring::writes_of_a_store", "O_DIRECT in /tmp");
        };
        let config = UringConfig {
            nonvectored,
            ..plain()
        };
        let Some(mut uring) = ring("uring::writes_of_a_store", config, vec![file]) else {
            return;
        };
        let contents = bytes(&mut rng, 4 * REGION);
        let source = Source::new(contents.len(), |store| store.copy_from_slice(&contents));
        uring.use_source(Arc::new(source.expect("memory")));
        let place = |slot: u32| (slot as usize * 4096 * 7) % (3 * REGION);
        for slot in 0..16 {
            let offset = u64::from(slot) * REGION as u64;
            uring
                .push_from(slot, 0, offset, REGION as u32, place(slot))
                .expect("room");
        }
        let check = |result: i32| assert_eq!(result, REGION as i32);
        assert_eq!(
            uring
                .reap(16, 16, None, &mut |_, result| check(result))
                .expect("reap"),
            16
        );
        for slot in 0..16 {
            let offset = u64::from(slot) * REGION as u64;
            uring
                .push(slot, Op::Read, 0, offset, REGION as u32)
                .expect("room");
        }
        assert_eq!(
            uring
                .reap(16, 16, None, &mut |_, result| check(result))
                .expect("reap"),
            16
        );
        for slot in 0..16 {
            assert!(
                uring.buffer(slot) == &contents[place(slot)..][..REGION],
                "slot {slot}"
            );
        }
    }
}

#[test]
#[should_panic(expected = "a source")]
fn nothing_is_written_from_a_store_that_is_not_there() {
    let (scratch, _) = scratch(&mut Rng::new(1), REGION);
    let file = open(&scratch, false).expect("open");
    let Some(mut uring) = ring("uring::no_store", plain(), vec![file]) else {
        panic!("a source");
    };
    let _pushed = uring.push_from(0, 0, 0, 4096, 0);
}
