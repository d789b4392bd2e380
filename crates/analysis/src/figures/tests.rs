use super::fixture::{job, outcome};
use super::*;

fn judged(published: &str, known_miss: &str) -> Judged {
    let text = format!(
        "{}\nrun,amount,read.ios,{published},I/Os,post,,,the model,{known_miss}",
        table::COLUMNS.join(",")
    );
    let figures = read("f.csv", &text).expect("a table");
    let outcomes = [outcome("run", &[job("a", 0, &[1; 104], 1)])];
    Judged::new(&figures[0], &outcomes).expect("a value")
}

#[test]
fn deviations_are_relative_to_what_was_published() {
    for (published, deviation) in [
        ("100", 4.0),
        ("104", 0.0),
        ("208", -50.0),
        ("90..110", 0.0),
        ("104..110", 0.0),
        ("130..160", -20.0),
        ("40..80", 30.0),
        (">80", 0.0),
        (">208", -50.0),
        ("<104", 0.0),
        ("<80", 30.0),
        ("-104", 200.0),
    ] {
        let found = judged(published, "").deviation_percent;
        assert!((found - deviation).abs() < 1e-9, "{published}: {found}");
    }
    assert!(judged("0", "").deviation_percent.is_infinite());
}

#[test]
fn a_verdict_holds_the_table_to_its_word() {
    assert_eq!(judged("100", "").verdict(), Verdict::Met);
    assert_eq!(judged("200", "").verdict(), Verdict::Missed);
    assert_eq!(judged("200", "a reason").verdict(), Verdict::KnownMiss);
    assert_eq!(judged("100", "a reason").verdict(), Verdict::NotMissed);
}

#[test]
fn sources_have_names() {
    for (name, source) in Source::ALL {
        assert_eq!(source.name(), name);
    }
}
