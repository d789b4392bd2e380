use super::*;
use crate::explain::answer::{Depths, Verdict, WorstIo};
use fathom_core::rng::Rng;

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;

fn spike(start_ns: u64, worst_ns: u64, slow_ios: u64) -> Spike {
    Spike {
        start_ns,
        duration_ns: worst_ns,
        sections: Vec::new(),
        slow_ios,
        threshold_ns: 0,
        usual_ns: 0,
        worst: WorstIo {
            latency_ns: worst_ns,
            response_ns: worst_ns,
            at_ns: start_ns,
            offset_bytes: 0,
            length_bytes: 4096,
            op: String::from("read"),
        },
        split: None,
        depth: Depths::default(),
        served: Vec::new(),
        newcomers: Vec::new(),
        shift: false,
        lost_ns: worst_ns,
        owners: Vec::new(),
        verdict: Verdict {
            cause: Cause::Device,
            process: None,
            confidence: 0.9,
            confidence_words: String::new(),
            because: Vec::new(),
            also: Vec::new(),
            missing: Vec::new(),
        },
    }
}

/// A day of a disk with one large outage, stalls every 400 s, others at any time, and a tail.
fn day(rng: &mut Rng) -> Vec<Spike> {
    let day_s = 86_400;
    let mut spikes = vec![spike(40_000 * S, 4_750 * MS, 600)];
    for turn in 0..216 {
        let at_ns = (170 + 400 * turn) * S + rng.below(50 * MS);
        spikes.push(spike(at_ns, 494 * MS + rng.below(146 * MS), 60));
    }
    for _ in 0..100 {
        spikes.push(spike(rng.below(day_s) * S, 250 * MS + rng.below(103 * MS), 33));
    }
    for _ in 0..600 {
        // The further out, the fewer.
        let part = rng.below(1_000) as f64 / 1_000.0;
        let worst_ns = 20.0 * (1.0 / (1.0 - part * 0.9)).powf(1.0);
        spikes.push(spike(
            rng.below(day_s) * S,
            worst_ns as u64 * MS,
            1 + rng.below(3),
        ));
    }
    spikes
}

#[test]
fn stalls_of_three_kinds_are_three_and_the_regular_one_has_its_period() {
    let mut rng = Rng::new(fathom_testkit::seed());
    let kept = day(&mut rng);
    let kinds = of(&kept);
    let stalls: Vec<u64> = kinds
        .iter()
        .filter(|kind| kind.stalls)
        .map(|kind| kind.spikes)
        .collect();
    assert_eq!(stalls, [1, 216, 100], "{kinds:#?}");
    let tail: u64 = kinds
        .iter()
        .filter(|kind| !kind.stalls)
        .map(|kind| kind.spikes)
        .sum();
    assert_eq!(tail, 600);
    let periods = periods(&kept, &kinds);
    assert_eq!(periods.len(), 1, "{periods:#?}");
    let (period_s, phase_s) = (
        periods[0].period_ns as f64 / 1e9,
        periods[0].phase_ns as f64 / 1e9,
    );
    assert!(
        (period_s - 400.0).abs() < 0.1 && (phase_s - 170.0).abs() < 1.0,
        "{periods:?}"
    );
    assert_eq!((periods[0].spikes, periods[0].missed), (216, 0));
}

#[test]
fn a_scatter_is_of_one_kind() {
    let mut rng = Rng::new(fathom_testkit::seed());
    let kept: Vec<Spike> = (0..80)
        .map(|nth| spike(nth * S, 20 * MS + rng.below(480 * MS), 20))
        .collect();
    let kinds = of(&kept);
    // Chance may set a few apart.
    assert!(kinds.len() <= 2, "{kinds:#?}");
    assert_eq!(kinds.iter().map(|kind| kind.spikes).sum::<u64>(), 80);
    assert!(of(&[]).is_empty());
    assert_eq!(of(&[spike(0, MS, 1), spike(S, 5 * MS, 9)]).len(), 1);
}
