use super::*;
use fathom_core::rng::Rng;
use fathom_testkit::make;

fn row(device: u32, sector: u64) -> BlockRequest {
    BlockRequest {
        device,
        sector,
        ..make::request(0, 0)
    }
}

/// Against a list that is searched from its beginning.
#[test]
fn it_finds_what_a_list_finds() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let mut table = Table::new();
        let mut list: Vec<(u32, u64, u64)> = Vec::new();
        let mut count = 0;
        for _ in 0..4000 {
            let device = rng.below(2) as u32;
            // Few places, so that many requests share one.
            let at = rng.below(300) * 8;
            match rng.below(5) {
                0..3 => {
                    table.insert(row(device, at), at, 8, Phase::Queued);
                    list.push((device, at, count));
                    count += 1;
                }
                3 => {
                    let found = table.find(device, at, |_| Some(0));
                    let oldest = list.iter().position(|entry| (entry.0, entry.1) == (device, at));
                    assert_eq!(found.is_some(), oldest.is_some(), "seed {seed}");
                    if let (Some(found), Some(oldest)) = (found, oldest) {
                        let number = list.remove(oldest).2;
                        assert!(table.is(found, number), "seed {seed}");
                        table.remove(found);
                        assert!(!table.is(found, number), "seed {seed}");
                    }
                }
                _ => {
                    if let Some(found) = table.find(device, at, |_| Some(0)) {
                        table.move_to(found, at + 8);
                        let moved = list.iter_mut().find(|entry| (entry.0, entry.1) == (device, at));
                        moved.expect("in the list").1 += 8;
                    }
                }
            }
            assert_eq!(table.len(), list.len());
        }
        let mut numbers: Vec<u64> = table.iter().map(|(_, entry)| entry.number).collect();
        numbers.sort_unstable();
        let mut expected: Vec<u64> = list.iter().map(|entry| entry.2).collect();
        expected.sort_unstable();
        assert_eq!(numbers, expected, "seed {seed}");
    }
}

#[test]
fn rank_goes_before_age() {
    let mut table = Table::new();
    let old = table.insert(row(1, 8), 8, 8, Phase::Queued);
    let young = table.insert(row(1, 8), 8, 16, Phase::Queued);
    let best = table.find(1, 8, |entry| Some(u8::from(entry.left != 16)));
    assert_eq!(best, Some(young));
    assert_eq!(table.find(1, 8, |_| Some(0)), Some(old));
    assert_eq!(table.find(1, 8, |_| None), None);
    assert_eq!(table.find(2, 8, |_| Some(0)), None);
}
