use super::accounting::{self, Accounted};
use super::score::{Outcome, Tally, confusion_markdown, score};
use super::*;
use fathom_testkit::scenarios::plans;
use std::sync::Mutex;

/// One scenario: what was said of it, and where it was asked for, whose the lost time is.
struct Done {
    outcome: Outcome,
    accounted: Vec<Accounted>,
}

/// Runs all scenarios of a set, two at a time.
fn outcomes(set: Set) -> Vec<Done> {
    let plans = plans(set);
    let next = Mutex::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let index = {
                        let mut next = next.lock().unwrap();
                        *next += 1;
                        *next - 1
                    };
                    let Some(plan) = plans.get(index) else { break };
                    let scenario = plan.simulate();
                    let explanation = explained(&scenario);
                    adds_up(&scenario, &explanation);
                    let outcome = score(&scenario, &explanation);
                    if outcome.right != Some(true) || !outcome.accused.is_empty() {
                        tell(&scenario, &explanation, &outcome);
                    }
                    let accounted = match set {
                        Set::Development => Vec::new(),
                        Set::HeldOut => {
                            accounting::accounted(plan.doing(), &scenario, &explanation, &plan.truth())
                        }
                    };
                    done.lock().unwrap().push((index, Done { outcome, accounted }));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, done)| done).collect()
}

/// What was lost is owned by somebody or not seen, all of it. (That the owners of each I/O's time add up to it, to the
/// nanosecond, is asserted where they are found.)
fn adds_up(scenario: &Scenario, explanation: &Explanation) {
    for spike in explanation.spikes.iter().flat_map(|spikes| &spikes.kept) {
        let owned: u64 = spike.owners.iter().map(|owned| owned.ns).sum();
        let share: f64 = spike.owners.iter().map(|owned| owned.share).sum();
        let looked_at = !spike.owners.is_empty();
        assert!(looked_at && owned > 0, "{}: {:?}", scenario.label, spike.verdict);
        assert!(
            (share - 1.0).abs() < 1e-6 || share == 0.0,
            "{}: {share}",
            scenario.label
        );
    }
}

/// What was said of a scenario that was not judged right.
fn tell(scenario: &Scenario, explanation: &Explanation, outcome: &Outcome) {
    eprintln!(
        "--- {}: {:?} {:?}",
        scenario.label, outcome.right, outcome.accused
    );
    for injected in &scenario.injected {
        eprintln!(
            "  done: {:?} {:?} at {:.3} s for {:.3} s",
            injected.cause,
            injected.process,
            (injected.window.start_ns - scenario.run.started_monotonic_ns.0) as f64 / 1e9,
            (injected.window.end_ns - injected.window.start_ns) as f64 / 1e9
        );
    }
    for spike in explanation.spikes.iter().flat_map(|spikes| &spikes.kept).take(6) {
        eprintln!(
            "  spike at {:.3} s for {:.3} s, {} I/Os, worst {:.1} ms, usual {:.2} ms: {:?} {:?} {:.2} {:?} {:?}\n    split {:?} depth {:?}",
            spike.start_ns as f64 / 1e9,
            spike.duration_ns as f64 / 1e9,
            spike.slow_ios,
            spike.worst.response_ns as f64 / 1e6,
            spike.usual_ns as f64 / 1e6,
            spike.verdict.cause,
            spike.verdict.process,
            spike.verdict.confidence,
            spike.verdict.because,
            spike.verdict.missing,
            spike.split,
            spike.depth
        );
        for served in &spike.served {
            eprintln!("    served {served:?}");
        }
    }
}

fn check(set: Set) -> (String, Vec<Accounted>) {
    let (mut all, mut accounted) = (Vec::new(), Vec::new());
    for done in outcomes(set) {
        all.push(done.outcome);
        accounted.extend(done.accounted);
    }
    let table = confusion_markdown(&all);
    println!("{table}");
    let tally = Tally::of(&all);
    assert!(all.len() >= 200, "{} scenarios", all.len());
    assert_eq!(tally.accused, 0, "processes were accused wrongly");
    assert!(tally.share_right() >= 0.97, "{tally:?}");
    assert!(tally.unknown * 20 <= all.len(), "{tally:?}: too often unknown");
    (table, accounted)
}

#[test]
fn verdicts_on_the_seeds_that_the_rules_were_made_with() {
    check(Set::Development);
}

/// What stands before the table in `docs/verdicts.md`.
const ABOUT: &str = "\
# How often the verdicts are right

Written by the test `verdicts` of `crates/analysis` (`UPDATE_EXPECT=1` renews it), which fails below 97 % or at the first
process that is accused wrongly. Each scenario is a simulated machine (`crates/analysis/src/explain/scenarios/`): a load, a disk
with a tail of its own, CPUs with a scheduler, harmless processes and a journal, and one or two of the causes done to it at
a known time, in sizes from 100 I/Os a second at depth 1 to 50,000 at depth 32. The rows are what was done, the columns what was
said of the worst spike in that time. Large I/Os are as slow as large ones are: where none came behind them, no spike is right. On
a disk at its limit whoever has I/O is no innocent.

Beside this, `cargo xtask disturb` does 43 kinds of disturbances to real disks.

";

#[test]
fn verdicts() {
    let (table, accounted) = check(Set::HeldOut);
    println!("{}", accounting::table(&accounted));
    println!("{}", accounting::worst(&accounted, 40));
    let right = accounting::share_right(&accounted);
    println!("{:.2} % of the injected time has its right owner", right * 100.0);
    assert!(right >= 0.97, "{right}");
    let mean = accounting::mean_share(&accounted);
    assert!(mean >= 0.97, "{mean}");
    expect_test::expect_file!["../../../../../docs/verdicts.md"].assert_eq(&format!("{ABOUT}{table}"));
}
