//! Objects of a web server or of S3: a block each, whose name says where it would be.
//!
//! Data in: requests. Data out: their outcomes, one at a time. Nothing is allocated behind the start but by TLS, and where a
//! connection is made again.

mod sign;
mod wire;

use fathom_core::backend::{Backend, Capabilities, Errno, Op, Outcome, Request, Submit};
use fathom_core::units::MonoTime;
use fathom_core::workload::{Http, HttpMode};
use fathom_sys::arena::Arena;
use rustix::io::Errno as System;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use sign::{DATE_BYTES, Signed, Signer, date, escaped, sha256};
use std::io::{self, ErrorKind, Write};
use std::net::ToSocketAddrs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use wire::{Answer, Connection, Place};

/// Kinds of failures that are told in words.
const TOLD_MAX: usize = 16;

/// One connection to a server.
#[derive(Debug)]
pub struct HttpBackend {
    place: Place,
    connection: Option<Connection>,
    arena: Arena,
    host: String,
    /// What the names of the objects of each file begin with, escaped.
    prefixes: Vec<String>,
    storage_class: String,
    rights: Rights,
    head: Vec<u8>,
    path: String,
    told: Vec<(Errno, String)>,
}

#[derive(Debug)]
enum Rights {
    None,
    /// The value of `Authorization`.
    Basic(String),
    S3(Box<Signer>),
}

impl HttpBackend {
    /// Connects. `files`: addresses of what names begin with, as [`Http::url`] gives them; `patience`: how long anything may
    /// take.
    ///
    /// # Errors
    /// Nobody is there, or nobody who can be trusted.
    pub fn connect(http: &Http, files: &[PathBuf], arena: Arena, patience: Duration) -> io::Result<Self> {
        let place = Place {
            addresses: addresses(http)?,
            tls: http.tls.then(|| tls(&http.host)).transpose()?,
            patience,
        };
        let root = http.url("");
        let prefix = |file: &PathBuf| {
            let url = file.to_string_lossy();
            escaped(&format!("/{}", url.strip_prefix(&root).unwrap_or(&url)))
        };
        let prefixes: Vec<String> = files.iter().map(prefix).collect();
        let longest = prefixes.iter().map(String::len).max().unwrap_or(0);
        let rights = match http.mode {
            HttpMode::S3 => Rights::S3(Box::new(Signer::new(
                &http.s3_key_id,
                &http.s3_key.0,
                &http.s3_region,
            ))),
            HttpMode::Webdav if http.user.is_empty() => Rights::None,
            HttpMode::Webdav => {
                let both = format!("{}:{}", http.user, http.pass.0);
                Rights::Basic(format!("Basic {}", data_encoding::BASE64.encode(both.as_bytes())))
            }
        };
        let connection = Connection::open(&place)?;
        Ok(Self {
            place,
            connection: Some(connection),
            arena,
            host: http.host.clone(),
            prefixes,
            storage_class: http.s3_storage_class.clone(),
            rights,
            head: Vec::with_capacity(4096 + longest),
            // Two numbers behind it.
            path: String::with_capacity(longest + 44),
            told: Vec::new(),
        })
    }

