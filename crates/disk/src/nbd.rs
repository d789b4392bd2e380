//! The door of the network: the NBD protocol, fixed newstyle, without privileges.
//!
//! Data in: connections. Data out: I/O for the bench, its answers on the connection that asked, in the order in which they are
//! complete. Two threads a connection; what a client does not take is kept for it up to a bound, beyond which nothing more is
//! read from it: it holds up nobody else. It must not know the model.
//!
//! The protocol: <https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md>. With TLS, nothing is said before it.

mod connection;
mod output;
pub mod protocol;
mod secret;

use crate::bench::Bench;
use connection::Connection;
use fathom_door::socket::{self, SocketError, SocketName};
use protocol::Export;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use rustls::ServerConfig;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Connections at a time; a client with more waits.
const CONNECTIONS_MAX: usize = 64;
/// How long a client may take to say what it wants, TLS and all: one that says a byte now and then would keep its place for ever.
const NEGOTIATION: Duration = Duration::from_secs(if cfg!(test) { 2 } else { 20 });
/// How often the listener looks whether it is to end.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// Where to listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    Unix(PathBuf),
    Tcp(SocketAddr),
}

impl std::fmt::Display for Address {
    /// As NBD's clients take it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "nbd+unix:///?socket={}", path.display()),
            Self::Tcp(address) => write!(f, "nbd://{address}"),
        }
    }
}

/// Why nobody listens.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    #[error(transparent)]
    Socket(#[from] SocketError),
    #[error("{address}: {source}")]
    Io { address: Address, source: io::Error },
}

impl ListenError {
    /// Whether it was refused for safety: something of somebody else's is there.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Socket(taken) if taken.is_refusal())
    }
}

/// A server that listens. Dropped, it closes its connections and ends.
#[derive(Debug)]
pub struct Server {
    address: Address,
    is_sealed: bool,
    stop: Arc<AtomicBool>,
    connections: Connections,
    thread: Option<JoinHandle<()>>,
}

/// Those that are open.
type Connections = Arc<Mutex<Vec<Open>>>;

/// A connection, with a handle to end it by.
#[derive(Debug)]
struct Open {
    stream: Arc<Stream>,
    thread: JoinHandle<()>,
    since: Instant,
    /// Set when it has said what it wants.
    agreed: Arc<AtomicBool>,
}

impl Open {
    /// Ends one that takes too long to say what it wants.
    fn hurry(&self) {
        if !self.agreed.load(Ordering::Relaxed) && self.since.elapsed() > NEGOTIATION {
            self.stream.close();
        }
    }
}

#[derive(Debug)]
enum Listener {
    Unix {
        listener: UnixListener,
        /// Held for its drop.
        _name: SocketName,
    },
    Tcp(TcpListener),
}

/// A connection of either kind.
#[derive(Debug)]
pub(crate) enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    /// Ends it: who reads or writes is told.
    pub(crate) fn close(&self) {
        // It may be closed by the other side already.
        let _closed = match self {
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
        };
    }

    fn set_patience(&self, patience: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Unix(stream) => {
                stream.set_read_timeout(patience)?;
                stream.set_write_timeout(patience)
            }
            Self::Tcp(stream) => {
                stream.set_read_timeout(patience)?;
                stream.set_write_timeout(patience)
            }
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(stream) => stream.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
        }
    }
}

impl io::Read for &Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => (&mut &*stream).read(buffer),
            Stream::Tcp(stream) => (&mut &*stream).read(buffer),
        }
    }
}

