use super::{Eta, Fate, Outputs, fate, outputs};
use fathom_core::units::Nanos;
use fathom_dialect::read_fio_args;
use std::path::PathBuf;

fn read(line: &str) -> Result<Outputs, String> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    outputs(&read_fio_args(&words, &[]).expect(line))
}

#[test]
fn settings_come_to_outputs() {
    let read = |line| read(line).expect(line);
    let formats = read("--output-format=json,normal --name=a").formats;
    assert!(formats.json && formats.normal && !formats.terse && !formats.json_plus);
    let formats = read("--output-format=json+ --append-terse --terse-version=5").formats;
    assert!(formats.json_plus && formats.terse && formats.terse_version == 5);
    let formats = read("-m").formats;
    assert!(formats.terse && !formats.normal);
    assert_eq!(read("-o F").to, Some(PathBuf::from("F")));
    assert_eq!(read("--output=/dev/stdout").to, None);
    assert_eq!(read("--eta=never --eta=always").eta, Eta::Always);
    assert_eq!(
        read("--status-interval=2").status_interval,
        Some(Nanos::from_secs(2))
    );
    assert_eq!(read("--bandwidth-log").bandwidth_log.as_deref(), Some("agg"));
    assert_eq!(read("--bandwidth-log=x").bandwidth_log.as_deref(), Some("x"));
    assert_eq!(
        read("--eta-newline=500ms").eta_newline,
        Some(Nanos::from_millis(500))
    );
}

/// As fio 3.33 says it.
#[test]
fn wrong_ones_are_told_as_fio_does() {
    for (line, expected) in [
        ("--terse-version=9", "fio: bad terse version format"),
        (
            "--output-format=foo",
            "fio: invalid output format foo\nfio: failed parsing output-format",
        ),
        ("--status-interval=x", "fio: failed parsing time x"),
    ] {
        assert_eq!(read(line), Err(String::from(expected)));
    }
}

#[test]
fn what_runs_commands_elsewhere_is_refused() {
    assert!(matches!(fate("trigger-remote"), Fate::Refused(_)));
    for name in ["debug", "alloc-size", "max-jobs", "aux-path", "parse-only"] {
        assert_eq!(fate(name), Fate::Accepted, "{name}");
    }
}
