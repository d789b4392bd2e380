//! How long the search for the ten cheapest layouts takes, the whole catalogue before it.
//!
//! `cargo run --release -p fathom-plan --example search_time -- [CLOUDS] [NEEDS]`
//!
//! CLOUDS is a list as `azure,aws,gcp` (`azure` unless told otherwise), NEEDS how many needs are drawn (500). It prints one JSON
//! document: machines, needs, and the median, 99th percentile and maximum of the times, in microseconds. What the planner does
//! besides (proofs on the model, the front) is not part of it.

use fathom_core::rng::Rng;
use fathom_model::Catalog;
use fathom_plan::layout::{GIB, MB};
use fathom_plan::need::{Ask, Need};
use fathom_plan::search::cheapest_of;
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

/// The needs are the same each time.
const SEED: u64 = 20_261_123;
/// Layouts of an answer.
const LISTED: usize = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let clouds = args.next().unwrap_or_else(|| String::from("azure"));
    let needs: usize = args.next().map_or(Ok(500), |number| number.parse())?;
    let named = clouds.split(',').map(|name| Catalog::named(name).ok_or(name));
    let catalogs = named
        .collect::<Result<Vec<&Catalog>, &str>>()
        .map_err(|name| format!("{name}: no such cloud"))?;
    let mut rng = Rng::new(SEED);
    let mut times_us = Vec::new();
    for _ in 0..needs {
        let need = drawn(&mut rng)?;
        let begin = Instant::now();
        black_box(cheapest_of(&catalogs, black_box(&need), LISTED));
        times_us.push(begin.elapsed().as_secs_f64() * 1e6);
    }
    times_us.sort_by(f64::total_cmp);
    let at = |part: f64| {
        times_us
            .get((part * (needs - 1) as f64) as usize)
            .copied()
            .unwrap_or(0.0)
    };
    let machines: usize = catalogs.iter().map(|catalog| catalog.vms().len()).sum();
    println!(
        r#"{{"clouds":"{clouds}","machines":{machines},"needs":{needs},"us_median":{:.0},"us_p99":{:.0},"us_max":{:.0}}}"#,
        at(0.5),
        at(0.99),
        at(1.0)
    );
    Ok(())
}

/// A need as somebody may have it: from a small log to a large database, half of them with a machine in mind.
fn drawn(rng: &mut Rng) -> Result<Need, Box<dyn Error>> {
    let mut pick = |values: &[u64]| values[rng.below(values.len() as u64) as usize];
    let mut ask = Ask {
        iops: Some(pick(&[100, 480, 1_100, 3_000, 5_000, 12_000, 30_000, 80_000])),
        size_bytes: Some(pick(&[8, 64, 200, 512, 1_500, 4_000, 20_000]) * GIB),
        read_percent: Some(pick(&[0, 30, 50, 70, 100])),
        block_bytes: Some(pick(&[4, 8, 16, 64, 256, 1024]) << 10),
        bytes_per_second: Some(pick(&[5, 25, 100, 180, 250, 600, 1_500]) * MB),
        ..Ask::default()
    };
    ask.choice.machine.vcpus = pick(&[0, 0, 2, 8, 16]) as u32;
    ask.choice.machine.memory_bytes = pick(&[0, 0, 16, 64]) * GIB;
    Ok(ask.need()?.0)
}
