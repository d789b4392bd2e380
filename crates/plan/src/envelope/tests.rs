use super::Envelope;
use fathom_core::rng::Rng;

/// A bucket as the words have it, second by second: whether all of `amounts` passes at once.
fn passes(amounts: &[u64], base: u64, ceiling: u64, bucket: u64) -> bool {
    let mut level = bucket;
    amounts.iter().all(|&amount| {
        let within = amount <= ceiling && amount <= level + base;
        // What is not used of a second's share is kept, as far as the bucket holds it.
        level = (level + base).saturating_sub(amount).min(bucket);
        within
    })
}

/// The rate that an envelope says passes does, and a tenth more does not: within what is not looked at between two stretches.
#[test]
fn a_bucket_lets_through_what_the_envelope_says() {
    let seed = 7;
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    for round in 0..400 {
        let rate = 1_000;
        // Quiet and busy stretches of many lengths, again and again.
        let mut once = Vec::new();
        while once.len() < 3_000 {
            let level = [20, 100, 300, rate][rng.below(4) as usize];
            let longest = 1 << rng.below(9);
            let length = 1 + rng.below(longest);
            once.extend((0..length).map(|_| level));
        }
        let envelope = Envelope::of(once.iter().copied(), 1, rate);
        let base = 50 + rng.below(900);
        let bucket = rng.below(200_000);
        let ceiling = base * 20;
        let most = envelope.passes(base, ceiling, u128::from(bucket));
        let at = |rate: u64| -> Vec<u64> { once.iter().map(|amount| amount * rate / 1_000).collect() };
        let told = |what: &str| format!("round {round}: {what} {most}: base {base}, bucket {bucket}");
        assert!(
            passes(&at(most * 4 / 5), base, ceiling, bucket),
            "{}",
            told("does not pass")
        );
        // Again and again: the mean decides in the end.
        let often: Vec<u64> = at(most * 11 / 10 + 1)
            .into_iter()
            .cycle()
            .take(once.len() * 200)
            .collect();
        assert!(
            !passes(&often, base, ceiling, bucket),
            "{}",
            told("a tenth more than it passes")
        );
    }
}

#[test]
fn a_load_without_end_has_the_base() {
    let steady = Envelope::of(std::iter::repeat_n(500, 7_200), 1, 500);
    assert_eq!(steady.passes(120, 3_500, 3_380 * 1_800), 120);
    // Within a day and a half the bucket is what is left of it.
    assert!((steady.mean() - 1.0).abs() < 1e-6);
}

/// Documented of P-disks: full credit lasts for 30 minutes at full burst.
#[test]
fn a_peak_of_half_an_hour_a_day_lives_on_credit() {
    let day = (0..86_400).map(|second| if second < 1_800 { 3_500 } else { 10 });
    let envelope = Envelope::of(day, 1, 3_500);
    let bucket = (3_500 - 120) * 1_800;
    assert_eq!(envelope.passes(120, 3_500, bucket), 3_500);
    let longer = (0..86_400).map(|second| if second < 3_600 { 3_500 } else { 10 });
    let most = Envelope::of(longer, 1, 3_500).passes(120, 3_500, bucket);
    assert!((1_790..1_900).contains(&most), "{most}");
}

#[test]
fn two_loads_need_what_either_does() {
    let spike = Envelope::of(
        (0..600).map(|second| if second < 60 { 1_000 } else { 0 }),
        1,
        1_000,
    );
    let steady = Envelope::of(std::iter::repeat_n(400, 60), 1, 1_000);
    let both = spike.or(&steady);
    for (base, bucket) in [(100, 54_000), (450, 33_000), (399, 1_000_000), (500, 10)] {
        let each = [&spike, &steady].map(|one| one.passes(base, 2_000, bucket));
        let together = both.passes(base, 2_000, bucket);
        assert!(
            together <= each[0].min(each[1]),
            "{base} {bucket}: {together} of {each:?}"
        );
    }
}

#[test]
fn nothing_is_carried_by_anything() {
    assert_eq!(Envelope::of(std::iter::empty(), 1, 0).passes(0, 7, 0), 7);
}

#[test]
fn rows_of_two_seconds_say_what_those_of_one_do() {
    let seconds = (0..4_000u64).map(|second| if second % 400 < 100 { 900 } else { 30 });
    let pairs = (0..2_000u64).map(|pair| if pair % 200 < 50 { 1_800 } else { 60 });
    let [one, two] = [Envelope::of(seconds, 1, 900), Envelope::of(pairs, 2, 900)];
    for (base, bucket) in [(247, 100), (300, 40_000), (260, 60_000)] {
        let [one, two] = [&one, &two].map(|envelope| envelope.passes(base, 5_000, bucket));
        assert!(one.abs_diff(two) <= one / 50, "{base} {bucket}: {one}, {two}");
    }
}