    /// The head of a request; `body`: what it sends.
    fn prepare(&mut self, method: &str, request: &Request) {
        use std::fmt::Write as _;
        let Request {
            file, offset, len, ..
        } = *request;
        let Self { head, path, .. } = self;
        path.clear();
        // Writing to memory never fails.
        let _written = write!(path, "{}_{offset}_{len}", self.prefixes[file as usize]);
        head.clear();
        let _written = write!(
            head,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nUser-Agent: fathom\r\nAccept: */*\r\n",
            self.host
        );
        let body: &[u8] = if request.op == Op::Write {
            let _written = write!(
                head,
                "Content-Type: application/octet-stream\r\nContent-Length: {len}\r\n"
            );
            &self.arena.slot(request.slot)[..len as usize]
        } else {
            &[]
        };
        match &mut self.rights {
            Rights::None => {}
            Rights::Basic(value) => {
                let _written = write!(head, "Authorization: {value}\r\n");
            }
            Rights::S3(signer) => {
                let seconds = SystemTime::now()
                    .duration_since(UNIX_EPOCH)
                    .unwrap_or_default()
                    .as_secs();
                let date: [u8; DATE_BYTES] = date(seconds);
                let payload = sha256(body);
                let date = std::str::from_utf8(&date).unwrap_or_default();
                let payload = std::str::from_utf8(&payload).unwrap_or_default();
                let headers = [
                    ("host", self.host.as_str()),
                    ("x-amz-content-sha256", payload),
                    ("x-amz-date", date),
                    ("x-amz-storage-class", self.storage_class.as_str()),
                ];
                // Only what is new has a class.
                let headers = if request.op == Op::Write {
                    &headers[..]
                } else {
                    &headers[..3]
                };
                for (name, value) in &headers[1..] {
                    let _written = write!(head, "{name}: {value}\r\n");
                }
                head.extend(b"Authorization: ");
                let signed = Signed {
                    method,
                    path,
                    query: "",
                    headers,
                    payload,
                    date,
                };
                signer.authorize(&signed, head);
                head.extend(b"\r\n");
            }
        }
        head.extend(b"\r\n");
    }

    /// Asks on the connection that there is, or on a new one.
    fn ask(&mut self, request: &Request) -> io::Result<Answer> {
        let Self {
            place,
            connection,
            arena,
            head,
            ..
        } = self;
        let slot = &mut arena.slot_mut(request.slot)[..request.len as usize];
        loop {
            let mut current = match connection.take() {
                Some(current) => current,
                None => Connection::open(place)?,
            };
            let asked = if request.op == Op::Write {
                current.ask(head, slot, &mut [])
            } else {
                let room = if request.op == Op::Read {
                    &mut *slot
                } else {
                    &mut []
                };
                current.ask(head, &[], room)
            };
            match asked {
                Ok(answer) => {
                    if current.stays() {
                        *connection = Some(current);
                    }
                    return Ok(answer);
                }
                // Who closes a connection that is not used may do so while a request is on its way: all of these may be
                // asked twice.
                Err(error) if current.may_be_stale() && was_closed(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn carry_out(&mut self, request: &Request) -> Outcome {
        let method = match request.op {
            Op::Read => "GET",
            Op::Write => "PUT",
            Op::Trim => "DELETE",
            // What was put is there.
            Op::Sync | Op::DataSync => return Ok(0),
        };
        self.prepare(method, request);
        let answer = self.ask(request).map_err(|error| self.failed(&error))?;
        let fine = match request.op {
            Op::Read => answer.status == 200,
            Op::Trim => matches!(answer.status, 200..=204 | 404),
            _ => matches!(answer.status, 200..=204),
        };
        if !fine {
            return Err(self.refused(method, answer.status));
        }
        match (request.op, answer.body_bytes) {
            (Op::Read, bytes) if bytes > request.len.into() => {
                let words = format!("an object has {bytes} bytes where {} were put", request.len);
                Err(self.tell(System::FBIG, words))
            }
            (Op::Read, bytes) => Ok(bytes as u32),
            _ => Ok(request.len),
        }
    }

    #[cold]
    fn refused(&mut self, method: &str, status: u16) -> Errno {
        let errno = match status {
            401 | 403 => System::ACCESS,
            404 | 410 => System::NOENT,
            408 | 504 => System::TIMEDOUT,
            413 | 507 => System::NOSPC,
            _ => System::IO,
        };
        let why = match status {
            404 if method == "GET" => {
                ": nobody has put such an object: write first, with the same size and bs"
            }
            404 | 409 => ": is there such a directory or bucket?",
            _ => "",
        };
        self.tell(
            errno,
            format!("{method} {}: the server says {status}{why}", self.path),
        )
    }

    #[cold]
    fn failed(&mut self, error: &io::Error) -> Errno {
        let errno = error.raw_os_error().and_then(|number| {
            // Of a patience that ended.
            let again = number == System::AGAIN.raw_os_error();
            (!again).then(|| System::from_raw_os_error(number))
        });
        let errno = errno.unwrap_or(match error.kind() {
            ErrorKind::TimedOut | ErrorKind::WouldBlock => System::TIMEDOUT,
            ErrorKind::UnexpectedEof => System::CONNRESET,
            ErrorKind::InvalidData => System::PROTO,
            _ => System::IO,
        });
        self.tell(errno, format!("{}: {error}", self.host))
    }

    /// Keeps the words for the end.
    fn tell(&mut self, errno: System, words: String) -> Errno {
        let errno = Errno(errno.raw_os_error());
        let known = self.told.iter().any(|(known, _)| *known == errno);
        if !known && self.told.len() < TOLD_MAX {
            self.told.push((errno, words));
        }
        errno
    }
}

fn was_closed(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::UnexpectedEof
            | ErrorKind::ConnectionReset
            | ErrorKind::BrokenPipe
            | ErrorKind::ConnectionAborted
    )
}

/// Of the host, with its port or that of the protocol.
fn addresses(http: &Http) -> io::Result<Vec<std::net::SocketAddr>> {
    let port = if http.tls { 443 } else { 80 };
    let (host, port) = split_host(&http.host, port)
        .ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "its port is no number from 1 to 65535"))?;
    Ok((host, port).to_socket_addrs()?.collect())
}

/// Host and port of `host`, `host:port`, `[v6]:port`; `None`: the port is none.
fn split_host(host: &str, port: u16) -> Option<(&str, u16)> {
    let (name, rest) = match host.strip_prefix('[') {
        Some(inside) => inside.split_once(']')?,
        None => host.find(':').map_or((host, ""), |colon| host.split_at(colon)),
    };
    match rest.strip_prefix(':') {
        None => rest.is_empty().then_some((name, port)),
        Some(given) => Some((name, given.parse().ok().filter(|&port| port > 0)?)),
    }
}

/// Trusts whom the system trusts.
fn tls(host: &str) -> io::Result<(Arc<ClientConfig>, ServerName<'static>)> {
    let mut trusted = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    let (added, _unfit) = trusted.add_parsable_certificates(found.certs);
    if added == 0 {
        let words = "this machine trusts nobody: install ca-certificates, or set SSL_CERT_FILE";
        return Err(io::Error::new(ErrorKind::NotFound, words));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = builder.map_err(io::Error::other)?;
    let config = config.with_root_certificates(trusted).with_no_client_auth();
    let name = split_host(host, 443).map_or(host, |(name, _)| name);
    let name = ServerName::try_from(name.to_owned())
        .map_err(|error| io::Error::new(ErrorKind::InvalidInput, error))?;
    Ok((Arc::new(config), name))
}

impl Backend for HttpBackend {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            asynchronous: false,
            has_buffers: true,
        }
    }

    fn submit(&mut self, request: Request, _now: MonoTime) -> Submit {
        Submit::Done(self.carry_out(&request))
    }

    fn remark(&self, _file: u32, errno: Errno) -> Option<String> {
        let told = self.told.iter().find(|(known, _)| *known == errno);
        told.map(|(_, words)| words.clone())
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.arena.slot_mut(slot)
    }
}

#[cfg(test)]
mod tests;
