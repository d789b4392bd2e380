use super::*;

fn two(how: FileLocks) -> (Locks, Locks) {
    let mut files = LockedFiles::default();
    let path = Path::new("f");
    let mut one = || files.of(how, std::iter::once(path)).expect("locks");
    (one(), one())
}

#[test]
fn one_alone_keeps_all_others_out() {
    let (mut one, mut other) = two(FileLocks::Exclusive);
    assert!(one.take(Op::Read, 0));
    assert!(one.take(Op::Write, 0));
    assert!(!other.take(Op::Read, 0));
    one.give_back(0);
    assert!(!other.take(Op::Read, 0));
    one.give_back(0);
    assert!(other.take(Op::Read, 0));
    assert!(!one.take(Op::Read, 0));
}

#[test]
fn those_that_read_share() {
    let (mut one, mut other) = two(FileLocks::ReadWrite);
    assert!(one.take(Op::Read, 0) && other.take(Op::Read, 0));
    assert!(!one.take(Op::Write, 0), "with its own read under way neither");
    one.give_back(0);
    assert!(!one.take(Op::Write, 0));
    other.give_back(0);
    assert!(one.take(Op::Write, 0));
    assert!(!other.take(Op::Read, 0));
    assert!(one.take(Op::Read, 0));
}

#[test]
fn whoever_goes_lets_go() {
    let (mut one, mut other) = two(FileLocks::Exclusive);
    assert!(one.take(Op::Write, 0));
    drop(one);
    assert!(other.take(Op::Write, 0));
    other.give_back(0);
    // What was never taken gives nothing back.
    other.give_back(0);
    assert!(other.take(Op::Write, 0));
}

/// Two threads count in a place that is no atomic sum: each write is lost unless they keep each other out.
#[test]
fn threads_keep_each_other_out() {
    let (one, other) = two(FileLocks::Exclusive);
    let count = std::sync::atomic::AtomicU64::new(0);
    std::thread::scope(|scope| {
        for mut locks in [one, other] {
            let count = &count;
            scope.spawn(move || {
                for _ in 0..10_000 {
                    while !locks.take(Op::Write, 0) {
                        std::thread::yield_now();
                    }
                    let now = count.load(Ordering::Relaxed);
                    count.store(now + 1, Ordering::Relaxed);
                    locks.give_back(0);
                }
            });
        }
    });
    assert_eq!(count.into_inner(), 20_000);
}
