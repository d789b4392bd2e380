use super::*;
use fathom_core::record::BlockFlags;

const DISK: u32 = 8 << 20;
const PART: u32 = DISK | 1;
const MS: u64 = 1_000_000;

fn at(time_ns: u64, tid: u32, kind: KernelKind) -> KernelEvent {
    KernelEvent { time_ns, tid, kind }
}

fn spans(events: &[KernelEvent]) -> Spans {
    let mut spans = Spans::new(vec![(PART, DISK)]);
    for event in events {
        spans.apply(event);
    }
    spans
}

fn taken(spans: &mut Spans) -> Vec<KernelSpan> {
    let mut out = Vec::new();
    spans.finish(&mut out);
    out
}

/// A request that this task queued.
fn row(pid: u32, queued_ns: u64, op: BlockOp) -> BlockRequest {
    BlockRequest {
        device: DISK,
        queued_ns: Some(queued_ns),
        allocated_ns: None,
        inserted_ns: None,
        issued_ns: None,
        completed_ns: queued_ns + MS,
        sector: 0,
        len_bytes: 4096,
        op,
        flags: BlockFlags::default(),
        requeues: 0,
        merges: 0,
        errno: 0,
        pid,
        comm: Comm::default(),
        owner_pid: 0,
        owner_comm: Comm::default(),
    }
}

fn commit(transaction: u64) -> KernelKind {
    KernelKind::CommitBegin {
        device: PART,
        transaction,
    }
}

fn committed(transaction: u64) -> KernelKind {
    KernelKind::CommitEnd {
        device: PART,
        transaction,
    }
}

