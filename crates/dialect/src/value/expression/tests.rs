use super::{evaluate, plain_sum};

fn value(text: &str) -> Option<f64> {
    evaluate(text, &|name| match name {
        "" => Some(1.0),
        "k" => Some(1024.0),
        _ => None,
    })
    .ok()
}

#[test]
fn precedence_and_association() {
    let cases = [
        ("1+2*3", 7.0),
        ("(1+2)*3", 9.0),
        ("10-4-3", 3.0),
        ("100/10/2", 5.0),
        ("7%4", 3.0),
        ("2^3^2", 512.0),
        ("-2+5", 3.0),
        ("2 * ( 3 + 4 )", 14.0),
        ("4k/2", 2048.0),
        ("1.5*2", 3.0),
    ];
    for (text, expected) in cases {
        assert_eq!(value(text), Some(expected), "{text}");
    }
}

#[test]
fn what_is_no_expression() {
    for text in [
        "", "(", "()", "1+", "(1", "1)", "1 2", "*3", "4x", "1/0", "1..2", "2^9999", "$",
    ] {
        assert_eq!(value(text), None, "{text}");
    }
}

#[test]
fn deep_nesting_is_refused() {
    let deep = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(value(&deep), None);
    assert_eq!(value(&"-".repeat(100_000)), None);
    assert_eq!(
        value(&format!("{}1{}", "(".repeat(20), ")".repeat(20))),
        Some(1.0)
    );
}

/// The words of a job file are plain numbers; the whole part is used, as `bc` prints it.
#[test]
fn sums_of_plain_numbers() {
    assert_eq!(plain_sum("4*4096").as_deref(), Ok("16384"));
    assert_eq!(plain_sum("7/2").as_deref(), Ok("3"));
    assert!(plain_sum("4k*2").is_err());
    assert!(plain_sum("0-8").is_err());
}
