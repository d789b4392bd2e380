use super::{alone, beside_others};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// All in one test: the turns are those of the whole program.
#[test]
fn who_is_alone_waits_for_others_and_lets_none_begin() {
    let at_work = AtomicUsize::new(0);
    let ended = AtomicBool::new(false);
    let work = || {
        while !ended.load(Ordering::SeqCst) {
            let first = beside_others();
            at_work.fetch_add(1, Ordering::SeqCst);
            // A second turn of the same thread never waits, or the two would wait for one another.
            let second = beside_others();
            thread::sleep(Duration::from_millis(3));
            drop(second);
            at_work.fetch_sub(1, Ordering::SeqCst);
            drop(first);
        }
    };
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(work);
        }
        for _ in 0..20 {
            let mine = beside_others();
            let turn = alone().expect("others end");
            let own = beside_others();
            for _ in 0..5 {
                assert_eq!(at_work.load(Ordering::SeqCst), 0);
                thread::sleep(Duration::from_millis(1));
            }
            drop((own, turn, mine));
            thread::sleep(Duration::from_millis(1));
        }
        ended.store(true, Ordering::SeqCst);
    });
}
