//! Sweeps of modelled disks as text: all of it, in the widths that terminals have.

#[path = "../../../analysis/tests/sweep/modelled.rs"]
mod modelled;

use expect_test::{ExpectFile, expect_file};
use fathom_analysis::sweep::conclude;
use fathom_core::sweep::{SweepPlan, SweepResults};
use fathom_report::{Style, text};

const WIDE: Style = Style {
    colour: false,
    width: 100,
    unicode: true,
};

fn check(plan: &SweepPlan, results: &SweepResults, expect: &ExpectFile) {
    let conclusions = conclude(plan, results);
    let render = |style| text::sweep(plan, results, &conclusions, style);
    let wide = render(WIDE);
    for style in [WIDE, Style::default(), Style { width: 60, ..WIDE }] {
        let text = render(style);
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(longest <= style.width, "{longest} columns of {}", style.width);
    }
    let ascii = render(Style {
        unicode: false,
        ..WIDE
    });
    assert!(ascii.is_ascii());
    expect.assert_eq(&wide);
}

#[test]
fn the_matrix_of_2016() {
    let plan = modelled::plan("hdd-2016.toml", modelled::axes(), 300);
    let results = modelled::measure_all(&plan, &modelled::hdd_2016());
    check(&plan, &results, &expect_file!["hdd-2016.txt"]);
}

#[test]
fn a_p15_adaptively() {
    let mut plan = modelled::plan("p15.toml", modelled::axes(), 300);
    plan.adaptive = true;
    let results = modelled::measure_adaptively(&plan, &modelled::p15());
    check(&plan, &results, &expect_file!["p15-adaptive.txt"]);
}

#[test]
fn of_a_sweep_not_yet_begun() {
    let plan = modelled::plan("p15.toml", modelled::axes(), 300);
    let results = fathom_testkit::make::sweep::nothing_yet(&plan);
    let text = text::sweep(&plan, &results, &conclude(&plan, &results), WIDE);
    assert!(text.contains("200 points: 200 not yet measured"), "{text}");
    assert!(text.contains("unfinished:"), "{text}");
}
