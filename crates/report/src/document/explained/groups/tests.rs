use super::*;
use fathom_analysis::explain::answer::{Candidate, Figure, Unit};

fn section(name: &str, rate: f64) -> SectionLimit {
    SectionLimit {
        name: String::from(name),
        limit: LimitKind::Iops,
        confidence: 0.7 + rate / 10_000.0,
        because: vec![format!("16.0 in flight make {rate} IOPS")],
        change: String::from("a disk with more IOPS"),
        figures: vec![
            Figure {
                what: String::from("rate"),
                value: rate,
                unit: Unit::Iops,
            },
            Figure {
                what: String::from("mean latency"),
                value: 16e9 / rate / 16.0,
                unit: Unit::Nanoseconds,
            },
        ],
        candidates: vec![Candidate {
            name: String::from("azure/P15"),
            limit: 1100.0,
            unit: Unit::Iops,
            ratio: rate / 1100.0,
            own: false,
        }],
        misleading: Vec::new(),
        missing: Vec::new(),
    }
}

fn titles(all: &[SectionLimit]) -> Vec<String> {
    groups(all).iter().map(Group::title).collect()
}

#[test]
fn what_is_the_same_of_all_is_told_once_with_ranges() {
    let all = [
        section("h00", 1120.0),
        section("h01", 990.0),
        section("h02", 1100.0),
    ];
    let groups = groups(&all);
    assert_eq!(groups.len(), 1);
    assert_eq!(
        groups[0].title(),
        "3 sections (h00, h01, h02): an IOPS limit (likely, 80 to 81 %)"
    );
    assert_eq!(
        groups[0].figures(),
        [
            ["rate", "990 to 1120 IOPS"],
            ["mean latency", "893 µs to 1.01 ms"],
        ]
    );
    assert_eq!(
        groups[0].entries(usize::MAX),
        [
            "because 16.0 in flight make 990 to 1120 IOPS",
            "equal to the limit of: azure/P15 (1100 IOPS, measured 90 to 102 % of it)",
            "to change it: a disk with more IOPS",
        ]
    );
}

/// What is told of one section alone is what was found of it, word by word.
#[test]
fn one_section_is_as_it_was_found() {
    let all = [section("alone", 1100.0)];
    let groups = groups(&all);
    assert_eq!(groups[0].title(), "alone: an IOPS limit (likely, 81 %)");
    assert!(
        groups[0]
            .entries(usize::MAX)
            .contains(&format!("because {}", all[0].because[0]))
    );
}

#[test]
fn another_limit_remedy_reason_or_disk_is_another_group() {
    let different: [fn(&mut SectionLimit); 6] = [
        |limit| limit.limit = LimitKind::Bandwidth,
        |limit| limit.change = String::from("another remedy"),
        |limit| limit.because[0] = String::from("another reason"),
        |limit| limit.because.push(String::from("one more reason")),
        |limit| limit.candidates[0].name = String::from("azure/P20"),
        |limit| {
            limit
                .missing
                .push(String::from("the same load with another block size"));
        },
    ];
    for change in different {
        let mut all = [section("a", 1100.0), section("b", 1100.0)];
        assert_eq!(groups(&all).len(), 1);
        change(&mut all[1]);
        assert_eq!(groups(&all).len(), 2, "{:?}", all[1]);
    }
}

#[test]
fn many_sections_are_named_by_their_first_and_last() {
    let named = |n: usize| section(&format!("h{n:02}"), 1100.0);
    let all: Vec<SectionLimit> = (0..24).map(named).collect();
    assert!(titles(&all)[0].starts_with("24 sections (h00 … h23): "));
    let mut all: Vec<SectionLimit> = (0..8).map(named).collect();
    all[3].change = String::from("nothing");
    all[6].change = String::from("nothing");
    let titles = titles(&all);
    assert!(
        titles[0].starts_with("6 sections (h00 … h02, h04, h05, h07): "),
        "{titles:?}"
    );
    assert!(titles[1].starts_with("2 sections (h03, h06): "), "{titles:?}");
}

#[test]
fn where_nothing_is_sure_no_share_is_told() {
    let mut all = [section("a", 1100.0), section("b", 1100.0)];
    for limit in &mut all {
        limit.confidence = 0.0;
    }
    assert_eq!(titles(&all), ["2 sections (a, b): an IOPS limit"]);
}
