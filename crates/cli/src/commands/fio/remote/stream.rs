//! A connection of either kind, and who waits for one.
//!
//! Data in: an address. Data out: a stream of bytes. It must not know what is said.

use anyhow::Context;
use fathom_door::socket::{self, SocketName};
use fathom_remote::Address;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

/// A connection.
pub(super) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    /// # Errors
    /// Nobody answers there.
    pub(super) fn connect(address: &Address) -> anyhow::Result<Self> {
        let what = || format!("cannot connect to {address}");
        match address {
            Address::Host { host, port } => {
                let host = if host.is_empty() { "localhost" } else { host };
                let stream = TcpStream::connect((host, *port)).with_context(what)?;
                // Messages are whole: to wait for more of them helps nobody.
                stream.set_nodelay(true).with_context(what)?;
                Ok(Self::Tcp(stream))
            }
            Address::Socket(path) => Ok(Self::Unix(UnixStream::connect(path).with_context(what)?)),
        }
    }

    /// The same connection once more.
    pub(super) fn again(&self) -> io::Result<Self> {
        match self {
            Self::Tcp(stream) => stream.try_clone().map(Self::Tcp),
            Self::Unix(stream) => stream.try_clone().map(Self::Unix),
        }
    }

    /// How long the other side may say nothing; `None`: for ever.
    pub(super) fn patience(&self, patience: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_read_timeout(patience),
            Self::Unix(stream) => stream.set_read_timeout(patience),
        }
    }

    /// Ends it, for both sides.
    pub(super) fn end(&self) {
        // The other side may have done so.
        let _ended = match self {
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }

    /// Where the other side is, where it is on a network.
    pub(super) fn peer_address(&self) -> Option<String> {
        match self {
            Self::Tcp(stream) => stream.peer_addr().ok().map(|peer| peer.ip().to_string()),
            Self::Unix(_) => None,
        }
    }

    /// Who is at the other side, in words.
    pub(super) fn peer(&self) -> String {
        match self {
            Self::Tcp(stream) => stream
                .peer_addr()
                .map_or_else(|_| String::from("somebody"), |peer| peer.to_string()),
            Self::Unix(_) => String::from("a process of this machine"),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.flush(),
            Self::Unix(stream) => stream.flush(),
        }
    }
}

/// Who waits for connections.
pub(super) enum Listener {
    Tcp(TcpListener),
    Unix {
        listener: UnixListener,
        /// Held for its drop.
        _name: SocketName,
    },
}

impl Listener {
    /// # Errors
    /// Somebody else listens there, or may not be listened at.
    pub(super) fn bind(address: &Address) -> anyhow::Result<Self> {
        let what = || format!("cannot listen at {address}");
        match address {
            Address::Host { host, port } => {
                let host = if host.is_empty() { "0.0.0.0" } else { host };
                Ok(Self::Tcp(TcpListener::bind((host, *port)).with_context(what)?))
            }
            Address::Socket(path) => {
                let (listener, name) = socket::listen(path).with_context(what)?;
                Ok(Self::Unix {
                    listener,
                    _name: name,
                })
            }
        }
    }

    /// The next one who calls.
    pub(super) fn next(&self) -> io::Result<Stream> {
        match self {
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }
            Self::Unix { listener, .. } => listener.accept().map(|(stream, _)| Stream::Unix(stream)),
        }
    }
}
