//! `--serve` by TLS: a scraper with a certificate, and those without.

use super::Serving;
use super::prometheus::{DEBIANS, Prometheus};
use crate::certificates::Certificates;
use crate::harness::{Place, skipped, tool};
use std::io::Read as _;
use std::net::TcpStream;
use std::time::Duration;

fn serving(place: &Place, flags: &str) -> Serving {
    Serving::start(&mut place.command(&format!(
        "run --name load --rw read --bs 4k --size 1m --iodepth 1 --time_based --runtime 5 --serve-after 60s -o none {flags} \
         --on model:azure/P15"
    )))
}

#[test]
fn who_has_a_certificate_reads_and_nobody_else() {
    let test = "who_has_a_certificate_reads_and_nobody_else";
    let place = Place::new();
    let (own, other) = match (
        Certificates::make(&place, "own"),
        Certificates::make(&place, "other"),
    ) {
        (Ok(own), Ok(other)) => (own, other),
        (Err(missing), _) | (_, Err(missing)) => return skipped(test, missing),
    };
    if tool("curl --version").is_err() {
        return skipped(test, "curl");
    }
    // Beyond this machine certificates of clients do in the place of a token.
    let serving = serving(&place, &format!("{} --serve=0.0.0.0:0", own.flags(Some(&own))));
    let port = serving.at.rsplit(':').next().expect("a port").to_owned();
    let at = format!("127.0.0.1:{port}");
    let ask = |client: Option<&Certificates>, url: &str| {
        let with = client.map_or_else(String::new, |client| {
            format!(
                "--cert {} --key {}",
                client.path("client-cert.pem"),
                client.path("client-key.pem")
            )
        });
        tool(&format!(
            "curl -sS --fail --max-time 20 --cacert {} {with} {url}",
            own.path("ca-cert.pem")
        ))
    };
    // Who says nothing, instead of beginning TLS, is not waited for.
    let silent: Vec<TcpStream> = (0..3)
        .map(|_| TcpStream::connect(&at).expect("a connection"))
        .collect();
    let metrics = ask(Some(&own), &format!("https://{at}/metrics")).expect("metrics");
    assert!(metrics.contains("fathom_running"), "{metrics}");
    for wrong in [
        ask(None, &format!("https://{at}/metrics")),
        ask(Some(&other), &format!("https://{at}/metrics")),
        ask(Some(&own), &format!("http://{at}/metrics")),
    ] {
        assert!(wrong.is_err(), "{wrong:?}");
    }
    let more = format!(
        "\n    scheme: https\n    tls_config: {{ca_file: {}, cert_file: {}, key_file: {}}}",
        own.path("ca-cert.pem"),
        own.path("client-cert.pem"),
        own.path("client-key.pem")
    );
    let Some(server) = Prometheus::start_with(Place::new(), &[("sealed", at.as_str())], None, &more) else {
        return skipped(test, DEBIANS);
    };
    server.until("up{class=\"sealed\"}", |up| up >= 1.0);
    server.until("fathom_load_ios_total", |ios| ios > 0.0);
    for mut silent in silent {
        silent
            .set_read_timeout(Some(Duration::from_secs(30)))
            .expect("patience");
        let ended = silent.read(&mut [0; 1]);
        assert!(matches!(ended, Ok(0)), "{ended:?}");
    }
}

#[test]
fn a_browser_that_nobody_knows_is_let_in_with_a_token() {
    let test = "a_browser_that_nobody_knows_is_let_in_with_a_token";
    let place = Place::new();
    let own = match Certificates::make(&place, "own") {
        Ok(own) => own,
        Err(missing) => return skipped(test, missing),
    };
    if tool("curl --version").is_err() {
        return skipped(test, "curl");
    }
    place.write("token", "0123456789abcdef0123\n");
    let serving = serving(&place, &format!("{} --token token --serve=0", own.flags(None)));
    let ask = |more: &str| {
        tool(&format!(
            "curl -sS --max-time 20 -o /dev/null -w %{{http_code}} --cacert {} {more} https://{}/",
            own.path("ca-cert.pem"),
            serving.at
        ))
        .expect("an answer")
    };
    assert_eq!(ask(""), "401");
    assert_eq!(ask("-u any:0123456789abcdef0123"), "200");
    place
        .fathom(&format!(
            "run --name a --rw write --bs 4k --size 1m --serve=0.0.0.0:0 {} -o none --on model:azure/P15",
            own.flags(None)
        ))
        .expect(2)
        .saying("--tls-ca");
}
