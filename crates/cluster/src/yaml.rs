//! Objects as the YAML that `kubectl apply` takes.

use serde_json::Value;
use yaml_rust2::yaml::{Hash, Yaml};
use yaml_rust2::{EmitError, YamlEmitter};

/// All of `objects`, a document each.
///
/// # Errors
/// What cannot be written: there is nothing such in what this crate makes.
pub fn documents<'a>(objects: impl IntoIterator<Item = &'a Value>) -> Result<String, EmitError> {
    let mut text = String::new();
    for object in objects {
        let mut emitter = YamlEmitter::new(&mut text);
        emitter.multiline_strings(true);
        emitter.dump(&yaml(object))?;
        text.push('\n');
    }
    Ok(text)
}

fn yaml(value: &Value) -> Yaml {
    match value {
        Value::Null => Yaml::Null,
        Value::Bool(is) => Yaml::Boolean(*is),
        Value::Number(number) => number
            .as_i64()
            .map_or_else(|| Yaml::Real(number.to_string()), Yaml::Integer),
        Value::String(text) => Yaml::String(text.clone()),
        Value::Array(items) => Yaml::Array(items.iter().map(yaml).collect()),
        Value::Object(fields) => {
            let mut hash = Hash::new();
            for (name, value) in fields {
                hash.insert(Yaml::String(name.clone()), yaml(value));
            }
            Yaml::Hash(hash)
        }
    }
}

#[cfg(test)]
mod tests;
