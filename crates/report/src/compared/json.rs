//! A comparison as JSON and as a table of values.

use super::{CompareReport, Kind};
use crate::document::compare::{facts, words};
use crate::export::csv::{Cell, Columns};
use fathom_analysis::compare::{
    Better, Caution, Difference, Few, Judged, Method, Order, Outcome, Quantity, Scale, SideNumbers,
    SpreadVerdict, Verdict,
};
use fathom_core::backend::Op;
use serde_json::{Value, json};

/// The document's schema, raised when a field changes its meaning or goes away.
const SCHEMA: &str = "fathom.compare/1";

pub(super) fn document(report: &CompareReport<'_>) -> Value {
    let sides = report.sides.iter().map(|side| {
        json!({
            "name": side.name,
            "from": side.from,
            "alone": side.alone,
            "notes": side.notes,
        })
    });
    let conditions = report.conditions.iter().map(|condition| {
        json!({
            "name": condition.field.name(),
            "a": condition.sides[0],
            "b": condition.sides[1],
            "forbids": facts::forbids(condition),
            "allowed": report.allowed.contains(&condition.field),
        })
    });
    let rules = report.ruled.iter().map(|ruled| {
        json!({
            "rule": ruled.rule.text,
            "figure": ruled.figure,
            "outcome": outcome(ruled.outcome),
        })
    });
    json!({
        "schema": SCHEMA,
        "kind": kind(report.kind),
        "sides": sides.collect::<Vec<_>>(),
        "margin": report.settings.margin,
        "figures": report.judged.iter().map(|one| figure(report, one)).collect::<Vec<_>>(),
        "conditions": conditions.collect::<Vec<_>>(),
        "cautions": report.cautions.iter().map(|one| caution(*one)).collect::<Vec<_>>(),
        "rules": rules.collect::<Vec<_>>(),
    })
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Runs => "runs",
        Kind::Sweeps => "sweeps",
        Kind::Recordings => "recordings",
        Kind::Commands => "commands",
        Kind::Columns => "columns",
    }
}

const fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Broken => "broken",
        Outcome::Kept => "kept",
        Outcome::Undecided => "undecided",
    }
}

/// A number, or null where it is none.
fn finite(value: f64) -> Value {
    if value.is_finite() {
        json!(value)
    } else {
        Value::Null
    }
}

fn figure(report: &CompareReport<'_>, judged: &Judged) -> Value {
    let figure = &judged.figure;
    json!({
        "load": figure.load,
        "direction": figure.op.map(Op::name),
        "quantity": figure.quantity.name(),
        "unit": unit(report, figure.quantity),
        "better": match words::better(report, judged) {
            Better::Higher => Some("higher"),
            Better::Lower => Some("lower"),
            Better::Unknown => None,
        },
        "follows": judged.follows.map(Quantity::name),
        "order": match judged.order {
            Order::Unknown => "unknown",
            Order::Apart => "apart",
            Order::InTurns(_) => "in_turns",
            Order::OneAfterOther => "one_after_other",
        },
        "a": side(&judged.sides[0]),
        "b": side(&judged.sides[1]),
        "difference": judged.difference.as_ref().map(difference),
        "verdict": verdict(judged.verdict),
        "text": words::verdict(report, judged),
        "spread": judged.spread.map(|found| json!({
            "ratio": finite(found.ratio),
            "low": finite(found.low),
            "high": finite(found.high),
            "p": finite(found.p),
            "p_permuted": finite(found.p_permuted),
            "verdict": spread_verdict(judged.spread_verdict),
            "text": words::spread(report, judged),
        })),
    })
}

fn unit(report: &CompareReport<'_>, quantity: Quantity) -> Option<String> {
    let unit = match quantity {
        Quantity::Iops => "1/s",
        Quantity::BytesPerSecond => "B/s",
        Quantity::LatencyMean
        | Quantity::Latency(_)
        | Quantity::Duration
        | Quantity::IoWait
        | Quantity::CpuTime => "ns",
        Quantity::StorageRead | Quantity::StorageWritten => "B",
        Quantity::Number => return report.unit.map(str::to_owned),
    };
    Some(unit.to_owned())
}

fn side(side: &SideNumbers) -> Value {
    let values = side.values.iter().map(|value| {
        json!({
            "value": finite(value.value),
            "within": value.within.map(|within| json!({
                "low": finite(within.low),
                "high": within.high.map(finite),
                "is_long_enough": within.is_long_enough,
            })),
        })
    });
    json!({
        "n": side.values.len(),
        "mean": finite(side.mean),
        "deviation": side.deviation.map(finite),
        "values": values.collect::<Vec<_>>(),
    })
}

