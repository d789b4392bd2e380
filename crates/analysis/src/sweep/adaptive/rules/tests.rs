use super::*;
use crate::sweep::fixture::axes;
use crate::sweep::seen::seen;
use fathom_core::sweep::Coordinates;
use fathom_testkit::make::sweep::{measured, plan};

fn rules(iops: impl Fn(Coordinates) -> f64) -> Rules {
    let plan = plan(axes());
    let results = measured(&plan, iops);
    let seen = seen(&results);
    Rules::of(&seen.iter().filter(|point| point.at.random).collect::<Vec<_>>())
}

fn plain(at: Coordinates) -> f64 {
    (f64::from(at.iodepth) * 1000.0).min(1e9 / at.block_size_bytes as f64)
}

#[test]
fn a_plain_disk_keeps_them_all() {
    let rules = rules(plain);
    assert!(rules.depth_keeps_iops && rules.depth_keeps_latency && rules.mix_between);
    assert!(rules.size_keeps_iops && rules.size_keeps_bytes);
}

#[test]
fn each_is_broken_by_what_contradicts_it() {
    let deepest_slower = rules(|at| plain(at) * if at.iodepth == 64 { 0.5 } else { 1.0 });
    assert!(!deepest_slower.depth_keeps_iops && deepest_slower.depth_keeps_latency);
    let superlinear = rules(|at| f64::from(at.iodepth * at.iodepth));
    assert!(!superlinear.depth_keeps_latency && superlinear.depth_keeps_iops);
    let large_faster = rules(|at| 1000.0 + at.block_size_bytes as f64 / 1024.0);
    assert!(!large_faster.size_keeps_iops && large_faster.size_keeps_bytes);
    let large_worse = rules(|at| {
        if at.block_size_bytes == 1 << 20 {
            1.0
        } else {
            1000.0
        }
    });
    assert!(!large_worse.size_keeps_bytes && large_worse.size_keeps_iops);
    let mix_faster = rules(|at| if at.read_percent == 50 { 2000.0 } else { 1000.0 });
    assert!(!mix_faster.mix_between);
}

#[test]
fn orders() {
    let order = |random: f64, at_corner: f64| {
        let plan = plan(axes());
        let results = measured(&plan, |at| match (at.random, at.iodepth) {
            (true, 1) => 1000.0 * at_corner,
            (true, _) => 1000.0 * random,
            _ => 1000.0,
        });
        let seen = seen(&results);
        let pairs: Vec<_> = seen[..60].iter().zip(&seen[60..]).collect();
        (Order::of(&pairs), Order::of(&pairs[..4]))
    };
    assert_eq!(order(1.0, 1.0), (Order::Equal, Order::Unrelated));
    assert_eq!(order(1.0, 0.5).0, Order::RandomNoFaster);
    assert_eq!(
        order(0.98, 0.98).0,
        Order::RandomNoFaster,
        "2 % everywhere is a difference"
    );
    assert_eq!(order(1.2, 0.5).0, Order::Unrelated);
}
