use super::{ASKED, HistoryError, Prometheus, selector, without_port};
use crate::metric;

#[test]
fn an_instance_is_a_name_and_no_pattern() {
    assert_eq!(selector("node-1"), "{instance=~\"node-1(:[0-9]+)?\"}");
    assert_eq!(
        selector("10.0.0.1:9100"),
        "{instance=~\"10\\\\.0\\\\.0\\\\.1\\\\:9100(:[0-9]+)?\"}"
    );
    assert_eq!(selector("a\"}b"), "{instance=~\"a\\\\\\\"\\\\}b(:[0-9]+)?\"}");
}

#[test]
fn only_http_is_spoken() {
    for url in ["https://prometheus", "prometheus:9090", "file:///etc/passwd"] {
        assert!(
            matches!(Prometheus::new(url), Err(HistoryError::Scheme { .. })),
            "{url}"
        );
    }
    assert!(Prometheus::new("http://localhost:9090/prometheus/").is_ok());
}

/// What is asked for is what is exported here, so that one table serves both.
#[test]
fn all_that_is_asked_for_is_in_the_table() {
    for (name, label) in ASKED {
        let metric = metric::find(name).unwrap_or_else(|| panic!("{name}"));
        assert!(label.is_empty() || metric.labels.contains(&label), "{name}");
    }
}

#[test]
fn a_port_is_left_out_and_nothing_else() {
    for (instance, host) in [
        ("node-1", "node-1"),
        ("node-1:9100", "node-1"),
        ("node-1:", "node-1:"),
        ("10.0.0.1:9100", "10.0.0.1"),
        ("[fd00::1]:9100", "[fd00::1]"),
        ("fd00::1", "fd00::1"),
        ("fd00::1:9100", "fd00::1:9100"),
    ] {
        assert_eq!(without_port(instance), host);
    }
}
