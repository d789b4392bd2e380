use super::super::victims::What;
use super::*;
use fathom_core::units::MonoTime;
use fathom_testkit::make;
use fathom_testkit::scenarios::empty_run;

fn io(created_ns: u64, latency_ns: u64, op: Op) -> IoRecord {
    IoRecord {
        intended_ns: created_ns.saturating_sub(500),
        op,
        ..make::io(created_ns, created_ns + latency_ns)
    }
}

fn scan(rows: &[IoRecord]) -> IoScanned {
    let mut run = empty_run();
    run.started_monotonic_ns = MonoTime(0);
    let facts = Facts::new(&run);
    let mut scan = IoScan::new(&facts);
    rows.chunks(7).for_each(|rows| scan.feed(rows));
    scan.finish()
}

#[test]
fn an_io_counts_in_the_second_in_which_it_ended() {
    let rows = [
        io(900_000_000, 200_000_000, Op::Read),
        io(1_000_000_000, 1_000_000, Op::Write),
    ];
    let scanned = scan(&rows);
    let job = &scanned.jobs[0];
    let seconds: Vec<(u64, u32, u64)> = job
        .data
        .seconds(0, 5)
        .filter(|(_, second)| second.ios > 0)
        .map(|(number, second)| (number, second.ios, second.lat_max_ns))
        .collect();
    assert_eq!(seconds, [(1, 2, 200_000_000)]);
    assert_eq!((job.ops, job.unsent_sum_ns), ([1, 1, 0, 0], 1000));
}

#[test]
fn syncs_are_apart() {
    let scanned = scan(&[io(0, 1_000, Op::Read), io(0, 9_000_000, Op::DataSync)]);
    let job = &scanned.jobs[0];
    assert_eq!(job.data.latencies().max(), Some(1_000));
    let kinds: Vec<(What, f64)> = job
        .victims
        .iter()
        .map(|victim| (victim.kind.what, victim.pulse.normal().mean_ns))
        .collect();
    assert_eq!(kinds, [(What::Read, 1_000.0), (What::Sync, 9_000_000.0)]);
}

/// Rows come worker by worker, up to seconds late: the sums are the same as in order.
#[test]
fn order_does_not_matter_to_sums() {
    let mut rows: Vec<IoRecord> = (0..20_000)
        .map(|n| io(n * 1_000_000, 500_000 + n % 97 * 1000, Op::Read))
        .collect();
    let ordered = scan(&rows);
    rows.sort_by_key(|row| (row.created_ns / 2_000_000_000, row.created_ns % 7));
    let shuffled = scan(&rows);
    let sums = |scanned: &IoScanned| -> Vec<(u64, u32, u64)> {
        let seconds = scanned.jobs[0].data.seconds(0, 30);
        seconds
            .map(|(number, second)| (number, second.ios, second.lat_sum_ns))
            .collect()
    };
    assert_eq!(sums(&ordered), sums(&shuffled));
    assert_eq!(
        ordered.jobs[0].data.latencies(),
        shuffled.jobs[0].data.latencies()
    );
}
