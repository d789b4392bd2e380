use super::{ascending_floats, cpu_list, cpu_mask, paths, per_direction, range, split};
use crate::diagnostic::Fault;
use crate::value::size;
use std::path::PathBuf;

fn three(text: &str) -> Result<[Option<u64>; 3], Fault> {
    per_direction(text, |field| size(field, 1024))
}

/// fio 3.33 was asked for each: `bs=TEXT` with reads, writes and trims of the null engine.
#[test]
fn values_for_directions_are_those_of_fio() {
    let (a, b, c) = (Some(4096), Some(8192), Some(16384));
    assert_eq!(three("4k"), Ok([a, a, a]));
    assert_eq!(three("4k,8k"), Ok([a, b, b]));
    assert_eq!(three("4k,8k,16k"), Ok([a, b, c]));
    assert_eq!(three("4k,"), Ok([a, None, None]));
    assert_eq!(three(",8k"), Ok([None, b, b]));
    assert_eq!(three(",8k,"), Ok([None, b, None]));
    assert_eq!(three("4k,,16k"), Ok([a, None, c]));
    for text in ["", ",", ",,", "4k,8k,16k,32k"] {
        assert!(three(text).is_err(), "{text}");
    }
}

#[test]
fn ranges_in_any_order() {
    assert_eq!(range("4k-64k", 1024), Ok((4096, 65536)));
    assert_eq!(range("64k-4k", 1024), Ok((4096, 65536)));
    assert_eq!(range("4k:8k", 1024), Ok((4096, 8192)));
    for text in ["4k", "4k-", "-4k", "0-4k"] {
        assert!(range(text, 1024).is_err(), "{text}");
    }
}

#[test]
fn splits_fill_up_to_100() {
    let shares = |text: &str| {
        split(text, 1024).map(|entries| entries.iter().map(|e| (e.bytes, e.percent)).collect::<Vec<_>>())
    };
    assert_eq!(shares("4k/60:64k/40"), Ok(vec![(4096, 60), (65536, 40)]));
    assert_eq!(shares("4k:8k/50"), Ok(vec![(4096, 50), (8192, 50)]));
    assert_eq!(
        shares("4k/30:8k/:16k/"),
        Ok(vec![(4096, 30), (8192, 35), (16384, 35)])
    );
    assert_eq!(shares("1k:2k:3k"), Ok(vec![(1024, 34), (2048, 33), (3072, 33)]));
    assert_eq!(shares("4k/100:8k"), Ok(vec![(4096, 100), (8192, 0)]));
    assert_eq!(shares("4k"), Ok(vec![(4096, 100)]));
    for text in [
        "4k/60:8k/60",
        "4k/50:8k/40",
        "x",
        "0/100",
        "4k/101",
        "4k/-1",
        "4k/a",
        "",
    ] {
        assert!(shares(text).is_err(), "{text}");
    }
    assert!(split(&vec!["4k/"; 65].join(":"), 1024).is_err());
}

#[test]
fn processors() {
    assert_eq!(cpu_list("0"), Ok(vec![0]));
    assert_eq!(cpu_list("4,0-2"), Ok(vec![0, 1, 2, 4]));
    assert_eq!(cpu_list("0:1,1"), Ok(vec![0, 1]));
    for text in ["", "x", "2-1", "0,", "0-99999", "-1"] {
        assert!(cpu_list(text).is_err(), "{text}");
    }
    assert_eq!(cpu_mask("0x5"), Ok(vec![0, 2]));
    assert!(cpu_mask("0").is_err());
}

#[test]
fn file_names() {
    let names = |list: &[&str]| Ok(list.iter().map(PathBuf::from).collect::<Vec<_>>());
    assert_eq!(paths("/dev/sda"), names(&["/dev/sda"]));
    assert_eq!(paths("a:b/c"), names(&["a", "b/c"]));
    assert_eq!(
        paths(r"/dev/disk/by-id/x\:1:b"),
        names(&["/dev/disk/by-id/x:1", "b"])
    );
    assert_eq!(paths(r"a\b"), names(&[r"a\b"]));
    assert!(paths(":").is_err());
}

#[test]
fn percentiles() {
    assert_eq!(ascending_floats("99:50:99.9:50"), Ok(vec![50.0, 99.0, 99.9]));
    assert_eq!(ascending_floats("50:0"), Ok(vec![0.0, 50.0]));
    for text in ["", "-1", "101", "x", "99,50", "nan", "inf", "50:"] {
        assert!(ascending_floats(text).is_err(), "{text}");
    }
}
