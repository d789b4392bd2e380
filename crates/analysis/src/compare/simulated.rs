//! Pairs of sides whose truth is known, judged: how often a difference of zero is called one, how often intervals hold, how
//! often a real difference is found. Seeded; each test prints its seed and its rates by scenario.

use super::chance::Chance;
use super::figure::{Figure, Observed, Quantity, Value};
use super::judge::{Judged, Settings, SpreadVerdict, Verdict, judge};
use super::order::Order;
use std::fmt::Write as _;

const SEED: u64 = 20_261_123;
const REPEATS: [usize; 6] = [3, 4, 5, 7, 10, 30];

/// How the repeats of a side come about; all of them with a truth of 0 on the scale of logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    Normal,
    /// Lognormal with a wide spread.
    Wide,
    /// One of twenty is far off, to one side.
    Outliers,
    /// Three of ten are on another level.
    TwoLevels,
    /// Student's t with three degrees of freedom.
    HeavyTails,
    /// B varies three times as much.
    UnequalSpread,
    /// Each repeat is the mean of a minute whose seconds hang together.
    Seconds,
    /// A varies little, B a lot and to one side: where the method is known not to hold.
    TightAndSkewed,
}

/// What goes on over the repeats.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Drift {
    None,
    /// A straight line that rises by so many deviations in all.
    Line(f64),
    /// Three quarters of the variance remember the repeat before, with this correlation.
    Wandering(f64),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Turns {
    Unknown,
    /// ABBA and so on.
    Mirrored,
    /// ABAB.
    Alternating,
    OneAfterOther,
}

#[derive(Debug, Clone, Copy)]
struct Scenario {
    name: &'static str,
    shape: Shape,
    drift: Drift,
    turns: Turns,
}

impl Scenario {
    const fn of(name: &'static str, shape: Shape) -> Self {
        Self {
            name,
            shape,
            drift: Drift::None,
            turns: Turns::Unknown,
        }
    }

    const fn drifting(name: &'static str, drift: Drift, turns: Turns) -> Self {
        Self {
            name,
            shape: Shape::Normal,
            drift,
            turns,
        }
    }
}

/// A repeat's deviation, in the logarithm.
const DEVIATION: f64 = 0.03;

impl Shape {
    /// One repeat, off its truth.
    fn repeat(self, chance: &mut Chance, is_b: bool) -> f64 {
        let normal = chance.normal();
        match self {
            Self::Wide => 0.5 * normal,
            Self::Outliers => {
                let far = if chance.unit() < 0.05 {
                    10.0 * DEVIATION
                } else {
                    0.0
                };
                DEVIATION * normal + far - 0.05 * 10.0 * DEVIATION
            }
            Self::TwoLevels => {
                let up = if chance.unit() < 0.3 { 4.0 * DEVIATION } else { 0.0 };
                DEVIATION * normal + up - 0.3 * 4.0 * DEVIATION
            }
            Self::HeavyTails => {
                let squares: f64 = (0..3).map(|_| chance.normal().powi(2)).sum();
                DEVIATION * normal / (squares / 3.0).sqrt()
            }
            Self::UnequalSpread => DEVIATION * normal * if is_b { 3.0 } else { 1.0 },
            Self::Seconds => {
                let seconds = chance.remembering(60, 0.9);
                0.5 * DEVIATION * normal + DEVIATION * seconds.iter().sum::<f64>() / 60.0
            }
            Self::TightAndSkewed if is_b => 10.0 * DEVIATION * (chance.exponential() - 1.0),
            Self::Normal | Self::TightAndSkewed => DEVIATION * normal,
        }
    }
}

impl Turns {
    fn is_b(self, turn: usize, repeats: usize) -> bool {
        match self {
            Self::Mirrored => matches!(turn % 4, 1 | 2),
            Self::Alternating | Self::Unknown => turn % 2 == 1,
            Self::OneAfterOther => turn >= repeats,
        }
    }
}

/// A pair of sides, B off by `truth` in the logarithm.
fn pair(chance: &mut Chance, scenario: Scenario, repeats: usize, truth: f64) -> Observed {
    let turns = 2 * repeats;
    let wandering = match scenario.drift {
        Drift::Wandering(correlation) => chance.remembering(turns, correlation),
        _ => vec![0.0; turns],
    };
    let (mut sides, mut starts) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for (turn, wandering) in wandering.into_iter().enumerate() {
        let mut is_b = scenario.turns.is_b(turn, repeats);
        // With an odd number a side, ABBA ends in AB or BA.
        if sides[usize::from(is_b)].len() == repeats {
            is_b = !is_b;
        }
        let own = scenario.shape.repeat(chance, is_b);
        let off = match scenario.drift {
            Drift::None => own,
            Drift::Line(deviations) => own + DEVIATION * deviations * turn as f64 / (turns - 1) as f64,
            Drift::Wandering(_) => 0.5 * own + 0.75_f64.sqrt() * DEVIATION * wandering,
        };
        let log = 7.0 + off + if is_b { truth } else { 0.0 };
        sides[usize::from(is_b)].push(Value::plain(log.exp()));
        let start = (scenario.turns != Turns::Unknown).then_some(turn as u64);
        starts[usize::from(is_b)].push(start);
    }
    Observed {
        figure: Figure {
            load: String::new(),
            op: None,
            quantity: Quantity::Number,
        },
        order: Order::of(&starts[0], &starts[1]),
        sides,
    }
}