#[test]
fn a_commit_is_of_who_woke_the_journal() {
    let woke = |waker| KernelKind::WokeJournal { tid: 9, waker };
    let mut spans = spans(&[
        at(10, 50, woke(50)),
        at(20, 9, commit(7)),
        at(30, 9, committed(7)),
        // By its timer, while somebody syncs.
        at(
            35,
            60,
            KernelKind::SyncBegin {
                device: PART,
                inode: 4,
            },
        ),
        at(40, 0, woke(0)),
        at(50, 9, commit(8)),
        at(60, 9, committed(8)),
        at(
            65,
            60,
            KernelKind::SyncEnd {
                device: PART,
                inode: 4,
            },
        ),
        at(70, 9, commit(9)),
        at(80, 9, committed(9)),
    ]);
    assert_eq!(spans.owner(&row(9, 25, BlockOp::Write)), Some(50));
    assert_eq!(spans.owner(&row(9, 55, BlockOp::Write)), Some(60));
    assert_eq!(spans.owner(&row(9, 75, BlockOp::Write)), None);
    assert_eq!(
        spans.owner(&row(9, 33, BlockOp::Write)),
        None,
        "between two commits"
    );
    assert_eq!(spans.owner(&row(9, 25, BlockOp::Read)), None);
    let told: Vec<_> = taken(&mut spans)
        .iter()
        .map(|span| {
            (
                span.kind,
                span.tid,
                span.about,
                span.by_tid,
                span.start_ns,
                span.end_ns,
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (SpanKind::JournalCommit, 9, 7, 50, 20, 30),
            (SpanKind::JournalCommit, 9, 8, 60, 50, 60),
            (SpanKind::Sync, 60, 4, 0, 35, 65),
            (SpanKind::JournalCommit, 9, 9, 0, 70, 80),
        ]
    );
}

#[test]
fn written_back_pages_are_of_who_wrote_most_of_the_inode() {
    let wrote = |inode, bytes| KernelKind::Wrote {
        device: PART,
        inode,
        bytes,
    };
    let dirtied = |inode| KernelKind::Dirtied { device: DISK, inode };
    let begin = |inode| KernelKind::WritebackBegin { device: DISK, inode };
    let end = |inode| KernelKind::WritebackEnd { device: DISK, inode };
    let mut spans = spans(&[
        at(1, 50, wrote(4, 1 << 20)),
        // The pages that this made dirty are the same bytes.
        at(2, 50, dirtied(4)),
        at(3, 60, wrote(4, 4096)),
        // Through a mapping: there is no more than the pages.
        at(4, 70, dirtied(5)),
        at(10, 9, begin(4)),
        at(20, 9, end(4)),
        at(30, 9, begin(5)),
        // A second worker goes on with the first inode, of which nothing was written since.
        at(32, 8, begin(4)),
        at(40, 9, end(5)),
        at(50, 8, end(4)),
    ]);
    let owner = |pid, at_ns| spans.owner(&row(pid, at_ns, BlockOp::Write));
    assert_eq!(
        (owner(9, 15), owner(9, 35), owner(8, 35)),
        (Some(50), Some(70), Some(50))
    );
    assert_eq!((owner(9, 25), owner(9, 45), owner(7, 15)), (None, None, None));
    let told: Vec<_> = taken(&mut spans)
        .iter()
        .map(|span| (span.tid, span.about, span.by_tid, span.device))
        .collect();
    assert_eq!(told, [(9, 4, 50, DISK), (9, 5, 70, DISK), (8, 4, 50, DISK)]);
}

#[test]
fn discards_are_of_who_freed_the_blocks_of_the_commit() {
    let freed = |blocks| KernelKind::Freed { device: PART, blocks };
    let spans = spans(&[
        at(1, 50, freed(100)),
        at(2, 60, freed(3)),
        at(3, 9, commit(1)),
        at(4, 9, committed(1)),
    ]);
    assert_eq!(spans.owner(&row(77, 5, BlockOp::Discard)), Some(50));
    assert_eq!(spans.owner(&row(50, 5, BlockOp::Discard)), None, "its own");
    assert_eq!(spans.owner(&row(77, 5, BlockOp::Write)), None);
}

#[test]
fn a_pause_ends_when_it_is_over_and_is_of_who_dirties_most() {
    let wrote = |bytes| KernelKind::Wrote {
        device: PART,
        inode: 1,
        bytes,
    };
    let mut spans = spans(&[
        at(1, 60, wrote(4096)),
        at(2, 50, wrote(1 << 20)),
        at(MS, 60, KernelKind::DirtyPause { device: DISK, ms: 20 }),
    ]);
    let mut out = Vec::new();
    spans.seen_to(20 * MS);
    spans.take(&mut out);
    assert_eq!(out, [], "it goes on");
    spans.seen_to(21 * MS);
    spans.take(&mut out);
    let told: Vec<_> = out
        .iter()
        .map(|span| (span.kind, span.tid, span.by_tid, span.end_ns))
        .collect();
    assert_eq!(told, [(SpanKind::DirtyThrottle, 60, 50, 21 * MS)]);
}

#[test]
fn stops_reclaim_and_freezers_are_spans() {
    let comm = Comm::from("victim");
    let signal = |signal| KernelKind::Signal { signal, to: 50, comm };
    let name = Comm::from("box");
    let mut spans = spans(&[
        at(1, 7, signal(19)),
        at(2, 60, KernelKind::ReclaimBegin),
        at(3, 60, KernelKind::ReclaimWaited { us: 5 }),
        at(4, 8, signal(19)),
        at(5, 60, KernelKind::ReclaimEnd),
        at(6, 7, KernelKind::Freeze { group: 3, name }),
        at(9, 8, signal(18)),
        at(10, 8, signal(18)),
        at(11, 7, KernelKind::Unfreeze { group: 3 }),
        at(12, 7, signal(19)),
        at(14, 61, KernelKind::ReclaimBegin),
    ]);
    let told: Vec<_> = taken(&mut spans)
        .iter()
        .map(|span| {
            (
                span.kind,
                span.tid,
                span.by_tid,
                span.about,
                span.start_ns,
                span.end_ns,
            )
        })
        .collect();
    assert_eq!(
        told[..3],
        [
            (SpanKind::Reclaim, 60, 0, 5_000, 2, 5),
            (SpanKind::Stopped, 50, 7, 19, 1, 9),
            (SpanKind::Frozen, 0, 7, 3, 6, 11),
        ]
    );
    let mut going_on = told[3..].to_vec();
    going_on.sort_unstable();
    assert_eq!(
        going_on,
        [
            (SpanKind::Reclaim, 61, 0, 0, 14, 14),
            (SpanKind::Stopped, 50, 7, 19, 12, 14),
        ]
    );
}

#[test]
fn after_lost_events_nothing_is_claimed() {
    let begin = KernelKind::WritebackBegin {
        device: DISK,
        inode: 4,
    };
    let wrote = KernelKind::Wrote {
        device: PART,
        inode: 4,
        bytes: 1,
    };
    let mut spans = spans(&[at(1, 50, wrote), at(10, 9, begin), at(20, 0, KernelKind::Gap)]);
    assert_eq!(spans.owner(&row(9, 30, BlockOp::Write)), None);
    assert_eq!(taken(&mut spans), []);
}

#[test]
fn memory_is_bounded() {
    let mut spans = Spans::new(vec![]);
    for tid in 1..50_000u32 {
        let inode = tid.into();
        spans.apply(&at(
            tid.into(),
            tid,
            KernelKind::WritebackBegin { device: DISK, inode },
        ));
        spans.apply(&at(
            tid.into(),
            tid,
            KernelKind::SyncBegin { device: DISK, inode },
        ));
        spans.apply(&at(
            tid.into(),
            tid,
            KernelKind::Wrote {
                device: DISK,
                inode,
                bytes: 1,
            },
        ));
    }
    assert!(spans.open.len() <= OPEN_MAX && spans.doings.len() <= WORKERS);
    assert!(spans.wrote.len() <= WORKERS);
}
