use super::{Few, Judged, Method, Scale, Settings, SpreadVerdict, Verdict, judge, ratio_seen_from};
use crate::compare::figure::{Figure, Observed, Quantity, Tail, Value};
use crate::compare::order::Order;
use crate::compare::restores::{ACS, DISK};
use fathom_core::backend::Op;

fn observed(quantity: Quantity, a: &[f64], b: &[f64]) -> Observed {
    Observed {
        figure: Figure {
            load: String::new(),
            op: Some(Op::Read),
            quantity,
        },
        sides: [a, b].map(|side| side.iter().copied().map(Value::plain).collect()),
        order: Order::Unknown,
    }
}

fn alone(quantity: Quantity, a: &[f64], b: &[f64]) -> Judged {
    judge(vec![observed(quantity, a, b)], Settings { margin: 0.1 }).remove(0)
}

/// Five restores on each of two classes of storage: no difference shown, and of the spread nothing is known.
#[test]
fn ten_restores_show_no_difference() {
    let found = alone(Quantity::Number, &ACS, &DISK);
    assert_eq!(found.verdict, Verdict::NoneShown);
    let difference = found.difference.expect("five a side");
    assert_eq!(
        (difference.scale, difference.method),
        (Scale::Ratio, Method::Welch)
    );
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    assert_eq!(
        [difference.value, difference.low, difference.high].map(percent),
        ["-1.1", "-6.6", "4.8"]
    );
    assert_eq!(percent(difference.seen_from), "8.1");
    assert_eq!(found.spread_verdict, SpreadVerdict::TooFew { more: 2 });
    let spread = found.spread.expect("they vary");
    assert!(spread.low < 0.65 && spread.high > 10.0, "{spread:?}");
}

#[test]
fn few_are_said_to_be_few() {
    let one = alone(Quantity::Iops, &[100.0], &[200.0]);
    assert!(
        matches!(
            one.verdict,
            Verdict::TooFew {
                more: 4,
                why: Few::One
            }
        ) && one.difference.is_none()
    );
    // Two a side are never a verdict, however far apart.
    let two = alone(Quantity::Iops, &[100.0, 101.0], &[200.0, 201.0]);
    assert!(
        matches!(
            two.verdict,
            Verdict::TooFew {
                more: 3,
                why: Few::BelowLeast
            }
        ),
        "{two:?}"
    );
    let three = alone(Quantity::Iops, &[100.0, 101.0, 102.0], &[200.0, 201.0, 203.0]);
    assert_eq!(three.verdict, Verdict::Differs);
    let four = [100.0, 101.0, 102.0, 101.0];
    assert_eq!(alone(Quantity::Iops, &four, &four).verdict, Verdict::NoneShown);
    // A tail takes five.
    let tail = alone(Quantity::Latency(Tail::P99), &four, &four);
    assert!(
        matches!(tail.verdict, Verdict::TooFew { more: 1, .. }),
        "{tail:?}"
    );
}

#[test]
fn what_is_vague_says_how_many_more() {
    let a = [100.0, 130.0, 90.0, 160.0, 120.0];
    let b = [110.0, 150.0, 95.0, 140.0, 105.0];
    let found = alone(Quantity::Iops, &a, &b);
    let Verdict::TooFew {
        more,
        why: Few::TooVague,
    } = found.verdict
    else {
        panic!("{found:?}");
    };
    // 15.7 (s/δ)² + 1 with s = 0.21 of the logarithms, taken for 1.32 times as much, and δ = ln 1.1: 135 a side.
    assert!((125..135).contains(&more), "{more}");
}

#[test]
fn numbers_with_too_few_digits_do_not_differ() {
    let a = [1_000_000.0; 5];
    let b = [1_001_000.0; 5];
    let tail = alone(Quantity::Latency(Tail::P99), &a, &b);
    assert_eq!(tail.verdict, Verdict::NoneShown, "a bucket of the histogram");
    assert_eq!(tail.spread_verdict, SpreadVerdict::TooFew { more: 2 });
    let plain = alone(Quantity::Number, &a, &b);
    assert_eq!(plain.verdict, Verdict::Differs);
}

/// What is told in two units is one figure, and figures that show nothing make others harder to show.
#[test]
fn figures_are_judged_together() {
    let (a, b) = ([100.0, 101.0, 99.0, 100.5], [102.5, 103.0, 101.0, 102.8]);
    let iops = observed(Quantity::Iops, &a, &b);
    let times = |factor: f64, side: &[f64]| -> Vec<f64> { side.iter().map(|value| value * factor).collect() };
    let bytes = observed(Quantity::BytesPerSecond, &times(4096.0, &a), &times(4096.0, &b));
    let found = judge(vec![iops.clone(), bytes], Settings { margin: 0.1 });
    assert_eq!(found[1].follows, Some(Quantity::Iops));
    let p = found.iter().map(|one| one.difference.expect("four").p_adjusted);
    let p: Vec<f64> = p.collect();
    assert!((p[0] - p[1]).abs() < 1e-12 && (p[0] - found[0].difference.expect("four").p).abs() < 1e-12);
    let noise = observed(
        Quantity::LatencyMean,
        &[5.0, 6.0, 7.0, 6.0],
        &[6.0, 5.0, 7.0, 6.1],
    );
    let with_noise = judge(vec![iops, noise], Settings { margin: 0.1 });
    let difference = with_noise[0].difference.expect("four");
    assert!((difference.p_adjusted - 2.0 * difference.p).abs() < 1e-12);
}

#[test]
fn numbers_around_zero_are_subtracted() {
    let found = alone(Quantity::Number, &[-1.0, 0.0, 1.0, 0.5], &[4.0, 5.0, 6.0, 5.5]);
    let difference = found.difference.expect("four");
    assert_eq!(difference.scale, Scale::Absolute);
    assert!((difference.value - 5.0).abs() < 1e-12 && found.verdict == Verdict::Differs);
}

#[test]
fn more_repeats_see_smaller_ratios_of_spread() {
    assert!((ratio_seen_from(7) - 3.5).abs() < 1e-12 && (ratio_seen_from(8) - 3.5).abs() < 1e-12);
    assert!(ratio_seen_from(30) < ratio_seen_from(10));
}
