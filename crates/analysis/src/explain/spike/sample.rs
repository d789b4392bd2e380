//! Which of many slow I/Os are looked at.
//!
//! Data in: their response times. Data out: places among them, ascending, each with how many it stands for. It must not know
//! what is looked for.

use std::cmp::Reverse;

/// So many are looked at one by one, the worst half of them for themselves: few of many may have taken most of the time.
const LOOKED_AT: usize = 4_000;

pub(super) fn chosen(response_ns: &[u64]) -> Vec<(usize, f64)> {
    let all = response_ns.len();
    if all <= LOOKED_AT {
        return (0..all).map(|place| (place, 1.0)).collect();
    }
    let mut places: Vec<usize> = (0..all).collect();
    let worst = LOOKED_AT / 2;
    places.select_nth_unstable_by_key(worst, |&place| (Reverse(response_ns[place]), place));
    let rest = &mut places[worst..];
    rest.sort_unstable();
    let step = rest.len().div_ceil(LOOKED_AT - worst);
    let evenly: Vec<usize> = rest.iter().copied().step_by(step).collect();
    let weight = rest.len() as f64 / evenly.len() as f64;
    let mut chosen: Vec<(usize, f64)> = places[..worst].iter().map(|&place| (place, 1.0)).collect();
    chosen.extend(evenly.into_iter().map(|place| (place, weight)));
    chosen.sort_unstable_by_key(|(place, _)| *place);
    chosen
}

#[cfg(test)]
mod tests;
