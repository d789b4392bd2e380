use super::Crowd;
use crate::spec::CrowdingSpec;
use crate::testing::seed;
use fathom_core::rng::Rng;

/// Each that has begun and not ended counts, in whatever order they end, and no more than `most` do.
#[test]
fn agrees_with_counting() {
    let seed = seed();
    for most in [1, 5, 16, 1000] {
        let mut rng = Rng::stream(seed, most);
        let mut crowd = Crowd::new(CrowdingSpec {
            ns_per_io: 7,
            most: most as u32,
        });
        let (mut now, mut all, mut burst) = (0, Vec::new(), 0u32);
        for _ in 0..3000 {
            // Often at the same time, as behind a limit; sometimes more than are kept unordered.
            let rest = if burst > 0 { 0 } else { rng.below(1000) };
            burst = match (burst, rng.below(100)) {
                (0, 0) => 400,
                (0, 1..20) => 10,
                (left, _) => left.saturating_sub(1),
            };
            now += rest;
            let others = all.iter().filter(|&&end| end > now).count() as u64;
            assert_eq!(crowd.extra_ns(now), others.min(most) * 7, "seed {seed}");
            let kept = crowd.last - crowd.first + crowd.fresh_count;
            assert!(
                kept as u64 <= others,
                "those that have ended are forgotten, seed {seed}"
            );
            // Now and then one that outlasts hundreds of others.
            let end = now
                + if rng.percent(2) {
                    300_000
                } else {
                    1 + rng.below(20_000)
                };
            crowd.enter(end);
            all.push(end);
        }
    }
}
