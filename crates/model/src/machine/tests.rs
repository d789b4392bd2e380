use super::Machine;
use crate::spec::{CacheMode, Limit, Spec};
use crate::testing::{MS, SECOND, host_cache, limits, seed, spec};
use fathom_core::backend::{Op, Request};
use fathom_core::rng::Rng;
use fathom_core::units::MonoTime;
use fathom_core::virtual_disk::{Accepted, Submitter, VirtualDisk};

fn submitter(direct: bool) -> Submitter {
    Submitter {
        direct,
        sync_writes: false,
        file_base_bytes: vec![0, 512 << 20],
    }
}

fn request(op: Op, file: u32, offset: u64, len: u32) -> Request {
    Request {
        slot: 0,
        op,
        file,
        offset,
        len,
    }
}

#[test]
fn direct_io_passes_the_page_cache_and_buffered_io_does_not() {
    let mut spec = spec(1);
    spec.guest.submit_ns = 700;
    let mut machine = Machine::new(&spec);
    machine.attach(submitter(true));
    machine.attach(submitter(false));
    machine.attach(Submitter {
        sync_writes: true,
        ..submitter(false)
    });
    assert_eq!(machine.capacity_bytes(), 1 << 30);
    let write = request(Op::Write, 1, 4096, 4096);
    let direct = machine.submit(0, 0, &write, MonoTime(10));
    let expected = Accepted {
        submitted: MonoTime(710),
        completed: MonoTime(710 + MS),
    };
    assert_eq!(direct, expected);
    assert_eq!(machine.unwritten_bytes(), 0);
    // A buffered call returns when it is done: a call and a copy of 4 KiB, and no submission beside.
    let buffered = machine.submit(1, 1, &write, MonoTime(10));
    let expected = Accepted {
        submitted: MonoTime(2010),
        completed: MonoTime(2010),
    };
    assert_eq!((buffered, machine.unwritten_bytes()), (expected, 4096));
    let synchronous = machine.submit(2, 2, &write, MonoTime(10));
    assert_eq!(synchronous.completed, MonoTime(2010 + MS));
    assert_eq!(machine.disks(5)[0].write_ios, 2);
    // File 1 begins at 512 MiB: the same place of file 0 was not touched.
    let there = machine.submit(1, 3, &request(Op::Read, 1, 4096, 4096), MonoTime(20));
    let absent = machine.submit(1, 4, &request(Op::Read, 0, 4096, 4096), MonoTime(20));
    assert!(there.completed.0 < MS && absent.completed.0 > MS);
}

/// After the last worker, everything reaches the disks by itself.
#[test]
fn settling_leaves_nothing_unwritten() {
    let seed = seed();
    for mode in [None, Some(CacheMode::ReadOnly), Some(CacheMode::ReadWrite)] {
        let mut rng = Rng::new(seed);
        let spec = Spec {
            host_cache: mode.map(host_cache),
            ..spec(2)
        };
        let mut machine = Machine::new(&spec);
        machine.attach(submitter(false));
        machine.attach(submitter(true));
        let mut now = 0;
        for ticket in 0..2000 {
            now += rng.below(MS);
            machine.advance(MonoTime(now), &mut |_, _| {});
            let offset = rng.below(100_000) * 4096;
            machine.submit(
                ticket % 2,
                ticket,
                &request(Op::Write, 0, offset, 4096),
                MonoTime(now),
            );
        }
        assert!(machine.unwritten_bytes() > 0);
        let clean_at = machine.settle(MonoTime(now));
        assert_eq!(machine.unwritten_bytes(), 0, "seed {seed}, {mode:?}");
        let since = clean_at.0 - now;
        assert!(
            since > MS && since < 40 * SECOND,
            "seed {seed}, {mode:?}: {since}"
        );
        let account = machine.account();
        assert!(account.dirty_peak_bytes > 0);
        assert_eq!(
            account.host_dirty_peak_bytes > 0,
            mode == Some(CacheMode::ReadWrite)
        );
        assert_eq!(machine.settle(clean_at), clean_at, "there is nothing left");
    }
}

/// Held time is told of the limit that held, and of no other.
#[test]
fn the_account_names_what_held() {
    let mut spec = spec(1);
    spec.disks[0].limits = limits(100, 1 << 40);
    spec.disks[0].write_bytes_per_second = Limit::Off;
    let mut machine = Machine::new(&spec);
    machine.attach(submitter(true));
    let mut waited = 0;
    for ticket in 0..50 {
        let done = machine.submit(0, ticket, &request(Op::Write, 0, 0, 4096), MonoTime(0));
        waited += done.completed.0 - MS;
    }
    let held = machine.account().held;
    assert_eq!(held.len(), 1, "{held:?}");
    assert_eq!((held[0].limit.as_str(), held[0].held_ns), ("disk IOPS", waited));
    let events = machine.next_event();
    assert_eq!(events, MonoTime::NEVER, "direct I/O needs none");
}
