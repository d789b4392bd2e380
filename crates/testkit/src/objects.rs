//! A web server that keeps objects in memory, for clients to be tested against.
//!
//! Data in: connections on the loopback. Data out: answers, well-formed; some in chunks, some behind an answer on the way.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A request as a server sees it.
#[derive(Debug)]
pub struct Asked {
    pub method: String,
    pub path: String,
    /// Their names in lower case.
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
}

/// The next request; `None`: the client has gone.
///
/// # Panics
/// Its length is no number.
pub fn next(stream: &mut BufReader<TcpStream>) -> Option<Asked> {
    let mut line = String::new();
    stream.read_line(&mut line).ok().filter(|&bytes| bytes > 0)?;
    let mut words = line.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = HashMap::new();
    loop {
        line.clear();
        stream.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let len = headers
        .get("content-length")
        .map_or(0, |len| len.parse().expect("a length"));
    let mut body = vec![0; len];
    stream.read_exact(&mut body).ok()?;
    Some(Asked {
        method,
        path,
        headers,
        body,
    })
}

/// Serves each connection by `serve`, with its number, for as long as the program lives. Its host and port.
///
/// # Panics
/// There is no port.
pub fn server(serve: impl Fn(usize, TcpStream) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let host = listener.local_addr().expect("an address").to_string();
    let serve = Arc::new(serve);
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            let serve = Arc::clone(&serve);
            std::thread::spawn(move || serve(number, stream));
        }
    });
    host
}

/// An answer with a body and its length.
pub fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    bytes.extend(body);
    bytes
}

/// A server that keeps objects. `lets_in` says whether who asks may. Its host and port.
///
/// # Panics
/// There is no port.
pub fn store(lets_in: impl Fn(&Asked) -> bool + Send + Sync + 'static) -> String {
    let objects: Mutex<HashMap<String, Vec<u8>>> = Mutex::default();
    server(move |_, stream| {
        let mut out = stream.try_clone().expect("a handle");
        let mut input = BufReader::new(stream);
        let mut count = 0;
        while let Some(asked) = next(&mut input) {
            count += 1;
            let mut objects = objects.lock().expect("objects");
            let told = match asked.method.as_str() {
                _ if !lets_in(&asked) => answer("403 Forbidden", "", b"<Error/>"),
                "PUT" => {
                    objects.insert(asked.path, asked.body);
                    // An answer before the answer.
                    [
                        b"HTTP/1.1 100 Continue\r\n\r\n".to_vec(),
                        answer("201 Created", "", b""),
                    ]
                    .concat()
                }
                "GET" => match objects.get(&asked.path) {
                    None => answer("404 Not Found", "", &[b'x'; 5000]),
                    // In chunks, every other time.
                    Some(object) if count % 2 == 0 => {
                        let mut told = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
                        for chunk in object.chunks(10_000) {
                            told.extend(format!("{:x}\r\n", chunk.len()).bytes());
                            told.extend(chunk);
                            told.extend(b"\r\n");
                        }
                        told.extend(b"0\r\n\r\n");
                        told
                    }
                    Some(object) => answer("200 OK", "", object),
                },
                "DELETE" => match objects.remove(&asked.path) {
                    Some(_) => b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(),
                    None => answer("404 Not Found", "", b""),
                },
                other => panic!("{other}"),
            };
            drop(objects);
            if out.write_all(&told).is_err() {
                return;
            }
        }
    })
}
