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
fn an_address_of_a_server_is_one_of_http() {
    for url in [
        "prometheus:9090",
        "ftp://prometheus",
        "file:///etc/passwd",
        "https:/prometheus",
    ] {
        assert!(
            matches!(Prometheus::new(url, None), Err(HistoryError::Scheme { .. })),
            "{url}"
        );
    }
    for url in [
        "http://localhost:9090/prometheus/",
        "HTTPS://prometheus.example.com",
    ] {
        assert!(Prometheus::new(url, None).is_ok(), "{url}");
    }
}

#[test]
fn a_token_goes_where_nobody_else_reads_it() {
    let told = |url: &str| Prometheus::new(url, Some(String::from("secret")));
    for url in [
        "https://prometheus.example.com",
        "http://localhost:9090",
        "http://127.0.0.1:9090/p",
        "http://[::1]:9090",
    ] {
        assert!(told(url).is_ok(), "{url}");
    }
    for url in [
        "http://prometheus:9090",
        "http://localhost.example.com",
        "http://10.0.0.1:9090",
        "http://localhost@evil:9090",
    ] {
        assert!(matches!(told(url), Err(HistoryError::Exposed { .. })), "{url}");
    }
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
