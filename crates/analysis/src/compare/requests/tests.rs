use super::Requests;
use crate::compare::figure::Quantity;
use fathom_core::record::{BlockFlags, BlockOp, BlockRequest, Comm};

#[test]
fn requests_become_a_direction_each() {
    let start = 5_000_000_000;
    let mut requests = Requests::new(start);
    for at in 0..60_000_u64 {
        requests.take(&BlockRequest {
            device: 1,
            queued_ns: Some(start + at * 1_000_000),
            allocated_ns: None,
            inserted_ns: None,
            issued_ns: None,
            completed_ns: start + at * 1_000_000 + 400_000,
            sector: 0,
            len_bytes: 4096,
            op: if at % 4 == 0 {
                BlockOp::Write
            } else {
                BlockOp::Read
            },
            flags: BlockFlags::default(),
            requeues: 0,
            merges: 0,
            errno: 0,
            pid: 0,
            comm: Comm::default(),
            owner_pid: 0,
            owner_comm: Comm::default(),
        });
    }
    assert!(requests.open.len() <= 32, "seconds are closed as they pass");
    let found = requests.finish(String::from("r"), 7).expect("some");
    let directions = &found.loads[0].directions;
    assert_eq!(directions.len(), 2);
    let iops = directions.iter().map(|one| {
        let mut figures = one.figures.iter();
        let iops = figures.find(|(quantity, _)| *quantity == Quantity::Iops);
        iops.expect("IOPS").1.value
    });
    assert_eq!(iops.collect::<Vec<f64>>(), [750.0, 250.0]);
    assert_eq!(directions[0].seconds.len(), 60);
    assert!(Requests::new(0).finish(String::new(), 0).is_none());
}
