//! What the reader makes of a simulated kernel's pages.

use super::decode::{BlockDecoder, SchedDecoder};
use super::format::EventFormat;
use super::matcher::{MatchCounts, Matcher, Patience, Watched};
use super::order::{Merge, Timed};
use super::page::{PageLayout, Record};
use super::sched::Load;
use super::slices::Slices;
use super::symbols::Symbols;
use crate::target::TraceDevice;
use fathom_core::record::{BlockFlags, BlockOp, BlockRequest, BlockedOn, Comm, TaskState};
use fathom_core::rng::Rng;
use fathom_testkit::peer::{Peer, SchedEvent};

/// The requests of all pages, and what did not fit.
fn requests(peer: &Peer, watched: &[Watched]) -> (Vec<BlockRequest>, MatchCounts) {
    let decoder = BlockDecoder::new(&parsed(peer)).expect("formats of the block layer");
    let mut matcher = Matcher::new(watched, Patience::default());
    let mut rows = Vec::new();
    let mut end_ns = 0;
    replay(
        peer,
        |_, record| decoder.decode(record),
        |event| {
            end_ns = event.time_ns;
            matcher.apply(event, &mut rows);
        },
    );
    matcher.finish(end_ns, &mut rows);
    (rows, matcher.counts())
}

/// Who had the CPUs.
fn slices(peer: &Peer, begun_ns: u64) -> Slices {
    let decoder = SchedDecoder::new(&parsed(peer)).expect("formats of the scheduler");
    let symbols = "1000 T schedule\n2000 t blk_mq_get_tag\n3000 t other\n";
    let decoder = decoder.with_symbols(Symbols::parse(symbols.as_bytes()).expect("addresses"));
    let cpus: Vec<u32> = (0..peer.cpus() as u32).collect();
    let mut slices = Slices::new(&cpus, &Load::default(), begun_ns);
    replay(
        peer,
        |cpu, record| decoder.decode(cpu, record),
        |event| slices.apply(event),
    );
    slices
}

fn parsed(peer: &Peer) -> Vec<EventFormat> {
    let parse = |text: &String| EventFormat::parse(text).expect("a format");
    peer.formats().iter().map(parse).collect()
}

fn replay<E: Timed>(peer: &Peer, decode: impl Fn(u32, &Record<'_>) -> Option<E>, take: impl FnMut(&E)) {
    let layout = PageLayout::parse(&peer.header_page()).expect("a layout");
    let mut merge = Merge::new(peer.cpus(), 0);
    for cpu in 0..peer.cpus() {
        for page in peer.pages(cpu) {
            for record in layout.records(&page) {
                if let Some(event) = decode(cpu as u32, &record) {
                    merge.push(cpu, event);
                }
            }
        }
    }
    merge.take_all(take);
}

fn disk(dev: u32) -> Watched {
    Watched {
        device: TraceDevice {
            name: "sda".to_owned(),
            dev,
            request_based: true,
            partition_devs: vec![dev + 1],
        },
        fua: true,
    }
}

const DISK: u32 = 8 << 20;

/// A request of any kind, begun at `base_ns`.
fn any_request(rng: &mut Rng, index: u64, base_ns: u64) -> BlockRequest {
    let op = [BlockOp::Read, BlockOp::Write, BlockOp::Discard, BlockOp::Other][rng.below(4) as usize];
    let mut row = BlockRequest {
        device: DISK,
        queued_ns: Some(base_ns),
        allocated_ns: Some(base_ns + rng.below(500)),
        inserted_ns: None,
        issued_ns: None,
        completed_ns: 0,
        // No two at the same place: which of those is which cannot be told.
        sector: index * 4096 + rng.below(8),
        len_bytes: 512 * (16 + rng.below(2000) as u32),
        op,
        flags: BlockFlags::default(),
        requeues: 0,
        merges: 0,
        errno: if rng.below(20) == 0 { 5 } else { 0 },
        pid: 100 + rng.below(5) as u32,
        comm: Comm::from(["fio", "jbd2/vda-8", "kworker/u8:3-fl"][rng.below(3) as usize]),
        owner_pid: 0,
        owner_comm: Comm::default(),
    };
    let mut at_ns = row.allocated_ns.unwrap_or(base_ns);
    if rng.percent(50) {
        at_ns += rng.below(1000);
        row.inserted_ns = Some(at_ns);
    }
    at_ns += 1000 + rng.below(10_000);
    row.issued_ns = Some(at_ns);
    row.completed_ns = at_ns + 1000 + rng.below(800_000);
    match rng.below(10) {
        0 => row.requeues = 1 + rng.below(3) as u16,
        1 => row.merges = 1 + rng.below(15) as u16,
        2 => row.flags.0 |= BlockFlags::SYNC | BlockFlags::META,
        3 => {
            (row.allocated_ns, row.inserted_ns, row.issued_ns) = (None, None, None);
        }
        _ => {}
    }
    if row.op == BlockOp::Write && index.is_multiple_of(8) {
        (row.requeues, row.merges, row.inserted_ns) = (0, 0, None);
        row.flags = BlockFlags(BlockFlags::PREFLUSH | BlockFlags::SYNC);
        if row.allocated_ns.is_some() && index.is_multiple_of(16) {
            (row.op, row.sector, row.len_bytes) = (BlockOp::Flush, u64::MAX, 0);
        }
        if row.issued_ns.is_none() {
            row.flags = BlockFlags::default();
        }
    }
    row
}

#[test]
fn requests_are_read_back_as_they_were() {
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let mut peer = Peer::new(seed, 1 + (seed % 5) as usize);
        let mut rows = Vec::new();
        for index in 0..400 {
            // Up to eight at a time. Now and then nothing happens for longer than a record's difference can say.
            let pause_ns = if index % 50 == 49 { 1 << 30 } else { 0 };
            let base_ns = 1_000_000_000 + index * 120_000 + index / 50 * pause_ns;
            let row = any_request(&mut rng, index, base_ns);
            peer.request(&row);
            rows.push(row);
        }
        rows.sort_by_key(|row| row.completed_ns);
        let (found, counts) = requests(&peer, &[disk(DISK)]);
        for (row, found) in rows.iter().zip(&found) {
            assert_eq!(found, row, "seed {seed}");
        }
        assert_eq!(found.len(), rows.len(), "seed {seed}: {counts:?}");
        assert_eq!(
            (
                counts.unmatched_completions,
                counts.unmatched_starts,
                counts.foreign
            ),
            (0, 0, 0)
        );
    }
}