fn judged(observed: Observed) -> Judged {
    let settings = Settings { margin: 0.1 };
    judge(vec![observed], settings).remove(0)
}

/// Shares of pairs.
#[derive(Debug, Clone, Copy, Default)]
struct Rates {
    /// A difference of zero was called one.
    false_alarms: f64,
    /// The interval held the truth.
    held: f64,
    /// A difference of twice the width of the usual interval was found.
    found: f64,
}

fn rates(scenario: Scenario, repeats: usize, pairs: usize, seed: u64) -> Rates {
    let mut chance = Chance::new(seed);
    let mut rates = Rates::default();
    let mut widths = Vec::new();
    let share = 1.0 / pairs as f64;
    for _ in 0..pairs {
        let judged = judged(pair(&mut chance, scenario, repeats, 0.0));
        let found = judged.difference.expect("two a side");
        rates.false_alarms += share * f64::from(u8::from(judged.verdict == Verdict::Differs));
        rates.held += share * f64::from(u8::from(found.low <= 0.0 && found.high >= 0.0));
        widths.push(found.high.ln_1p() - found.low.ln_1p());
    }
    widths.sort_by(f64::total_cmp);
    let truth = 2.0 * widths[pairs / 2];
    for _ in 0..pairs {
        let judged = judged(pair(&mut chance, scenario, repeats, truth));
        rates.found += share * f64::from(u8::from(judged.verdict == Verdict::Differs));
    }
    rates
}

/// Pairs of each number of repeats, and of all.
const PAIRS: usize = 400;

/// The rates over all numbers of repeats, which are printed one by one.
fn table(scenarios: &[Scenario]) -> Vec<(&'static str, Rates)> {
    println!(
        "seed {SEED}, {PAIRS} pairs each: a difference of zero called one / intervals hold / one of twice the interval found, in %"
    );
    let mut all = Vec::new();
    for (number, scenario) in scenarios.iter().enumerate() {
        let mut line = format!("{:26}", scenario.name);
        let mut over = Rates::default();
        for (place, &repeats) in REPEATS.iter().enumerate() {
            let seed = SEED + (number * REPEATS.len() + place) as u64;
            let found = rates(*scenario, repeats, PAIRS, seed);
            let [false_alarms, held, found_too] =
                [found.false_alarms, found.held, found.found].map(|share| 100.0 * share);
            let _ = write!(line, "  n={repeats}: {false_alarms:.1}/{held:.1}/{found_too:.1}");
            let share = 1.0 / REPEATS.len() as f64;
            over.false_alarms += share * found.false_alarms;
            over.held += share * found.held;
            over.found += share * found.found;
        }
        let [false_alarms, held, found] =
            [over.false_alarms, over.held, over.found].map(|share| 100.0 * share);
        println!("{line}  all: {false_alarms:.1}/{held:.1}/{found:.1}");
        all.push((scenario.name, over));
    }
    all
}

/// 2,400 pairs of a scenario: chance adds 0.9 points to a rate of 5 % in one of forty.
#[test]
fn verdicts_keep_their_promise() {
    let unequal = Scenario::drifting("in turns, unequal spread", Drift::None, Turns::Mirrored);
    let heavy = Scenario::drifting("in turns, line, tails", Drift::Line(2.0), Turns::Mirrored);
    let found = table(&[
        Scenario::of("normal", Shape::Normal),
        Scenario::of("wide lognormal", Shape::Wide),
        Scenario::of("outliers to one side", Shape::Outliers),
        Scenario::of("two levels", Shape::TwoLevels),
        Scenario::of("heavy tails (t3)", Shape::HeavyTails),
        Scenario::of("unequal spread 1:3", Shape::UnequalSpread),
        Scenario::of("autocorrelated seconds", Shape::Seconds),
        Scenario::drifting("ABBA", Drift::None, Turns::Mirrored),
        Scenario::drifting("ABBA, line of 2 sd", Drift::Line(2.0), Turns::Mirrored),
        Scenario::drifting("ABBA, line of 5 sd", Drift::Line(5.0), Turns::Mirrored),
        Scenario::drifting("ABBA, wandering 0.7", Drift::Wandering(0.7), Turns::Mirrored),
        Scenario::drifting("ABBA, wandering 0.9", Drift::Wandering(0.9), Turns::Mirrored),
        Scenario::drifting("ABAB, line of 5 sd", Drift::Line(5.0), Turns::Alternating),
        Scenario::drifting("ABAB, wandering 0.9", Drift::Wandering(0.9), Turns::Alternating),
        Scenario {
            shape: Shape::UnequalSpread,
            ..unequal
        },
        Scenario {
            shape: Shape::HeavyTails,
            ..heavy
        },
    ]);
    let overall =
        |of: fn(&Rates) -> f64| found.iter().map(|(_, rates)| of(rates)).sum::<f64>() / found.len() as f64;
    let [false_alarms, found_too] = [overall(|rates| rates.false_alarms), overall(|rates| rates.found)];
    assert!(false_alarms <= 0.05, "{false_alarms}");
    assert!(found_too >= 0.95, "{found_too}");
    for (name, rates) in &found {
        assert!(rates.false_alarms <= 0.059, "{name}: {rates:?}");
        assert!(rates.held >= 0.93, "{name}: {rates:?}");
        // Three repeats one of which is far off have a wide interval of their own, and are called too few.
        let least = if name.starts_with("outliers") { 0.90 } else { 0.95 };
        assert!(rates.found >= least, "{name}: {rates:?}");
    }
}

