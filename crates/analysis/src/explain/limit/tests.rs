use super::super::facts::{KnownDisk, LimitScope};
use super::super::scenarios::{explained, explained_with, steady};
use super::*;
use fathom_core::record::IoRecord;
use fathom_core::run::{Held, ModelSummary};
use fathom_core::units::Nanos;
use fathom_testkit::scenarios::{Scenario, Set};

fn check(set: Set) {
    let mut wrong = Vec::new();
    for (kind, scenario) in steady(set) {
        let explanation = explained(&scenario);
        let said = &explanation.limits[0];
        if said.limit != kind {
            wrong.push(format!("{kind:?} {}: {said:#?}", scenario.label));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn limits_that_a_machine_is_at_all_the_time() {
    check(Set::Development);
}

#[test]
fn limits_on_seeds_that_the_rules_were_not_made_with() {
    check(Set::HeldOut);
}

/// A scenario at a limit, with a load of sixteen in flight.
fn at_limit(kind: LimitKind) -> Scenario {
    let all = steady(Set::Development);
    let mut of_kind = all.filter(|(limit, scenario)| *limit == kind && scenario.label.contains("QD16"));
    of_kind.next().expect("a scenario").1
}

#[test]
fn the_disks_whose_limit_it_is_are_named_the_nearest_first() {
    let scenario = at_limit(LimitKind::Iops);
    let iops = explained(&scenario).limits[0].figures[0].value;
    let disk = |name: &str, scope, iops| KnownDisk {
        name: String::from(name),
        scope,
        iops: Some(iops),
        bytes_per_second: None,
        own: false,
    };
    let known = [
        disk("near", LimitScope::Disk, iops / 1.03),
        disk("nearest", LimitScope::Disk, iops / 1.01),
        disk("far", LimitScope::Disk, iops * 1.2),
        disk("machine", LimitScope::Machine, iops),
    ];
    let facts = Facts {
        known_disks: &known,
        ..Facts::new(&scenario.run)
    };
    let explanation = explained_with(&scenario, &facts);
    let limit = &explanation.limits[0];
    assert_eq!(limit.limit, LimitKind::Iops);
    let names: Vec<&str> = limit
        .candidates
        .iter()
        .map(|candidate| candidate.name.as_str())
        .collect();
    assert_eq!(names, ["nearest", "near"]);
    assert!((limit.candidates[0].ratio - 1.01).abs() < 0.01);
    let without = explained(&scenario).limits[0].confidence;
    assert!(limit.confidence > without);
    // The run's own machine is named alone, and is a reason.
    let mut known = known;
    known[3].own = true;
    let facts = Facts {
        known_disks: &known,
        ..Facts::new(&scenario.run)
    };
    let own = &explained_with(&scenario, &facts).limits[0];
    assert_eq!((own.limit, own.candidates.len()), (LimitKind::Machine, 1));
    assert!(own.candidates[0].own && own.confidence > limit.confidence);
}

#[test]
fn a_limit_of_the_model_is_the_limit() {
    let mut scenario = at_limit(LimitKind::Iops);
    let kinds = [
        ("disk IOPS", LimitKind::Iops),
        ("disk MB/s", LimitKind::Bandwidth),
        ("VM uncached IOPS", LimitKind::Machine),
    ];
    for (limit, kind) in kinds {
        let lat = &mut scenario.run.summary.jobs[0].read.lat_ns;
        (lat.n, lat.mean) = (1000, 1e6);
        scenario.run.summary.model = Some(ModelSummary {
            held: vec![Held {
                limit: String::from(limit),
                held_ns: 800_000_000,
            }],
            ..ModelSummary::default()
        });
        assert_eq!(explained(&scenario).limits[0].limit, kind);
    }
}

#[test]
fn failing_ios_come_before_all_else() {
    let mut scenario = at_limit(LimitKind::Iops);
    scenario.ios.iter_mut().step_by(4).for_each(|io| io.errno = 5);
    let limit = &explained(&scenario).limits[0];
    assert_eq!(limit.limit, LimitKind::DeviceErrors);
    assert!(limit.because[0].contains("25 %"), "{limit:?}");
}

/// A program on one CPU that never waits.
#[test]
fn workers_that_use_all_their_cpu_are_limited_by_it() {
    let mut scenario = at_limit(LimitKind::Latency);
    let summary = &mut scenario.run.summary.jobs[0];
    summary.runtime_ns = 1_000_000_000;
    summary.cpu.user_ns = 400_000_000;
    summary.cpu.system_ns = 590_000_000;
    assert_eq!(explained(&scenario).limits[0].limit, LimitKind::Cpu);
}

/// Heavy use in turns with light use, as a device sees it that is only watched.
#[test]
fn a_watched_device_is_at_its_limit_where_its_rate_stands_and_its_latency_rises() {
    let busy = [1000.0; 20];
    let rates: Vec<f64> = busy.iter().copied().chain([100.0; 20]).collect();
    let slow: Vec<f64> = [20e6; 20].into_iter().chain([2e6; 20]).collect();
    let plateau = unloaded::plateau(&rates, &slow).expect("a plateau");
    assert_eq!((plateau.seconds, plateau.rate as u64), (20, 1000));
    assert!(
        unloaded::plateau(&rates, &[2e6; 40]).is_none(),
        "latency does not rise"
    );
    let mixed: Vec<f64> = (1..40).map(|second| f64::from(second) * 25.0).collect();
    assert!(unloaded::plateau(&mixed, &slow).is_none(), "no rate stands");
}

#[test]
fn figures_that_point_the_wrong_way_are_named() {
    let disk = |busy, in_flight| measures::Disk {
        in_flight,
        busy,
        ..measures::Disk::default()
    };
    let measures = Measures {
        disk: Some(disk(0.99, 1.0)),
        ..Measures::default()
    };
    let lines = misleading::of(&measures, LimitKind::Latency);
    assert!(lines.len() == 1 && lines[0].contains("99 % busy"), "{lines:?}");
    assert!(misleading::of(&measures, LimitKind::Iops).is_empty());
    let measures = Measures {
        disk: Some(disk(0.01, 0.3)),
        system: Some(measures::System::default()),
        ..Measures::default()
    };
    let lines = misleading::of(&measures, LimitKind::AboveBlockLayer);
    assert!(
        lines.len() == 2 && lines[0].contains("looks idle") && lines[1].contains("iowait"),
        "{lines:?}"
    );
    let lines = misleading::of(&measures, LimitKind::Bandwidth);
    assert!(
        lines.len() == 2 && lines[0].contains("iowait is 0.0 %"),
        "{lines:?}"
    );
    let measures = Measures {
        system: Some(measures::System {
            iowait: 0.45,
            ..measures::System::default()
        }),
        ..Measures::default()
    };
    assert!(misleading::of(&measures, LimitKind::Latency)[0].contains("no sign of a limit"));
}

/// A load of a millisecond an I/O: a ramp of three seconds at 400 a second, four seconds at 100, then a cooldown of three at 300.
fn ramped_and_cooled() -> Scenario {
    let mut scenario = at_limit(LimitKind::Latency);
    let start = scenario.run.started_monotonic_ns.0;
    let like = scenario.ios[0];
    let spans: [(u64, u64, u64); 3] = [(0, 3, 400), (3, 7, 100), (7, 10, 300)];
    scenario.ios.clear();
    for (from, to, rate) in spans {
        for number in 0..(to - from) * rate {
            let at = start + from * 1_000_000_000 + number * 1_000_000_000 / rate;
            scenario.ios.push(IoRecord {
                intended_ns: at,
                created_ns: at,
                submitted_ns: at,
                completed_ns: at + 1_000_000,
                ..like
            });
        }
    }
    scenario.requests.clear();
    scenario.counters.clear();
    let limit = &mut scenario.run.workload.jobs[0].limit;
    limit.ramp_time = Nanos::from_secs(3);
    limit.runtime = Some(Nanos::from_secs(4));
    limit.cooldown_time = Nanos::from_secs(3);
    scenario
}

fn rate(scenario: &Scenario) -> f64 {
    let figure = &explained(scenario).limits[0].figures[0];
    assert_eq!(figure.what, "rate");
    figure.value
}

#[test]
fn neither_ramp_nor_cooldown_counts() {
    let mut scenario = ramped_and_cooled();
    assert!((rate(&scenario) - 100.0).abs() < 1.0, "{}", rate(&scenario));
    // Enough was known after three and a half seconds: the cooldown began then.
    scenario.run.workload.jobs[0].limit.runtime = Some(Nanos::from_secs(6));
    assert!(rate(&scenario) > 120.0, "the runtime reaches into the cooldown");
    scenario.run.summary.jobs[0].runtime_ns = 3_500_000_000;
    assert!((rate(&scenario) - 100.0).abs() < 1.0, "{}", rate(&scenario));
}

/// A run that is killed in its ramp is judged by what there is.
#[test]
fn a_run_that_ended_in_its_ramp_is_judged_all_the_same() {
    let mut scenario = ramped_and_cooled();
    let end_ns = scenario.run.started_monotonic_ns.0 + 2_900_000_000;
    scenario.ios.retain(|io| io.completed_ns < end_ns);
    assert!((rate(&scenario) - 400.0).abs() < 5.0, "{}", rate(&scenario));
    // And one of less than a second after it.
    let mut scenario = ramped_and_cooled();
    scenario.ios.retain(|io| io.completed_ns < end_ns + 600_000_000);
    assert!((rate(&scenario) - 100.0).abs() < 15.0, "{}", rate(&scenario));
}
