use super::*;
use fathom_testkit::make;
use proptest::prelude::*;

fn drawn(at_ns: u64) -> Drawn {
    Drawn {
        at_ns,
        latency_ns: 1,
        op: "read",
    }
}

proptest! {
    #[test]
    fn thinning_is_even_and_bounded(n in 1u64..50_000) {
        let mut thinned = Thinned::default();
        (0..n).for_each(|at| thinned.take(drawn(at)));
        prop_assert_eq!(thinned.met, n);
        prop_assert!(thinned.kept.len() <= DRAWN_MAX);
        prop_assert!(n < DRAWN_MAX as u64 || thinned.kept.len() >= DRAWN_MAX / 2);
        let step = 1u64 << thinned.log_every;
        let expected: Vec<u64> = (0..n).step_by(step as usize).collect();
        let kept: Vec<u64> = thinned.kept.iter().map(|row| row.at_ns).collect();
        prop_assert_eq!(kept, expected);
    }
}

#[test]
fn slow_and_usual_ios_are_kept_apart_and_others_passed_over() {
    let mut window = SpikeWindow {
        spike: 0,
        range_ns: 100..200,
        threshold_ns: 50,
        slow: Thinned::default(),
        usual: Thinned::default(),
    };
    let io = |due: u64, done: u64, errno: u16| IoRecord {
        len_bytes: 1,
        errno,
        op: Op::DataSync,
        ..make::io(1000 + due, 1000 + done)
    };
    let rows = [
        io(90, 110, 0),
        io(90, 150, 0),
        io(90, 151, 5),
        io(10, 99, 0),
        io(190, 200, 0),
    ];
    window.feed_ios(&rows, 1000);
    assert_eq!(
        window.usual.kept,
        [Drawn {
            at_ns: 110,
            latency_ns: 20,
            op: "sync"
        }]
    );
    assert_eq!(
        window.slow.kept,
        [Drawn {
            at_ns: 150,
            latency_ns: 60,
            op: "sync"
        }]
    );
}
