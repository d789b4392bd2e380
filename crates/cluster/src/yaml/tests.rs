use super::documents;
use crate::objects;
use crate::plan::Test;
use crate::plan::tests::plan;
use serde_json::Value;
use yaml_rust2::{Yaml, YamlLoader};

/// YAML back as JSON.
fn json(yaml: &Yaml) -> Value {
    match yaml {
        Yaml::Boolean(is) => Value::Bool(*is),
        Yaml::Integer(number) => Value::from(*number),
        Yaml::String(text) => Value::from(text.as_str()),
        Yaml::Array(items) => items.iter().map(json).collect(),
        Yaml::Hash(fields) => {
            let fields = fields.iter().map(|(name, value)| {
                let name = name.as_str().expect("names are text");
                (name.to_owned(), json(value))
            });
            Value::Object(fields.collect())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_printed_reads_as_what_was_meant() {
    let mut plan = plan();
    // Words that YAML would take for something else.
    plan.pod
        .node_selector
        .insert(String::from("on"), String::from("yes"));
    plan.pod
        .node_selector
        .insert(String::from("n"), String::from("007"));
    let objects = objects::all(
        &plan,
        Test {
            side: 0,
            repeat: 1,
            member: 1,
        },
    );
    let text = documents(&objects).expect("YAML");
    let read = YamlLoader::load_from_str(&text).expect("YAML");
    assert_eq!(read.iter().map(json).collect::<Vec<_>>(), objects, "{text}");
}
