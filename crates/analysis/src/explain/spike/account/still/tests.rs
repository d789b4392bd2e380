use super::*;
use fathom_core::record::Comm;

fn span(cpu: u64, start_ns: u64, end_ns: u64) -> KernelSpan {
    KernelSpan {
        kind: SpanKind::Standstill,
        start_ns,
        end_ns,
        device: 0,
        tid: 0,
        comm: Comm::NONE,
        about: cpu,
        by_tid: 0,
        by_comm: Comm::NONE,
    }
}

#[test]
fn the_machine_stood_still_where_each_of_its_cpus_did() {
    let kernel = [span(0, 100, 200), span(1, 150, 300), span(0, 290, 400)];
    let whole = |cpus: &[u32]| -> Vec<(u64, u64)> {
        let still = Still::of(&kernel, &cpus.iter().copied().collect());
        still.whole.spans(0, 1_000).collect()
    };
    assert_eq!(whole(&[0, 1]), [(150, 200), (290, 300)]);
    assert_eq!(whole(&[0]), [(100, 200), (290, 400)]);
    // One of which nothing is known ran.
    assert_eq!(whole(&[0, 1, 2]), []);
    assert_eq!(whole(&[]), []);
    let still = Still::of(&kernel, &BTreeSet::from([0, 1]));
    assert_eq!(
        still.of_cpu(0, 150, 300).collect::<Vec<_>>(),
        [(150, 200), (290, 300)]
    );
    assert_eq!(still.of_cpu(7, 0, 1_000).count(), 0);
}
