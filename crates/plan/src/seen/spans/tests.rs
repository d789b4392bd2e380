use super::super::{Amounts, SECOND_NS};
use super::{Spans, arrivals};
use fathom_core::backend::Op;
use fathom_core::record::CounterRow;
use fathom_core::rng::Rng;

fn row(at_ns: u64, metric: &'static str, device: &str, value: f64) -> CounterRow {
    CounterRow {
        at_ns,
        metric: metric.into(),
        labels: format!("device=\"{device}\"").into(),
        value,
    }
}

/// Ten readings a second of two devices, of which one is wanted.
#[test]
fn counters_become_seconds() {
    let mut rows = Vec::new();
    for number in 0..=50u64 {
        let at_ns = SECOND_NS + number * 100_000_000;
        for (device, factor) in [("vda", 1.0), ("vdb", 7.0)] {
            let value = number as f64 * factor;
            rows.push(row(
                at_ns,
                "node_disk_reads_completed_total",
                device,
                100.0 + value * 30.0,
            ));
            rows.push(row(
                at_ns,
                "node_disk_read_bytes_total",
                device,
                value * 30.0 * 4_096.0,
            ));
            rows.push(row(
                at_ns,
                "node_disk_writes_completed_total",
                device,
                value * 10.0,
            ));
            rows.push(row(
                at_ns,
                "node_disk_written_bytes_total",
                device,
                value * 10.0 * 524_288.0,
            ));
            rows.push(row(at_ns, "node_load1", device, value));
        }
    }
    let mut spans = Spans::default();
    spans.counters(&rows, |device| device == "vda");
    let spans = spans.finish();
    assert_eq!(spans.len(), 5, "{spans:?}");
    let a_second = Amounts {
        reads: 300,
        writes: 100,
        units: 500,
        read_bytes: 300 * 4_096,
        write_bytes: 100 * 524_288,
    };
    assert!(spans.iter().all(|span| span.amounts == a_second), "{spans:?}");
}

#[test]
fn a_counter_that_began_anew_adds_nothing_and_a_long_gap_is_not_spread() {
    let reads = "node_disk_reads_completed_total";
    let mut spans = Spans::default();
    let rows = [
        row(SECOND_NS, reads, "vda", 1_000.0),
        row(2 * SECOND_NS, reads, "vda", 1_100.0),
        row(3 * SECOND_NS, reads, "vda", 5.0),
        row(4 * SECOND_NS, reads, "vda", f64::NAN),
        row(100_000 * SECOND_NS, reads, "vda", 1e18),
    ];
    spans.counters(&rows, |_| true);
    let total: u64 = spans.finish().iter().map(|span| span.amounts.reads).sum();
    assert_eq!(total, 100);
}

#[test]
fn arrivals_stand_for_all_of_a_span() {
    let mut spans = Spans::default();
    let reads = "node_disk_reads_completed_total";
    let bytes = "node_disk_read_bytes_total";
    let writes = "node_disk_writes_completed_total";
    for (at_ns, value) in [(SECOND_NS, 0.0), (2 * SECOND_NS, 1.0)] {
        spans.counters(
            &[
                row(at_ns, reads, "vda", value * 70.0),
                row(at_ns, bytes, "vda", value * 70.0 * 8_192.0),
                row(at_ns, writes, "vda", value * 30.0),
            ],
            |_| true,
        );
    }
    let spans = spans.finish();
    let mut all = Vec::new();
    arrivals(&spans[0], 1 << 30, &mut Rng::new(1), &mut all);
    assert_eq!(all.len(), 100);
    assert_eq!(all.iter().filter(|one| one.op == Op::Read).count(), 70);
    assert!(
        all.windows(2)
            .all(|pair| pair[1].due_ns - pair[0].due_ns == 10_000_000)
    );
    assert!(
        all.iter()
            .all(|one| one.offset_bytes + u64::from(one.len_bytes) <= 1 << 30)
    );
    assert!(
        all.iter()
            .filter(|one| one.op == Op::Read)
            .all(|one| one.len_bytes == 8_192)
    );
}
