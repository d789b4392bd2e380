//! What is not answered, and wrong requests to serve.

use super::{Serving, ask, load};
use crate::harness::Place;
use std::net::TcpListener;

#[test]
fn a_token_keeps_others_out_and_prometheus_and_browsers_in() {
    let place = Place::new();
    place.write("token", "0123456789abcdef0123\n");
    let serving = load(&place, 3, "--token token --serve-name disk.example");
    let status = |headers: &str| -> String {
        let answer = ask(
            &serving.at,
            &format!("GET /metrics HTTP/1.1\r\n{headers}Connection: close\r\n\r\n"),
        );
        answer.split(' ').nth(1).expect("a status").to_owned()
    };
    assert_eq!(status("Host: localhost\r\n"), "401");
    assert_eq!(
        status("Host: localhost\r\nAuthorization: Bearer 0123456789abcdef0124\r\n"),
        "401"
    );
    assert_eq!(
        status("Host: localhost\r\nAuthorization: Bearer 0123456789abcdef0123\r\n"),
        "200"
    );
    assert_eq!(
        status("Host: disk.example\r\nAuthorization: Bearer 0123456789abcdef0123\r\n"),
        "200"
    );
    assert_eq!(
        status("Host: evil.example\r\nAuthorization: Bearer 0123456789abcdef0123\r\n"),
        "421"
    );
}

#[test]
fn names_from_outside_are_labels_and_text() {
    let place = Place::new();
    let hostile = "</script><script>alert(1)</script>\"\\";
    place.write(
        "job.fio",
        format!(
            "[{hostile}]\nrw=read\nbs=4k\nsize=1m\ntime_based\nruntime=2\nrate_iops=100\nfilename=data\n"
        ),
    );
    let serving = Serving::start(&mut place.command("run job.fio --serve=0 --serve-after 20s -o none"));
    std::thread::sleep(std::time::Duration::from_millis(2500));
    let metrics = serving.get("/metrics");
    assert!(
        metrics.contains(r#"section="</script><script>alert(1)</script>\"\\""#),
        "{metrics}"
    );
    let page = serving.get("/");
    assert!(!page.contains("<script>alert"), "{page}");
}

#[test]
fn what_cannot_be_served_is_said_before_anything_is_touched() {
    let place = Place::new();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port();
    let job = "run --name a --rw write --bs 4k --size 1m";
    let file = place.path("data").display().to_string();
    place.write("short", "abc\n");
    let cases = [
        (format!("--serve={port}"), "another program listens there"),
        (String::from("--serve=0.0.0.0:0"), "give --token FILE"),
        (String::from("--serve=[::]:0"), "give --token FILE"),
        (
            String::from("--serve=0 --token none"),
            "cannot read the token in none",
        ),
        (
            String::from("--serve=0 --token short"),
            "a token is one line of 16",
        ),
        (
            String::from("--serve=192.0.2.1:0 --token token"),
            "this machine has no such address",
        ),
        (String::from("--serve=host"), "is no address"),
        (String::from("--token short"), "--serve"),
    ];
    place.write("token", "0123456789abcdef0123\n");
    for (flags, said) in cases {
        place
            .fathom(&format!("{job} {flags} -o none {file}"))
            .expect(2)
            .saying(said);
    }
    assert_eq!(place.names(), ["short", "token"], "nothing was touched");
    place
        .fathom("sweep --on a --on b --rw read --bs 4k --iodepth 1 --duration 1s --size 1m --serve=0 -o s")
        .expect(2)
        .saying("--serve is for a sweep of one target");
}
