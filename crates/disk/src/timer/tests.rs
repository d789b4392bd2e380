use super::Timer;
use fathom_core::rng::Rng;
use fathom_sys::clock::monotonic_ns;
use std::sync::{Arc, mpsc};
use std::time::Duration;

#[test]
fn each_is_given_at_its_time_and_in_its_order() {
    let seed = fathom_testkit::seed();
    let mut rng = Rng::new(seed);
    let timer = Arc::new(Timer::default());
    let (tell, told) = mpsc::channel();
    let fire = move |item: (u64, u64)| {
        let _gone = tell.send((item, monotonic_ns()));
    };
    let (thread, set) = timer.start(false, fire).expect("a thread");
    assert!(set.is_ok());
    let start = monotonic_ns() + 5_000_000;
    // In groups of the same time, given in any order.
    let mut given: Vec<(u64, u64)> = (0..2000)
        .map(|n| (start + rng.below(50) * 1_000_000, n))
        .collect();
    for &(due, number) in &given {
        timer.at(due, (due, number));
    }
    given.sort_unstable();
    let got: Vec<((u64, u64), u64)> = (0..given.len())
        .map(|_| told.recv_timeout(Duration::from_secs(20)).expect("it comes"))
        .collect();
    assert!(got.iter().all(|((due, _), at)| at >= due), "none comes early");
    let order: Vec<(u64, u64)> = got.iter().map(|(item, _)| *item).collect();
    assert_eq!(order, given);
    drop(thread);
}

#[test]
fn an_earlier_one_overtakes_while_the_thread_sleeps_or_looks_at_the_clock() {
    let timer = Arc::new(Timer::default());
    let (tell, told) = mpsc::channel();
    let (thread, _) = timer
        .start(false, move |item: u32| {
            let _gone = tell.send(item);
        })
        .expect("a thread");
    timer.at(monotonic_ns() + 3_600_000_000_000, 3);
    for _ in 0..200 {
        let now = monotonic_ns();
        timer.at(now + 40_000, 2);
        timer.at(now + 10_000, 1);
        let first = told
            .recv_timeout(Duration::from_secs(20))
            .expect("the earlier one");
        let second = told.recv_timeout(Duration::from_secs(20)).expect("the later one");
        // Where this thread was held up between the two, the first was due before the second came.
        assert!(
            (first, second) == (1, 2) || monotonic_ns() > now + 40_000,
            "{first} before {second}"
        );
    }
    drop(thread);
    assert!(told.recv().is_err(), "what is due in an hour is dropped");
}
