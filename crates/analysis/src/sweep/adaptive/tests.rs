use super::*;
use crate::sweep::fixture::{Disk, axes};
use fathom_core::sweep::Coordinates;
use fathom_testkit::make::sweep::{figures, nothing_yet, plan};
use proptest::prelude::*;

/// All steps of a sweep in which `measure` says what comes out.
fn play(plan: &SweepPlan, measure: impl Fn(Coordinates) -> f64) -> (SweepResults, Vec<u32>) {
    let mut results = nothing_yet(plan);
    let mut order = Vec::new();
    loop {
        match next(plan, &results) {
            Next::Measure(point) => {
                let at = plan.points[point as usize];
                order.push(point);
                let figures = figures(at, measure(at));
                match &mut results.points[point as usize].outcome {
                    Outcome::Measured { repeats } => repeats.push(figures),
                    outcome => {
                        *outcome = Outcome::Measured {
                            repeats: vec![figures],
                        }
                    }
                }
            }
            Next::Infer { point, inferred } => {
                let outcome = &mut results.points[point as usize].outcome;
                assert_eq!(*outcome, Outcome::Pending, "a point is inferred once");
                *outcome = Outcome::Inferred(inferred);
            }
            Next::Done => return (results, order),
        }
        assert!(
            order.len() <= plan.points.len() * plan.repeats as usize,
            "it measures for ever"
        );
    }
}

fn errors(results: &SweepResults, truth: impl Fn(Coordinates) -> f64) -> Vec<f64> {
    let points = results.points.iter();
    points
        .filter_map(|point| match &point.outcome {
            Outcome::Inferred(found) => Some((found.iops / truth(point.coordinates) - 1.0).abs()),
            _ => None,
        })
        .collect()
}

const DISK: Disk = Disk {
    service_us: 500.0,
    us_per_kib: 5.0,
    iops: 5000.0,
    bytes_per_second: 200e6,
    unit_bytes: u64::MAX,
};

#[test]
fn a_plain_disk_needs_few_points() {
    let plan = plan(axes());
    let (results, order) = play(&plan, |at| DISK.at(at));
    assert!(
        order.len() * 2 <= plan.points.len(),
        "{} of {}",
        order.len(),
        plan.points.len()
    );
    let errors = errors(&results, |at| DISK.at(at));
    assert_eq!(errors.len() + order.len(), plan.points.len());
    assert!(errors.iter().all(|error| *error < 0.10), "{errors:?}");
}

#[test]
fn every_inferred_figure_says_why() {
    let plan = plan(axes());
    let (results, order) = play(&plan, |at| DISK.at(at));
    for point in &results.points {
        if let Outcome::Inferred(found) = &point.outcome {
            assert!(
                found.because.starts_with("at least ") && found.because.contains("; at most "),
                "{found:?}"
            );
            assert!(!found.from.is_empty() && found.from.iter().all(|from| order.contains(from)));
            let size = point.coordinates.block_size_bytes as f64;
            assert!((found.bytes_per_second / (found.iops * size) - 1.0).abs() < 1e-9);
            let little = point.coordinates.total_depth() as f64 * 1e9 / found.iops;
            assert!((found.lat_ns_mean / little - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn a_resumed_sweep_decides_alike() {
    let plan = plan(axes());
    let (whole, order) = play(&plan, |at| DISK.at(at));
    // What is known after any number of steps decides the next one, however it came to be known.
    for steps in 0..order.len() {
        let mut results = nothing_yet(&plan);
        for &point in order[..steps].iter().rev() {
            results.points[point as usize] = whole.points[point as usize].clone();
        }
        assert_eq!(
            next(&plan, &results),
            Next::Measure(order[steps]),
            "after {steps} steps"
        );
    }
}

#[test]
fn nothing_is_inferred_before_all_is_measured() {
    let plan = plan(axes());
    let mut results = nothing_yet(&plan);
    let mut inferring = false;
    loop {
        match next(&plan, &results) {
            Next::Measure(point) => {
                assert!(!inferring, "point {point} is measured after one was inferred");
                let at = plan.points[point as usize];
                results.points[point as usize].outcome = Outcome::Measured {
                    repeats: vec![figures(at, DISK.at(at))],
                };
            }
            Next::Infer { point, inferred } => {
                inferring = true;
                results.points[point as usize].outcome = Outcome::Inferred(inferred);
            }
            Next::Done => break,
        }
    }
}

#[test]
fn repeats_come_before_other_points_and_failures_are_left_alone() {
    let mut plan = plan(axes());
    plan.repeats = 3;
    let (results, order) = play(&plan, |at| DISK.at(at));
    assert!(
        order
            .chunks(3)
            .all(|three| three.iter().all(|point| *point == three[0]))
    );
    assert!(
        results
            .points
            .iter()
            .all(|point| matches!(point.repeats().len(), 0 | 3))
    );
    let mut results = nothing_yet(&plan);
    for point in &mut results.points {
        point.outcome = Outcome::Failed {
            message: String::from("gone"),
        };
    }
    assert_eq!(next(&plan, &results), Next::Done);
}

#[test]
fn a_disk_that_keeps_no_rule_is_measured_whole() {
    // A rate drawn from the coordinates by a hash: nothing follows from anything.
    let wild = |at: Coordinates| {
        let text = format!("{at:?}");
        let hash = text
            .bytes()
            .fold(7_u64, |hash, byte| hash.wrapping_mul(31) ^ u64::from(byte));
        100.0 + (hash % 10_000) as f64
    };
    let plan = plan(axes());
    let (results, order) = play(&plan, wild);
    let errors = errors(&results, wild);
    assert!(
        order.len() * 10 >= plan.points.len() * 8,
        "only {} of {}",
        order.len(),
        plan.points.len()
    );
    assert!(errors.len() * 5 <= plan.points.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn inferred_figures_are_near_the_truth(
        service_us in 100.0..5000.0_f64,
        us_per_kib in 0.0..20.0_f64,
        iops in 300.0..20_000.0_f64,
        knee_kib in 20.0..400.0_f64,
        write_cost in 1.0..3.0_f64,
        seek_us in 0.0..5000.0_f64,
    ) {
        let truth = |at: Coordinates| {
            let share_written = 1.0 - f64::from(at.read_percent) / 100.0;
            let seek = if at.random { seek_us * (1.0 - share_written) } else { 0.0 };
            let slower = 1.0 + (write_cost - 1.0) * share_written;
            Disk {
                service_us: service_us * slower + seek,
                us_per_kib: us_per_kib * slower,
                iops,
                bytes_per_second: iops * knee_kib * 1024.0,
                unit_bytes: u64::MAX,
            }.at(at)
        };
        let plan = plan(axes());
        let (results, _) = play(&plan, truth);
        let errors = errors(&results, truth);
        let worst = errors.iter().copied().fold(0.0, f64::max);
        // What bounds allow: they are at most 1.15 apart where nothing proves more, 1.5 where interpolation has proved right.
        prop_assert!(worst <= CLOSE_BY_LAW - 1.0, "off by {worst}");
        let far = errors.iter().filter(|&&off| off > 0.15).count();
        prop_assert!(far * 50 <= errors.len(), "{far} of {} are off by more than 15 %", errors.len());
        let mean = errors.iter().sum::<f64>() / errors.len().max(1) as f64;
        prop_assert!(mean < 0.04, "off by {mean} on average");
    }
}
