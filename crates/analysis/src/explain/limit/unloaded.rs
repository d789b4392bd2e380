//! The rules for a device that was watched without a load: whether it was ever at a limit.

use super::super::answer::LimitKind;
use super::{Found, Question, known};
use fathom_core::units::{Nanos, binary_rate, count};

/// Seconds at the highest rate that make a plateau.
const PLATEAU_SECONDS: usize = 5;
/// How near to the highest rate they are.
pub(super) const PLATEAU: f64 = 0.97;
/// How much longer requests take there than in light seconds.
const SLOWER: f64 = 2.0;
/// Seconds with less than this part of the highest rate are light.
const LIGHT: f64 = 0.5;
/// Failed requests from which on they are what limits.
const ERRORS_MIN: f64 = 0.1;

/// Users of the device that are named.
const USERS_MAX: usize = 3;

pub(super) fn judge(question: &Question<'_, '_>) -> Found {
    let mut found = limit(question);
    found.because.extend(users(question));
    found
}

/// Who moved most of the bytes.
fn users(question: &Question<'_, '_>) -> Option<String> {
    let users = question.section.devices.iter().flat_map(|device| &device.users);
    let mut users: Vec<(u64, u64, String)> = users
        .map(|user| (user.bytes, user.ios, user.comm.to_string()))
        .collect();
    users.sort_unstable_by(|a, b| b.cmp(a));
    let all: u64 = users.iter().map(|(bytes, _, _)| bytes).sum();
    let each = users.iter().take(USERS_MAX).map(|(bytes, ios, comm)| {
        let share = *bytes as f64 / all.max(1) as f64 * 100.0;
        format!(
            "{comm} {share:.0} % of the bytes in {} requests",
            count(*ios as f64)
        )
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| format!("it served {}", each.join(", ")))
}

fn limit(question: &Question<'_, '_>) -> Found {
    let measures = &question.measures;
    if let Some(block) = measures.block.filter(|block| block.errors >= ERRORS_MIN) {
        let because = format!("{:.0} % of the requests failed", block.errors * 100.0);
        return Found::new(LimitKind::DeviceErrors, 0.9, because, "see the kernel's log");
    }
    let iops = plateau(&measures.rates, &measures.latencies_by_second);
    let bytes = plateau(&measures.bytes_by_second, &measures.latencies_by_second);
    let (kind, plateau) = match (iops, bytes) {
        (Some(iops), Some(bytes)) if bytes.seconds > iops.seconds => (LimitKind::Bandwidth, bytes),
        (Some(iops), _) => (LimitKind::Iops, iops),
        (None, Some(bytes)) => (LimitKind::Bandwidth, bytes),
        (None, None) => {
            let because = format!(
                "in no {PLATEAU_SECONDS} seconds its rate stood at a highest value with latencies that rise"
            );
            return Found::new(LimitKind::Nothing, 0.7, because, "");
        }
    };
    let rate = match kind {
        LimitKind::Iops => format!("{} IOPS", count(plateau.rate.round())),
        _ => binary_rate(plateau.rate),
    };
    let because = format!(
        "for {} seconds it served {rate}, to within {:.0} %, with {} each on average; in light seconds they take {}",
        plateau.seconds,
        (1.0 - PLATEAU) * 100.0,
        Nanos(plateau.latency_ns.round() as u64),
        Nanos(plateau.light_ns.round() as u64)
    );
    let change = "a disk with a higher limit, or less I/O";
    let mut found = Found::new(kind, 0.75, because, change);
    found.candidates = known::of_kind(&known::best(question), kind);
    found
}

pub(super) struct Plateau {
    pub(super) seconds: usize,
    pub(super) rate: f64,
    latency_ns: f64,
    light_ns: f64,
}

/// Seconds near the highest rate, if they are many and slow.
pub(super) fn plateau(rates: &[f64], latencies_ns: &[f64]) -> Option<Plateau> {
    let mut sorted: Vec<f64> = rates.iter().copied().filter(|rate| *rate > 0.0).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    // One second above a limit (a burst at its start) does not move it.
    let highest = *sorted.get(sorted.len().checked_sub(2)?)?;
    let both = || rates.iter().zip(latencies_ns);
    let mean = |which: &dyn Fn(f64) -> bool| {
        let chosen = both().filter(|(rate, _)| which(**rate));
        let (n, sum) = chosen.fold((0, 0.0), |(n, sum), (_, latency)| (n + 1, sum + latency));
        (n, sum / f64::from(n.max(1)))
    };
    let (seconds, latency_ns) = mean(&|rate| rate >= highest * PLATEAU);
    let (light, light_ns) = mean(&|rate| rate > 0.0 && rate < highest * LIGHT);
    let found = seconds as usize >= PLATEAU_SECONDS && light > 0 && latency_ns >= light_ns * SLOWER;
    found.then_some(Plateau {
        seconds: seconds as usize,
        rate: highest,
        latency_ns,
        light_ns,
    })
}
