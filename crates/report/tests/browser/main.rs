//! Reports as a browser shows them: nothing fails, every chart is drawn with its data, nothing is asked of a network.
//!
//! With `FATHOM_SCREENSHOTS=DIR`, pages and pictures of them (light, dark, on a phone, on paper) are left in a directory to be
//! looked at.

mod devtools;
mod hostile;
mod made;
#[path = "../../../analysis/tests/sweep/modelled.rs"]
mod modelled;

use devtools::Browser;
use fathom_analysis::sweep::conclude;
use fathom_report::document::{Format, SweepReport};
use hostile::HOSTILE;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a page may take until all is drawn, on a machine that also builds.
const PATIENCE: Duration = Duration::from_secs(90);

/// What the page is asked when it is done: what plotly.js drew, and what its own check of figures says.
const QUESTION: &str = r#"(() => {
  const places = Array.from(document.querySelectorAll(".chart"));
  // The page's own names of colours are none of plotly.js.
  const figures = JSON.parse(document.getElementById("figures").textContent.replace(/"@\w+~?"/g, '"red"'));
  return JSON.stringify({
    errors: document.documentElement.dataset.errors || "",
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    charts: places.map((place, index) => ({
      drawn: place.querySelectorAll(".main-svg").length > 0,
      traces: (place._fullData || []).filter((trace) => trace.visible === true).length,
      given: figures[index].data.length,
      points: (place.calcdata || []).reduce((sum, calc) => {
        const cells = calc[0] && calc[0].z;
        return sum + (cells ? cells.flat().filter((cell) => cell !== null && cell !== undefined).length : calc.length);
      }, 0),
      named: ["xaxis", "yaxis"].every((axis) => place.layout[axis].title.text.length > 0),
      wrong: (Plotly.validate(figures[index].data, figures[index].layout) || []).filter((found) => !["unused", "dynamic"].includes(found.code))
        .map((found) => found.msg),
    })),
  });
})()"#;

/// The browser, or a line that says why the test is skipped.
fn browser(test: &str) -> Option<Browser> {
    let Some(program) = devtools::find() else {
        fathom_testkit::skipped(test, "no chromium on the path");
        return None;
    };
    Some(Browser::start(&program))
}

/// Opens a page, waits until all is drawn and checks it; what is wrong with it.
fn check(browser: &mut Browser, name: &str, html: &str, charts: usize) {
    let directory = tempfile::tempdir().expect("a directory");
    let page = directory.path().join(format!("{name}.html"));
    std::fs::write(&page, html).expect("a page");
    browser.open(&page);
    let asked = Instant::now();
    while browser.evaluate("document.documentElement?.dataset.charts || ''") == json!("") {
        assert!(asked.elapsed() < PATIENCE, "{name}: not drawn after {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
    let answer = browser.evaluate(QUESTION);
    let answer: Value = serde_json::from_str(answer.as_str().expect("text")).expect("an answer");
    assert_eq!(answer["errors"], "", "{name}");
    assert_eq!(
        browser.complaints(),
        Vec::<String>::new(),
        "{name}: what the browser complains of"
    );
    assert_eq!(
        browser.requests(),
        Vec::<String>::new(),
        "{name}: what it asked the network for"
    );
    let drawn = answer["charts"].as_array().expect("charts");
    assert_eq!(drawn.len(), charts, "{name}: charts");
    for (index, chart) in drawn.iter().enumerate() {
        let told = format!("{name}, chart {index}: {chart}");
        assert_eq!(chart["drawn"], true, "{told}");
        assert_eq!(chart["traces"], chart["given"], "{told}");
        assert!(
            chart["points"].as_u64().is_some_and(|points| points > 0),
            "{told}"
        );
        assert_eq!(chart["named"], true, "{told}: its axes have names");
        assert_eq!(chart["wrong"], json!([]), "{told}");
    }
    pictures(browser, name, &page);
    browser.phone();
    let wide =
        browser.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert_eq!(wide, json!(0), "{name}: wider than a phone");
    browser.desktop();
}

/// However long the run and however large the matrix.
fn within_bounds(html: &str) {
    assert!(html.len() < 12_000_000, "{} bytes", html.len());
}

/// Pages and pictures, where they are asked for.
fn pictures(browser: &mut Browser, name: &str, page: &Path) {
    let Some(directory) = std::env::var_os("FATHOM_SCREENSHOTS").map(PathBuf::from) else {
        return;
    };
    std::fs::create_dir_all(&directory).expect("a directory for pictures");
    std::fs::copy(page, directory.join(format!("{name}.html"))).expect("a copy of the page");
    for dark in [false, true] {
        browser.scheme(dark);
        let look = if dark { "dark" } else { "light" };
        browser.picture(&directory.join(format!("{name}-{look}.png")));
    }
    browser.scheme(false);
    browser.phone();
    browser.picture(&directory.join(format!("{name}-phone.png")));
    browser.desktop();
    browser.print(&directory.join(format!("{name}.pdf")));
}

#[test]
fn a_long_run_is_drawn() {
    let Some(mut browser) = browser("a_long_run_is_drawn") else {
        return;
    };
    let made = made::Run::of(86_400);
    let html = made.report().render(Format::Html);
    within_bounds(&html);
    check(&mut browser, "long-run", &html, 7);
}

#[test]
fn a_recorded_run_with_spikes_is_drawn() {
    let Some(mut browser) = browser("a_recorded_run_with_spikes_is_drawn") else {
        return;
    };
    let made = made::Run::with_spikes(120);
    let html = made.report().render(Format::Html);
    check(&mut browser, "recorded-run", &html, 12);
}

#[test]
fn a_sweep_of_200_points_is_drawn() {
    let Some(mut browser) = browser("a_sweep_of_200_points_is_drawn") else {
        return;
    };
    let made = made::Sweep::of_200_points();
    let html = made.report().render(Format::Html);
    within_bounds(&html);
    check(&mut browser, "sweep", &html, 10 * 3 + 10 * 2);
}

#[test]
fn a_modelled_sweep_with_inferred_points_is_drawn() {
    let Some(mut browser) = browser("a_modelled_sweep_with_inferred_points_is_drawn") else {
        return;
    };
    let mut plan = modelled::plan("p15.toml", modelled::axes(), 60);
    plan.adaptive = true;
    let results = modelled::measure_adaptively(&plan, &modelled::p15());
    let report = SweepReport {
        plan: &plan,
        results: &results,
        conclusions: &conclude(&plan, &results),
        outline: None,
        published: None,
    };
    let html = report.render(Format::Html);
    let charts = html.matches("<div class=\"chart\"").count();
    assert!(charts > 30, "{charts} charts");
    check(&mut browser, "modelled-sweep", &html, charts);
}

#[test]
fn names_from_outside_stay_names() {
    let Some(mut browser) = browser("names_from_outside_stay_names") else {
        return;
    };
    let made = made::Run::named(HOSTILE);
    let html = made.report().render(Format::Html);
    check(&mut browser, "hostile", &html, 8);
    let title = browser.evaluate("document.title");
    assert_ne!(title, json!("taken"));
    // Names in charts are letters as well.
    let legend = browser.evaluate("document.querySelector('.legendtext').textContent");
    assert!(
        legend
            .as_str()
            .is_some_and(|text| text.starts_with("</script><script>document.title=")),
        "{legend}"
    );
    let made = browser.evaluate("document.querySelectorAll('main a[href], svg a, img[src^=http]').length");
    assert_eq!(made, json!(0));
}
