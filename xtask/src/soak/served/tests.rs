use super::{GROWTH_KIB_MAX, Sample, thirds};

fn samples(size: impl Fn(u64) -> u64) -> Vec<Sample> {
    let sample = |at| Sample {
        seconds: at * 60,
        ios: at * 120_000,
        rss_kib: size(at),
    };
    (0..60).map(sample).collect()
}

#[test]
fn a_leak_is_told_from_a_cache_that_fills() {
    let grows = |size: fn(u64) -> u64| {
        let (before, after) = thirds(&samples(size)).expect("enough of them");
        after > before + GROWTH_KIB_MAX
    };
    assert!(!grows(|at| 20_000 + at.min(10) * 6500));
    assert!(!grows(|at| 85_000 + at % 7 * 100));
    assert!(grows(|at| 85_000 + at * 150));
    assert!(thirds(&samples(|_| 1)[..8]).is_err());
}
