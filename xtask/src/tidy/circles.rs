//! Modules that import one another in a circle: neither can be read, moved or tested without the other.
//!
//! Data in: a crate's sources. Data out: the modules of each circle. It reads `use` declarations and paths that begin with `crate`
//! or `super`; a module is known by its file, and tests are nobody's part.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Modules by name (`a::b`; the root is empty), with those that each imports.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Says of each circle of the crate in directory `crates/NAME`, of whose files `files` are paths from `root`, which modules it has.
pub(super) fn check(root: &Path, files: &[PathBuf], name: &str, breaches: &mut Vec<String>) {
    let src = format!("crates/{name}/src");
    let mut sources = BTreeMap::new();
    for file in files
        .iter()
        .filter(|file| file.extension().is_some_and(|end| end == "rs"))
    {
        let Ok(relative) = file.strip_prefix(&src) else {
            continue;
        };
        let relative = relative.with_extension("");
        let mut names: Vec<&str> = relative.iter().filter_map(|name| name.to_str()).collect();
        if names.contains(&"tests") {
            continue;
        }
        if let ["main" | "lib"] = names.as_slice() {
            names.clear();
        }
        // Git knows files that are gone.
        let text = std::fs::read_to_string(root.join(file)).unwrap_or_default();
        sources.insert(names.join("::"), text);
    }
    for circle in circles(&graph(&sources)) {
        breaches.push(format!(
            "{src}: these import one another: {}: take what they share into a module of its own",
            circle.join(", ")
        ));
    }
}

fn graph(sources: &BTreeMap<String, String>) -> Graph {
    let module_of = |path: &[&str]| {
        let lengths = (0..=path.len()).rev();
        let mut names = lengths.map(|length| path[..length].join("::"));
        names.find(|name| sources.contains_key(name))
    };
    let imports = |(module, source): (&String, &String)| {
        let own: Vec<&str> = module.split("::").filter(|name| !name.is_empty()).collect();
        let paths = paths(source);
        let used = paths.iter().filter_map(|path| {
            let mut names: Vec<&str> = path.split("::").map(str::trim).collect();
            let mut from = match names[0] {
                "crate" => Vec::new(),
                _ => own.clone(),
            };
            while matches!(names.first(), Some(&("crate" | "super" | "self"))) {
                if names.remove(0) == "super" {
                    from.pop();
                }
            }
            from.extend(names);
            module_of(&from).filter(|used| used != module)
        });
        (module.clone(), used.collect())
    };
    sources.iter().map(imports).collect()
}

/// The paths that a source imports or names from `crate`, `super` or `self`, and those of its own modules that it imports.
fn paths(source: &str) -> Vec<String> {
    let code: Vec<&str> = source
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect();
    let code = without_audiences(&code.join("\n"));
    let mut paths = Vec::new();
    let mut rest = code.as_str();
    while let Some(at) = rest.find("use ") {
        let begins = rest[..at].rsplit('\n').next().unwrap_or_default().trim();
        rest = &rest[at + 4..];
        if (begins.is_empty() || begins.starts_with("pub"))
            && let Some(end) = rest.find(';')
        {
            expand("", &rest[..end], &mut paths);
        }
    }
    for word in code.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
        let word = word.trim_end_matches(':');
        // What begins a tree of `use` was expanded before.
        if word.starts_with("crate::") || word.starts_with("super::") {
            paths.push(word.to_owned());
        }
    }
    paths
}

/// Who may see something imports nothing: `pub(in crate::…)`.
fn without_audiences(code: &str) -> String {
    let mut parts = code.split("(in ");
    let mut without = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        without.push_str(part.split_once(')').map_or(part, |(_, rest)| rest));
    }
    without
}

/// `a::{b, c::d}` as `a::b` and `a::c::d`.
fn expand(prefix: &str, tree: &str, paths: &mut Vec<String>) {
    let tree = tree.trim();
    let Some((head, body)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        return paths.push(format!("{prefix}{path}"));
    };
    let body = body.rsplit_once('}').map_or(body, |(inside, _)| inside);
    let (mut depth, mut begun) = (0, 0);
    for (at, c) in body.char_indices().chain([(body.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !body[begun..at].trim().is_empty() {
                    expand(&format!("{prefix}{head}"), &body[begun..at], paths);
                }
                begun = at + 1;
            }
            _ => {}
        }
    }
}

/// Sets of modules that reach one another.
fn circles(graph: &Graph) -> Vec<Vec<String>> {
    let reach: BTreeMap<&String, BTreeSet<&String>> = graph
        .keys()
        .map(|module| (module, reached(graph, module)))
        .collect();
    let mut told: BTreeSet<&String> = BTreeSet::new();
    let mut circles = Vec::new();
    for (module, reached) in &reach {
        if !reached.contains(module) || told.contains(module) {
            continue;
        }
        let circle = reached.iter().filter(|other| reach[*other].contains(module));
        let circle: Vec<String> = circle.map(|other| (*other).clone()).collect();
        told.extend(reach.keys().filter(|other| circle.contains(other)));
        circles.push(circle);
    }
    circles
}

fn reached<'g>(graph: &'g Graph, from: &String) -> BTreeSet<&'g String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        for next in &graph[module] {
            if reached.insert(next) {
                open.push(next);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests;