fn difference(found: &Difference) -> Value {
    json!({
        "scale": scale(found.scale),
        "method": match found.method {
            Method::Welch => "welch",
            Method::BesideDrift => "beside_drift",
        },
        "value": finite(found.value),
        "low": finite(found.low),
        "high": finite(found.high),
        "degrees_of_freedom": finite(found.freedom),
        "p": finite(found.p),
        "p_exact": found.p_exact,
        "p_adjusted": finite(found.p_adjusted),
        "seen_from": finite(found.seen_from),
    })
}

const fn scale(scale: Scale) -> &'static str {
    match scale {
        Scale::Ratio => "ratio_less_1",
        Scale::Absolute => "absolute",
    }
}

fn verdict(verdict: Verdict) -> Value {
    match verdict {
        Verdict::Differs => json!({"is": "differs"}),
        Verdict::NoneShown => json!({"is": "none_shown"}),
        Verdict::TooFew { more, why } => json!({
            "is": "too_few",
            "more_each": more,
            "why": match why {
                Few::One => "one",
                Few::BelowLeast => "below_least",
                Few::TooVague => "too_vague",
            },
        }),
    }
}

fn spread_verdict(verdict: SpreadVerdict) -> Value {
    match verdict {
        SpreadVerdict::Differs => json!({"is": "differs"}),
        SpreadVerdict::NoneShown { seen_from } => json!({"is": "none_shown", "seen_from": finite(seen_from)}),
        SpreadVerdict::TooFew { more } => json!({"is": "too_few", "more_each": more}),
        SpreadVerdict::Nothing => json!({"is": "nothing"}),
    }
}

fn caution(caution: Caution) -> Value {
    let side = |side: usize| ["a", "b"][side];
    match caution {
        Caution::OneAfterOther => json!({"is": "one_after_other"}),
        Caution::Trend {
            side: of,
            figure,
            rises,
            p,
        } => json!({"is": "trend", "side": side(of), "figure": figure, "rises": rises, "p": finite(p)}),
        Caution::HangTogether {
            side: of,
            correlation,
        } => json!({"is": "hang_together", "side": side(of), "correlation": finite(correlation)}),
        Caution::UnequalSpread { figure } => json!({"is": "unequal_spread", "figure": figure}),
    }
}

/// A row a figure.
pub(super) fn csv(report: &CompareReport<'_>) -> String {
    let mut columns = Columns::<Judged>::new();
    let cell = |value: Option<f64>| Cell::decimal(value.filter(|value| value.is_finite()), 6);
    columns.add("load", |one: &Judged| one.figure.load.clone());
    columns.add("direction", |one| one.figure.op.map(Op::name));
    columns.add("quantity", |one| one.figure.quantity.name());
    columns.add("a_n", |one| one.sides[0].values.len() as u64);
    columns.add("a_mean", move |one| cell(Some(one.sides[0].mean)));
    columns.add("a_deviation", move |one| cell(one.sides[0].deviation));
    columns.add("b_n", |one| one.sides[1].values.len() as u64);
    columns.add("b_mean", move |one| cell(Some(one.sides[1].mean)));
    columns.add("b_deviation", move |one| cell(one.sides[1].deviation));
    columns.add("scale", |one| one.difference.map(|found| scale(found.scale)));
    columns.add("difference", move |one| {
        cell(one.difference.map(|found| found.value))
    });
    columns.add("low", move |one| cell(one.difference.map(|found| found.low)));
    columns.add("high", move |one| cell(one.difference.map(|found| found.high)));
    columns.add("p", move |one| cell(one.difference.map(|found| found.p)));
    columns.add("p_adjusted", move |one| {
        cell(one.difference.map(|found| found.p_adjusted))
    });
    columns.add("seen_from", move |one| {
        cell(one.difference.map(|found| found.seen_from))
    });
    columns.add("verdict", |one| match one.verdict {
        Verdict::Differs => "differs",
        Verdict::NoneShown => "none_shown",
        Verdict::TooFew { .. } => "too_few",
    });
    columns.add("spread_ratio", move |one| {
        cell(one.spread.map(|found| found.ratio))
    });
    columns.add("spread_low", move |one| cell(one.spread.map(|found| found.low)));
    columns.add("spread_high", move |one| cell(one.spread.map(|found| found.high)));
    let mut text = columns.head();
    for one in report.judged {
        columns.line(one, &mut text);
    }
    text
}
