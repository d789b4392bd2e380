use super::{CompareFormat, CompareReport, Kind, SideReport};
use crate::Style;
use expect_test::expect;
use fathom_analysis::compare::{
    Better, Caution, Figure, Judged, Observed, Order, Quantity, Rule, Settings, Tail, Value, judge, rule,
};
use fathom_core::backend::Op;
use std::path::Path;

/// Ten published times of restoring one database on two classes of storage, in seconds.
const ACS: [f64; 5] = [11456.505, 11517.523, 11651.333, 11949.945, 11696.491];
const DISK: [f64; 5] = [11038.631, 11140.838, 12327.441, 11313.670, 11879.949];

fn observed(op: Option<Op>, quantity: Quantity, a: &[f64], b: &[f64]) -> Observed {
    Observed {
        figure: Figure {
            load: String::new(),
            op,
            quantity,
        },
        sides: [a, b].map(|side| side.iter().copied().map(Value::plain).collect()),
        order: Order::Unknown,
    }
}

fn report<'a>(kind: Kind, names: [&str; 2], judged: &'a [Judged]) -> CompareReport<'a> {
    let side = |name: &str| SideReport {
        name: name.to_owned(),
        from: vec![format!("{name}.txt")],
        measured: &[],
        alone: Vec::new(),
        notes: Vec::new(),
    };
    CompareReport {
        kind,
        sides: names.map(side),
        judged,
        conditions: &[],
        allowed: &[],
        cautions: &[],
        ruled: &[],
        strict: false,
        settings: Settings { margin: 0.1 },
        unit: None,
        better: Better::Unknown,
        version: "0",
    }
}

