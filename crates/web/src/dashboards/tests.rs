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
