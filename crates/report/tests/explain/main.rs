//! Records of modelled disks as text: what is said of many sections at once, and of stalls that come regularly.

#[path = "../../../analysis/tests/explain/modelled.rs"]
mod modelled;

use fathom_report::Style;
use fathom_report::explanation::{self, Evidence};

const NAMES: [&str; 6] = ["h00", "h01", "h02", "h03", "h04", "h05"];

#[test]
fn many_like_sections_are_told_once_and_stalls_with_their_period_and_phase() {
    let jobs = modelled::sections(&NAMES, 120);
    let (run, explained) = modelled::explained(jobs, &modelled::stalling());
    let told = |evidence, style| explanation::text(&run, &explained, None, &evidence, style);
    let whole = told(Evidence::All, Style::default());
    assert!(whole.contains("rate 120 IOPS, "), "{whole}");
    let text = told(Evidence::None, Style::default());
    let in_one = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = |words: &str| assert!(in_one.contains(words), "{words}\n{text}");
    said("6 sections (h00 … h05): the load's own pace (almost certain, 97 %)");
    said("every 40.0 s, first at 0:00:");
    said("18 on time to ");
    said("0 times none came");
    assert_eq!(text.matches("to change it:").count(), 1, "{text}");
    // A row of each in each of the three tables.
    for name in NAMES {
        let rows = text.lines().filter(|line| line.trim_start().starts_with(name));
        assert_eq!(rows.count(), 3, "{name}\n{text}");
    }
    assert!(text.lines().count() < 110, "{text}");
    for width in [60, 80, 100] {
        let style = Style {
            width,
            ..Style::default()
        };
        let text = told(Evidence::All, style);
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(longest <= width, "{longest} columns of {width}\n{text}");
    }
    // The JSON keeps each section.
    let json: serde_json::Value = serde_json::from_str(&explanation::json(&explained)).expect("JSON");
    assert_eq!(json["limits"].as_array().map(Vec::len), Some(NAMES.len()));
    assert_eq!(json["truth"].as_array().map(Vec::len), Some(NAMES.len()));
}
