use super::{Caution, cautions, trend};
use crate::compare::chance::Chance;
use crate::compare::figure::{Figure, Observed, Quantity, Value};
use crate::compare::judge::{Judged, Settings, judge};
use crate::compare::order::Order;
use crate::compare::restores::{ACS, DISK};

fn judged(a: &[f64], b: &[f64], order: Order) -> Vec<Judged> {
    let observed = Observed {
        figure: Figure {
            load: String::new(),
            op: None,
            quantity: Quantity::Number,
        },
        sides: [a, b].map(|side| side.iter().copied().map(Value::plain).collect()),
        order,
    };
    judge(vec![observed], Settings { margin: 0.1 })
}

/// Its 91 s a run are what one of seven such series has by chance.
#[test]
fn five_restores_that_rise_a_little_are_no_trend() {
    let (rises, p) = trend(&ACS).expect("five");
    assert!(rises && (p - 0.14).abs() < 0.005, "{p}");
    assert!(cautions(&judged(&ACS, &DISK, Order::Unknown)).is_empty());
}

#[test]
fn order_trend_and_memory_are_seen() {
    let rising: Vec<f64> = (0..8).map(|place| 100.0 + 3.0 * f64::from(place)).collect();
    let flat = [100.0, 103.0, 99.0, 101.0, 100.5, 98.0, 102.0, 100.2];
    let found = cautions(&judged(&rising, &flat, Order::OneAfterOther));
    assert_eq!(found[0], Caution::OneAfterOther);
    assert!(
        matches!(
            found[1],
            Caution::Trend {
                side: 0,
                rises: true,
                ..
            }
        ),
        "{found:?}"
    );
    let mut chance = Chance::new(3);
    let wandering: Vec<f64> = chance
        .remembering(50, 0.9)
        .iter()
        .map(|off| 100.0 + off)
        .collect();
    let found = cautions(&judged(&flat, &wandering, Order::Unknown));
    let seen = |caution: &Caution| {
        matches!(
            caution,
            Caution::HangTogether { side: 1, .. } | Caution::Trend { side: 1, .. }
        )
    };
    assert!(found.iter().any(seen), "{found:?}");
}

#[test]
fn a_side_that_varies_much_more_is_told() {
    let tight = [100.0, 100.1, 99.9, 100.05, 99.95];
    let loose = [130.0, 150.0, 138.0, 145.0, 128.0];
    let found = cautions(&judged(&tight, &loose, Order::Apart));
    assert_eq!(found, [Caution::UnequalSpread { figure: 0 }]);
}
