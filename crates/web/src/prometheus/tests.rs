use super::{ASKED, HistoryError, Prometheus, Span, selector, without_port};
use crate::metric;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::{Duration, Instant};

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

const SPAN: Span = Span {
    from_s: 1_000,
    to_s: 4_600,
};

/// What is said where a server answers each question with `answer`, and then drips where it is `endless`.
fn told(answer: &str, endless: bool, token: Option<&str>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let answer = answer.to_owned();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            // The beginning of a question is all of it here.
            let _asked = stream.read(&mut [0; 4096]);
            let mut sent = stream.write_all(answer.as_bytes());
            while endless && sent.is_ok() {
                std::thread::sleep(Duration::from_millis(50));
                sent = stream.write_all(b" ");
            }
        }
    });
    let mut server = Prometheus::new(&url, token.map(str::to_owned)).expect("a server");
    if endless {
        server.patience = Duration::from_secs(1);
    }
    let error = server.history("node-3", SPAN).expect_err("no counters");
    error.to_string().replace(&url, "URL")
}

fn answer(head: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {head}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}")
}

#[test]
fn a_refusal_says_what_to_do() {
    let unauthorized = answer("401 Unauthorized", "no");
    assert_eq!(
        told(&unauthorized, false, None),
        "URL answers with status 401: no: give the token that it asks for with --prometheus-token FILE"
    );
    assert_eq!(
        told(&unauthorized, false, Some("secret")),
        "URL answers with status 401: no: the token of --prometheus-token is not the one that it asks for"
    );
    assert_eq!(
        told(
            &answer("302 Found\r\nLocation: http://login.example/", ""),
            false,
            None
        ),
        "URL answers with status 302: it leads to http://login.example/, which is not followed: give the address of Prometheus itself"
    );
    assert_eq!(
        told(&answer("500 Internal Server Error", ""), false, None),
        "URL answers with status 500: it says no more"
    );
}

#[test]
fn an_instance_that_is_not_known_is_named_as_it_was_asked_for() {
    let empty = r#"{"status":"success","data":{"resultType":"vector","result":[]}}"#;
    assert_eq!(
        told(&answer("200 OK", empty), false, None),
        "no counters of a node exporter's instance node-3 in that time: the server knows no node exporter now"
    );
}

/// Of a server that sends a letter now and then nobody waits for the last one.
#[test]
fn a_server_that_drips_is_not_waited_for() {
    let begin = Instant::now();
    let said = told("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", true, None);
    assert!(
        said.starts_with("URL did not answer a question within 1 s"),
        "{said}"
    );
    assert!(begin.elapsed() < Duration::from_mins(1), "{:?}", begin.elapsed());
}
