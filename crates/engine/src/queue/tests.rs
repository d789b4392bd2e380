use super::{NEVER, Queue};
use fathom_core::rng::Rng;

#[test]
fn agrees_with_a_sorted_list() {
    for (seed, places, far) in [(1, 1, 1_000), (2, 16, 50), (3, 100, 1 << 40), (4, 1000, 1 << 61)] {
        let mut rng = Rng::new(seed);
        let mut queue = Queue::new(places, 7);
        let mut times = vec![NEVER; places];
        let mut now = 7;
        for _ in 0..20_000 {
            let place = rng.below(places as u64) as usize;
            let time = if rng.percent(10) {
                NEVER
            } else {
                now + (rng.below(far) >> rng.below(40))
            };
            queue.set(place as u32, time);
            times[place] = time;
            let first = times.iter().enumerate().filter(|(_, time)| **time != NEVER);
            let first = first
                .min_by_key(|(place, time)| (**time, *place))
                .map(|(place, &time)| (time, place as u32));
            assert_eq!(queue.earliest(), first, "seed {seed}");
            now = first.map_or(now, |(time, _)| time);
            // Time moves on: what was earliest is taken out now and then.
            if let Some((_, place)) = first.filter(|_| rng.percent(50)) {
                queue.set(place, NEVER);
                times[place as usize] = NEVER;
            }
        }
    }
}
