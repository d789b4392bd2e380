use super::{Access, Asked, CONNECTIONS, Policy, Refusal, Reply, Server, Site, VIEWERS};
use crate::hub::feed::Feed;
use hyper::body::Bytes;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

static SHARED: OnceLock<Bytes> = OnceLock::new();

/// Held by tests that weigh the whole process, and by those that make it heavy.
static SCALES: Mutex<()> = Mutex::new(());

/// The process' memory, in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next());
    kib.expect("KiB").parse().expect("a number")
}

/// A site with a page of each kind.
struct Own(Arc<Feed>);

impl Site for Own {
    fn answer(&self, asked: &Asked<'_>) -> Reply {
        match asked.path {
            "/" => Reply::Whole {
                status: hyper::StatusCode::OK,
                content_type: "text/html; charset=utf-8",
                policy: Policy::Nonce,
                body: asked.nonce.as_bytes().to_vec(),
            },
            "/large" => Reply::Lasting {
                content_type: "text/plain",
                body: vec![b'x'; 64 << 20].into(),
            },
            "/shared" => Reply::Lasting {
                content_type: "text/plain",
                body: SHARED.get_or_init(|| vec![b'x'; 8 << 20].into()).clone(),
            },
            "/own" => Reply::Whole {
                status: hyper::StatusCode::OK,
                content_type: "text/plain",
                policy: Policy::Nothing,
                body: vec![b'x'; 16 << 20],
            },
            "/events" => Reply::Events { had: 0 },
            "/form" => Reply::Whole {
                status: hyper::StatusCode::OK,
                content_type: "text/plain",
                policy: Policy::Nothing,
                body: asked.form.unwrap_or(b"none").to_vec(),
            },
            _ => Reply::Refused(Refusal::NotFound),
        }
    }

    fn feed(&self) -> Option<&Feed> {
        Some(&self.0)
    }

    fn takes_form(&self, path: &str) -> bool {
        path == "/form"
    }
}

fn server() -> (Server, Arc<Feed>) {
    let feed = Arc::new(Feed::default());
    feed.push("about", &"it");
    let access = Access {
        address: "127.0.0.1:0".parse().expect("an address"),
        token: None,
        tls: None,
        names: Vec::new(),
    };
    let server = Server::begin(access, Own(Arc::clone(&feed))).expect("a server");
    (server, feed)
}

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.address()).expect("a connection");
    let limit = Some(Duration::from_secs(30));
    stream.set_read_timeout(limit).expect("a time limit");
    stream
}

/// Sends `request` and reads until the server closes, or as much as there is.
fn ask(server: &Server, request: &str) -> String {
    let mut stream = connect(server);
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        Err(error) => panic!("{request}: {error}"),
    }
    String::from_utf8_lossy(&answer).into_owned()
}

fn get(server: &Server, path: &str) -> String {
    ask(
        server,
        &format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
    )
}

fn status(answer: &str) -> &str {
    answer.split_whitespace().nth(1).unwrap_or_default()
}

