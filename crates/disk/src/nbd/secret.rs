//! TLS on a connection: what is sealed goes to the socket in the order in which it was sealed, what comes is opened by who reads.
//!
//! Data in: bytes of the protocol, bytes of the socket. Data out: the other kind. It must not know what the bytes say, nor whom to
//! trust: that is the configuration's.

use super::Stream;
use rustls::{ServerConfig, ServerConnection};
use std::io::{self, ErrorKind, Read, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is read of the socket at a time: a record.
const READ_BYTES: usize = 16 << 10;

/// A connection whose handshake is done. Two threads use it: one opens, one seals.
#[derive(Debug)]
pub(super) struct Tls(Mutex<ServerConnection>);

/// Does the handshake; whoever has no certificate where one is asked for is refused here.
///
/// # Errors
/// It failed.
pub(super) fn shake_hands(config: &Arc<ServerConfig>, stream: &Stream) -> io::Result<ServerConnection> {
    let mut connection = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
    // What may be outstanding is bounded where requests are taken.
    connection.set_buffer_limit(None);
    let mut socket = stream;
    while connection.is_handshaking() {
        connection.complete_io(&mut socket)?;
    }
    Ok(connection)
}

impl Tls {
    pub(super) fn new(connection: ServerConnection) -> Self {
        Self(Mutex::new(connection))
    }

    fn lock(&self) -> MutexGuard<'_, ServerConnection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The records that carry `plain`, and whatever TLS itself has to say before it.
    ///
    /// # Errors
    /// The connection has ended.
    pub(super) fn seal(&self, plain: &[u8]) -> io::Result<Vec<u8>> {
        let mut connection = self.lock();
        connection.writer().write_all(plain)?;
        written(&mut connection, plain.len())
    }

    /// The record that says that nothing more comes.
    ///
    /// # Errors
    /// As of [`Tls::seal`].
    pub(super) fn farewell(&self) -> io::Result<Vec<u8>> {
        let mut connection = self.lock();
        connection.send_close_notify();
        written(&mut connection, 0)
    }

    /// Some of what was opened; `None`: more of the socket is needed.
    fn opened(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.lock().reader().read(buffer) {
            Ok(n) => Ok(Some(n)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Takes some of what the socket gave.
    fn open(&self, sealed: &mut &[u8]) -> io::Result<()> {
        let mut connection = self.lock();
        connection.read_tls(sealed)?;
        let opened = connection.process_new_packets();
        opened
            .map(drop)
            .map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
    }
}

fn written(connection: &mut ServerConnection, len: usize) -> io::Result<Vec<u8>> {
    let mut sealed = Vec::with_capacity(len + len / 256 + 256);
    while connection.wants_write() {
        connection.write_tls(&mut sealed)?;
    }
    Ok(sealed)
}

/// What a client says, opened where it is sealed.
#[derive(Debug)]
pub(super) struct Input {
    stream: Arc<Stream>,
    tls: Option<Arc<Tls>>,
    sealed: Vec<u8>,
    /// What of it was taken.
    taken: usize,
}

impl Input {
    pub(super) fn new(stream: Arc<Stream>, tls: Option<Arc<Tls>>) -> Self {
        Self {
            stream,
            tls,
            sealed: Vec::new(),
            taken: 0,
        }
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &self.tls else {
            return (&*self.stream).read(buffer);
        };
        loop {
            if let Some(n) = tls.opened(buffer)? {
                return Ok(n);
            }
            if self.taken == self.sealed.len() {
                self.sealed.resize(READ_BYTES, 0);
                let n = (&*self.stream).read(&mut self.sealed)?;
                self.sealed.truncate(n);
                self.taken = 0;
                if n == 0 {
                    return Ok(0);
                }
            }
            let mut rest = &self.sealed[self.taken..];
            tls.open(&mut rest)?;
            self.taken = self.sealed.len() - rest.len();
        }
    }
}
