use super::*;
use crate::sweep::conclude;
use crate::sweep::fixture::axes;
use fathom_testkit::make::sweep::{figures, measured, plan};

fn found(change: impl Fn(&mut SweepResults)) -> Vec<Caution> {
    let plan = plan(axes());
    let mut results = measured(&plan, |at| 1000.0 * f64::from(at.iodepth));
    change(&mut results);
    conclude(&plan, &results).cautions
}

fn repeats_of(results: &mut SweepResults, point: usize) -> &mut Vec<PointFigures> {
    match &mut results.points[point].outcome {
        Outcome::Measured { repeats } => repeats,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_sound_sweep_has_none() {
    assert_eq!(found(|_| ()), []);
}

#[test]
fn each_is_said() {
    let cautions = found(|results| {
        results.points[0].outcome = Outcome::Failed {
            message: String::from("no space left"),
        };
        results.points[4].outcome = Outcome::Pending;
        repeats_of(results, 8)[0].iops_half_width = Some(0.2);
        repeats_of(results, 12)[0].iops_half_width = None;
        repeats_of(results, 16)[0].errors = 3;
        repeats_of(results, 20)[0].warnings = vec![String::from("the host was busy")];
        repeats_of(results, 24)[0].ended_steady = true;
        let at = results.points[28].coordinates;
        repeats_of(results, 28).push(figures(at, 500.0));
        let at = results.points[33].coordinates;
        *repeats_of(results, 33) = vec![figures(at, 700.0)];
    });
    assert_eq!(
        cautions,
        [
            Caution::Failed {
                points: vec![0],
                message: String::from("no space left")
            },
            Caution::Errors {
                points: vec![16],
                errors: 3
            },
            Caution::RepeatsDisagree {
                point: 28,
                least: 500.0,
                most: 1000.0
            },
            Caution::WideInterval {
                points: vec![28, 8],
                half_width: 12.706 * 250.0 / 750.0
            },
            Caution::Declines {
                from: 32,
                to: 33,
                ratio: 0.7
            },
            Caution::NoInterval { points: vec![12] },
            Caution::Warning {
                text: String::from("the host was busy"),
                points: vec![20]
            },
            Caution::EndedSteady { points: vec![24] },
            Caution::Pending { points: 1 },
        ]
    );
}

#[test]
fn points_above_the_limit() {
    // Six points at depth 16 and 64 agree on 4000 IOPS; one of depth 4 had credit left.
    let cautions = {
        let plan = plan(axes());
        let mut results = measured(&plan, |at| (1000.0 * f64::from(at.iodepth)).min(4000.0));
        let at = results.points[1].coordinates;
        *repeats_of(&mut results, 1) = vec![figures(at, 4500.0)];
        conclude(&plan, &results).cautions
    };
    let above = cautions.iter().any(|caution| {
        matches!(caution, Caution::AboveLimit { quantity: Quantity::Iops, points, .. } if points == &[1])
    });
    assert!(above, "{cautions:?}");
}
