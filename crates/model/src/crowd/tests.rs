use super::Crowd;
use crate::spec::CrowdingSpec;
use crate::testing::seed;
use fathom_core::rng::Rng;

/// Each that has begun and not ended counts, in whatever order they end, and no more than `most` do.
#[test]
fn agrees_with_counting() {
    let seed = seed();
    for most in [1, 5, 1000] {
        let mut rng = Rng::stream(seed, most);
        let mut crowd = Crowd::new(CrowdingSpec {
            ns_per_io: 7,
            most: most as u32,
        });
        let (mut now, mut all, mut longest) = (0, Vec::new(), 0);
        for _ in 0..3000 {
            now += rng.below(1000);
            let others = all.iter().filter(|&&end| end > now).count() as u64;
            assert_eq!(crowd.extra_ns(now), others.min(most) * 7, "seed {seed}");
            // Now and then one that outlasts hundreds of others.
            let end = now
                + if rng.percent(2) {
                    300_000
                } else {
                    rng.below(20_000)
                };
            crowd.enter(end);
            all.push(end);
            longest = longest.max(crowd.last - crowd.first);
        }
        assert!(longest < 100, "those that have ended are forgotten: {longest}");
    }
}
