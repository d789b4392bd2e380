//! The queries of the documentation, carried out by `DuckDB` and Polars on a fleet's records: their figures are ours.

use crate::harness::{Place, at, count, number, skipped};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The queries as the documentation has them.
const DOCS: &str = include_str!("../../../../../docs/k8s.md");

/// The blocks of a language in the documentation.
fn blocks(language: &str) -> Vec<String> {
    let begin = format!("```{language}\n");
    let parts = DOCS.split(&begin).skip(1);
    parts
        .map(|rest| {
            rest.split("```")
                .next()
                .unwrap_or_default()
                .replace("s3://bench/fleet", "fleet")
        })
        .collect()
}

/// Where xtask keeps packages of Python.
fn packages() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let usual = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    let dir = cache
        .or_else(usual)?
        .join("fathom/python/duckdb-2.0.0-polars-2.1.0");
    ["duckdb", "polars"]
        .iter()
        .all(|name| dir.join(name).is_dir())
        .then_some(dir)
}

/// Runs a program in Python; what it printed.
fn python(packages: &Path, place: &Place, program: &str) -> String {
    let output = Command::new("python3")
        .args(["-c", program])
        .env("PYTHONPATH", packages)
        .current_dir(place.path(""))
        .output()
        .expect("python3 runs");
    assert!(
        output.status.success(),
        "{program}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("text")
}

/// Rows by class and direction.
fn row<'a>(rows: &'a Value, class: &str, op: &str) -> &'a Value {
    let mut rows = rows.as_array().expect("rows").iter();
    rows.find(|row| row["class"] == class && row["op"] == op)
        .unwrap_or_else(|| panic!("no row of {class} {op}"))
}

#[test]
fn duckdb_and_polars_find_our_figures() {
    let Some(packages) = packages() else {
        return skipped(
            "duckdb_and_polars_find_our_figures",
            "DuckDB and Polars for Python in the user's cache (cargo xtask ci fetches them)",
        );
    };
    let place = Place::new();
    for (class, number) in [("P10", 1), ("P10", 2), ("P20", 1), ("P20", 2)] {
        let run = format!("{class}-{number}");
        place
            .fathom(&format!(
                "run --on model:azure/{class},seed={number} --name load --rw randrw --bs 8k --iodepth 4 --size 1g --runtime 5s \
                 --time_based --record=io -o {run} -q"
            ))
            .expect(0);
        place
            .fathom(&format!(
                "k8s store {run} --to fleet --cluster c --class {class} --node n{number} -q"
            ))
            .expect(0);
    }
    let ours = place.fathom("explain fleet --json").expect(0).json();
    let sql = blocks("sql");
    assert_eq!(sql.len(), 3, "sums, percentiles, single I/Os");
    let of_sql = |query: &str| -> Value {
        let program = format!(
            "import duckdb, json\nfound = duckdb.sql({query:?})\nnames = [column[0] for column in found.description]\n\
             print(json.dumps([dict(zip(names, row)) for row in found.fetchall()], default=float))"
        );
        serde_json::from_str(&python(&packages, &place, &program)).expect("JSON")
    };
    let (sums, percentiles, single) = (of_sql(&sql[0]), of_sql(&sql[1]), of_sql(&sql[2]));
    let polars = blocks("python").join("\n");
    let printed = python(
        &packages,
        &place,
        &format!("{polars}\nprint('=' * 9)\nprint(sums.write_json())"),
    );
    let polars = printed.split("=========").nth(1).expect("its rows");
    let polars: Value = serde_json::from_str(polars).expect("JSON");
    for fleet in at(&ours, "fleets").as_array().expect("fleets") {
        let class = at(fleet, "on")
            .as_str()
            .expect("text")
            .split(' ')
            .nth(1)
            .expect("its class");
        for total in at(fleet, "total").as_array().expect("totals") {
            let op = at(total, "op").as_str().expect("its direction");
            for rows in [&sums, &polars] {
                let row = row(rows, class, op);
                assert_eq!(number(row, "ios") as u64, count(total, "ios"), "{class} {op}");
                assert_eq!(number(row, "bytes") as u64, count(total, "bytes"), "{class} {op}");
            }
            let theirs = row(&percentiles, class, op);
            assert_eq!(
                number(theirs, "p50_ns") as u64,
                count(total, "lat_ns.p50"),
                "{class} {op}"
            );
            assert_eq!(
                number(theirs, "p99_ns") as u64,
                count(total, "lat_ns.p99"),
                "{class} {op}"
            );
            // Of single I/Os, the worst is exact; a bucket's middle is within 1/1024 of it.
            let worst = number(row(&single, class, op), "worst_ns");
            let ours = count(total, "lat_ns.max") as f64;
            assert!(
                (worst - ours).abs() <= worst / 1024.0 + 1.0,
                "{class} {op}: {worst} and {ours}"
            );
        }
    }
}
