//! The points that are measured in any case.
//!
//! Data in: the plan. Data out: numbers of points, in the order in which to measure them. It must not know results.

use fathom_core::sweep::{Coordinates, SweepPlan};

/// The corners of each order and number of threads: the mixes with most and fewest reads, smallest and largest blocks,
/// greatest and least depth; and the mix nearest to half, at the greatest depth.
pub(super) fn corners(plan: &SweepPlan) -> Vec<u32> {
    let mut chosen: Vec<u32> = Vec::new();
    for threads in distinct(plan, |at| at.threads) {
        for random in distinct(plan, |at| at.random) {
            let block: Vec<(u32, Coordinates)> = (0..)
                .zip(plan.points.iter().copied())
                .filter(|(_, at)| at.random == random && at.threads == threads)
                .collect();
            for number in of_block(&block) {
                if !chosen.contains(&number) {
                    chosen.push(number);
                }
            }
        }
    }
    chosen
}

/// All values of a coordinate, in the order in which they come first.
fn distinct<T: PartialEq>(plan: &SweepPlan, value: impl Fn(&Coordinates) -> T) -> Vec<T> {
    let mut values = Vec::new();
    for at in &plan.points {
        let found = value(at);
        if !values.contains(&found) {
            values.push(found);
        }
    }
    values
}

fn of_block(block: &[(u32, Coordinates)]) -> Vec<u32> {
    let ends = |value: &dyn Fn(&Coordinates) -> u64| {
        let values = block.iter().map(|(_, at)| value(at));
        (values.clone().min().unwrap_or(0), values.max().unwrap_or(0))
    };
    let (fewest, most) = ends(&|at| u64::from(at.read_percent));
    let (small, large) = ends(&|at| at.block_size_bytes);
    let (shallow, deep) = ends(&|at| u64::from(at.iodepth));
    let middle = block
        .iter()
        .map(|(_, at)| at.read_percent)
        .min_by_key(|mix| (mix.abs_diff(50), *mix))
        .map_or(0, u64::from);
    let mut wanted = Vec::new();
    for (mixes, depth) in [(vec![most, fewest, middle], deep), (vec![most, fewest], shallow)] {
        for mix in mixes {
            wanted.extend([small, large].map(|size| (mix, size, depth)));
        }
    }
    let number = |&(mix, size, depth): &(u64, u64, u64)| {
        let found = block.iter().find(|(_, at)| {
            (
                u64::from(at.read_percent),
                at.block_size_bytes,
                u64::from(at.iodepth),
            ) == (mix, size, depth)
        });
        found.map(|(number, _)| *number)
    };
    wanted.iter().filter_map(number).collect()
}
