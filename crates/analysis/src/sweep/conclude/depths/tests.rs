use super::*;
use crate::sweep::fixture::{Disk, axes};
use crate::sweep::seen::seen;
use fathom_core::sweep::Inferred;
use fathom_testkit::make::sweep::{measured, plan};

const DISK: Disk = Disk {
    service_us: 1000.0,
    us_per_kib: 0.0,
    iops: 8000.0,
    bytes_per_second: 1e15,
    unit_bytes: u64::MAX,
};

#[test]
fn the_smallest_depth_that_is_enough() {
    let plan = plan(axes());
    // Depth 4: 4000 IOPS; 16: 8000; 64: 8000.
    let mut results = measured(&plan, |at| DISK.at(at));
    let needed = super::needed(&results);
    assert_eq!(needed.len(), 30);
    assert!(
        needed
            .iter()
            .all(|need| need.depth == 16 && need.levels_off && !need.inferred)
    );
    // An inferred point counts, and says so.
    results.points[2].outcome = Outcome::Inferred(Inferred {
        iops: 8000.0,
        bytes_per_second: 8000.0 * 4096.0,
        lat_ns_mean: 2e6,
        because: String::new(),
        from: vec![3],
    });
    let line = line_of(plan.points[2]);
    let of_line = super::needed(&results)
        .into_iter()
        .find(|need| need.line == line)
        .expect("its line");
    assert!(of_line.inferred && of_line.point == 2);
    // Without the deepest point nobody knows whether it goes on rising.
    results.points[3].outcome = Outcome::Pending;
    let of_line = super::needed(&results)
        .into_iter()
        .find(|need| need.line == line)
        .expect("its line");
    assert!(!of_line.levels_off);
}

#[test]
fn latency_is_flat_and_then_linear() {
    let plan = plan(axes());
    let results = measured(&plan, |at| DISK.at(at));
    for growth in growth(&seen(&results)) {
        assert_eq!(
            (growth.flat_to_depth, growth.from_depth, growth.to_depth),
            (4, 1, 64)
        );
        // One more in flight adds 1/8000 s.
        assert!(
            (growth.slope_ns.expect("saturated") - 125_000.0).abs() < 1.0,
            "{growth:?}"
        );
        assert!((growth.little_slope_ns.expect("saturated") - 125_000.0).abs() < 1.0);
        assert!(growth.r_squared.expect("four depths") > 0.98);
    }
}

#[test]
fn shortfalls_are_the_worst_first() {
    let plan = plan(axes());
    let results = measured(&plan, |at| DISK.at(at) * if at.random { 1.0 } else { 1.1 });
    let short = shortfalls(&results);
    assert_eq!(short.len(), 60);
    assert!(short.windows(2).all(|pair| pair[0].share <= pair[1].share));
    assert!((short[0].share - 0.125).abs() < 1e-9 && short[0].depth == 1);
}
