//! Who did nothing must change nothing.

use super::accounting::owners;
use super::*;
use crate::explain::answer::OwnerClass;
use fathom_testkit::scenarios::{Innocent, Plan, plans};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;

/// Of what was lost, so much may be another one's beside an innocent.
const MOVED_MAX: f64 = 0.02;

type Sums = BTreeMap<(OwnerClass, Option<String>), f64>;

fn sums(scenario: &Scenario) -> (Sums, Vec<String>) {
    let explanation = explained(scenario);
    let mut sums = Sums::new();
    for owned in owners(scenario, &explanation) {
        let process = owned.process.map(|process| process.comm.to_string());
        *sums.entry((owned.class, process)).or_default() += owned.ns as f64;
    }
    let spikes = explanation.spikes.iter().flat_map(|spikes| &spikes.kept);
    let named = spikes.filter_map(|spike| spike.verdict.process);
    (sums, named.map(|process| process.comm.to_string()).collect())
}

/// What is wrong with a scenario beside an innocent.
fn wrong(plan: &Plan, text: &mut String) {
    let alone = plan.simulate();
    let (before, _) = sums(&alone);
    for innocent in Innocent::ALL {
        let (beside, named) = sums(&plan.beside(innocent).simulate());
        if named.iter().any(|name| name == innocent.process()) {
            let _ = writeln!(text, "{}: {innocent:?} is named", alone.label);
        }
        // Its requests take their turn at the device: what is lost is a little more, and not whose it is.
        let lost = |sums: &Sums| sums.values().sum::<f64>();
        let mut owners: Vec<_> = before.keys().chain(beside.keys()).collect();
        owners.sort();
        owners.dedup();
        for owner in owners {
            let share = |sums: &Sums| sums.get(owner).copied().unwrap_or(0.0) / lost(sums).max(1.0);
            if (share(&before) - share(&beside)).abs() > MOVED_MAX {
                let _ = writeln!(
                    text,
                    "{}: beside {innocent:?} {owner:?} has {:.1} % of {:.1} ms, not {:.1} % of {:.1} ms",
                    alone.label,
                    share(&beside) * 100.0,
                    lost(&beside) / 1e6,
                    share(&before) * 100.0,
                    lost(&before) / 1e6
                );
            }
        }
    }
}

/// One scenario of each thing that is done, each of another size than the one before.
#[test]
fn innocents_change_nothing() {
    let all = plans(Set::Development);
    let rounds = 2;
    let of_one = rounds * 5;
    let chosen: Vec<&Plan> = (0..all.len() / of_one)
        .map(|doing| &all[doing * of_one + doing % 5 * rounds])
        .collect();
    let next = Mutex::new(chosen.iter());
    let text = Mutex::new(String::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(plan) = next.lock().unwrap().next() else {
                        break;
                    };
                    let mut of_it = String::new();
                    wrong(plan, &mut of_it);
                    text.lock().unwrap().push_str(&of_it);
                }
            });
        }
    });
    let text = text.into_inner().unwrap();
    assert!(text.is_empty(), "{text}");
}
