//! How much of what was lost is told, over a whole run.

use super::explained;
use crate::explain::answer::{Cause, SpikeReport};
use fathom_core::rng::Rng;
use fathom_testkit::make;
use fathom_testkit::scenarios::Scenario;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;
/// The reads of a cloud disk, in microseconds: of a hundred so many take no longer.
const READS_US: [(f64, f64); 11] = [
    (0.0, 2_618.0),
    (25.0, 3_672.0),
    (50.0, 4_084.0),
    (75.0, 4_609.0),
    (90.0, 5_035.0),
    (95.06, 7_200.0),
    (95.69, 8_000.0),
    (97.26, 20_000.0),
    (98.47, 25_000.0),
    (99.8, 50_000.0),
    (100.0, 200_000.0),
];

fn read_ns(rng: &mut Rng) -> u64 {
    let percent = rng.unit() * 100.0;
    let after = READS_US
        .partition_point(|(part, _)| *part <= percent)
        .clamp(1, 10);
    let ((from, low_us), (to, high_us)) = (READS_US[after - 1], READS_US[after]);
    ((low_us + (high_us - low_us) * (percent - from) / (to - from)) * 1e3) as u64
}

/// So many reads a second for so long on a modelled disk that answers nobody in these times, from, to.
fn reads(per_second: u64, seconds: u64, stalls: &[(u64, u64)]) -> SpikeReport {
    let mut scenario = Scenario::empty();
    scenario.run.summary.target.modelled = true;
    let start = scenario.run.started_monotonic_ns.0;
    let mut rng = Rng::new(7);
    for number in 0..per_second * seconds {
        let due = number * SECOND / per_second;
        let answered = due + read_ns(&mut rng);
        let held = stalls.iter().find(|(from, to)| *from <= answered && due < *to);
        let completed = held.map_or(answered, |(_, to)| to + (answered - due) / 8);
        scenario.ios.push(make::io(start + due, start + completed));
    }
    scenario.ios.sort_by_key(|io| io.completed_ns);
    explained(&scenario).spikes.expect("looked for")
}

fn stall(at_ms: u64, length_ms: u64) -> (u64, u64) {
    (at_ms * MS, (at_ms + length_ms) * MS)
}

/// Three kinds of stall, one of them regular, above a tail of single slow reads.
#[test]
fn nearly_all_that_three_kinds_of_stall_cost_is_told() {
    let mut stalls = vec![stall(1_425_000, 4_750)];
    stalls.extend((0..9).map(|number| stall(170_000 + number * 400_000, 500)));
    let odd = [
        (333, 291),
        (701, 252),
        (1_204, 318),
        (1_999, 347),
        (2_610, 270),
        (3_222, 335),
    ];
    stalls.extend(odd.map(|(second, length_ms)| stall(second * 1_000 + 500, length_ms)));
    let report = reads(120, 3_600, &stalls);
    assert!(report.covered >= 0.9, "{}", report.covered);
    assert_eq!(report.causes.len(), 1, "{:?}", report.causes);
    let named = report.kept.iter().filter(|spike| spike.verdict.process.is_some());
    assert_eq!(named.count(), 0);
    let longest = report.kinds.first().expect("kinds");
    assert_eq!((longest.cause, longest.spikes), (Cause::Device, 1), "{longest:?}");
}
