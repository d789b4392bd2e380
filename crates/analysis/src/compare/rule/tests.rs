use super::{Beyond, Outcome, Rule, ruled};
use crate::compare::figure::{Figure, Observed, Quantity, Tail, Value};
use crate::compare::judge::{Judged, Settings, judge};
use crate::compare::order::Order;
use fathom_core::backend::Op;

fn rule(text: &str) -> Rule {
    text.parse().expect("a rule")
}

#[test]
fn rules_are_read() {
    let p99 = rule(" p99 > +5% ");
    assert_eq!(
        (p99.quantity, p99.beyond, p99.op),
        (Quantity::Latency(Tail::P99), Beyond::Above, None)
    );
    assert!((p99.limit - 0.05).abs() < 1e-12 && p99.text == "p99 > +5%");
    let iops = rule("read.iops<-3 %");
    assert_eq!((iops.beyond, iops.op), (Beyond::Below, Some(Op::Read)));
    assert!((iops.limit + 0.03).abs() < 1e-12);
    for (wrong, words) in [
        ("p99 5%", "no < or >"),
        ("p98 > 5%", "`p98` is no figure"),
        ("p99 > 5", "`5` is no percentage"),
        ("p99 > x%", "`x%` is no percentage"),
        ("p99 > -100%", "above -100 %"),
        ("p99 > NaN%", "no percentage"),
        ("", "no < or >"),
    ] {
        let error = wrong.parse::<Rule>().expect_err(wrong).to_string();
        assert!(
            error.contains(words) && error.contains("as 'p99 > +5%'"),
            "{error}"
        );
    }
}

fn judged(a: &[f64], b: &[f64]) -> Vec<Judged> {
    let observed = Observed {
        figure: Figure {
            load: String::new(),
            op: Some(Op::Read),
            quantity: Quantity::Latency(Tail::P99),
        },
        sides: [a, b].map(|side| side.iter().copied().map(Value::plain).collect()),
        order: Order::Unknown,
    };
    judge(vec![observed], Settings { margin: 0.1 })
}

#[test]
fn a_rule_is_broken_kept_or_undecided() {
    let outcome = |text: &str, judged: &[Judged]| ruled(&[rule(text)], judged).expect("fits")[0].outcome;
    let base = [100.0, 101.0, 99.0, 100.0, 100.5];
    let slower: Vec<f64> = base.iter().map(|value| value * 1.1).collect();
    let found = judged(&base, &slower);
    assert_eq!(outcome("p99 > +5%", &found), Outcome::Broken);
    assert_eq!(outcome("p99 > +20%", &found), Outcome::Kept);
    assert_eq!(outcome("p99 > +10%", &found), Outcome::Undecided);
    assert_eq!(outcome("p99 < -5%", &found), Outcome::Kept);
    assert_eq!(
        outcome("p99 > +5%", &judged(&[100.0], &[200.0])),
        Outcome::Undecided
    );
    let rules = [rule("iops < -3%")];
    assert_eq!(ruled(&rules, &found), Err(&rules[0]));
}
