use super::*;
use crate::trace::rwbs;
use fathom_core::record::Comm;
use proptest::prelude::*;

const DISK: u32 = 254 << 20;
const PARTITION: u32 = DISK + 1;

fn watched(request_based: bool, fua: bool) -> Watched {
    Watched {
        device: TraceDevice {
            name: "vda".to_owned(),
            dev: DISK,
            request_based,
            partition_devs: vec![PARTITION],
        },
        fua,
    }
}

/// `12 queue WS 100+8` at 12 ns; of a split, what follows the sector is where the rest begins.
fn event(line: &str) -> BlockEvent {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [time, kind, letters, place] = words[..] else {
        panic!("four words: {line}");
    };
    let kind = match kind {
        "queue" => BlockKind::Queue,
        "get" => BlockKind::Allocate,
        "merge" => BlockKind::Merge,
        "merge_rq" => BlockKind::MergeRequest,
        "split" => BlockKind::Split,
        "insert" => BlockKind::Insert,
        "issue" => BlockKind::Issue,
        "requeue" => BlockKind::Requeue,
        "done" => BlockKind::Complete,
        "bio_done" => BlockKind::CompleteBio,
        other => panic!("{other}"),
    };
    let (sector, rest) = place.split_once('+').expect("a place");
    let rest: u64 = rest.parse().expect("a number");
    let split = kind == BlockKind::Split;
    BlockEvent {
        time_ns: time.parse().expect("a time"),
        kind,
        device: DISK,
        sector: sector.parse().expect("a sector"),
        sectors: if split { 0 } else { rest as u32 },
        new_sector: if split { rest } else { 0 },
        what: rwbs::decode(letters.as_bytes()),
        errno: 0,
        pid: 10,
        comm: Comm::from("dd"),
    }
}

struct Seen {
    rows: Vec<BlockRequest>,
    counts: MatchCounts,
    remarks: Vec<String>,
}

fn run(watched: Watched, lines: &[&str]) -> Seen {
    let mut matcher = Matcher::new(&[watched], Patience::default());
    let mut rows = Vec::new();
    for line in lines {
        matcher.apply(&event(line), &mut rows);
    }
    matcher.finish(1_000_000, &mut rows);
    Seen {
        rows,
        counts: matcher.counts(),
        remarks: matcher.remarks(),
    }
}

/// What a row says in short: queued, allocated, inserted, issued, completed; place.
fn told(row: &BlockRequest) -> String {
    let time = |time: Option<u64>| time.map_or("-".to_owned(), |time| time.to_string());
    let times = [row.queued_ns, row.allocated_ns, row.inserted_ns, row.issued_ns]
        .map(time)
        .join(" ");
    let place = format!("{}+{}", row.sector as i64, row.len_bytes / 512);
    format!("{times} {} {} {place}", row.completed_ns, row.op.name())
}

fn tell(seen: &Seen) -> Vec<String> {
    seen.rows.iter().map(told).collect()
}

/// As recorded of a virtio disk: 1 MiB is more than it takes at once, and its ring is full.
#[test]
fn a_long_io_is_split_and_a_part_given_back() {
    let seen = run(
        watched(true, false),
        &[
            "100 queue RS 1000+2048",
            "112 split RS 1000+3032",
            "116 get RS 1000+2032",
            "121 get RS 3032+16",
            "123 insert RS 1000+2032",
            "133 issue RS 1000+2032",
            "163 insert RS 3032+16",
            "164 issue RS 3032+16",
            "173 requeue RS 3032+16",
            "1400 done RS 1000+2032",
            "1500 issue RS 3032+16",
            "1600 done RS 3032+16",
        ],
    );
    assert_eq!(
        tell(&seen),
        [
            "100 116 123 133 1400 read 1000+2032",
            "100 121 163 1500 1600 read 3032+16"
        ]
    );
    assert_eq!((seen.rows[0].requeues, seen.rows[1].requeues), (0, 1));
    assert_eq!(
        (seen.counts.unmatched_completions, seen.counts.in_flight_at_end),
        (0, 0)
    );
}

#[test]
fn a_request_holds_all_that_was_merged_into_it() {
    let seen = run(
        watched(true, false),
        &[
            "10 queue W 100+8",
            "11 get W 100+8",
            // Behind it, before it, and a request that closes the gap to a third.
            "12 queue W 108+8",
            "12 merge W 108+8",
            "13 queue W 92+8",
            "13 merge W 92+8",
            "14 queue W 124+8",
            "14 get W 124+8",
            "15 queue W 116+8",
            "15 merge W 116+8",
            "16 merge_rq W 124+8",
            "20 insert W 92+40",
            "21 issue W 92+40",
            "90 done W 92+40",
        ],
    );
    assert_eq!(tell(&seen), ["10 11 20 21 90 write 92+40"]);
    assert_eq!(seen.rows[0].merges, 4);
    assert_eq!(seen.counts.in_flight_at_end, 0);
}

#[test]
fn a_request_may_complete_in_parts() {
    let seen = run(
        watched(true, false),
        &[
            "1 queue R 0+24",
            "2 get R 0+24",
            "3 issue R 0+24",
            "5 done R 0+8",
            "6 done R 8+8",
            "9 done R 16+8",
        ],
    );
    assert_eq!(tell(&seen), ["1 2 - 3 9 read 0+24"]);
}

