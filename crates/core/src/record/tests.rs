use super::*;
use crate::backend::Op;

#[test]
fn a_name_is_cut_as_the_kernel_cuts_it_and_ends_at_a_zero() {
    assert_eq!(
        Comm::new(b"kworker/u8:3-flush-254:0").to_string(),
        "kworker/u8:3-fl"
    );
    assert_eq!(Comm::new(b"sh\0rest").to_string(), "sh");
    assert_eq!(Comm::new(b"").as_bytes(), b"");
    assert_eq!(Comm::from(String::from(Comm::from("dd"))), Comm::from("dd"));
}

#[test]
fn an_io_is_one_cache_line() {
    assert_eq!(size_of::<IoRecord>(), 64);
    assert_eq!(size_of::<Option<Op>>(), 1);
}

fn request() -> BlockRequest {
    BlockRequest {
        device: 254 << 20,
        queued_ns: Some(100),
        allocated_ns: Some(150),
        inserted_ns: None,
        issued_ns: Some(180),
        completed_ns: 1_180,
        sector: 8,
        len_bytes: 4096,
        op: BlockOp::Read,
        flags: BlockFlags::default(),
        requeues: 0,
        merges: 0,
        errno: 0,
        pid: 1,
        comm: Comm::from("dd"),
        owner_pid: 0,
        owner_comm: Comm::default(),
    }
}

#[test]
fn a_request_says_who_had_it_when() {
    let whole = request();
    assert_eq!(
        (whole.begun_ns(), whole.queue_ns(), whole.device_ns()),
        (100, Some(80), Some(1_000))
    );
    let bio_based = BlockRequest {
        allocated_ns: None,
        issued_ns: None,
        ..whole
    };
    assert_eq!((bio_based.queue_ns(), bio_based.device_ns()), (None, Some(1_080)));
    let start_unseen = BlockRequest {
        queued_ns: None,
        ..bio_based
    };
    assert_eq!((start_unseen.begun_ns(), start_unseen.device_ns()), (1_180, None));
}
