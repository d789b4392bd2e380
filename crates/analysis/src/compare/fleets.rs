//! Repeats of many machines at one moment compared: what they had together.
//!
//! Data in: what all members did, a repeat after the other, on two sides. Data out: the figures that all of them have. The moment is the
//! repeat: members share it, and are none.

use super::figure::{Figure, Observed, Quantity, Value};
use super::order::Order;
use crate::fleet::{Fleet, Total};
use crate::warnings::is_supported;
use fathom_core::backend::Op;

/// Each repeat with when it began, in any unit, and what came of it.
pub type Repeat<'a> = (Option<u64>, &'a Fleet);

/// The figures of all members together that every repeat of both sides has.
pub fn observe_fleets(sides: [&[Repeat<'_>]; 2]) -> Vec<Observed> {
    let starts = sides.map(|side| -> Vec<Option<u64>> { side.iter().map(|(start, _)| *start).collect() });
    if starts.iter().any(Vec::is_empty) {
        return Vec::new();
    }
    let order = Order::of(&starts[0], &starts[1]);
    let all = Op::DATA
        .into_iter()
        .flat_map(|op| Quantity::ALL.map(|quantity| (op, quantity)));
    let observed = all.filter_map(|(op, quantity)| {
        let values = |side: &[Repeat<'_>]| {
            let each = side.iter().map(|(_, fleet)| {
                let total = fleet.total.iter().find(|total| total.op == op.name())?;
                value(total, quantity)
            });
            each.collect::<Option<Vec<Value>>>()
        };
        Some(Observed {
            figure: Figure {
                load: String::new(),
                op: Some(op),
                quantity,
            },
            sides: [values(sides[0])?, values(sides[1])?],
            order: order.clone(),
        })
    });
    observed.collect()
}

fn value(total: &Total, quantity: Quantity) -> Option<Value> {
    let known = match quantity {
        Quantity::Iops => total.iops,
        Quantity::BytesPerSecond => total.bytes_per_second,
        Quantity::LatencyMean if total.lat_ns.n > 0 => total.lat_ns.mean,
        Quantity::Latency(tail) if is_supported(total.lat_ns.n, tail.percentile()) => {
            total.lat_ns.percentile(tail.percentile())? as f64
        }
        _ => return None,
    };
    Some(Value::plain(known))
}

#[cfg(test)]
mod tests;
