//! One connection of HTTP/1.1: a request out, an answer in.
//!
//! Data in: the head of a request and its body; bytes of a server, who is not trusted: heads are bounded, bodies are taken into
//! a given room. Data out: a status, and how much there was. It must not know what requests mean.

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// The longest head of an answer, and how much is read at a time.
const BUFFER_BYTES: usize = 16 << 10;
const HEADERS_MAX: usize = 64;
/// Of a body that nobody wants so much is read, so that the connection can be used again.
const WASTE_MAX: u64 = 256 << 10;

/// Where a server is, and how it is spoken to.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) addresses: Vec<SocketAddr>,
    pub(super) tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    /// How long anything may take.
    pub(super) patience: Duration,
}

#[derive(Debug)]
enum Stream {
    Plain(TcpStream),
    Sealed(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Sealed(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Sealed(stream) => stream.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Sealed(stream) => stream.flush(),
        }
    }
}

/// What a server answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Answer {
    pub status: u16,
    /// Bytes of the body, of which as many as there was room for were taken.
    pub body_bytes: u64,
}

/// How long a body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    Bytes(u64),
    Chunks,
    ToTheEnd,
}

/// A connection, and what was read of it and not used yet.
#[derive(Debug)]
pub(super) struct Connection {
    stream: Stream,
    buffer: Box<[u8]>,
    from: usize,
    to: usize,
    /// Answers were read from it.
    used: bool,
    /// It may be used again.
    stays: bool,
}

impl Connection {
    pub(super) fn open(place: &Place) -> io::Result<Self> {
        let mut last = io::Error::new(ErrorKind::NotFound, "the host has no address");
        for address in &place.addresses {
            match TcpStream::connect_timeout(address, place.patience) {
                Ok(stream) => return Self::over(stream, place),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn over(stream: TcpStream, place: &Place) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(place.patience))?;
        stream.set_write_timeout(Some(place.patience))?;
        let stream = match &place.tls {
            None => Stream::Plain(stream),
            Some((config, name)) => {
                let session =
                    ClientConnection::new(Arc::clone(config), name.clone()).map_err(io::Error::other)?;
                let mut sealed = StreamOwned::new(session, stream);
                while sealed.conn.is_handshaking() {
                    sealed.conn.complete_io(&mut sealed.sock)?;
                }
                Stream::Sealed(Box::new(sealed))
            }
        };
        Ok(Self {
            stream,
            buffer: vec![0; BUFFER_BYTES].into(),
            from: 0,
            to: 0,
            used: false,
            stays: true,
        })
    }

    /// Whether it can take another request.
    pub(super) fn stays(&self) -> bool {
        self.stays
    }

    /// Whether a failure may be no more than that the server had closed it since the last request.
    pub(super) fn may_be_stale(&self) -> bool {
        self.used
    }

    /// Sends a request, and takes what of the answer's body there is room for; after an error it is of no use any more.
    pub(super) fn ask(&mut self, head: &[u8], body: &[u8], room: &mut [u8]) -> io::Result<Answer> {
        self.stays = false;
        self.stream.write_all(head)?;
        self.stream.write_all(body)?;
        self.stream.flush()?;
        let (status, length, stays) = loop {
            let (status, length, stays) = self.head()?;
            // An answer on the way to the answer.
            if status >= 200 {
                break (status, length, stays);
            }
        };
        let (mut taken, mut wasted) = (0, 0);
        let mut take = |bytes: &[u8]| {
            let fits = bytes.len().min(room.len() - taken);
            room[taken..taken + fits].copy_from_slice(&bytes[..fits]);
            taken += fits;
            wasted += (bytes.len() - fits) as u64;
            wasted <= WASTE_MAX
        };
        let whole = match length {
            Length::Bytes(bytes) => self.bytes(bytes, &mut take)?,
            Length::Chunks => self.chunks(&mut take)?,
            Length::ToTheEnd => self.until_the_end(&mut take)?,
        };
        self.used = true;
        self.stays = stays && whole && length != Length::ToTheEnd;
        Ok(Answer {
            status,
            body_bytes: taken as u64 + wasted,
        })
    }

    /// The head of an answer.
    fn head(&mut self) -> io::Result<(u16, Length, bool)> {
        loop {
            let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
            let mut answer = httparse::Response::new(&mut headers);
            let parsed = answer.parse(&self.buffer[self.from..self.to]);
            if let httparse::Status::Complete(bytes) = parsed.map_err(|_| lie("what is no HTTP"))? {
                let status = answer.code.unwrap_or(0);
                let (mut length, mut stays) = (Length::ToTheEnd, answer.version == Some(1));
                for header in &*answer.headers {
                    let value = std::str::from_utf8(header.value).unwrap_or_default().trim();
                    if header.name.eq_ignore_ascii_case("content-length") && length != Length::Chunks {
                        length = Length::Bytes(value.parse().map_err(|_| lie("a length that is no number"))?);
                    } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                        if !value.eq_ignore_ascii_case("chunked") {
                            return Err(lie("a body in an encoding that nobody asked for"));
                        }
                        length = Length::Chunks;
                    } else if header.name.eq_ignore_ascii_case("connection") {
                        stays &= !value.eq_ignore_ascii_case("close");
                    }
                }
                if status < 200 || matches!(status, 204 | 304) {
                    length = Length::Bytes(0);
                }
                self.from += bytes;
                return Ok((status, length, stays));
            }
            self.more()?;
        }
    }

