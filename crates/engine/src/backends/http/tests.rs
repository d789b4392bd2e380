//! The client against small servers: one that keeps objects and checks who asks, and such that refuse, lie, stall and go.

use super::sign::{Signed, Signer};
use super::{HttpBackend, split_host};
use fathom_core::backend::{Backend, Errno, Op, Outcome, Request, Submit};
use fathom_core::units::MonoTime;
use fathom_core::workload::{Http, HttpMode, Secret};
use fathom_sys::arena::{Arena, PageKind};
use fathom_testkit::objects::{Asked, answer, next, server, store};
use std::io::{self, BufReader, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const BLOCK: u32 = 64 << 10;
const KEY_ID: &str = "AKIATEST";
const KEY: &str = "secret";

fn http(host: String) -> Http {
    Http {
        host,
        ..Http::default()
    }
}

fn connect(http: &Http) -> io::Result<HttpBackend> {
    let arena = Arena::new(1, BLOCK as usize, PageKind::Normal).expect("an arena");
    let files = [
        PathBuf::from(http.url("dir/a b")),
        PathBuf::from(http.url("other")),
    ];
    HttpBackend::connect(http, &files, arena, Duration::from_millis(700))
}

fn ask(backend: &mut HttpBackend, op: Op, file: u32, offset: u64) -> Outcome {
    let len = if op.index() > 2 { 0 } else { BLOCK };
    let request = Request {
        slot: 0,
        op,
        file,
        offset,
        len,
    };
    match backend.submit(request, MonoTime(0)) {
        Submit::Done(outcome) => outcome,
        other => panic!("{other:?}"),
    }
}

/// Puts, gets and deletes objects, and finds what it put.
fn goes_round(http: &Http) {
    let mut backend = connect(http).expect("connected");
    for file in 0..2 {
        for offset in [0u64, 1 << 20, 1 << 40] {
            backend.buffer(0).fill(offset.to_be_bytes()[2] + file as u8 + 1);
            assert_eq!(
                ask(&mut backend, Op::Write, file, offset),
                Ok(BLOCK),
                "{:?}",
                backend.told
            );
        }
    }
    for offset in [1u64 << 40, 0, 1 << 20, 0] {
        backend.buffer(0).fill(0);
        assert_eq!(
            ask(&mut backend, Op::Read, 1, offset),
            Ok(BLOCK),
            "{:?}",
            backend.told
        );
        let expected = offset.to_be_bytes()[2] + 2;
        assert!(backend.buffer(0).iter().all(|&byte| byte == expected), "{offset}");
    }
    assert_eq!(ask(&mut backend, Op::Sync, 0, 0), Ok(0));
    // What is not there any more is as good as deleted.
    for _ in 0..2 {
        assert_eq!(ask(&mut backend, Op::Trim, 0, 0), Ok(BLOCK));
    }
    assert_eq!(ask(&mut backend, Op::Read, 0, 0), Err(Errno(2)));
    let words = backend.remark(0, Errno(2)).expect("words");
    assert!(
        words.contains("GET /dir/a%20b_0_65536: the server says 404: nobody has put"),
        "{words}"
    );
    assert_eq!(backend.remark(0, Errno(5)), None);
    // The same connection goes on.
    assert_eq!(ask(&mut backend, Op::Read, 1, 0), Ok(BLOCK));
}

#[test]
fn objects_of_a_web_server() {
    goes_round(&http(store(|asked| {
        !asked.headers.contains_key("authorization") && asked.headers["host"].starts_with("127.0.0.1:")
    })));
    let named = Http {
        user: String::from("Aladdin"),
        pass: Secret(String::from("open sesame")),
        ..http(store(|asked| {
            asked.headers["authorization"] == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
        }))
    };
    goes_round(&named);
    let wrong = Http {
        pass: Secret(String::from("open barley")),
        ..named
    };
    let mut backend = connect(&wrong).expect("connected");
    assert_eq!(ask(&mut backend, Op::Write, 0, 0), Err(Errno(13)));
    assert!(!format!("{wrong:?} {backend:?}").contains("barley"));
}

/// The signature of what was asked, made again on the other side.
fn is_signed(asked: &Asked) -> bool {
    let payload = super::sha256(&asked.body);
    let payload = std::str::from_utf8(&payload).expect("digits");
    let mut names = vec!["host", "x-amz-content-sha256", "x-amz-date"];
    if asked.method == "PUT" {
        names.push("x-amz-storage-class");
        assert_eq!(asked.headers["x-amz-storage-class"], "STANDARD_IA");
    }
    let headers: Vec<(&str, &str)> = names
        .iter()
        .map(|&name| (name, asked.headers[name].as_str()))
        .collect();
    let signed = Signed {
        method: &asked.method,
        path: &asked.path,
        query: "",
        headers: &headers,
        payload,
        date: &asked.headers["x-amz-date"],
    };
    let mut expected = Vec::new();
    Signer::new(KEY_ID, KEY, "eu-central-1").authorize(&signed, &mut expected);
    asked.headers["authorization"].as_bytes() == expected && asked.headers["x-amz-content-sha256"] == payload
}

#[test]
fn objects_of_s3() {
    let s3 = Http {
        mode: HttpMode::S3,
        s3_region: String::from("eu-central-1"),
        s3_key_id: String::from(KEY_ID),
        s3_key: Secret(String::from(KEY)),
        s3_storage_class: String::from("STANDARD_IA"),
        ..http(store(is_signed))
    };
    goes_round(&s3);
    let wrong = Http {
        s3_key: Secret(String::from("another")),
        ..s3
    };
    let mut backend = connect(&wrong).expect("connected");
    assert_eq!(ask(&mut backend, Op::Read, 0, 0), Err(Errno(13)));
    assert!(
        backend
            .remark(0, Errno(13))
            .is_some_and(|words| words.contains("403"))
    );
}

/// What a read makes of a server that says these bytes, and then `goes` or stays.
fn after(bytes: Vec<u8>, goes: bool) -> (Outcome, String) {
    let host = server(move |_, stream| {
        let mut out = stream.try_clone().expect("a handle");
        let mut input = BufReader::new(stream);
        if next(&mut input).is_some() {
            // It may have had enough.
            let _told = out.write_all(&bytes);
        }
        if !goes {
            let _rest = io::copy(&mut input, &mut io::sink());
        }
    });
    let mut backend = connect(&http(host)).expect("connected");
    let outcome = ask(&mut backend, Op::Read, 0, 0);
    let words = outcome.err().and_then(|errno| backend.remark(0, errno));
    (outcome, words.unwrap_or_default())
}

#[test]
fn servers_that_refuse_lie_stall_and_go() {
    let begun = Instant::now();
    let long = |len: usize| answer("200 OK", "", &vec![7; len]);
    let of = |status: &str| answer(status, "", b"why");
    for (bytes, goes, outcome, words) in [
        (
            of("500 Internal Server Error"),
            false,
            Err(Errno(5)),
            "the server says 500",
        ),
        (of("507 Insufficient Storage"), false, Err(Errno(28)), "507"),
        (of("301 Moved Permanently"), false, Err(Errno(5)), "301"),
        (b"what?\r\n\r\n".to_vec(), false, Err(Errno(71)), "no HTTP"),
        (vec![b'x'; 40_000], false, Err(Errno(71)), "no HTTP"),
        (
            [b"HTTP/1.1 200 OK\r\nA: ".to_vec(), vec![b'x'; 40_000]].concat(),
            false,
            Err(Errno(71)),
            "a head without end",
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n".to_vec(),
            false,
            Err(Errno(71)),
            "no number",
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n".to_vec(),
            false,
            Err(Errno(71)),
            "encoding",
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".to_vec(),
            false,
            Err(Errno(71)),
            "without a size",
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc".to_vec(),
            false,
            Err(Errno(71)),
            "does not end",
        ),
        (
            long(BLOCK as usize + 1),
            false,
            Err(Errno(27)),
            "65537 bytes where 65536",
        ),
        (long(2 << 20), false, Err(Errno(27)), "where 65536"),
        (long(1000), false, Ok(1000), ""),
        (long(BLOCK as usize)[..1000].to_vec(), true, Err(Errno(104)), ""),
        (Vec::new(), true, Err(Errno(104)), ""),
        (
            long(BLOCK as usize)[..1000].to_vec(),
            false,
            Err(Errno(110)),
            "127.0.0.1",
        ),
        (Vec::new(), false, Err(Errno(110)), "127.0.0.1"),
        // Old servers say the end by going.
        (
            [&b"HTTP/1.0 200 OK\r\n\r\n"[..], &vec![7; BLOCK as usize]].concat(),
            true,
            Ok(BLOCK),
            "",
        ),
    ] {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
        let (found, said) = after(bytes, goes);
        assert_eq!(found, outcome, "{shown}: {said}");
        assert!(said.contains(words), "{shown}: `{words}`: {said}");
    }
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

/// A connection that the server closes after each answer, said or not, is made again.
#[test]
fn connections_are_made_again() {
    for said in ["Connection: close\r\n", ""] {
        let host = server(move |_, stream| {
            let mut out = stream.try_clone().expect("a handle");
            let mut input = BufReader::new(stream);
            if next(&mut input).is_some() {
                out.write_all(&answer("200 OK", said, &vec![1; BLOCK as usize]))
                    .expect("told");
            }
        });
        let mut backend = connect(&http(host)).expect("connected");
        for _ in 0..5 {
            assert_eq!(ask(&mut backend, Op::Read, 0, 0), Ok(BLOCK), "{:?}", backend.told);
            // Time for it to go.
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    // Where nobody listens any more, that is an error of each I/O.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let host = listener.local_addr().expect("an address").to_string();
    let mut backend = connect(&http(host)).expect("connected");
    drop(listener.accept());
    drop(listener);
    for _ in 0..2 {
        let outcome = ask(&mut backend, Op::Read, 0, 0);
        assert!(matches!(outcome, Err(Errno(104 | 111 | 32))), "{outcome:?}");
    }
}

#[test]
fn hosts() {
    for (text, expected) in [
        ("h", Some(("h", 80))),
        ("h:9000", Some(("h", 9000))),
        ("[::1]:9000", Some(("::1", 9000))),
        ("[::1]", Some(("::1", 80))),
        ("h:", None),
        ("h:0", None),
        ("h:x", None),
        ("[::1", None),
        ("[::1]x", None),
    ] {
        assert_eq!(split_host(text, 80), expected, "{text}");
    }
}