/// As recorded of a loop device under ext4: a commit of its journal, beside an fsync.
#[test]
fn flushes_belong_to_the_requests_that_wait_for_them() {
    let commit = [
        "96200 queue FWFSM 278548+2",
        "96201 get FWFSM 278548+2",
        "96210 issue FF 0+0",
        "96300 queue FWS 0+0",
        "96301 get FWS 0+0",
        "100032 done FF 18446744073709551615+0",
        "100039 insert WFSM 278548+2",
        "100040 issue WFSM 278548+2",
        "100057 done WFSM 278548+2",
        "100060 issue FF 0+0",
        "104029 done FF 18446744073709551615+0",
        "104031 done WFSM 278548+0",
        "104033 done WS 0+0",
    ];
    let seen = run(watched(true, false), &commit);
    let expected = [
        "96200 96201 - 96210 104031 write 278548+2",
        "96300 96301 - 100060 104033 flush -1+0",
    ];
    assert_eq!(tell(&seen), expected);
    assert_eq!(
        (seen.counts.flush_commands, seen.counts.unmatched_completions),
        (2, 0)
    );
    assert!(
        seen.rows[0]
            .flags
            .has(BlockFlags::PREFLUSH | BlockFlags::FUA | BlockFlags::META)
    );
}

#[test]
fn a_flush_that_was_not_sent_is_not_done() {
    let mut lines = vec!["1 queue FWS 0+0", "2 queue FWS 0+0"];
    // The first one's task was interrupted; the second one is sent and done alone.
    lines.extend([
        "3 get FWS 0+0",
        "5 issue FF 0+0",
        "6 get FWS 0+0",
        "9 done WS 0+0",
        "10 issue FF 0+0",
        "20 done WS 0+0",
    ]);
    let seen = run(watched(true, false), &lines);
    assert_eq!(tell(&seen), ["1 3 - 5 9 flush -1+0", "2 6 - 10 20 flush -1+0"]);
}

#[test]
fn fua_ends_with_a_flush_only_where_the_device_has_none() {
    let lines = [
        "1 queue WFS 8+8",
        "2 get WFS 8+8",
        "3 issue WFS 8+8",
        "50 done WFS 8+8",
    ];
    assert_eq!(tell(&run(watched(true, true), &lines)), ["1 2 - 3 50 write 8+8"]);
    let with_flush = [
        &lines[..],
        &["52 issue FF 0+0", "90 done FF 0+0", "91 done WFS 8+0"],
    ]
    .concat();
    let seen = run(watched(true, false), &with_flush);
    assert_eq!(tell(&seen), ["1 2 - 3 91 write 8+8"]);
    assert_eq!(seen.counts.unmatched_completions, 0);
}

#[test]
fn two_at_one_place_are_told_apart_as_far_as_can_be() {
    let mut matcher = Matcher::new(&[watched(true, false)], Patience::default());
    let mut rows = Vec::new();
    for line in [
        "1 queue R 8+8",
        "2 queue R 8+8",
        "3 get R 8+8",
        "4 get R 8+8",
        "5 issue R 8+8",
        "9 done R 8+8",
    ] {
        let mut event = event(line);
        // The second one's task gets its request first.
        event.pid = if matches!(event.time_ns, 2 | 3) { 20 } else { 10 };
        matcher.apply(&event, &mut rows);
    }
    assert_eq!(matcher.in_flight(), 1);
    let told: Vec<_> = rows.iter().map(told).collect();
    assert_eq!(told, ["1 4 - 5 9 read 8+8"]);
}

#[test]
fn what_a_partition_queues_its_disk_completes() {
    let mut matcher = Matcher::new(&[watched(true, false)], Patience::default());
    let mut rows = Vec::new();
    let lines = [
        "1 queue R 2056+8",
        "2 get R 2056+8",
        "3 issue R 2056+8",
        "9 done R 2056+8",
        "10 queue R 1+1",
    ];
    for (line, device) in lines.iter().zip([PARTITION, PARTITION, DISK, DISK, 99]) {
        matcher.apply(
            &BlockEvent {
                device,
                ..event(line)
            },
            &mut rows,
        );
    }
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].device, rows[0].queued_ns), (DISK, Some(1)));
    assert_eq!(matcher.counts().foreign, 1);
}

#[test]
fn of_what_began_before_the_trace_the_rest_is_told() {
    let seen = run(
        watched(true, false),
        &[
            "1 done R 8+8",
            "2 issue R 16+8",
            "3 done R 16+8",
            "4 requeue R 24+8",
            "5 issue R 24+8",
            "6 done R 24+8",
        ],
    );
    assert_eq!(tell(&seen), ["- - - 2 3 read 16+8", "- - - 5 6 read 24+8"]);
    assert_eq!(seen.counts.unmatched_completions, 1);
}

