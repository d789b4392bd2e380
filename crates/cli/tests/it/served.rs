//! `--serve`: what a real Prometheus reads of a run, a recording and a modelled disk; what a browser shows; what is not answered.

mod cut;
#[path = "../../../report/tests/browser/devtools.rs"]
#[allow(dead_code, reason = "its users need different parts")]
pub(crate) mod devtools;
mod disk;
#[path = "../../../report/tests/browser/hostile.rs"]
mod hostile;
pub(crate) mod page;
pub(crate) mod prometheus;
mod refused;
mod sealed;

use crate::harness::{Place, finish, signal, start, tool};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command};
use std::time::Duration;

/// The program while it serves.
pub(crate) struct Serving {
    child: Option<Child>,
    /// Host and port.
    pub(crate) at: String,
}

impl Serving {
    /// Starts a command line with `--serve=0` in it, and waits until it says where it listens.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = start(command);
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let mut said = Vec::new();
        let at = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let at = line
                .strip_prefix("serving http://")
                .or_else(|| line.strip_prefix("serving https://"))
                .map(|rest| rest.split('/').next().unwrap_or("").to_owned());
            said.push(line);
            at
        });
        let at = at.unwrap_or_else(|| panic!("it does not serve: {said:?}"));
        // What it says later must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self {
            child: Some(child),
            at,
        }
    }

    /// The body of an answer.
    pub(crate) fn get(&self, path: &str) -> String {
        get(&self.at, path, "")
    }

    /// From now on it gets a CPU only where nobody else wants it.
    pub(crate) fn gives_way(&self) {
        let child = self.child.as_ref().expect("a child");
        tool(&format!("renice -n 19 -p {}", child.id())).expect("renice");
    }

    /// Ends it as Ctrl-C does; what it printed.
    pub(crate) fn end(mut self) -> String {
        let child = self.child.take().expect("a child");
        signal(&child, "INT");
        finish(child).stdout
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may have ended.
            let _gone = child.kill();
            let _gone = child.wait();
        }
    }
}

/// Asks for a path of a server, with further headers; the whole answer.
pub(crate) fn ask(at: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(at).expect("a connection");
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .expect("a time limit");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    String::from_utf8_lossy(&answer).into_owned()
}

/// The body of an answer with status 200.
pub(crate) fn get(at: &str, path: &str, headers: &str) -> String {
    let answer = ask(
        at,
        &format!("GET {path} HTTP/1.1\r\nHost: {at}\r\n{headers}Connection: close\r\n\r\n"),
    );
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    assert!(head.starts_with("HTTP/1.1 200"), "{path}: {head}\n{body}");
    if !head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        return body.to_owned();
    }
    let mut rest = body;
    let mut whole = String::new();
    while let Some((length, after)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).expect("a length");
        whole.push_str(&after[..length]);
        rest = &after[(length + 2).min(after.len())..];
    }
    whole
}

/// A load that takes so many seconds and little of the machine, and is served for a while after.
pub(crate) fn load(place: &Place, seconds: u32, more: &str) -> Serving {
    let line = format!(
        "run --name load --rw randrw --bs 4k --size 8m --iodepth 4 --ioengine libaio --rate_iops 300 --time_based --runtime {seconds} \
         --serve=0 --serve-after 90s -o none {more}"
    );
    let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    words.push(place.path("data").display().to_string());
    Serving::start(&mut place.command_of(words))
}
