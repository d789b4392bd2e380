//! Power cuts, against a list of what each sector may hold.

use super::{Receipt, Store};
use fathom_core::rng::Rng;
use fathom_door::backing;

const SECTORS: u64 = 64;
const SECTOR: u64 = 512;

fn store(cache_bytes: u64) -> Store {
    let size = SECTORS * SECTOR;
    Store::new(backing::memory("test", size).expect("memory"), size, cache_bytes)
}

/// What a sector may hold: the values that were written since what it holds for sure.
#[derive(Clone)]
struct Sector {
    possible: Vec<u8>,
}

/// A write as the oracle knows it.
struct Write {
    first: u64,
    sectors: u64,
    value: u8,
    complete: bool,
    kept: bool,
}

/// Of each sector: the last kept value, and all that was written after it.
fn possible(writes: &[Write]) -> Vec<Sector> {
    let mut sectors = vec![Sector { possible: vec![0] }; SECTORS as usize];
    for write in writes {
        for sector in write.first..write.first + write.sectors {
            let possible = &mut sectors[sector as usize].possible;
            if write.kept {
                possible.clear();
            }
            possible.push(write.value);
        }
    }
    sectors
}

#[test]
fn a_cut_keeps_what_was_flushed_and_invents_nothing() {
    let seed = fathom_testkit::seed();
    let mut differing = 0;
    for round in 0..400 {
        let mut rng = Rng::stream(seed, round);
        let store = store(1 << 20);
        let mut writes: Vec<Write> = Vec::new();
        let mut under_way: Vec<(usize, Receipt)> = Vec::new();
        for step in 0..60u8 {
            match rng.below(8) {
                0 => {
                    // A flush keeps what is complete when it begins, whatever completes before its end.
                    let receipt = store.flush();
                    let complete: Vec<usize> = (0..writes.len()).filter(|&at| writes[at].complete).collect();
                    complete_some(&store, &mut writes, &mut under_way, &mut rng);
                    store.complete(&receipt, true);
                    for at in complete {
                        writes[at].kept = true;
                    }
                }
                1 => {
                    let first = rng.below(SECTORS);
                    let sectors = 1 + rng.below(SECTORS - first);
                    store.trim(first * SECTOR, sectors * SECTOR).expect("trim");
                    writes.push(Write {
                        first,
                        sectors,
                        value: 0,
                        complete: true,
                        kept: true,
                    });
                }
                2 | 3 => complete_some(&store, &mut writes, &mut under_way, &mut rng),
                kind => {
                    let first = rng.below(SECTORS);
                    let sectors = 1 + rng.below((SECTORS - first).min(8));
                    let data = vec![step + 1; (sectors * SECTOR) as usize];
                    let receipt = store.write(first * SECTOR, &data, kind == 4).expect("write");
                    under_way.push((writes.len(), receipt));
                    writes.push(Write {
                        first,
                        sectors,
                        value: step + 1,
                        complete: false,
                        kept: false,
                    });
                }
            }
        }
        let before = contents(&store);
        let cut = store.cut(rng.next_u64()).expect("cut");
        let after = contents(&store);
        for (sector, (possible, found)) in possible(&writes)
            .iter()
            .zip(after.chunks(SECTOR as usize))
            .enumerate()
        {
            assert!(
                found.iter().all(|byte| *byte == found[0]) && possible.possible.contains(&found[0]),
                "round {round}, sector {sector}: {} is none of {:?}",
                found[0],
                possible.possible
            );
        }
        differing += u64::from(before != after);
        assert!(cut.lost + cut.torn > 0 || before == after, "{cut:?}");
    }
    assert!(
        differing > 100,
        "cuts must lose something: {differing} of 400 did"
    );
}

fn complete_some(store: &Store, writes: &mut [Write], under_way: &mut Vec<(usize, Receipt)>, rng: &mut Rng) {
    while !under_way.is_empty() && rng.below(3) > 0 {
        let (at, receipt) = under_way.swap_remove(rng.below(under_way.len() as u64) as usize);
        store.complete(&receipt, true);
        writes[at].complete = true;
        writes[at].kept |= matches!(receipt, Receipt::Forced(_));
    }
}

fn contents(store: &Store) -> Vec<u8> {
    let mut data = vec![0; (SECTORS * SECTOR) as usize];
    store.read(0, &mut data).expect("read");
    data
}

#[test]
fn ignored_flushes_lose_what_they_promised() {
    let mut lost = 0;
    for seed in 0..50 {
        let store = store(1 << 20);
        let receipt = store.write(0, &[1; 4096], false).expect("write");
        store.complete(&receipt, true);
        let flush = store.flush();
        store.complete(&flush, false);
        store.cut(seed).expect("cut");
        lost += u32::from(contents(&store)[..4096] != [1; 4096]);
    }
    assert!(lost > 20, "{lost} of 50");
}

#[test]
fn the_cache_is_bounded() {
    let store = store(64 << 10);
    for round in 0..1000 {
        let receipt = store.write(round % 4 * 4096, &[1; 4096], false).expect("write");
        store.complete(&receipt, true);
        assert!(store.unflushed_bytes() <= (64 << 10) + 4096 + 64);
    }
    let cut = store.cut(1).expect("cut");
    assert!(cut.kept + cut.lost + cut.torn <= 16, "{cut:?}");
}

#[test]
fn extents_tell_what_was_written() {
    let size = 1 << 20;
    let store = Store::new(backing::memory("test", size).expect("memory"), size, 0);
    store.write(64 << 10, &vec![1; 64 << 10], false).expect("write");
    assert_eq!(store.extent(0, size).expect("extent"), (true, 64 << 10));
    assert_eq!(store.extent(64 << 10, size).expect("extent"), (false, 64 << 10));
    assert_eq!(store.extent(96 << 10, 4096).expect("extent"), (false, 4096));
    assert_eq!(
        store.extent(128 << 10, size).expect("extent"),
        (true, size - (128 << 10))
    );
}