#[test]
fn without_requests_an_io_ends_with_its_last_part() {
    let newer = [
        "1 queue W 0+64",
        "2 split W 0+32",
        "3 split W 32+48",
        "7 bio_done W 0+32",
        "8 bio_done W 32+16",
        "9 bio_done W 48+16",
    ];
    let seen = run(watched(false, false), &newer);
    assert_eq!(tell(&seen), ["1 - - - 9 write 0+64"]);
    assert_eq!(seen.counts.unmatched_completions, 0);
    let older = ["1 queue W 0+64", "2 split W 0+32", "9 bio_done W 32+32"];
    assert_eq!(
        tell(&run(watched(false, false), &older)),
        ["1 - - - 9 write 0+64"]
    );
    let of_dm = ["1 queue W 0+64", "2 split W 32+32", "9 bio_done W 32+32"];
    assert_eq!(
        tell(&run(watched(false, false), &of_dm)),
        ["1 - - - 9 write 0+64"]
    );
    let counted_down = ["1 queue W 0+64", "9 bio_done W 64+0"];
    assert_eq!(
        tell(&run(watched(false, false), &counted_down)),
        ["1 - - - 9 write 0+64"]
    );
    let flush = ["1 queue FWS 0+0", "9 bio_done FWS 0+0"];
    assert_eq!(
        tell(&run(watched(false, false), &flush)),
        ["1 - - - 9 flush -1+0"]
    );
}

#[test]
fn a_device_that_never_tells_an_end_is_named() {
    let lines = ["1 queue W 0+64", "2 queue R 64+64"];
    let seen = run(watched(false, false), &lines);
    assert_eq!((seen.rows.len(), seen.counts.unmatched_starts), (0, 0));
    assert_eq!(
        seen.remarks,
        ["vda: the kernel does not tell when 2 of its I/Os ended; see the disks below it"]
    );
}

#[test]
fn what_is_too_old_or_too_much_is_given_up() {
    let patience = Patience {
        age_ns: 1000,
        requests: 64,
    };
    let mut matcher = Matcher::new(&[watched(true, false)], patience);
    let mut rows = Vec::new();
    matcher.apply(&event("1 queue R 8+8"), &mut rows);
    matcher.apply(&event("900 queue R 16+8"), &mut rows);
    matcher.expire(1100, &mut rows);
    assert_eq!(rows.len(), 1);
    assert!(rows[0].flags.has(BlockFlags::UNFINISHED));
    assert_eq!((rows[0].sector, rows[0].completed_ns), (8, 1100));
    for sector in 0..10_000 {
        matcher.apply(&event(&format!("1200 queue R {}+8", 100 + sector * 8)), &mut rows);
        assert!(matcher.in_flight() <= 65);
    }
    assert_eq!(matcher.counts().unmatched_starts as usize, rows.len());
    assert!(rows[1..].is_sorted_by_key(|row| row.sector), "the oldest first");
}

fn any_event() -> impl Strategy<Value = BlockEvent> {
    let kinds = prop::sample::select(vec![
        BlockKind::Queue,
        BlockKind::Allocate,
        BlockKind::Merge,
        BlockKind::MergeRequest,
        BlockKind::Split,
        BlockKind::Insert,
        BlockKind::Issue,
        BlockKind::Requeue,
        BlockKind::Complete,
        BlockKind::CompleteBio,
    ]);
    let letters = prop::sample::select(vec!["R", "W", "WS", "FWS", "FWFS", "WFS", "FF", "D", "N"]);
    let sector = prop_oneof![0u64..40, Just(u64::MAX - 3)];
    let parts = (0u64..100, kinds, letters, sector, 0u32..20, 0u64..60);
    parts.prop_map(|(step, kind, letters, sector, sectors, new_sector)| BlockEvent {
        time_ns: step,
        kind,
        device: DISK + (step % 3) as u32,
        sector,
        sectors,
        new_sector,
        what: rwbs::decode(letters.as_bytes()),
        errno: 0,
        pid: (step % 2) as u32,
        comm: Comm::default(),
    })
}

proptest! {
    /// Whatever comes, in whatever order: no panic, bounded memory, rows in the order of their end, nothing twice.
    #[test]
    fn any_events_are_borne(events in prop::collection::vec(any_event(), 0..400), request_based: bool, fua: bool) {
        let patience = Patience { age_ns: 2000, requests: 50 };
        let mut matcher = Matcher::new(&[watched(request_based, fua)], patience);
        let mut rows = Vec::new();
        let mut now_ns = 0;
        for event in &events {
            now_ns += event.time_ns;
            matcher.apply(&BlockEvent { time_ns: now_ns, ..*event }, &mut rows);
            matcher.expire(now_ns, &mut rows);
            prop_assert!(matcher.in_flight() <= 53);
        }
        matcher.finish(now_ns, &mut rows);
        prop_assert_eq!(matcher.in_flight(), 0);
        prop_assert!(rows.is_sorted_by_key(|row| row.completed_ns));
        prop_assert_eq!(matcher.counts().requests as usize, rows.len());
        let known = matcher.counts().events + matcher.counts().foreign;
        prop_assert_eq!(known as usize, events.len());
        // Each start makes one row, and a split one more.
        prop_assert!(rows.len() <= 2 * events.len());
    }
}
