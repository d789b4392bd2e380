use super::{ALL, Kind};
use std::collections::BTreeSet;

#[test]
fn names_are_those_of_prometheus_and_each_is_there_once() {
    let names: BTreeSet<&str> = ALL.iter().map(|metric| metric.name).collect();
    assert_eq!(names.len(), ALL.len());
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    for metric in ALL {
        let name = metric.name;
        assert!(
            name.bytes().all(fine) && !name.as_bytes()[0].is_ascii_digit(),
            "{name}"
        );
        assert!(name.starts_with("fathom_") || name.starts_with("node_"), "{name}");
        assert_eq!(metric.kind == Kind::Counter, name.ends_with("_total"), "{name}");
        // Prometheus makes series of these names of a histogram.
        for ending in ["_bucket", "_count", "_sum"] {
            assert!(!name.ends_with(ending), "{name}");
        }
        assert!(!metric.help.is_empty() && !metric.help.ends_with('.'), "{name}");
        assert!(
            metric.labels.iter().all(|label| label.bytes().all(fine)),
            "{name}"
        );
    }
}
