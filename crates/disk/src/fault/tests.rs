use super::{ErrorRule, Fault, Scheduled, parse, parse_schedule};
use fathom_core::backend::Op;

const S: u64 = 1_000_000_000;

#[test]
fn each_is_read() {
    let fault = |text: &str| parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).1;
    assert_eq!(fault("stall 250ms"), Fault::Stall { for_ns: S / 4 });
    let slow = Fault::Slow {
        permille: 1500,
        for_ns: Some(60 * S),
    };
    assert_eq!(fault("slow 1.5x for 1m"), slow);
    let errors = Fault::Errors {
        rule: ErrorRule {
            op: Some(Op::Read),
            range_bytes: Some((1 << 30, 64 << 20)),
            per_million: 5_000,
            seed: 7,
        },
        for_ns: Some(10 * S),
    };
    assert_eq!(fault("errors reads at 1GiB+64MiB 0.5% seed 7 for 10s"), errors);
    assert_eq!(fault("ignore-flushes"), Fault::IgnoreFlushes { for_ns: None });
    assert_eq!(fault("power-cut seed 9"), Fault::PowerCut { seed: 9 });
    assert_eq!(fault("power-cut"), Fault::PowerCut { seed: 1 });
    assert_eq!(
        parse("disk data detach").expect("named"),
        (Some(String::from("data")), Fault::Detach)
    );
    assert_eq!((fault("attach"), fault("heal")), (Fault::Attach, Fault::Heal));
}

#[test]
fn nonsense_is_refused_with_what_goes_there() {
    for (text, said) in [
        ("", "a fault is missing"),
        ("freeze", "`freeze` is no fault: write stall, slow,"),
        ("stall", "as in `stall 3s`"),
        ("stall 3", "`3` is no time"),
        ("stall 0s", "no time at all"),
        ("stall 99999999999999h", "at most 31 days"),
        ("slow 4", "is no factor"),
        ("slow nanx", "is no factor"),
        ("errors at 1GiB", "is no range"),
        ("errors at 1GiB+0", "is no range"),
        ("errors 0%", "is no share"),
        ("errors NaN%", "is no share"),
        ("power-cut seed x", "is no seed"),
        ("detach now", "`now` does not belong to `detach`"),
        ("disk", "the name of a disk"),
    ] {
        let error = parse(text).expect_err(text).to_string();
        assert!(error.contains(said), "{text}: {error}");
    }
}

#[test]
fn a_schedule_is_read_in_the_order_of_time_and_names_its_lines() {
    let text = "# a bad hour\n10s disk log power-cut seed 2\n\n0s slow 2x # from the start\n";
    let expected = vec![
        Scheduled {
            at_ns: 0,
            disk: None,
            fault: Fault::Slow {
                permille: 2000,
                for_ns: None,
            },
        },
        Scheduled {
            at_ns: 10 * S,
            disk: Some(String::from("log")),
            fault: Fault::PowerCut { seed: 2 },
        },
    ];
    assert_eq!(parse_schedule(text).expect("a schedule"), expected);
    let error = parse_schedule("1s heal\n\nsoon heal\n")
        .expect_err("no time")
        .to_string();
    assert!(error.starts_with("line 3: `soon` is no time"), "{error}");
}

#[test]
fn a_rule_is_of_its_kind_and_place() {
    let rule = ErrorRule {
        op: Some(Op::Write),
        range_bytes: Some((4096, 4096)),
        per_million: 1_000_000,
        seed: 1,
    };
    assert!(rule.matches(Op::Write, 0, 4097));
    assert!(rule.matches(Op::Write, 8191, 1));
    assert!(!rule.matches(Op::Write, 0, 4096));
    assert!(!rule.matches(Op::Write, 8192, 4096));
    assert!(!rule.matches(Op::Read, 4096, 4096));
    assert!(!rule.matches(Op::Write, 4096, 0), "a flush touches no place");
}
