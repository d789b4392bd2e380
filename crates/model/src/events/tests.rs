use super::{Event, Events};
use crate::testing::seed;
use fathom_core::rng::Rng;

#[test]
fn the_earliest_comes_first_and_equals_in_order() {
    let seed = seed();
    let mut rng = Rng::new(seed);
    let mut events = Events::default();
    let mut all: Vec<(u64, u64)> = (0..500).map(|number| (rng.below(60), number)).collect();
    for &(time, number) in &all {
        events.push(time, Event::Flushed { bytes: 0, number });
    }
    all.sort_unstable();
    for (time, number) in all {
        assert_eq!(events.next_ns(), time);
        assert_eq!(time.checked_sub(1).and_then(|before| events.pop_to(before)), None);
        let popped = events.pop_to(time);
        assert_eq!(
            popped,
            Some((time, Event::Flushed { bytes: 0, number })),
            "seed {seed}"
        );
    }
    assert_eq!((events.next_ns(), events.pop_to(u64::MAX)), (u64::MAX, None));
}
