use super::*;

const MS: u64 = 1_000_000;

/// A tick as on a quiet machine, so long after the start.
fn tick(ms: u64) -> Tick {
    Tick {
        now_ns: ms * MS,
        ready_ns: Some(0),
        major_faults: 0,
        alive: ms / 100,
        stolen_ns: 0,
        continued: false,
    }
}

fn stopped(ms: u64) -> Tick {
    Tick { alive: 0, ..tick(ms) }
}

#[test]
fn a_gap_with_a_signal_is_a_stop_of_that_length() {
    let after = Tick {
        continued: true,
        ..stopped(2_010)
    };
    let stop = judge(&tick(0), &after).expect("a stop");
    assert_eq!(
        stop,
        Stop {
            from_ns: 10 * MS,
            length_ns: 2_000 * MS,
            by: StoppedBy::Signal
        }
    );
    // What it waited for a CPU is no part of it.
    let starved = Tick {
        ready_ns: Some(500 * MS),
        ..after
    };
    let stop = judge(&tick(0), &starved).expect("a stop");
    assert_eq!(stop.length_ns, 1_500 * MS);
    // A signal to a program that was not stopped.
    let running = Tick {
        continued: true,
        ..tick(20)
    };
    assert_eq!(judge(&tick(0), &running), None);
}

#[test]
fn a_gap_without_a_signal_is_a_stop_where_nothing_else_explains_it() {
    let frozen = stopped(1_010);
    let stop = judge(&tick(0), &frozen).expect("a stop");
    assert_eq!((stop.length_ns, stop.by), (1_000 * MS, StoppedBy::Frozen));
    let others = [
        (
            "no CPU",
            Tick {
                ready_ns: Some(900 * MS),
                ..frozen
            },
        ),
        (
            "it cannot be told from that",
            Tick {
                ready_ns: None,
                ..frozen
            },
        ),
        (
            "its own code was on a slow disk",
            Tick {
                major_faults: 1,
                ..frozen
            },
        ),
        ("another thread ran", Tick { alive: 9, ..frozen }),
        (
            "the host took the CPUs",
            Tick {
                stolen_ns: 800 * MS,
                ..frozen
            },
        ),
        ("too short to say", stopped(200)),
    ];
    for (why, after) in others {
        assert_eq!(judge(&tick(0), &after), None, "{why}");
    }
}

#[test]
fn only_stops_of_the_run_are_told_and_added_up() {
    let stop = |from_ms: u64, length_ms: u64| Stop {
        from_ns: from_ms * MS,
        length_ns: length_ms * MS,
        by: StoppedBy::Signal,
    };
    assert_eq!(warning(&Stops::default(), MonoTime(0)), None);
    let before = Stops(vec![stop(100, 200)]);
    assert_eq!(warning(&before, MonoTime(1_000 * MS)), None);
    let one = Stops(vec![stop(100, 200), stop(2_500, 2_000)]);
    let told = |stops: &Stops| {
        warning(stops, MonoTime(1_000 * MS))
            .expect("a warning")
            .to_string()
    };
    assert_eq!(
        told(&one),
        "the load was stopped for 2.00 s (by a signal), 1.50 s after its start"
    );
    let two = Stops(vec![stop(2_500, 2_000), stop(6_000, 500)]);
    assert_eq!(
        told(&two),
        "the load was stopped 2 times, for 2.50 s in all; for 2.00 s (by a signal), 1.50 s after its start"
    );
    let many = Stops((0..2_000).map(|n| stop(2_000 + n * 200, 100)).collect());
    let Some(Warning::LoadStopped { stops, number, .. }) = warning(&many, MonoTime(0)) else {
        panic!("no warning");
    };
    assert_eq!((stops.len(), number), (KEPT_MAX, 2_000));
}
