use super::*;

fn at(text: &str, gib: f64, iops: f64, mbps: f64) -> Option<f64> {
    let formula = Formula::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    formula.at(Values { gib, iops, mbps })
}

#[test]
fn formulas_are_reckoned_as_written() {
    assert_eq!(at("3000 + 6*gib", 100.0, 0.0, 0.0), Some(3_600.0));
    assert_eq!(at("min(16000, max(100, 3*gib))", 20.0, 0.0, 0.0), Some(100.0));
    assert_eq!(
        at("min(16000, max(100, 3*gib))", 9_000.0, 0.0, 0.0),
        Some(16_000.0)
    );
    assert_eq!(at("if(gib > 170, 250, 128)", 170.0, 0.0, 0.0), Some(128.0));
    assert_eq!(at("if(iops <= 32000, 1, 2)", 0.0, 32_000.0, 0.0), Some(1.0));
    assert_eq!(at("min(500, 40*tib)", 2_048.0, 0.0, 0.0), Some(80.0));
    assert_eq!(at("(1 + 2) * 3 - 4 / 2", 0.0, 0.0, 0.0), Some(7.0));
    assert_eq!(at("min(9600, 4*mbps)", 0.0, 0.0, 100.0), Some(400.0));
    assert_eq!(at("1 - 2", 0.0, 0.0, 0.0), Some(0.0));
    assert_eq!(at("1 / iops", 0.0, 0.0, 0.0), None);
    assert!(Formula::parse("4*mbps").expect("one").names_mbps());
}

#[test]
fn what_is_no_formula_is_said() {
    for (text, wanted) in [
        ("", "at character 1: a number"),
        ("3 *", "at character 4: a number"),
        ("3 gib", "at character 3: nothing more"),
        ("min(3, 4", "at character 9: `)` goes here"),
        ("if(gib, 1, 2)", "at character 7: one of <"),
        ("1.2.3", "`1.2.3` is no number"),
        ("cores", "at character 1: a number"),
    ] {
        let error = Formula::parse(text).expect_err(text);
        assert!(error.contains(wanted), "{text}: {error}");
    }
    let deep = format!("{}1{}", "(".repeat(40), ")".repeat(40));
    assert!(Formula::parse(&deep).expect_err("deep").contains("too deep"));
}