    /// Reads more behind what is there.
    fn more(&mut self) -> io::Result<()> {
        if self.from > 0 {
            self.buffer.copy_within(self.from..self.to, 0);
            self.to -= self.from;
            self.from = 0;
        }
        if self.to == self.buffer.len() {
            return Err(lie("a head without end"));
        }
        match self.stream.read(&mut self.buffer[self.to..]) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(bytes) => {
                self.to += bytes;
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
            // As a socket says it whose patience ends.
            Err(error) if error.kind() == ErrorKind::WouldBlock => Err(ErrorKind::TimedOut.into()),
            Err(error) => Err(error),
        }
    }

    /// The next so many bytes; `false`: there are more than anybody wants.
    fn bytes(&mut self, mut left: u64, take: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<bool> {
        while left > 0 {
            if self.from == self.to {
                self.more()?;
                continue;
            }
            let here = (self.to - self.from).min(usize::try_from(left).unwrap_or(usize::MAX));
            let goes_on = take(&self.buffer[self.from..self.from + here]);
            self.from += here;
            left -= here as u64;
            if !goes_on {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn chunks(&mut self, take: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<bool> {
        loop {
            let parsed = httparse::parse_chunk_size(&self.buffer[self.from..self.to]);
            let httparse::Status::Complete((bytes, len)) =
                parsed.map_err(|_| lie("a chunk without a size"))?
            else {
                self.more()?;
                continue;
            };
            self.from += bytes;
            if len > 0 && !self.bytes(len, take)? {
                return Ok(false);
            }
            // The end of its line; behind the last chunk further headers may come, of which there are none as a rule.
            while self.to - self.from < 2 {
                self.more()?;
            }
            if self.buffer[self.from..self.from + 2] != *b"\r\n" {
                return if len == 0 {
                    Ok(false)
                } else {
                    Err(lie("a chunk that does not end"))
                };
            }
            self.from += 2;
            if len == 0 {
                return Ok(true);
            }
        }
    }

    fn until_the_end(&mut self, take: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<bool> {
        loop {
            let here = self.from..self.to;
            self.from = self.to;
            if !take(&self.buffer[here]) {
                return Ok(false);
            }
            match self.more() {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(true),
                Err(error) => return Err(error),
            }
        }
    }
}

#[cold]
fn lie(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("the server says {what}"))
}
