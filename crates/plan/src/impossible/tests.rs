use super::*;
use crate::layout::{Cache, GIB, MB};
use crate::need::Ask;
use fathom_model::catalog::Family;

fn family(key: &str) -> Family {
    Catalog::azure().family(key).expect("a family")
}

fn need(change: impl Fn(&mut Ask)) -> Need {
    let mut ask = Ask {
        iops: Some(5_000),
        bytes_per_second: Some(100 * MB),
        size_bytes: Some(500 * GIB),
        ..Ask::default()
    };
    change(&mut ask);
    ask.need().expect("a possible need").0
}

/// What it fails at, with the nearest that can be met; and that this is met, and no more.
fn fails_at(need: &Need) -> Vec<(Requirement, Option<u64>)> {
    let catalog = Catalog::azure();
    assert!(
        search::cheapest(catalog, need, 1).answers.is_empty(),
        "{need:?} is possible"
    );
    let Impossible::Any(nearest) = why(&[catalog], need) else {
        return Vec::new();
    };
    for one in &nearest {
        let with = |amount| search::cheapest(catalog, &one.requirement.lowered(need, amount), 1);
        assert!(!with(one.amount).answers.is_empty(), "{one:?} is not met either");
    }
    nearest.iter().map(|one| (one.requirement, one.amount)).collect()
}

#[test]
fn the_requirement_and_the_nearest_are_named() {
    let machine = |ask: &mut Ask| ask.choice.machine.name = Some(String::from("Standard_DS3_v2"));
    let iops = need(|ask| {
        machine(ask);
        ask.choice.caches = vec![Cache::None];
        ask.iops = Some(20_000);
    });
    assert_eq!(
        fails_at(&iops),
        [(Requirement::Iops, Some(12_800)), (Requirement::Machine, None)]
    );
    let throughput = need(|ask| {
        machine(ask);
        ask.choice.caches = vec![Cache::None];
        ask.bytes_per_second = Some(500 * MB);
    });
    assert_eq!(
        fails_at(&throughput)[0],
        (Requirement::Throughput, Some(192 * MB))
    );
    let budget = need(|ask| ask.choice.budget_microusd = Some(5_000_000));
    let cheapest = search::cheapest(Catalog::azure(), &need(|_| {}), 1).answers[0]
        .cost
        .microusd_month();
    assert_eq!(fails_at(&budget), [(Requirement::Budget, Some(cheapest))]);
    let vcpus = need(|ask| ask.choice.machine.vcpus = 100_000);
    assert!(matches!(
        fails_at(&vcpus)[..],
        [(Requirement::Vcpus, Some(100..2_000))]
    ));
    let stripe = need(|ask| {
        ask.iops = Some(13_000);
        ask.choice.families = vec![family("standard-ssd")];
        ask.choice.caches = vec![Cache::None];
        ask.choice.stripe_max = 2;
    });
    assert!(fails_at(&stripe).contains(&(Requirement::Stripe, Some(3))));
    let cached = need(|ask| {
        machine(ask);
        ask.choice.families = vec![family("premium-v2")];
        ask.choice.caches = vec![Cache::ReadOnly];
    });
    assert_eq!(
        fails_at(&cached),
        [(Requirement::Families, None), (Requirement::Caches, None)]
    );
}

#[test]
fn a_load_of_which_one_figure_was_asked_for_fails_at_that() {
    let iops = need(|ask| {
        ask.iops = Some(10_000_000);
        ask.bytes_per_second = None;
        ask.size_bytes = None;
    });
    let nearest = fails_at(&iops);
    assert!(
        matches!(nearest[..], [(Requirement::Iops, Some(100_000..2_000_000))]),
        "{nearest:?}"
    );
}

#[test]
fn what_only_fails_together_is_said_so() {
    let need = need(|ask| {
        ask.choice.machine.vcpus = 100_000;
        ask.choice.budget_microusd = Some(1);
    });
    let Impossible::Together(asked) = why(&[Catalog::azure()], &need) else {
        panic!("one alone does not help");
    };
    assert!(asked.contains(&Requirement::Vcpus) && asked.contains(&Requirement::Budget));
}
