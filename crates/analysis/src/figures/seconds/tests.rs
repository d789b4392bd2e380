use super::super::fixture::{MILLI, SECOND, job, outcome, row};
use super::super::outcome::{Outcome, Selection};
use super::*;

fn with_rows(rows: Vec<fathom_core::run::SeriesRow>) -> [Outcome; 1] {
    let mut outcome = outcome("run", &[job("a", 0, &[1], 1), job("b", 0, &[1], 1)]);
    outcome.series = rows;
    [outcome]
}

#[test]
fn silences_of_two_seconds_part_phases() {
    // 0 1 2, one silent second, 4; then 5 to 9 silent (with and without rows); 10 11.
    let seconds = [(0, 5), (1, 5), (2, 5), (4, 5), (5, 0), (10, 9), (11, 1)];
    let outcomes = with_rows(seconds.map(|(second, ios)| row(0, second, ios, 1)).to_vec());
    let phases = phases(&Selection::find("run", &outcomes)[0]);
    assert_eq!(phases.len(), 2);
    assert_eq!((phases[0].from, phases[0].to), (0, 5));
    assert_eq!(phases[0].duration_ns(), 5 * SECOND);
    assert!((phases[0].iops() - 4.0).abs() < 1e-9);
    assert!((phases[1].bandwidth() - 5.0 * f64::from(1 << 20)).abs() < 1e-3);
    assert_eq!(stall_ns(&phases), 5 * SECOND);
    assert_eq!(stall_ns(&phases[..1]), 0);
}

#[test]
fn seconds_of_several_jobs_are_put_together() {
    let outcomes = with_rows(vec![row(0, 0, 10, 1), row(1, 0, 30, 5), row(0, 1, 4, 2)]);
    let all = Selection::find("run", &outcomes);
    assert_eq!(values(&all[0], Direction::Read, PerSecond::Iops), [40.0, 4.0]);
    assert_eq!(
        values(&all[0], Direction::Total, PerSecond::Lat),
        [(4 * MILLI) as f64, (2 * MILLI) as f64]
    );
    assert!(values(&all[0], Direction::Write, PerSecond::Iops).is_empty());
    let one = Selection::find("run@a", &outcomes);
    assert_eq!(values(&one[0], Direction::Read, PerSecond::Iops), [10.0, 4.0]);
}

#[test]
fn the_ramp_and_parts_of_seconds_do_not_count() {
    let mut ramp = row(0, 0, 100, 1);
    ramp.ramp = true;
    let mut part = row(0, 2, 3, 1);
    part.duration_ns = SECOND / 2;
    let outcomes = with_rows(vec![ramp, row(0, 1, 7, 1), part]);
    let all = Selection::find("run", &outcomes);
    assert_eq!(values(&all[0], Direction::Read, PerSecond::Iops), [7.0]);
}
