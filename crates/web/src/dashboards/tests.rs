use super::Kind;
use crate::metric;
use serde_json::Value;
use std::collections::BTreeSet;

/// Names of metrics in an expression: words that stand before a selector.
fn asked(query: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut word = String::new();
    for letter in query.chars() {
        if letter.is_ascii_alphanumeric() || letter == '_' || letter == ':' {
            word.push(letter);
            continue;
        }
        // What rules record has colons in its name.
        if !word.contains(':') && (word.starts_with("fathom_") || word.starts_with("node_")) {
            names.insert(word.clone());
        }
        word.clear();
    }
    names
}

fn dashboards() -> impl Iterator<Item = Kind> {
    Kind::ALL.into_iter().filter(|kind| *kind != Kind::Rules)
}

#[test]
fn nothing_is_asked_for_that_is_not_exported() {
    for kind in Kind::ALL {
        let queries = kind.queries();
        assert!(queries.len() >= 7, "{kind:?}");
        for query in queries.iter().chain([&kind.text()]) {
            for name in asked(query) {
                let name = name.trim_end_matches("_bucket");
                assert!(metric::find(name).is_some(), "{name} in {query}");
            }
        }
    }
}

#[test]
fn panels_do_not_overlap_and_have_names_of_their_own() {
    let mut uids = BTreeSet::new();
    for kind in dashboards() {
        let model: Value = serde_json::from_str(&kind.text()).expect("JSON");
        assert!(uids.insert(model["uid"].to_string()), "{kind:?}");
        let panels = model["panels"].as_array().expect("panels");
        let mut ids = BTreeSet::new();
        let mut places = BTreeSet::new();
        for panel in panels {
            assert!(ids.insert(panel["id"].as_u64().expect("an id")));
            assert!(!panel["title"].as_str().expect("a title").is_empty());
            let at = |key: &str| panel["gridPos"][key].as_u64().expect("a number");
            assert!(at("x") + at("w") <= 24, "{panel}");
            for x in at("x")..at("x") + at("w") {
                for y in at("y")..at("y") + at("h") {
                    assert!(places.insert((x, y)), "{kind:?}: {} overlaps", panel["title"]);
                }
            }
            if panel["type"] == "row" {
                continue;
            }
            let targets = panel["targets"].as_array().expect("targets");
            assert!(!targets.is_empty(), "{}", panel["title"]);
            for target in targets {
                assert_eq!(target["datasource"]["uid"], "${datasource}");
                let expr = target["expr"].as_str().expect("an expression");
                assert!(expr.contains("$instance"), "{expr}");
            }
        }
    }
}

#[test]
fn a_name_finds_its_file() {
    let names: BTreeSet<&str> = Kind::ALL.iter().map(|kind| kind.file_name()).collect();
    assert_eq!(names.len(), Kind::ALL.len());
    assert!(Kind::Rules.text().contains("- alert: FathomCreditGoneInAnHour\n"));
}

/// What a value must be.
enum Must {
    Text,
    Bool,
    Number,
    List,
    OneOf(&'static [&'static str]),
}

impl Must {
    fn holds(&self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Bool => value.is_boolean(),
            Self::Number => value.is_number(),
            Self::List => value.is_array(),
            Self::OneOf(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        }
    }
}

/// Fields that a dashboard must have.
const OF_DASHBOARD: &[(&str, Must)] = &[
    ("/editable", Must::Bool),
    ("/graphTooltip", Must::Number),
    ("/schemaVersion", Must::Number),
    ("/time/from", Must::Text),
    ("/time/to", Must::Text),
    ("/panels", Must::List),
    ("/templating/list", Must::List),
    ("/annotations/list", Must::List),
    ("/links", Must::List),
];

