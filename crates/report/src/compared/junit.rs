//! A comparison as `JUnit`'s XML: a test case a figure, which fails where a rule about it is broken and is skipped where nothing
//! is decided.

use super::CompareReport;
use crate::document::compare::{rules, words};
use fathom_analysis::compare::{Judged, Outcome, Ruled, Verdict};
use std::fmt::Write as _;

/// What became of a figure.
enum Case {
    Passed,
    Failed(String),
    Skipped(String),
}

pub(super) fn render(report: &CompareReport<'_>) -> String {
    let each = report.judged.iter().enumerate();
    let cases: Vec<(&Judged, Case)> = each.map(|(index, one)| (one, case(report, index, one))).collect();
    let count = |of: fn(&Case) -> bool| cases.iter().filter(|(_, case)| of(case)).count();
    let failures = count(|case| matches!(case, Case::Failed(_)));
    let skipped = count(|case| matches!(case, Case::Skipped(_)));
    let name = escaped(&format!(
        "{} against {}",
        report.sides[1].name, report.sides[0].name
    ));
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let counts = format!(
        "tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\"",
        cases.len()
    );
    let _ = writeln!(text, "<testsuites name=\"fathom compare\" {counts}>");
    let _ = writeln!(text, "  <testsuite name=\"{name}\" {counts}>");
    for (judged, case) in &cases {
        let class = match judged.figure.load.as_str() {
            "" => "fathom.compare",
            load => load,
        };
        let figure = escaped(&words::figure(judged));
        let _ = writeln!(
            text,
            "    <testcase classname=\"{}\" name=\"{figure}\">",
            escaped(class)
        );
        match case {
            Case::Passed => {}
            Case::Failed(why) => {
                let _ = writeln!(text, "      <failure message=\"{}\"/>", escaped(why));
            }
            Case::Skipped(why) => {
                let _ = writeln!(text, "      <skipped message=\"{}\"/>", escaped(why));
            }
        }
        let verdict = escaped(&words::verdict(report, judged));
        let _ = writeln!(text, "      <system-out>{verdict}</system-out>\n    </testcase>");
    }
    text.push_str("  </testsuite>\n</testsuites>\n");
    text
}

fn case(report: &CompareReport<'_>, index: usize, judged: &Judged) -> Case {
    let about: Vec<&Ruled> = report
        .ruled
        .iter()
        .filter(|ruled| ruled.figure == index)
        .collect();
    let told = |outcome: Outcome| -> Option<String> {
        let some = about.iter().filter(|ruled| ruled.outcome == outcome);
        let lines: Vec<String> = some.map(|ruled| rules::line(report, ruled)).collect();
        (!lines.is_empty()).then(|| lines.join("; "))
    };
    if let Some(why) = told(Outcome::Broken) {
        return Case::Failed(why);
    }
    match told(Outcome::Undecided) {
        Some(why) if report.strict => Case::Failed(why),
        Some(why) => Case::Skipped(why),
        None if about.is_empty() && matches!(judged.verdict, Verdict::TooFew { .. }) => {
            Case::Skipped(words::verdict(report, judged))
        }
        None => Case::Passed,
    }
}

/// As text of an element or an attribute; what XML has no sign for becomes a space.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => escaped.push(' '),
            letter => escaped.push(letter),
        }
    }
    escaped
}
