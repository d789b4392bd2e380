//! What the program is made of: a bill of materials in `CycloneDX` 1.6, from what cargo resolved.

use super::{MACHINES, Release};
use crate::shell;
use anyhow::{Context, Result};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn of_checkout(release: &Release) -> Result<Vec<u8>> {
    let mut cargo = shell::cargo(&["metadata", "--format-version=1", "--locked"]);
    for machine in &MACHINES {
        cargo.arg("--filter-platform").arg(machine.triple());
    }
    let metadata: Value = serde_json::from_slice(&shell::output(&mut cargo)?)?;
    let lock = std::fs::read_to_string(shell::root().join("Cargo.lock"))?;
    let bill = bill(release, &metadata, &toml::from_str(&lock)?)?;
    let mut text = serde_json::to_vec_pretty(&bill)?;
    text.push(b'\n');
    Ok(text)
}

/// Of cargo's metadata and its lock file: the packages that `fathom` is built from, those that only tests need left out.
fn bill(release: &Release, metadata: &Value, lock: &toml::Table) -> Result<Value> {
    let used = used(metadata)?;
    let packages: BTreeMap<&str, &Value> = list(&metadata["packages"])
        .filter_map(|package| Some((package["id"].as_str()?, package)))
        .collect();
    let digests = digests(lock);
    let (mut own, mut components, mut dependencies) = (Value::Null, Vec::new(), Vec::new());
    for (id, needs) in &used {
        let package = packages.get(id).with_context(|| format!("no package {id}"))?;
        let component = component(package, &digests);
        let references = needs.iter().filter_map(|id| Some(reference(packages.get(id)?)));
        let references: BTreeSet<String> = references.collect();
        dependencies.push(json!({"ref": component["bom-ref"], "dependsOn": references}));
        if package["name"] == "fathom" {
            own = component;
            own["type"] = json!("application");
        } else {
            components.push(component);
        }
    }
    let by = |key: &'static str| move |value: &Value| value[key].as_str().unwrap_or_default().to_owned();
    components.sort_by_key(by("bom-ref"));
    dependencies.sort_by_key(by("ref"));
    let time = jiff::Timestamp::from_second(i64::try_from(release.epoch)?)?.to_string();
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"timestamp": time, "component": own},
        "components": components,
        "dependencies": dependencies,
    }))
}

/// The packages that can be reached from `fathom` by other than dependencies of tests, each with those that it needs itself.
fn used(metadata: &Value) -> Result<BTreeMap<&str, Vec<&str>>> {
    let nodes: BTreeMap<&str, &Value> = list(&metadata["resolve"]["nodes"])
        .filter_map(|node| Some((node["id"].as_str()?, node)))
        .collect();
    let fathom = list(&metadata["packages"]).find(|package| package["name"] == "fathom");
    let fathom = fathom.and_then(|package| package["id"].as_str());
    let mut open = vec![fathom.context("cargo metadata has no package fathom")?];
    let mut used = BTreeMap::new();
    while let Some(id) = open.pop() {
        if used.contains_key(id) {
            continue;
        }
        let node = nodes.get(id).with_context(|| format!("{id} was not resolved"))?;
        let needs: Vec<&str> = list(&node["deps"])
            .filter(|need| list(&need["dep_kinds"]).any(|kind| kind["kind"] != "dev"))
            .filter_map(|need| need["pkg"].as_str())
            .collect();
        open.extend(&needs);
        used.insert(id, needs);
    }
    Ok(used)
}

/// SHA-256 of what the registry gave, by name and version.
fn digests(lock: &toml::Table) -> BTreeMap<(&str, &str), &str> {
    let packages = lock.get("package").and_then(toml::Value::as_array);
    packages
        .into_iter()
        .flatten()
        .filter_map(|package| {
            let field = |name: &str| package.get(name)?.as_str();
            Some(((field("name")?, field("version")?), field("checksum")?))
        })
        .collect()
}

fn component(package: &Value, digests: &BTreeMap<(&str, &str), &str>) -> Value {
    let text = |name: &str| package[name].as_str().unwrap_or_default();
    let (name, version) = (text("name"), text("version"));
    let mut component = Map::new();
    component.insert(String::from("type"), json!("library"));
    component.insert(String::from("bom-ref"), json!(reference(package)));
    component.insert(String::from("name"), json!(name));
    component.insert(String::from("version"), json!(version));
    component.insert(String::from("purl"), json!(reference(package)));
    if let Some(digest) = digests.get(&(name, version)) {
        let hashes = json!([{"alg": "SHA-256", "content": digest}]);
        component.insert(String::from("hashes"), hashes);
    }
    if let Some(licence) = package["license"].as_str() {
        // As crates wrote it before there were expressions.
        let expression = licence.replace('/', " OR ");
        component.insert(String::from("licenses"), json!([{"expression": expression}]));
    }
    Value::Object(component)
}

/// A package URL.
fn reference(package: &Value) -> String {
    let text = |name: &str| package[name].as_str().unwrap_or_default();
    // Of the characters that a version may have, `+` alone is to be encoded.
    format!(
        "pkg:cargo/{}@{}",
        text("name"),
        text("version").replace('+', "%2B")
    )
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests;