#[test]
fn a_request_without_an_end_is_marked() {
    let mut peer = Peer::new(7, 2);
    let mut rng = Rng::new(7);
    let mut row = any_request(&mut rng, 1, 5_000);
    row.flags.0 |= BlockFlags::UNFINISHED;
    peer.request(&row);
    let other = BlockRequest {
        completed_ns: 90_000_000,
        ..any_request(&mut rng, 3, 60_000_000)
    };
    peer.request(&other);
    let (found, counts) = requests(&peer, &[disk(DISK)]);
    assert_eq!(counts.in_flight_at_end, 1);
    assert_eq!(found[0], other);
    let given_up = BlockRequest {
        completed_ns: other.completed_ns,
        ..row
    };
    assert_eq!(found[1], given_up);
}

#[test]
fn who_had_a_cpu_is_read_back() {
    let (from, to) = (Comm::from("sh"), Comm::from("fathom"));
    let mut peer = Peer::new(3, 2);
    let state = TaskState::Preempted;
    let mut switch = |time_ns, from, to| peer.sched(1, time_ns, SchedEvent::Switch { from, state, to });
    switch(1_000, (10, from), (20, to));
    switch(3_000, (20, to), (10, from));
    switch(4_000, (10, from), (20, to));
    switch(9_000, (20, to), (0, Comm::default()));
    let mut found = Vec::new();
    slices(&peer, 500).consult(0, 10_000, &mut found);
    let told: Vec<_> = found
        .iter()
        .map(|slice| (slice.cpu, slice.tid, slice.ready_ns, slice.start_ns, slice.end_ns))
        .collect();
    assert_eq!(
        told,
        [
            (1, 10, None, 500, 1_000),
            (1, 20, None, 1_000, 3_000),
            (1, 10, Some(1_000), 3_000, 4_000),
            (1, 20, Some(3_000), 4_000, 9_000),
            // Both were made to leave and wait for a CPU still; the second asked at the moment it began to.
            (1, 10, Some(4_000), 9_000, 9_000),
        ]
    );
}

#[test]
fn wakers_moves_and_stacks_are_read_back() {
    for seed in 0..20 {
        let (io, other) = ((10, Comm::from("io")), (20, Comm::from("other")));
        let mut peer = Peer::new(seed, 2);
        let nobody = (0, Comm::default());
        let wake = |waker, in_interrupt| SchedEvent::Wake {
            task: io,
            target_cpu: 0,
            waker,
            in_interrupt,
        };
        let switch = |from, state, to| SchedEvent::Switch { from, state, to };
        let task = io;
        let frames: &[u64] = &[
            0x1010, 0x3010, 0x3020, 0x2010, 0x3030, 0x3040, 0x3050, 0x3060, 0x3070, 0x3080,
        ];
        for (cpu, time_ns, event) in [
            (1, 1_000, switch(io, TaskState::Uninterruptible, nobody)),
            (1, 1_001, SchedEvent::Stack { task, frames }),
            (0, 1_500, switch(nobody, TaskState::Preempted, other)),
            (0, 2_000, wake(20, false)),
            // CPU 1 does not tell when it is not idle any more.
            (0, 2_500, SchedEvent::Migrate { task, to_cpu: 1 }),
            (1, 3_000, switch(io, TaskState::Sleeping, nobody)),
            (0, 4_000, wake(20, true)),
            (0, 5_000, switch(other, TaskState::Sleeping, io)),
            (0, 6_000, switch(io, TaskState::Sleeping, nobody)),
        ] {
            peer.sched(cpu, time_ns, event);
        }
        let mut found = Vec::new();
        slices(&peer, 500).consult(0, 10_000, &mut found);
        let told: Vec<_> = found
            .iter()
            .filter(|slice| slice.tid == 10)
            .map(|slice| (slice.ready_ns, slice.start_ns, slice.waker_comm, slice.blocked_on))
            .collect();
        let none = Comm::default();
        let expected = [
            (None, 500, none, BlockedOn::Tag),
            (Some(2_000), 2_500, other.1, BlockedOn::Unknown),
            (Some(4_000), 5_000, none, BlockedOn::Unknown),
        ];
        assert_eq!(told, expected, "seed {seed}");
    }
}

#[test]
fn a_seed_gives_the_same_pages_and_seeds_give_different_kernels() {
    let pages = |seed| {
        let mut peer = Peer::new(seed, 2);
        let mut rng = Rng::new(1);
        for index in 0..50 {
            let row = any_request(&mut rng, index, 1_000 + index * 1_000_000);
            peer.request(&row);
        }
        (peer.formats(), peer.pages(0), peer.pages(1))
    };
    assert_eq!(pages(5), pages(5));
    assert_ne!(pages(5).0, pages(6).0);
}
