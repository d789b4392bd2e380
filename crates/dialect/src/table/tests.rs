use super::{Kind, OptionRow, Support, distance, find, find_exact, nearest, table};
use crate::testing::{parsed, shown};
use std::collections::BTreeSet;

#[test]
fn every_name_and_alias_is_one_option() {
    let mut seen = BTreeSet::new();
    for name in table().iter().flat_map(OptionRow::names) {
        assert!(seen.insert(name), "{name} twice");
        assert!(!name.contains(['=', ' ', '#', ';']), "{name}");
    }
    assert!(seen.len() > 200, "{}", seen.len());
}

#[test]
fn every_option_is_documented() {
    for row in table() {
        let name = row.name;
        assert!(
            row.help.len() > 8 && !row.help.ends_with('.'),
            "{name}: {}",
            row.help
        );
        assert!(
            row.help.starts_with(|c: char| c.is_uppercase())
                || row.help.starts_with("fsync")
                || row.help.starts_with("fdatasync")
                || row.help.starts_with("sync_file_range"),
            "{name}: {}",
            row.help
        );
        assert_eq!(
            row.example.is_empty(),
            row.kind() == Kind::Flag,
            "{name}: a flag needs no example"
        );
        if let Some(reason) = row.support.reason() {
            assert!(reason.len() > 8 && !reason.ends_with('.'), "{name}: {reason}");
        }
        assert!(!row.kind().to_string().is_empty());
    }
}

/// The example of every option parses, or is refused with the row's own reason.
#[test]
fn every_example_does_what_the_row_says() {
    for row in table() {
        let engine = row.engines.first().copied().unwrap_or("psync");
        // Enough around it that no contradiction hides the option.
        let mut text = format!("[job]\nfilename=f\nsize=1g\n[x]\nioengine={engine}\nsize=1g\nruntime=9\n");
        text += row.name;
        if row.kind() != Kind::Flag {
            text += "=";
            text += row.example;
        }
        text += "\n";
        match row.name {
            "zonemode" => text += "zonesize=1m\n",
            "zonesize" => text += "zonemode=strided\n",
            "zone_reset_threshold" => text += "zonemode=zbd\nzone_reset_frequency=0.1\n",
            "zone_reset_frequency" => text += "zonemode=zbd\nzone_reset_threshold=0.1\n",
            "zonecapacity" => text += "zonemode=zbd\nzonesize=1m\n",
            "read_beyond_wp" | "max_open_zones" | "job_max_open_zones" | "ignore_zone_limits" => {
                text += "zonemode=zbd\n";
            }
            _ if engine == "exec" && row.name != "program" => text += "program=x\n",
            _ if engine == "nbd" && row.name != "uri" => text += "uri=nbd://h\n",
            // One side of a stream, and all that it needs but what is tried.
            _ if engine == "net" => {
                for needed in ["port=1\n", "hostname=h\n"] {
                    let name = needed.split('=').next().expect("a name");
                    if row.name != name && !(row.name == "listen" && name == "hostname") {
                        text += needed;
                    }
                }
            }
            _ if engine == "io_uring_cmd" || engine == "sg" => text += "filename=/dev/ng0n1\n",
            "http_mode" => text += "http_s3_keyid=x\nhttp_s3_key=x\n",
            "verify_only" => text += "verify=md5\n",
            "verify" => text = text.replace("size=1g\nruntime=9", "size=1g"),
            _ => {}
        }
        let parsed = parsed(&text);
        let accepted = parsed.workload.is_some();
        assert_eq!(
            accepted,
            !row.support.is_refused(),
            "{}: {}",
            row.name,
            shown(&parsed)
        );
        if let (Some(reason), false) = (row.support.reason(), row.is_default(row.example)) {
            let said = parsed.diagnostics.iter().any(|d| d.to_string().contains(reason));
            assert!(said, "{}: {}", row.name, shown(&parsed));
        }
    }
}

/// The default of every option, written out, changes nothing and needs no comment.
#[test]
fn every_default_changes_nothing() {
    let plain = parsed("[j]\nsize=1g\n").workload;
    for row in table()
        .iter()
        .filter(|row| !row.default.is_empty() && row.engines.is_empty())
    {
        let parsed = parsed(&format!("[j]\nsize=1g\n{}={}\n", row.name, row.default));
        assert_eq!(
            parsed
                .diagnostics
                .iter()
                .filter(|d| d.severity > crate::Severity::Note)
                .count(),
            0,
            "{}",
            row.name
        );
        let mut same = parsed.workload;
        // An amount of 0 is written down as such.
        if matches!(row.name, "offset" | "offset_increment")
            && let Some(workload) = &mut same
        {
            workload.jobs[0].region.offset = None;
            workload.jobs[0].region.offset_increment = None;
        }
        assert_eq!(same, plain, "{}={}", row.name, row.default);
    }
}

#[test]
fn names_aliases_and_beginnings() {
    assert_eq!(find_exact("blocksize").map(|row| row.name), Some("bs"));
    assert_eq!(find_exact("blocksiz").map(|row| row.name), None);
    assert_eq!(find("runti").map(|row| row.name), Some("runtime"));
    assert_eq!(find("numj").map(|row| row.name), Some("numjobs"));
    assert_eq!(find("r").map(|row| row.name), None);
    assert_eq!(find("").map(|row| row.name), None);
    // An exact name is no ambiguous beginning.
    assert_eq!(find("rate").map(|row| row.name), Some("rate"));
}

#[test]
fn near_misses() {
    for (typed, meant) in [
        ("blocksze", Some("blocksize")),
        ("iodpeth", Some("iodepth")),
        ("runtme", Some("runtime")),
        ("readwrit", Some("readwrite")),
        ("BS", Some("bs")),
        ("r", None),
        ("direkt", Some("direct")),
        ("xyzzy", None),
        ("", None),
    ] {
        assert_eq!(nearest(typed), meant, "{typed}");
    }
}

#[test]
fn distances() {
    assert_eq!(distance("", "abc"), 3);
    assert_eq!(distance("abc", "abc"), 0);
    assert_eq!(distance("abc", "acb"), 1);
    assert_eq!(distance("kitten", "sitting"), 3);
    assert_eq!(distance(&"x".repeat(1000), "abc"), usize::MAX);
}

/// The options that a job file of a field report needs are carried out exactly.
#[test]
fn what_the_field_uses_is_exact() {
    for name in [
        "filename",
        "directory",
        "size",
        "bs",
        "rw",
        "direct",
        "iodepth",
        "ioengine",
        "numjobs",
        "runtime",
        "time_based",
        "thread",
        "group_reporting",
        "cpus_allowed",
        "rate",
        "rate_iops",
        "verify",
        "bssplit",
    ] {
        assert_eq!(
            find_exact(name).map(|row| row.support),
            Some(Support::Exact),
            "{name}"
        );
    }
}

/// Of the options that `fio --cmdhelp=all` of 3.33 lists, all are known, and nearly all are carried out as fio does.
#[test]
fn of_fios_options_nearly_all_are_exact() {
    let names: Vec<&str> = include_str!("fio-3.33-options.txt").lines().collect();
    assert_eq!(names.len(), 217);
    let row = |name: &&str| find_exact(name).unwrap_or_else(|| panic!("{name} has no row"));
    let inexact: Vec<&str> = (names.iter())
        .filter(|name| row(name).support != Support::Exact)
        .copied()
        .collect();
    let exact_percent = (names.len() - inexact.len()) * 100 / names.len();
    assert!(exact_percent >= 92, "{exact_percent} %: {inexact:?}");
}
