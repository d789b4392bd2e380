//! Any bytes as what an NBD server says to a client: its negotiation, then answers to the same requests each time. No panic, the
//! talk ends without waiting, an export that is agreed makes sense, and each request is answered once at most, with no more
//! bytes than were asked for.
#![no_main]

use fathom_core::backend::{Backend, Op, Request, Submit};
use fathom_core::nbd::Uri;
use fathom_core::units::MonoTime;
use fathom_engine::backends::nbd::{NbdBackend, Wanted};
use fathom_sys::arena::{Arena, PageKind};
use libfuzzer_sys::fuzz_target;
use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::Duration;

const DEPTH: u32 = 4;
const BLOCK: u32 = 64;
/// Never reached: all that a server says is there, and then its end.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is asked, a slot each; later ones where an answer made room.
const ASKED: [(Op, u64, u32); 8] = [
    (Op::Read, 0, BLOCK),
    (Op::Write, 4096, BLOCK),
    (Op::Sync, 0, 0),
    (Op::Trim, 0, BLOCK),
    (Op::Read, 512, 8),
    (Op::Read, 64, BLOCK),
    (Op::Write, 0, 16),
    (Op::Read, 1024, BLOCK),
];

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        let _uri = Uri::parse(text);
    }
    let (client, mut server) = UnixStream::pair().expect("two ends");
    // An input is shorter than a socket's buffer.
    server.write_all(data).expect("said");
    server.shutdown(Shutdown::Write).expect("its end");
    let arena = Arena::new(DEPTH, BLOCK as usize, PageKind::Normal).expect("an arena");
    let wanted = Wanted {
        writes: true,
        forced: false,
        block_bytes: BLOCK.into(),
    };
    let Ok(mut backend) = NbdBackend::over(client, "disk", wanted, DEPTH, arena, PATIENCE) else {
        return;
    };
    let export = backend.export();
    assert!(i64::try_from(export.size_bytes).is_ok());
    assert!(export.block_bytes.is_power_of_two() && BLOCK.is_multiple_of(export.block_bytes));
    assert!(export.request_bytes_max >= BLOCK);
    let mut left = ASKED.iter();
    let mut slots: [Option<u32>; DEPTH as usize] = [None; DEPTH as usize];
    loop {
        for slot in 0..DEPTH {
            if slots[slot as usize].is_some() {
                continue;
            }
            let Some(&(op, offset, len)) = left.next() else {
                break;
            };
            let request = Request {
                slot,
                op,
                file: 0,
                offset,
                len,
            };
            match backend.submit(request, MonoTime(0)) {
                Submit::Queued => slots[slot as usize] = Some(len),
                // What the server cannot is not asked of it.
                Submit::Done(outcome) => assert!(outcome.is_err() || outcome == Ok(0)),
                Submit::Busy => panic!("there is room"),
            }
        }
        let waits = slots.iter().flatten().count() as u32;
        if backend.commit().is_err() || waits == 0 {
            return;
        }
        let reaped = backend.reap(1, waits, MonoTime::NEVER, &mut |slot, outcome| {
            let asked = slots[slot as usize]
                .take()
                .expect("it was asked, and not answered yet");
            assert!(outcome.is_err() || outcome == Ok(asked));
        });
        match reaped {
            Ok(count) => assert!((1..=waits).contains(&count)),
            Err(_) => return,
        }
    }
});