/// And a panel of a kind; by the fields that Grafana's published schema requires and the words that it has for them, as
/// grafana-foundation-sdk 0.0.12 (Apache-2.0), which is made from that schema, checks them.
const OF_PANEL: &[(&str, &str, Must)] = &[
    ("row", "/collapsed", Must::Bool),
    ("row", "/panels", Must::List),
    (
        "timeseries",
        "/options/legend/displayMode",
        Must::OneOf(&["list", "table", "hidden"]),
    ),
    (
        "timeseries",
        "/options/legend/placement",
        Must::OneOf(&["bottom", "right"]),
    ),
    ("timeseries", "/options/legend/showLegend", Must::Bool),
    ("timeseries", "/options/legend/calcs", Must::List),
    (
        "timeseries",
        "/options/tooltip/mode",
        Must::OneOf(&["single", "multi", "none"]),
    ),
    (
        "timeseries",
        "/options/tooltip/sort",
        Must::OneOf(&["asc", "desc", "none"]),
    ),
    (
        "stat",
        "/options/graphMode",
        Must::OneOf(&["none", "line", "area"]),
    ),
    (
        "stat",
        "/options/colorMode",
        Must::OneOf(&["value", "background", "background_solid", "none"]),
    ),
    ("stat", "/options/justifyMode", Must::OneOf(&["auto", "center"])),
    (
        "stat",
        "/options/textMode",
        Must::OneOf(&["auto", "value", "value_and_name", "name", "none"]),
    ),
    (
        "stat",
        "/options/orientation",
        Must::OneOf(&["auto", "vertical", "horizontal"]),
    ),
    ("stat", "/options/reduceOptions/calcs", Must::List),
    (
        "heatmap",
        "/options/color/mode",
        Must::OneOf(&["opacity", "scheme"]),
    ),
    ("heatmap", "/options/color/scheme", Must::Text),
    ("heatmap", "/options/color/fill", Must::Text),
    ("heatmap", "/options/color/exponent", Must::Number),
    ("heatmap", "/options/color/steps", Must::Number),
    ("heatmap", "/options/color/reverse", Must::Bool),
    (
        "heatmap",
        "/options/tooltip/mode",
        Must::OneOf(&["single", "multi", "none"]),
    ),
    ("heatmap", "/options/legend/show", Must::Bool),
    ("heatmap", "/options/yAxis/unit", Must::Text),
];

#[test]
fn dashboards_have_what_grafanas_schema_requires() {
    for kind in dashboards() {
        let model: Value = serde_json::from_str(&kind.text()).expect("JSON");
        let fits = |value: &Value, path: &str, must: &Must| {
            value.pointer(path).is_some_and(|found| must.holds(found))
        };
        for (path, must) in OF_DASHBOARD {
            assert!(fits(&model, path, must), "{kind:?}: {path}");
        }
        assert!(model["graphTooltip"].as_u64().is_some_and(|tooltip| tooltip <= 2));
        for variable in model["templating"]["list"].as_array().expect("variables") {
            assert!(
                Must::OneOf(&["query", "datasource"]).holds(&variable["type"]),
                "{variable}"
            );
            assert!(variable["name"].is_string() && variable["hide"].as_u64().is_some_and(|hide| hide <= 2));
        }
        for panel in model["panels"].as_array().expect("panels") {
            let own = panel["type"].as_str().expect("a kind");
            let rules: Vec<_> = OF_PANEL.iter().filter(|(of, _, _)| *of == own).collect();
            assert!(!rules.is_empty(), "nothing is known of {own}");
            for (_, path, must) in rules {
                assert!(fits(panel, path, must), "{kind:?}: {path} of {}", panel["title"]);
            }
            assert!(panel["id"].as_u64().is_some_and(|id| u32::try_from(id).is_ok()));
            let at = |key: &str| panel["gridPos"][key].as_u64().expect("a number");
            assert!(
                at("h") > 0 && at("w") > 0 && at("w") <= 24 && at("x") < 24,
                "{panel}"
            );
            if own != "row" {
                assert!(panel["fieldConfig"]["defaults"]["unit"].is_string(), "{panel}");
                assert!(panel["fieldConfig"]["overrides"].is_array(), "{panel}");
            }
        }
    }
}
