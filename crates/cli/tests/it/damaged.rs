//! Run directories whose files were damaged: one clear error that names the file, nothing of a decoder's panic.

use crate::harness::{Outcome, Place, finish, signal, start};
use std::path::{Path, PathBuf};

/// A small run with all that a directory can hold, complete and killed.
fn runs(place: &Place) {
    let load = "run --name load --rw randrw --bs 4k --size 4m --direct 1 --time_based --rate_iops 300,300";
    let model = "run --name load --rw randread --bs 4k --size 4m --direct 1 --time_based --runtime 3s";
    place
        .fathom(&format!("{model} --record --on model:azure/P15 -q -o whole"))
        .expect(0);
    let child = start(&mut place.command(&format!(
        "{load} --runtime 50s --record=io,counters F -q -o killed"
    )));
    place.has_run("killed", 2.0);
    signal(&child, "KILL");
    finish(child);
}

fn files_below(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files_below(&path, files);
        } else if path.extension().is_some_and(|ending| ending != "json") {
            files.push(path);
        }
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a directory");
    for entry in std::fs::read_dir(from).expect("a directory").flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).expect("a copy");
        }
    }
}

/// `run.json` without its list of files, so that no checksum says of a damage before a decoder meets it.
fn without_checksums(dir: &Path) {
    let path = dir.join("run.json");
    let text = std::fs::read_to_string(&path).expect("run.json");
    let mut document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    if let Some(document) = document.as_object_mut() {
        document.remove("files");
    }
    std::fs::write(&path, document.to_string()).expect("run.json");
}

fn check(outcome: &Outcome, what: &str) {
    for sign in ["panicked", "RUST_BACKTRACE", "stack backtrace"] {
        assert!(!outcome.stderr.contains(sign), "{what}:\n{}", outcome.stderr);
    }
    assert!(matches!(outcome.code, Some(0..=2)), "{what}: {outcome:?}");
    let errors = outcome
        .stderr
        .lines()
        .filter(|line| line.starts_with("error:"))
        .count();
    assert!(errors <= 1, "{what}:\n{}", outcome.stderr);
    if outcome.code == Some(2) {
        assert_eq!(errors, 1, "{what}: {outcome:?}");
    }
}

#[test]
fn damaged_files_are_one_error_and_no_panic() {
    let place = Place::new();
    runs(&place);
    let mut damages = 0;
    for run in ["whole", "killed"] {
        let mut files = Vec::new();
        files_below(&place.path(run), &mut files);
        for (number, file) in files.iter().enumerate() {
            let name = file.strip_prefix(place.path(run)).expect("within");
            let bytes = std::fs::read(file).expect("readable");
            let cut = bytes[..bytes.len() * 2 / 3].to_vec();
            // In the middle, where data is, and near the end, where Parquet says what it holds.
            let flipped = |at: usize| {
                let mut bytes = bytes.clone();
                let at = at.min(bytes.len().saturating_sub(1));
                for byte in bytes.iter_mut().skip(at).take(9) {
                    *byte ^= 0x5b;
                }
                bytes
            };
            let near_end = bytes.len().saturating_sub(200 + number * 7);
            for (how, damaged) in [
                ("cut", cut),
                ("middle", flipped(bytes.len() / 2)),
                ("end", flipped(near_end)),
            ] {
                damages += 1;
                let dir = format!("{run}-{number}-{how}");
                copy(&place.path(run), &place.path(&dir));
                without_checksums(&place.path(&dir));
                std::fs::write(place.path(&dir).join(name), damaged).expect("written");
                for line in [
                    format!("show {dir}"),
                    format!("explain {dir}"),
                    format!("report {dir} -q -o {dir}.md"),
                    format!("export {dir} --csv -o {dir}.out"),
                    format!("recover {dir}"),
                ] {
                    let outcome = place.fathom(&line);
                    check(&outcome, &format!("{line} ({})", name.display()));
                }
            }
        }
    }
    assert!(damages > 20, "{damages}");
}

#[test]
fn an_error_of_a_damaged_file_names_it() {
    let place = Place::new();
    runs(&place);
    let path = place.path("whole/series.parquet");
    let bytes = std::fs::read(&path).expect("the series");
    std::fs::write(&path, &bytes[..bytes.len() / 2]).expect("cut");
    let outcome = place.fathom("show whole").expect(2);
    outcome.saying("series.parquet").saying("damaged");
}
