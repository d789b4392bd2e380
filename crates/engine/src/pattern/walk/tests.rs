use super::{Stride, Walk};
use crate::testing::{job, seed, whole};
use fathom_core::backend::Op;
use fathom_core::rng::Rng;
use fathom_core::workload::Mix;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

fn stride(region: u64, smallest: u64, bytes: u64, wraps: bool) -> Stride {
    Stride {
        region,
        smallest,
        bytes,
        wraps,
    }
}

/// Threads that take as fast as they can: together they visit each block once a round, none twice, none not at all.
#[test]
fn threads_that_share_a_pointer_visit_each_block_once() {
    const BLOCKS: u64 = 10_007;
    let pointer: Arc<AtomicU64> = Arc::default();
    let taken: Vec<Vec<u64>> = std::thread::scope(|scope| {
        let thread = || {
            let mut walk = Walk::shared(false);
            walk.share(&pointer);
            let mut taken = Vec::new();
            for _pass in 0..3 {
                while let Some(at) = walk.take(stride(BLOCKS * 512, 512, 512, false)) {
                    taken.push(at / 512);
                }
                walk.restart(BLOCKS * 512);
            }
            taken
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(thread)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no panic"))
            .collect()
    });
    let mut visits = vec![0u32; BLOCKS as usize];
    for &block in taken.iter().flatten() {
        visits[block as usize] += 1;
    }
    assert!(
        visits.iter().all(|&visits| visits == 3),
        "three rounds, each block once in each"
    );
    // Each thread only goes forwards within a round.
    for taken in taken {
        let turns = taken.windows(2).filter(|pair| pair[1] <= pair[0]).count();
        assert!(turns <= 2, "{turns} turns");
    }
}

/// One thread with a shared pointer goes the way of a sequence of its own, for all sizes, strides and regions.
#[test]
fn alone_it_is_a_sequence() {
    let mut rng = Rng::new(seed());
    for _ in 0..2000 {
        let block = 512 * (1 + rng.below(16));
        let region = block + rng.below(100 * block);
        let bytes = 1 + rng.below(3 * block);
        let wraps = rng.percent(50);
        let mut shared = Walk::shared(false);
        let mut own = Walk::each_slot(1, 0);
        for _ in 0..200 {
            let (one, other) = (
                shared.take(stride(region, block, bytes, wraps)),
                own.take(stride(region, block, bytes, wraps)),
            );
            assert_eq!(
                one, other,
                "region {region}, block {block}, stride {bytes}, wraps {wraps}"
            );
            let Some(at) = one else { break };
            assert!(at + block <= region);
        }
    }
}

/// Endless passes over several files: who was slow joins the others in their round.
#[test]
fn endless_passes_join_the_others() {
    let pointer: Arc<AtomicU64> = Arc::default();
    let [mut fast, mut slow] = [(); 2].map(|()| {
        let mut walk = Walk::shared(true);
        walk.share(&pointer);
        walk
    });
    let step = stride(4096, 512, 512, false);
    for _ in 0..5 {
        while fast.take(step).is_some() {}
        fast.restart(4096);
    }
    assert_eq!(fast.take(step), Some(0));
    assert_eq!(slow.take(step), None);
    slow.restart(4096);
    assert_eq!(slow.take(step), Some(512));
}

/// Each slot goes through all of the region, whatever the order in which the slots come.
#[test]
fn each_slot_visits_each_block() {
    const BLOCKS: u64 = 100;
    let mut rng = Rng::new(seed());
    let mut walk = Walk::each_slot(8, 0);
    let mut visits = vec![0; BLOCKS as usize];
    let mut own = [0u64; 8];
    loop {
        let slot = rng.below(8) as u32;
        walk.turn_to(slot);
        let Some(at) = walk.take(stride(BLOCKS * 4096, 4096, 4096, false)) else {
            break;
        };
        // One that is through helps another.
        if own.iter().all(|&own| own < BLOCKS) {
            assert_eq!(at / 4096, own[slot as usize], "its own next block");
        }
        own[slot as usize] += 1;
        visits[(at / 4096) as usize] += 1;
    }
    assert!(visits.iter().all(|&visits| visits == 8), "{visits:?}");
}

/// Reads and writes of a mix take from one pointer.
#[test]
fn directions_share_a_pointer() {
    let mut job = job(Mix::ReadWrite { read_percent: 50 }, 4096);
    job.pattern.shared_sequence = true;
    let mut generator = crate::testing::one_pass(&job, &whole(64 * 4096), 1);
    let mut ops = [0; 2];
    for block in 0..64 {
        let draw = generator.draw().expect("a block");
        assert_eq!((draw.offset, draw.len), (block * 4096, 4096));
        ops[draw.op.index()] += 1;
    }
    assert_eq!(generator.draw(), None);
    assert!(ops[Op::Read.index()] > 0 && ops[Op::Write.index()] > 0);
}