/// What `docs/compare.md` owns up to: the page warns of both.
#[test]
fn where_promises_are_not_kept_is_known() {
    let found = table(&[
        Scenario::of("tight and skewed", Shape::TightAndSkewed),
        Scenario::drifting("AABB, line of 2 sd", Drift::Line(2.0), Turns::OneAfterOther),
        Scenario::drifting("AABB, wandering 0.7", Drift::Wandering(0.7), Turns::OneAfterOther),
    ]);
    let of = |number: usize| found[number].1.false_alarms;
    assert!((0.06..0.15).contains(&of(0)), "{found:?}");
    assert!(of(1) > 0.2 && of(2) > 0.1, "{found:?}");
    let one_after_other = pair(
        &mut Chance::new(SEED),
        Scenario::drifting("", Drift::None, Turns::OneAfterOther),
        5,
        0.0,
    );
    assert_eq!(one_after_other.order, Order::OneAfterOther);
}

/// Six figures that hang together, of 2,000 comparisons: none of all is called a difference in more than 5 %.
#[test]
fn many_figures_together_raise_no_more_alarms_than_one() {
    const COMPARISONS: u32 = 2_000;
    let mut chance = Chance::new(SEED);
    let mut alarms = 0;
    for comparison in 0..COMPARISONS {
        let repeats = [3, 4, 5, 7, 10][comparison as usize % 5];
        let shared = pair(&mut chance, Scenario::of("", Shape::HeavyTails), repeats, 0.0);
        let own = |chance: &mut Chance| {
            let mut one = pair(chance, Scenario::of("", Shape::Normal), repeats, 0.0);
            for (side, shared) in one.sides.iter_mut().zip(&shared.sides) {
                for (value, shared) in side.iter_mut().zip(shared) {
                    value.value *= shared.value;
                }
            }
            one
        };
        let figures = (0..6).map(|_| own(&mut chance)).collect();
        let judged = judge(figures, Settings { margin: 0.1 });
        alarms += u32::from(judged.iter().any(|one| one.verdict == Verdict::Differs));
    }
    let rate = f64::from(alarms) / f64::from(COMPARISONS);
    println!(
        "seed {SEED}, {COMPARISONS} comparisons of six figures: one of them a false difference in {rate:.3}"
    );
    assert!(rate <= 0.05, "{rate}");
}

/// Of deviations: at 7, 10 and 30 repeats, of normal and lognormal ones.
#[test]
fn spreads_keep_their_promise() {
    const PAIRS: u32 = 1_000;
    for (name, shape, held_min) in [
        ("normal", Shape::Normal, 0.93),
        ("wide lognormal", Shape::Wide, 0.93),
        ("two levels", Shape::TwoLevels, 0.93),
        ("seconds", Shape::Seconds, 0.93),
        // Outliers that one side has and the other has not by chance: `docs/compare.md` says so.
        ("outliers", Shape::Outliers, 0.80),
    ] {
        for repeats in [7, 10, 30] {
            let mut chance = Chance::new(SEED);
            let (mut alarms, mut held) = (0, 0);
            for _ in 0..PAIRS {
                let judged = judged(pair(&mut chance, Scenario::of("", shape), repeats, 0.0));
                let found = judged.spread.expect("they vary");
                alarms += u32::from(judged.spread_verdict == SpreadVerdict::Differs);
                held += u32::from(found.low <= 1.0 && found.high >= 1.0);
            }
            let [alarms, held] = [alarms, held].map(|count| f64::from(count) / f64::from(PAIRS));
            println!(
                "seed {SEED}, {name}, {repeats} repeats: spreads called different {alarms:.3}, intervals hold {held:.3}"
            );
            assert!(held >= held_min, "{name} {repeats}: {held}");
            assert!(
                alarms <= if held_min > 0.9 { 0.06 } else { 0.12 },
                "{name} {repeats}: {alarms}"
            );
        }
    }
}
