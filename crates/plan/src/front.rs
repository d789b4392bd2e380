//! What more or less of a load would cost: layouts of which none costs less and delivers as much.
//!
//! Data in: the catalogue, a need. Data out: the front of price against IOPS and MB/s around it. It must not know how it is
//! drawn.

use crate::need::{Load, Need};
use crate::search::{self, Answer};
use fathom_model::catalog::Catalog;
use std::cmp::Reverse;

/// IOPS and MB/s are looked at times so much, in thousandths.
const STEPS_PERMILLE: [u64; 8] = [250, 500, 750, 1_000, 1_500, 2_000, 4_000, 8_000];

/// The cheapest layouts for more and less IOPS and MB/s, each with any of the other; dearer ones last. All are judged for I/Os of
/// the need's own size, so that their figures can be compared: none costs less than another one and delivers as much of both.
pub fn front<'a>(catalogs: &[&'a Catalog], need: &Need) -> Vec<Answer<'a>> {
    if need.load.ios == 0 {
        return Vec::new();
    }
    let mut found: Vec<Answer<'a>> = Vec::new();
    for ios in STEPS_PERMILLE {
        for bytes in STEPS_PERMILLE {
            let mut around = need.clone();
            around.choice.budget_microusd = None;
            around.load = scaled(&need.load, ios, bytes);
            let cheapest = search::cheapest_of(catalogs, &around, 1)
                .answers
                .into_iter()
                .next();
            let cheapest = cheapest.filter(|one| !found.iter().any(|other| other.layout == one.layout));
            found.extend(cheapest.map(|one| search::answer(one.layout, need)));
        }
    }
    found.sort_by_key(|answer| {
        let sustained = &answer.judged.sustained;
        let most = (Reverse(sustained.iops), Reverse(sustained.bytes_per_second));
        (answer.cost.microusd_month(), most, answer.layout.count)
    });
    let mut kept: Vec<Answer<'a>> = Vec::new();
    for one in found {
        if !kept.iter().any(|other| delivers_as_much(other, &one)) {
            kept.push(one);
        }
    }
    kept
}

/// A load with other IOPS and MB/s, whose I/Os are as large as that makes them.
fn scaled(load: &Load, ios_permille: u64, bytes_permille: u64) -> Load {
    let part = |value: u64, permille: u64| (u128::from(value) * u128::from(permille) / 1_000) as u64;
    let ios = part(load.ios, ios_permille).max(1);
    Load {
        ios,
        bytes: part(load.bytes, bytes_permille).max(ios * 512),
        ..load.clone()
    }
}

fn delivers_as_much(one: &Answer<'_>, other: &Answer<'_>) -> bool {
    let [one, other] = [&one.judged.sustained, &other.judged.sustained];
    one.iops >= other.iops && one.bytes_per_second >= other.bytes_per_second
}

#[cfg(test)]
mod tests;