/// Five restores on each of two classes of storage: no difference in the mean is shown, and of the spread nothing is known.
#[test]
fn ten_published_restores_show_no_difference() {
    let judged = judge(
        vec![observed(None, Quantity::Number, &ACS, &DISK)],
        Settings { margin: 0.1 },
    );
    let mut report = report(Kind::Columns, ["ACS", "disk"], &judged);
    report.unit = Some("s");
    report.better = Better::Lower;
    let text = report.text(Style::default());
    expect![[r#"
        disk compared with ACS
        ACS: 5 numbers, ACS.txt
        disk: 5 numbers, disk.txt

        Verdicts
          mean: no difference shown (anything beyond ±8.1 % would have been seen)

        Figures
                    ACS     disk  change   95 % interval     p     verdict
          mean  11654 s  11540 s  -1.1 %  -6.6 to +4.8 %  0.65  none shown

        Spread
          mean: too few repeats: disk varies 2.9 times as much (anything from 0.62 to 11
            times); two more on each side are the least to judge it by
                  ACS   disk  disk/ACS  95 % interval     p      verdict
          mean  1.6 %  4.7 %     × 2.9     0.62 to 11  0.14  2 more each

        How this was judged
          A number is the unit; in which order they were measured is not known; Welch's
            t on the logarithms. "Would have been seen": in four of five such
            comparisons.
    "#]]
    .assert_eq(&text);
}

#[test]
fn verdicts_are_put_into_words() {
    let scaled =
        |factor: f64, side: &[f64]| -> Vec<f64> { side.iter().map(|value| value * factor).collect() };
    let base = [100.0, 101.0, 99.0, 100.0, 100.5];
    let wild = [100.0, 160.0, 70.0, 130.0, 90.0];
    let judged = judge(
        vec![
            observed(Some(Op::Read), Quantity::Iops, &base, &scaled(1.04, &base)),
            observed(
                Some(Op::Read),
                Quantity::LatencyMean,
                &scaled(1e4, &base),
                &scaled(1.2e4, &base),
            ),
            observed(
                Some(Op::Read),
                Quantity::Latency(Tail::P99),
                &scaled(1e4, &base),
                &scaled(6.2e5, &base),
            ),
            observed(Some(Op::Write), Quantity::Iops, &base, &scaled(1.001, &base)),
            observed(
                Some(Op::Write),
                Quantity::LatencyMean,
                &scaled(1e4, &wild),
                &scaled(1.1e4, &wild),
            ),
            observed(Some(Op::Write), Quantity::Latency(Tail::P50), &[1e6], &[2e6]),
            observed(
                None,
                Quantity::Number,
                &[-1.0, 0.0, 1.0, 0.5],
                &[4.0, 5.0, 6.0, 5.5],
            ),
        ],
        Settings { margin: 0.1 },
    );
    let report = report(Kind::Runs, ["A", "B"], &judged);
    let texts: Vec<String> = judged
        .iter()
        .map(|one| crate::document::compare::words::verdict(&report, one))
        .collect();
    expect![[r#"
        B is faster by 2.9 % to 5.1 %
        B is slower by 18.7 % to 21.3 %
        B is 61 to 63 times as slow
        no difference shown (anything beyond ±1.7 % would have been seen)
        too few repeats for how much they differ: 372 more on each side would decide (show ±10 %)
        too few repeats: of one alone nobody knows how much repeats differ; four more on each side would tell
        B is higher by 3.5225 to 6.4775"#]]
    .assert_eq(&texts.join("\n"));
}

/// What CI reads: the outcome of each figure, and names that XML has no place for.
#[test]
fn junit_tells_failures_and_what_nothing_decides() {
    let base = [100.0, 101.0, 99.0, 100.0, 100.5];
    let slower = [110.0, 111.0, 109.0, 110.0, 110.5];
    let judged = judge(
        vec![
            observed(Some(Op::Read), Quantity::Latency(Tail::P99), &base, &slower),
            observed(Some(Op::Write), Quantity::Latency(Tail::P99), &base, &[150.0]),
            observed(Some(Op::Write), Quantity::Iops, &base, &base),
        ],
        Settings { margin: 0.1 },
    );
    let rules: Vec<Rule> = vec!["p99 > +5%".parse().expect("a rule")];
    let ruled = rule::ruled(&rules, &judged).expect("figures");
    let cautions = [Caution::OneAfterOther];
    let mut report = report(Kind::Runs, ["<old>", "a\"&b"], &judged);
    report.ruled = &ruled;
    report.cautions = &cautions;
    let text = report.render(CompareFormat::Junit);
    expect![[r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="fathom compare" tests="3" failures="1" errors="0" skipped="1">
          <testsuite name="a&quot;&amp;b against &lt;old&gt;" tests="3" failures="1" errors="0" skipped="1">
            <testcase classname="fathom.compare" name="read p99">
              <failure message="p99 &gt; +5% is shown: read p99 changes by +8.4 to +11.6 %"/>
              <system-out>a&quot;&amp;b is slower by 8.6 % to 11.4 %</system-out>
            </testcase>
            <testcase classname="fathom.compare" name="write p99">
              <skipped message="p99 &gt; +5% is not decided: write p99 has one repeat on a side, which shows nothing"/>
              <system-out>too few repeats: of one alone nobody knows how much repeats differ; four more on each side would tell</system-out>
            </testcase>
            <testcase classname="fathom.compare" name="write IOPS">
              <system-out>no difference shown (anything beyond ±1.5 % would have been seen)</system-out>
            </testcase>
          </testsuite>
        </testsuites>
    "#]].assert_eq(&text);
    assert_eq!((report.broken().len(), report.undecided().len()), (1, 1));
    report.strict = true;
    assert!(report.render(CompareFormat::Junit).contains("failures=\"2\""));
    let json: serde_json::Value = serde_json::from_str(&report.json()).expect("JSON");
    assert_eq!(json["schema"], "fathom.compare/1");
    assert_eq!(json["rules"][0]["outcome"], "broken");
    assert_eq!(json["figures"][0]["verdict"]["is"], "differs");
    assert!(json["figures"][1]["difference"].is_null());
}

/// A page and a table of a comparison without any figure are whole, too.
#[test]
fn every_format_is_written() {
    let judged = judge(
        vec![observed(None, Quantity::Number, &ACS, &DISK)],
        Settings { margin: 0.1 },
    );
    let report = report(Kind::Columns, ["A", "B"], &judged);
    for (name, words) in [
        ("x.html", "Content-Security-Policy"),
        ("x.md", "## Verdicts"),
        ("x.csv", "quantity"),
        ("x.XML", "<testsuites"),
    ] {
        let format = CompareFormat::of(Path::new(name)).expect("a format");
        assert!(report.render(format).contains(words), "{name}");
    }
    assert_eq!(CompareFormat::of(Path::new("x.pdf")), None);
}
