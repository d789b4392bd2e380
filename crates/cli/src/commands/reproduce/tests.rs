use super::experiment::{BUILT_IN, Experiment, built_in, in_directory};
use super::*;
use fathom_model::Catalog;
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../experiments")
        .join(name)
}

fn all() -> Vec<Experiment> {
    let each = BUILT_IN.iter();
    each.map(|(name, _)| built_in(name).unwrap_or_else(|error| panic!("{name}: {error:#}")))
        .collect()
}

#[test]
fn what_is_built_in_is_ready_to_run() {
    for experiment in all() {
        let singles = single::prepare(&experiment).unwrap_or_else(|error| panic!("{error:#}"));
        assert!(!singles.is_empty(), "{}", experiment.name);
    }
}

#[test]
fn what_is_built_in_is_what_is_in_the_folder() {
    for experiment in all() {
        let there = in_directory(&folder(&experiment.name)).unwrap_or_else(|error| panic!("{error:#}"));
        assert_eq!(there.figures, experiment.figures);
        for (file, text) in &experiment.files {
            assert_eq!(there.files.get(file), Some(text), "{file}");
        }
        // A file that is forgotten in the list would be missed only by a binary elsewhere. What a cluster carries out is none of
        // them.
        let of_cluster = |file: &str| matches!(file, "cluster.toml" | "mssql.toml");
        let used =
            |file: &String| matches!(file.rsplit_once('.'), Some((_, "toml" | "csv"))) && !of_cluster(file);
        for file in there.files.keys().filter(|file| used(file)) {
            assert!(
                experiment.files.contains_key(file),
                "{}/{file} is not built in",
                experiment.name
            );
        }
    }
}

#[test]
fn each_run_has_figures_and_each_figure_a_run() {
    for experiment in all() {
        let runs: Vec<&str> = experiment
            .about
            .runs
            .iter()
            .map(|run| run.name.as_str())
            .collect();
        let name_of = |text: &str| text.split(['@', '/']).next().unwrap_or_default().to_owned();
        let meant: Vec<String> = experiment
            .figures
            .iter()
            .flat_map(|figure| figure.run.split(" : ").map(name_of))
            .collect();
        for run in &runs {
            assert!(
                meant.iter().any(|name| name == run),
                "{}: nothing of {run}",
                experiment.name
            );
        }
        for name in meant {
            assert!(
                runs.contains(&name.as_str()),
                "{}: no run {name}",
                experiment.name
            );
        }
    }
}

#[test]
fn few_figures_are_known_misses() {
    let misses = all().into_iter().flat_map(|experiment| experiment.figures);
    let misses = misses.filter(|figure| figure.known_miss.is_some()).count();
    // Seven of them are the tail of one run of a P10.
    assert!(misses <= 14, "{misses} known misses");
}

#[test]
fn the_matrix_is_complete() {
    let experiment = built_in("azure-a2-2016").expect("built in");
    let names: Vec<String> = single::prepare(&experiment)
        .expect("ready")
        .iter()
        .flat_map(single::Single::names)
        .collect();
    for order in ["rand", "seq"] {
        for writes in ["000", "020", "050", "080", "100"] {
            for block in ["4k", "8k", "64k", "256k", "1m"] {
                for depth in ["01", "02", "16", "32"] {
                    let name = format!("matrix/{order}-w{writes}-{block}-q{depth}");
                    assert!(names.contains(&name), "{name}");
                }
            }
        }
    }
    assert_eq!(names.len(), 200);
}

#[test]
fn nominal_limits_of_the_posts_are_those_of_the_catalogue() {
    for (sku, iops, mb) in [
        ("P2", 120, 25),
        ("P4", 120, 25),
        ("P15", 1100, 125),
        ("P20", 2300, 150),
        ("P40", 7500, 250),
        ("P80", 20_000, 900),
    ] {
        let disk = Catalog::azure().disk(sku).unwrap_or_else(|| panic!("{sku}"));
        assert_eq!(
            (disk.iops, disk.bytes_per_second),
            (iops, mb * 1_000_000),
            "{sku}"
        );
    }
    let vm = Catalog::azure().vm("Standard_DS3_v2").expect("a machine");
    assert_eq!(
        (vm.uncached_iops, vm.uncached_bytes_per_second),
        (Some(12_800), Some(192_000_000))
    );
}

#[test]
fn what_is_wrong_with_an_experiment_is_said() {
    let missing = built_in("aks-2018").expect_err("no such experiment").to_string();
    assert!(missing.contains("there are aks-2019, "), "{missing}");
    let dir = tempfile::tempdir().expect("a directory");
    let error = |file: &str, text: &str| {
        std::fs::write(dir.path().join(file), text).expect("written");
        format!("{:#}", in_directory(dir.path()).expect_err(file))
    };
    assert!(error("jobs.fio", "[a]\n").contains("there is no experiment.toml"));
    assert!(error("experiment.toml", "title = 1\n").contains("invalid type"));
    let about = "title = \"t\"\npost = \"p\"\nauthor = \"a\"\ndate = \"d\"\n\n[[runs]]\nname = \"r\"\nabout = \"w\"\njob = \"other.fio\"\nmodel = \"azure/P15\"\n";
    assert!(error("experiment.toml", about).contains("there is no figures.csv"));
    let header = fathom_analysis::figures::table::COLUMNS.join(",");
    assert!(error("figures.csv", &header).contains("there is no other.fio"));
}

#[test]
fn side_by_side_keeps_the_order() {
    let items: Vec<u64> = (0..100).collect();
    // The first ones take longest.
    let slow = |item: &u64| {
        std::thread::sleep(std::time::Duration::from_micros(100 - item));
        item * 2
    };
    let expected: Vec<u64> = items.iter().map(|item| item * 2).collect();
    assert_eq!(side_by_side(&items, slow), expected);
}
