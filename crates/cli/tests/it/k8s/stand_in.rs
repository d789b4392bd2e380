//! As much of S3 as object storage is used for: put, list, get, uploads in parts. In memory, without TLS.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

/// A page of a list.
const PAGE: usize = 7;

type Objects = BTreeMap<String, Vec<u8>>;

/// Objects by `/BUCKET/KEY`.
#[derive(Default)]
struct Held {
    objects: Objects,
    parts: BTreeMap<(String, u32), Vec<u8>>,
    uploads: u32,
}

pub(super) struct StandIn {
    pub(super) port: u16,
    held: Arc<Mutex<Held>>,
}

impl StandIn {
    pub(super) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("a port").port();
        let held: Arc<Mutex<Held>> = Arc::default();
        let shared = Arc::clone(&held);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let held = Arc::clone(&shared);
                std::thread::spawn(move || serve(&stream, &held));
            }
        });
        Self { port, held }
    }

    /// Keys that are there.
    pub(super) fn keys(&self) -> Vec<String> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.objects.keys().cloned().collect()
    }

    /// Uploads that were sent in parts.
    pub(super) fn uploads(&self) -> u32 {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).uploads
    }
}

struct Request {
    method: String,
    path: String,
    query: BTreeMap<String, String>,
    signed: bool,
    body: Vec<u8>,
}

fn serve(stream: &TcpStream, held: &Mutex<Held>) {
    let mut from = BufReader::new(stream);
    while let Some(request) = read(&mut from) {
        let (status, headers, body) = answer(&request, held);
        let mut to = stream;
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{headers}\r\n");
        let body = if request.method == "HEAD" {
            &[]
        } else {
            body.as_slice()
        };
        if to
            .write_all(head.as_bytes())
            .and_then(|()| to.write_all(body))
            .is_err()
        {
            return;
        }
    }
}

fn read(from: &mut BufReader<&TcpStream>) -> Option<Request> {
    let mut line = String::new();
    from.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (mut length, mut signed) = (0, false);
    loop {
        let mut header = String::new();
        from.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(':') else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "authorization" => signed = value.contains("AWS4-HMAC-SHA256"),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(name), decoded(value))
    });
    Some(Request {
        method,
        path: decoded(path),
        query: pairs.collect(),
        signed,
        body,
    })
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let code: Vec<u8> = rest.by_ref().take(2).collect();
            let code = String::from_utf8(code).expect("two digits");
            bytes.push(u8::from_str_radix(&code, 16).expect("hexadecimal"));
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).expect("text")
}

fn answer(request: &Request, held: &Mutex<Held>) -> (&'static str, String, Vec<u8>) {
    const OBJECT: &str = "ETag: \"1\"\r\nLast-Modified: Mon, 23 Nov 2026 10:00:00 GMT\r\n";
    let plain = |body: String| ("200 OK", String::from(OBJECT), body.into_bytes());
    let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
    let of = |name: &str| request.query.get(name).map(String::as_str);
    if !request.signed {
        let body = b"<Error><Code>AccessDenied</Code><Message>no key</Message></Error>".to_vec();
        return ("403 Forbidden", String::new(), body);
    }
    let path = request.path.clone();
    match (request.method.as_str(), of("uploadId"), of("partNumber")) {
        ("POST", None, _) if request.query.contains_key("uploads") => {
            held.uploads += 1;
            plain(String::from(
                "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>",
            ))
        }
        ("PUT", Some(_), Some(number)) => {
            let number = number.parse().expect("a number");
            held.parts.insert((path, number), request.body.clone());
            plain(String::new())
        }
        ("POST", Some(_), None) => {
            let parts = held.parts.range((path.clone(), 0)..=(path.clone(), u32::MAX));
            let whole: Vec<u8> = parts.flat_map(|(_, part)| part.clone()).collect();
            held.objects.insert(path, whole);
            plain(String::from(
                "<CompleteMultipartUploadResult><ETag>\"1\"</ETag></CompleteMultipartUploadResult>",
            ))
        }
        ("PUT", ..) => {
            held.objects.insert(path, request.body.clone());
            plain(String::new())
        }
        ("GET", ..) if request.query.contains_key("list-type") => plain(list(request, &held.objects)),
        ("GET" | "HEAD", ..) => match held.objects.get(&path) {
            Some(body) => ("200 OK", String::from(OBJECT), body.clone()),
            None => ("404 Not Found", String::new(), b"<Error/>".to_vec()),
        },
        _ => ("405 Method Not Allowed", String::new(), Vec::new()),
    }
}

fn list(request: &Request, objects: &Objects) -> String {
    let bucket = format!("{}/", request.path.trim_end_matches('/'));
    let of = |name: &str| request.query.get(name).map_or("", String::as_str);
    let wanted = format!("{bucket}{}", of("prefix"));
    let after = format!("{bucket}{}", of("continuation-token"));
    let mut found = objects
        .iter()
        .filter(|(key, _)| key.starts_with(&wanted) && **key > after)
        .peekable();
    let mut text = String::from("<ListBucketResult>");
    let mut last = String::new();
    for (key, content) in found.by_ref().take(PAGE) {
        key[bucket.len()..].clone_into(&mut last);
        let _written = write!(
            text,
            "<Contents><Key>{last}</Key><Size>{}</Size><ETag>\"1\"</ETag>\
             <LastModified>2026-11-23T10:00:00.000Z</LastModified></Contents>",
            content.len()
        );
    }
    if found.peek().is_some() {
        let _written = write!(text, "<NextContinuationToken>{last}</NextContinuationToken>");
    }
    text + "</ListBucketResult>"
}
