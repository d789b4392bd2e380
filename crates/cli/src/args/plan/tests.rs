use super::*;

#[test]
fn numbers_are_read_as_people_write_them() {
    assert_eq!(count("12000"), Ok(12_000));
    assert_eq!(count("12k"), Ok(12_000));
    assert_eq!(count("1.5M"), Ok(1_500_000));
    assert_eq!(megabytes("62.5"), Ok(62_500_000));
    assert_eq!(gib("1500"), Ok(1500 << 30));
    assert_eq!(gib("1.5t"), Ok(1536 << 30));
    assert_eq!(gib("16GiB"), Ok(16 << 30));
    assert_eq!(block("16k"), Ok(16 << 10));
    assert_eq!(block("4096"), Ok(4096));
    assert_eq!(factor("2x"), Ok(2_000));
    assert_eq!(factor("1.5"), Ok(1_500));
    assert_eq!(money("99.50"), Ok(99_500_000));
    assert_eq!(currency("eur=0.92"), Ok((String::from("EUR"), 0.92)));
}

#[test]
fn what_is_no_number_is_refused() {
    for text in [
        "",
        "-5",
        "1e3",
        "x",
        "1.",
        ".5",
        "99999999999999999999",
        "1.5",
        "٣",
    ] {
        assert!(count(text).is_err(), "{text}");
    }
    for text in ["-5", "g", "1.5q", "99999999999999t", "1.5.5g"] {
        assert!(gib(text).is_err(), "{text}");
    }
    for text in ["EUR", "EUR=", "EUR=-1", "EUR=nan", "=2", "E1=2"] {
        assert!(currency(text).is_err(), "{text}");
    }
}

#[test]
fn bounds_are_read_with_any_sign_between() {
    let p99 = Bound {
        percentile: Some(99.0),
        below_ns: 10_000_000,
    };
    for text in ["p99<10ms", "p99:10ms", "p99<=10ms", "P99 < 10ms"] {
        assert_eq!(bound(text), Ok(p99), "{text}");
    }
    assert_eq!(bound("p99_9<1s").map(|bound| bound.percentile), Ok(Some(99.9)));
    assert_eq!(bound("p50<0.5ms").map(|bound| bound.below_ns), Ok(500_000));
    assert_eq!(bound("mean:2ms").map(|bound| bound.percentile), Ok(None));
    for text in ["p99", "p101<1ms", "q9<1ms", "p99<x", "<1ms", "p99<0"] {
        assert!(bound(text).is_err(), "{text}");
    }
}