impl io::Write for &Stream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => (&mut &*stream).write(buffer),
            Stream::Tcp(stream) => (&mut &*stream).write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Listener {
    fn bind(address: &Address) -> Result<Self, ListenError> {
        let failed = |source| ListenError::Io {
            address: address.clone(),
            source,
        };
        match address {
            Address::Tcp(at) => {
                let listener = TcpListener::bind(at).map_err(failed)?;
                listener.set_nonblocking(true).map_err(failed)?;
                Ok(Self::Tcp(listener))
            }
            Address::Unix(path) => {
                let (listener, name) = socket::listen(path)?;
                listener.set_nonblocking(true).map_err(failed)?;
                Ok(Self::Unix {
                    listener,
                    _name: name,
                })
            }
        }
    }

    /// The next connection; `None`: there is none at the moment.
    fn accept(&self) -> io::Result<Option<Stream>> {
        let accepted = match self {
            Self::Unix { listener, .. } => listener.accept().and_then(|(stream, _)| {
                stream.set_nonblocking(false)?;
                Ok(Stream::Unix(stream))
            }),
            Self::Tcp(listener) => listener.accept().and_then(|(stream, _)| {
                stream.set_nonblocking(false)?;
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }),
        };
        match accepted {
            Ok(stream) => Ok(Some(stream)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn address(&self, asked: &Address) -> Address {
        match self {
            // A port of 0 is any that is free.
            Self::Tcp(listener) => listener.local_addr().map_or_else(|_| asked.clone(), Address::Tcp),
            Self::Unix { .. } => asked.clone(),
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix { listener, .. } => listener.as_fd(),
            Self::Tcp(listener) => listener.as_fd(),
        }
    }
}

impl Server {
    /// Listens at `address` and serves all disks of `bench`, each under its name; the first also without one. `tls`: who this is
    /// and whom to trust; nothing is said to a client who does not speak it.
    ///
    /// # Errors
    /// See [`ListenError`].
    pub fn start(
        bench: &Arc<Bench>,
        address: &Address,
        tls: Option<Arc<ServerConfig>>,
    ) -> Result<Self, ListenError> {
        let listener = Listener::bind(address)?;
        let told = listener.address(address);
        let exports = (0..bench.disks()).map(|disk| Export {
            name: bench.name(disk).to_owned(),
            size_bytes: bench.store(disk).size_bytes(),
        });
        let exports: Arc<[Export]> = exports.collect();
        let stop = Arc::new(AtomicBool::new(false));
        let connections = Connections::default();
        let (bench, theirs, flag) = (Arc::clone(bench), Arc::clone(&connections), Arc::clone(&stop));
        let is_sealed = tls.is_some();
        let body = move || {
            let make = |stream, agreed| Connection {
                stream,
                agreed,
                bench: Arc::clone(&bench),
                exports: Arc::clone(&exports),
                tls: tls.clone(),
                stop: Arc::clone(&flag),
            };
            listen(&listener, &make, &theirs, &flag);
        };
        let thread = std::thread::Builder::new()
            .name(String::from("fathom-nbd"))
            .spawn(body);
        let thread = thread.map_err(|source| ListenError::Io {
            address: address.clone(),
            source,
        })?;
        Ok(Self {
            address: told,
            is_sealed,
            stop,
            connections,
            thread: Some(thread),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Where it listens, as NBD's clients take it.
    pub fn uri(&self) -> String {
        let uri = self.address.to_string();
        if self.is_sealed {
            uri.replacen("nbd", "nbds", 1)
        } else {
            uri
        }
    }

    /// Connections that are open.
    pub fn connections(&self) -> usize {
        let connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        connections
            .iter()
            .filter(|open| !open.thread.is_finished())
            .count()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // A panic of it was printed.
            let _ended = thread.join();
        }
        let open = std::mem::take(&mut *self.connections.lock().unwrap_or_else(PoisonError::into_inner));
        for one in &open {
            one.stream.close();
        }
        for one in open {
            let _ended = one.thread.join();
        }
    }
}

fn listen(
    listener: &Listener,
    make: &dyn Fn(Arc<Stream>, Arc<AtomicBool>) -> Connection,
    connections: &Connections,
    stop: &AtomicBool,
) {
    while !stop.load(Ordering::Acquire) {
        let mut wait = [PollFd::new(listener, PollFlags::IN)];
        // An interrupted wait is a look too many.
        let _ready = poll(&mut wait, Some(&LOOK));
        let mut open = connections.lock().unwrap_or_else(PoisonError::into_inner);
        open.iter().for_each(Open::hurry);
        open.retain(|one| !one.thread.is_finished());
        if open.len() >= CONNECTIONS_MAX {
            drop(open);
            std::thread::sleep(Duration::from_millis(50));
            continue;
        }
        // A connection that ended before it was taken, or no room for one: the next look finds better.
        let Ok(Some(stream)) = listener.accept() else {
            continue;
        };
        let stream = Arc::new(stream);
        let agreed = Arc::new(AtomicBool::new(false));
        let connection = make(Arc::clone(&stream), Arc::clone(&agreed));
        let thread = std::thread::Builder::new().name(String::from("fathom-nbd-in"));
        if let Ok(thread) = thread.spawn(move || connection.serve()) {
            open.push(Open {
                stream,
                thread,
                since: Instant::now(),
                agreed,
            });
        }
    }
}

#[cfg(test)]
mod tests;
