//! Records of modelled disks, explained: what is found of what the models are known to do.

mod modelled;

use fathom_analysis::explain::answer::{Cause, LimitKind};
use fathom_model::{Catalog, file};

/// Stalls that no section knows of as a whole: their clock goes on from one to the next.
#[test]
fn regular_stalls_have_their_period_and_phase_over_all_sections() {
    let jobs = modelled::sections(&["h00", "h01", "h02"], 240);
    let (_, explanation) = modelled::explained(jobs, &modelled::stalling());
    let spikes = explanation.spikes.as_ref().expect("looked for");
    assert_eq!(spikes.periods.len(), 1, "{:?}", spikes.periods);
    let period = &spikes.periods[0];
    assert_eq!(period.cause, Some(Cause::Device));
    assert!(
        period.period_ns.abs_diff(40_000_000_000) < 20_000_000,
        "{period:?}"
    );
    // The first slow I/O is one that was on its way when the stall began.
    assert!(
        period.phase_ns.abs_diff(17_000_000_000) < 100_000_000,
        "{period:?}"
    );
    assert_eq!((period.spikes, period.missed), (18, 0), "{period:?}");
    assert!(
        explanation
            .limits
            .iter()
            .all(|limit| limit.limit == LimitKind::OwnPace)
    );
}

/// What is in flight when a load of a whole hour ends makes no second hour: here the disk stalls just then.
#[test]
fn an_hour_is_one_hour() {
    let text = "\
base = \"azure/P30\"
[[disk.outages]]
when = \"every\"
period_ns = 3_600_000_000_000
first_ns = 3_599_900_000_000
duration_ns = 300_000_000
";
    let spec = file::parse("at-the-end.toml", text, Catalog::azure()).expect("a model");
    let jobs = modelled::sections(&["first", "second"], 3600);
    let (_, explanation) = modelled::explained(jobs, &spec);
    assert_eq!(explanation.distributions.len(), 2);
    for section in &explanation.distributions {
        assert_eq!(
            section.averages.seconds, 3601,
            "something was complete after the hour"
        );
        assert!(
            section.hours.is_empty(),
            "{}: {} hours",
            section.name,
            section.hours.len()
        );
        assert!(section.whole.n.abs_diff(432_000) < 40, "{}", section.whole.n);
    }
}

#[test]
fn two_hours_are_two_hours() {
    let jobs = modelled::sections(&["long"], 7200);
    let (_, explanation) = modelled::explained(jobs, &modelled::stalling());
    let section = &explanation.distributions[0];
    let hours: Vec<u32> = section.hours.iter().map(|hour| hour.hour).collect();
    assert_eq!(hours, [0, 1]);
    let sum: u64 = section.hours.iter().map(|hour| hour.ios.n).sum();
    assert_eq!(sum, section.whole.n);
}

/// The load goes on after its counted time, on a disk that then stands still most of the time.
#[test]
fn a_cooldown_is_not_part_of_the_figures() {
    let mut jobs = modelled::sections(&["cooled"], 20);
    jobs[0].pace.rate[0] = None;
    let rate = |jobs| {
        let text = "\
base = \"azure/P30\"
[[disk.outages]]
when = \"once\"
at_ns = 20_500_000_000
duration_ns = 9_000_000_000
";
        let spec = file::parse("late.toml", text, Catalog::azure());
        let (_, explanation) = modelled::explained(jobs, &spec.expect("a model"));
        let figure = &explanation.limits[0].figures[0];
        assert_eq!(figure.what, "rate");
        figure.value
    };
    let alone = rate(jobs.clone());
    jobs[0].limit.cooldown_time = fathom_core::units::Nanos::from_secs(10);
    let cooled = rate(jobs);
    assert!((cooled / alone - 1.0).abs() < 0.02, "{cooled} {alone}");
}
