use super::{Steadiness, deviation, slope};
use fathom_core::backend::Op;
use fathom_core::run::{LatencySummary, SeriesRow};
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::workload::{Steady, SteadyOf};

fn row(second: u32, ios: u64) -> SeriesRow {
    SeriesRow {
        second,
        end: MonoTime(u64::from(second + 1) * 1_000_000_000),
        duration_ns: 1_000_000_000,
        job: 0,
        ramp: false,
        op: Op::Read,
        ios,
        bytes: ios * 4096,
        errors: 0,
        lat: LatencySummary::default(),
        response: LatencySummary::default(),
        backlog: 0,
        late_ios: 0,
    }
}

/// The second after which `ios` are steady; a second more has to begin before one counts.
fn attained(slope: bool, limit: f64, ios: &[u64]) -> Option<usize> {
    let mut steady = Steadiness::new(Steady {
        of: SteadyOf::Iops,
        slope,
        limit,
        in_percent: true,
        duration: Nanos::from_secs(3),
        ramp: Nanos::ZERO,
    });
    ios.iter().enumerate().position(|(second, &ios)| {
        steady.add(std::iter::once(&row(second as u32, ios)));
        steady.attained
    })
}

#[test]
fn results_are_steady_when_all_samples_are_near_their_mean() {
    assert_eq!(attained(false, 5.0, &[100, 300, 100, 101, 99, 100]), Some(5));
    assert_eq!(attained(false, 0.5, &[100, 300, 100, 101, 99, 100]), None);
}

#[test]
fn or_when_they_lie_on_a_level_line() {
    assert_eq!(attained(true, 1.0, &[100, 200, 300, 100, 500, 100, 7]), Some(6));
    assert_eq!(attained(true, 1.0, &[100, 200, 300, 400, 500]), None);
}

#[test]
fn slopes_and_deviations() {
    assert!((slope(&[1.0, 3.0, 5.0]) - 2.0).abs() < 1e-9);
    assert!((slope(&[4.0]) - 0.0).abs() < 1e-9);
    assert!((deviation(&[1.0, 3.0, 8.0]) - 4.0).abs() < 1e-9);
}
