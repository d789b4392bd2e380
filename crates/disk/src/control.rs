//! The socket by which a server is asked how its disks stand, and told to do something to them.
//!
//! Data in: lines, each a request: `status`, `mark` (as `status`, and a new interval begins), or `fault WORDS`. Data out: a line of JSON for each. Only the user who serves may
//! connect: the socket lies in a directory of theirs alone. It must not know who asks.

use crate::bench::Bench;
use crate::fault;
use crate::nbd::ListenError;
use crate::status::{self, Mark};
use fathom_core::served::{Interval, Status};
use fathom_door::socket::{self, SocketName};
use serde::Serialize;
use serde_json::json;
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// No request is longer.
const LINE_BYTES_MAX: u64 = 4096;
/// How long one who connects may take for a request.
const PATIENCE: Duration = Duration::from_secs(5);

/// The last look at the disks, for who asks.
pub type Latest = Arc<Mutex<Option<Status>>>;

/// What who asks is told.
#[derive(Debug, Serialize)]
struct Standing {
    #[serde(flatten)]
    status: Status,
    /// Since the last mark, or since the disks are served.
    interval: Interval,
}

/// A socket that is served. Dropped, it is gone.
#[derive(Debug)]
pub struct Control {
    path: PathBuf,
    /// Held for its drop.
    _name: SocketName,
    latest: Latest,
}

impl Control {
    /// Serves requests at `path`, in a directory that is made where it is missing.
    ///
    /// # Errors
    /// See [`ListenError`].
    pub fn start(bench: &Arc<Bench>, path: &Path) -> Result<Self, ListenError> {
        let failed = |source| ListenError::Io {
            address: crate::nbd::Address::Unix(path.to_owned()),
            source,
        };
        if let Some(directory) = path
            .parent()
            .filter(|directory| !directory.as_os_str().is_empty())
            && !directory.exists()
        {
            fathom_door::own::make_private_directory(directory).map_err(failed)?;
        }
        let (listener, name) = socket::listen(path)?;
        let latest = Latest::default();
        let (bench, theirs) = (Arc::clone(bench), Arc::clone(&latest));
        let mut mark = Mark::start(&bench);
        // It ends with the program: nothing waits for it.
        let body = move || {
            for stream in listener.incoming().filter_map(Result::ok) {
                // Who asked and went does not want to know.
                let _answered = serve(&stream, &bench, &theirs, &mut mark);
            }
        };
        let thread = std::thread::Builder::new().name(String::from("fathom-control"));
        thread.spawn(body).map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            _name: name,
            latest,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What who asks from now on is told.
    pub fn show(&self, status: Status) {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(status);
    }
}

fn serve(stream: &UnixStream, bench: &Bench, latest: &Latest, mark: &mut Mark) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut lines = BufReader::new(stream.take(LINE_BYTES_MAX));
    let mut line = String::new();
    lines.read_line(&mut line)?;
    let answer = answer(line.trim(), bench, latest, mark);
    let mut stream = stream;
    writeln!(stream, "{answer}")
}

/// The answer to one request.
fn answer(line: &str, bench: &Bench, latest: &Latest, mark: &mut Mark) -> serde_json::Value {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    match word {
        "status" | "mark" => {
            let latest = latest.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let standing = latest.map(|mut status| {
                status::refresh(&mut status, bench);
                let now = Mark::now(bench);
                let interval = mark.until(&now);
                if word == "mark" {
                    *mark = now;
                }
                Standing { status, interval }
            });
            json!(standing)
        }
        "fault" => {
            let done = fault::parse(rest).and_then(|(disk, fault)| bench.apply(disk.as_deref(), &fault));
            match done {
                Ok(said) => json!({ "done": said }),
                Err(error) => json!({ "error": error.to_string() }),
            }
        }
        _ => json!({ "error": format!("`{word}` is no request: status, mark, or fault WORDS") }),
    }
}

/// Asks the server whose socket is at `path`.
///
/// # Errors
/// Nobody serves there, or what comes back is no answer.
pub fn ask(path: &Path, request: &str) -> io::Result<serde_json::Value> {
    let mut stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(PATIENCE * 12))?;
    writeln!(stream, "{request}")?;
    let mut answer = String::new();
    BufReader::new(&stream).read_line(&mut answer)?;
    Ok(serde_json::from_str(&answer)?)
}