#[test]
fn nothing_but_reading_is_answered() {
    let (server, _) = server();
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
        let answer = ask(
            &server,
            &format!(
                "{method} / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            ),
        );
        assert_eq!(status(&answer), "405", "{method}");
        assert!(answer.contains("allow: GET, HEAD"), "{answer}");
    }
    let head = ask(
        &server,
        "HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    );
    assert_eq!(status(&head), "200");
    assert!(head.ends_with("\r\n\r\n"), "{head}");
    let head = ask(
        &server,
        "HEAD /events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    );
    assert_eq!(status(&head), "200", "and it ends");
    let form = "POST /form HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: \
                application/x-www-form-urlencoded\r\nContent-Length: 3\r\n\r\na=b";
    assert!(ask(&server, form).ends_with("a=b"));
    assert_eq!(status(&ask(&server, &form.replace("/form", "/"))), "405");
    assert_eq!(
        status(&ask(&server, &form.replace("x-www-form-urlencoded", "json"))),
        "400"
    );
    assert_eq!(
        status(&ask(
            &server,
            &form.replace("Content-Length: 3", "Content-Length: 99999999")
        )),
        "400"
    );
}

#[test]
fn each_answer_has_the_headers_and_each_page_a_nonce_of_its_own() {
    let (server, _) = server();
    let (first, second) = (get(&server, "/"), get(&server, "/"));
    let nonce = |page: &str| page.split("\r\n\r\n").nth(1).expect("a body").to_owned();
    assert_ne!(nonce(&first), nonce(&second));
    assert_eq!(nonce(&first).len(), 24);
    assert!(
        first.contains(&format!("script-src 'nonce-{}'", nonce(&first))),
        "{first}"
    );
    assert!(!first.contains("unsafe"));
    for path in ["/", "/nothing", "/form"] {
        let answer = get(&server, path);
        for header in [
            "x-content-type-options: nosniff",
            "x-frame-options: DENY",
            "referrer-policy: no-referrer",
            "cross-origin-resource-policy: same-origin",
            "cache-control: no-store",
        ] {
            assert!(answer.contains(header), "{path}: {header} is not in {answer}");
        }
        assert!(!answer.contains("access-control-allow"), "{path}");
    }
    assert_eq!(status(&get(&server, "/nothing")), "404");
}

#[test]
fn requests_for_other_hosts_and_from_other_sites_are_refused() {
    let (server, _) = server();
    let with = |headers: &str| {
        ask(
            &server,
            &format!("GET / HTTP/1.1\r\n{headers}Connection: close\r\n\r\n"),
        )
    };
    assert_eq!(status(&with("Host: evil.example\r\n")), "421");
    assert_eq!(status(&with("")), "400");
    assert_eq!(
        status(&with("Host: localhost\r\nOrigin: http://evil.example\r\n")),
        "403"
    );
    assert_eq!(
        status(&with("Host: localhost\r\nSec-Fetch-Site: cross-site\r\n")),
        "403"
    );
    assert_eq!(status(&ask(&server, "nonsense\r\n\r\n")), "400");
    let long = "x".repeat(200_000);
    let answer = with(&format!("Host: localhost\r\nX-Long: {long}\r\n"));
    assert!(matches!(status(&answer), "431" | ""), "{}", status(&answer));
}

#[test]
fn who_watches_is_told_at_once_and_goes_on_where_it_was() {
    let (server, feed) = server();
    let mut stream = connect(&server);
    stream
        .write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .expect("sent");
    let mut seen = String::new();
    let read_until = |stream: &mut TcpStream, seen: &mut String, text: &str| {
        let mut buffer = [0; 4096];
        while !seen.contains(text) {
            let n = stream.read(&mut buffer).expect("events");
            assert!(n > 0, "ended: {seen}");
            seen.push_str(&String::from_utf8_lossy(&buffer[..n]));
        }
    };
    read_until(&mut stream, &mut seen, "event: about");
    feed.push("interval", &1);
    read_until(&mut stream, &mut seen, "id: 2\nevent: interval");
    assert_eq!(server.viewers(), 1);
    drop(stream);
    feed.push("interval", &2);
    feed.push("interval", &3);
    let mut again = connect(&server);
    again
        .write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 2\r\n\r\n")
        .expect("sent");
    let mut seen = String::new();
    read_until(&mut again, &mut seen, "id: 4");
    assert!(
        seen.contains("id: 3") && !seen.contains("id: 2\n") && !seen.contains("about"),
        "{seen}"
    );
    drop(again);
    // Nobody who has gone is waited for.
    let begin = Instant::now();
    while server.viewers() > 0 {
        assert!(begin.elapsed() < Duration::from_secs(10), "viewers stay");
        feed.push("interval", &4);
        std::thread::sleep(Duration::from_millis(20));
    }
    // From another run of the program: all of it, from the beginning.
    let mut other = connect(&server);
    other
        .write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 999999\r\n\r\n")
        .expect("sent");
    let mut seen = String::new();
    read_until(&mut other, &mut seen, "event: about");
}

/// What ends is told to its end, and the connection is not just cut: a browser would call that an error.
#[test]
fn who_watches_is_told_the_end() {
    let (server, feed) = server();
    let mut stream = connect(&server);
    stream
        .write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .expect("sent");
    for number in 0..100 {
        feed.push("interval", &number);
    }
    feed.end("end", &"it");
    let mut seen = String::new();
    stream.read_to_string(&mut seen).expect("all of it");
    assert!(seen.contains("id: 102\nevent: end"), "{seen}");
    assert!(seen.ends_with("\r\n0\r\n\r\n"), "{seen}");
    // So is one who comes later.
    let late = get(&server, "/events");
    assert!(
        late.contains("event: end") && late.ends_with("\r\n0\r\n\r\n"),
        "{late}"
    );
    let begin = Instant::now();
    drop(server);
    assert!(begin.elapsed() < Duration::from_secs(5));
}

#[test]
fn no_more_watch_than_may_and_metrics_are_answered_all_the_same() {
    let (server, _) = server();
    let viewers: Vec<TcpStream> = (0..VIEWERS)
        .map(|_| {
            let mut stream = connect(&server);
            stream
                .write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
                .expect("sent");
            let mut first = [0; 64];
            let n = stream.read(&mut first).expect("a head");
            assert!(String::from_utf8_lossy(&first[..n]).starts_with("HTTP/1.1 200"));
            stream
        })
        .collect();
    assert_eq!(status(&get(&server, "/events")), "503");
    assert_eq!(status(&get(&server, "/")), "200");
    drop(viewers);
}

/// Ten thousand connections that say nothing: those that may be there are cut after a while, the others at once; memory and
/// threads stay as they are.
#[test]
fn ten_thousand_connections_take_no_memory() {
    let _alone = SCALES.lock().unwrap_or_else(PoisonError::into_inner);
    let (server, _) = server();
    let idle: Vec<TcpStream> = (0..CONNECTIONS).map(|_| connect(&server)).collect();
    // All of them are taken before more come.
    std::thread::sleep(Duration::from_millis(100));
    let before = resident();
    let begin = Instant::now();
    let mut refused = 0;
    for _ in 0..10_000 {
        let mut stream = connect(&server);
        refused += u64::from(matches!(stream.read(&mut [0; 1]), Ok(0) | Err(_)));
    }
    assert_eq!(refused, 10_000, "each is closed at once");
    assert!(begin.elapsed() < Duration::from_secs(20));
    let more_kib = resident().saturating_sub(before);
    assert!(more_kib < 8 << 10, "{more_kib} KiB more");
    // Those who say nothing make room.
    for mut stream in idle {
        let mut answer = Vec::new();
        let ended = stream.read_to_end(&mut answer);
        assert!(ended.is_ok() || ended.is_err_and(|error| error.kind() == ErrorKind::ConnectionReset));
    }
    assert_eq!(status(&get(&server, "/")), "200");
}

/// Who asks for much and reads none of it is cut off.
#[test]
fn who_does_not_read_is_cut_off() {
    let _alone = SCALES.lock().unwrap_or_else(PoisonError::into_inner);
    let (server, _) = server();
    let mut stream = connect(&server);
    stream
        .write_all(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .expect("sent");
    std::thread::sleep(Duration::from_secs(13));
    let mut read = 0;
    let mut buffer = vec![0; 1 << 20];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(n) => read += n,
        }
    }
    assert!(read < 64 << 20, "{read} bytes came");
    assert_eq!(status(&get(&server, "/")), "200");
}

/// As many as may ask for what is large, and read none of it: what lasts is there once, what is made for each is refused in time.
#[test]
fn slow_readers_take_bounded_memory() {
    let _alone = SCALES.lock().unwrap_or_else(PoisonError::into_inner);
    for (path, refused_at_least, kib_max) in [("/shared", 0, 32 << 10), ("/own", 40, 96 << 10)] {
        let (server, _) = server();
        assert_eq!(status(&get(&server, path)), "200");
        let before = resident();
        let mut slow: Vec<TcpStream> = Vec::new();
        for _ in 0..CONNECTIONS - 4 {
            let mut stream = connect(&server);
            stream
                .write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes())
                .expect("sent");
            slow.push(stream);
        }
        let heads = slow.iter_mut().map(|stream| {
            let mut head = [0; 12];
            stream.read_exact(&mut head).expect("a head");
            head
        });
        let refused = heads.filter(|head| head == b"HTTP/1.1 503").count();
        assert!(refused >= refused_at_least, "{path}: {refused} refused");
        let more_kib = resident().saturating_sub(before);
        assert!(more_kib < kib_max, "{path}: {more_kib} KiB more");
        // It is there again for who comes when they are gone.
        drop(slow);
        let begin = Instant::now();
        while status(&get(&server, path)) != "200" {
            assert!(
                begin.elapsed() < Duration::from_secs(20),
                "{path} is not answered"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
