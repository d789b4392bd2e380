use super::*;
use crate::trace::page::Record;
use fathom_core::record::TaskState;

const PREFIX: &str = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;
";

fn format(name: &str, id: u16, fields: &str) -> EventFormat {
    EventFormat::parse(&format!("name: {name}\nID: {id}\n{PREFIX}{fields}")).expect("a format")
}

const PLACE: &str = "\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;
\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;
\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;
\tfield:int errors;\toffset:28;\tsize:4;\tsigned:1;
\tfield:char rwbs[8];\toffset:32;\tsize:8;\tsigned:0;
";

#[test]
fn an_older_kernels_completion_is_read() {
    // `errors` before Linux 4.13.
    let decoder = BlockDecoder::new(&[format("block_rq_complete", 7, PLACE)]).expect("a decoder");
    let mut payload = vec![0; 40];
    payload[0..2].copy_from_slice(&7u16.to_ne_bytes());
    payload[4..8].copy_from_slice(&42u32.to_ne_bytes());
    payload[8..12].copy_from_slice(&(8u32 << 20).to_ne_bytes());
    payload[16..24].copy_from_slice(&1024u64.to_ne_bytes());
    payload[24..28].copy_from_slice(&8u32.to_ne_bytes());
    payload[28..32].copy_from_slice(&(-5i32).to_ne_bytes());
    payload[32..34].copy_from_slice(b"WS");
    let record = Record {
        time_ns: 99,
        payload: &payload,
    };
    let event = decoder.decode(&record).expect("an event");
    assert_eq!(
        (event.kind, event.device, event.sector),
        (BlockKind::Complete, 8 << 20, 1024)
    );
    assert_eq!(
        (event.sectors, event.errno, event.pid, event.time_ns),
        (8, 5, 42, 99)
    );
    for short in 0..40 {
        let record = Record {
            time_ns: 99,
            payload: &payload[..short],
        };
        assert_eq!(decoder.decode(&record), None, "{short} bytes");
    }
    payload[0] = 8;
    let other = Record {
        time_ns: 99,
        payload: &payload,
    };
    assert_eq!(decoder.decode(&other), None);
}

#[test]
fn an_event_without_what_is_needed_is_refused_by_name() {
    let without = PLACE.replace("nr_sector", "sectors");
    let error = BlockDecoder::new(&[format("block_rq_issue", 7, &without)]).expect_err("refused");
    assert_eq!(
        error.to_string(),
        "the kernel describes the event block_rq_issue without a usable field `nr_sector`"
    );
    let odd = PLACE.replace("offset:16;\tsize:8", "offset:16;\tsize:7");
    assert_eq!(
        BlockDecoder::new(&[format("block_rq_issue", 7, &odd)])
            .expect_err("refused")
            .field,
        "sector"
    );
    assert!(
        BlockDecoder::new(&[format("sched_switch", 7, PLACE)]).is_err(),
        "none of the block layer"
    );
    assert!(BlockDecoder::new(&[]).is_err());
}

#[test]
fn why_a_task_left_is_told_for_old_and_new_kernels() {
    let fields = "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;
\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;
\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;
";
    let decoder = SchedDecoder::new(&[format("sched_switch", 3, fields)]).expect("a decoder");
    let state = |bits: u64| {
        let mut payload = vec![0; 60];
        payload[0..2].copy_from_slice(&3u16.to_ne_bytes());
        payload[32..40].copy_from_slice(&bits.to_ne_bytes());
        let record = Record {
            time_ns: 1,
            payload: &payload,
        };
        match decoder.decode(2, &record).expect("an event").kind {
            SchedKind::Switch { state, .. } => state,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        (state(0), state(0x100), state(0x800)),
        (TaskState::Preempted, TaskState::Preempted, TaskState::Preempted)
    );
    assert_eq!(
        (state(1), state(0x80)),
        (TaskState::Sleeping, TaskState::Sleeping)
    );
    assert_eq!(
        (state(2), state(0x82)),
        (TaskState::Uninterruptible, TaskState::Uninterruptible)
    );
    assert_eq!((state(0x10), state(0x20)), (TaskState::Other, TaskState::Other));
}
