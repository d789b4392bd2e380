use super::InFlight;
use crate::testing::seed;
use fathom_core::rng::Rng;

#[test]
fn agrees_with_a_list() {
    let seed = seed();
    let mut rng = Rng::new(seed);
    let (mut requests, mut ended) = (InFlight::default(), Vec::<bool>::new());
    for _ in 0..20_000 {
        let open: Vec<usize> = (0..ended.len()).filter(|&at| !ended[at]).collect();
        if open.len() < 40 && rng.percent(50) {
            assert_eq!(requests.begin(), ended.len() as u64);
            ended.push(false);
        } else if !open.is_empty() {
            let at = open[rng.below(open.len() as u64) as usize];
            requests.end(at as u64);
            ended[at] = true;
        }
        let first = ended.iter().position(|ended| !ended).unwrap_or(ended.len()) as u64;
        assert!(
            requests.done_to(first) && !requests.done_to(first + 1),
            "seed {seed}"
        );
        assert_eq!(requests.next(), ended.len() as u64);
        let open = ended.iter().filter(|ended| !**ended).count();
        assert_eq!(requests.count() as usize, open, "seed {seed}");
        if first > 100 {
            // Only what is under way is kept.
            assert!(requests.ended.len() as u64 <= requests.next() - first);
        }
        if ended.len() > 2000 {
            (requests, ended) = (InFlight::default(), Vec::<bool>::new());
        }
    }
}
