//! How an export is opened: the connection, and what is agreed on it.
//!
//! Data in: an address; bytes of a server, who is not trusted: all lengths are bounded before anything is allocated, and all of
//! it has to be said within a time. Data out: a connection, and what the export is. It must not know requests.

use fathom_core::nbd::handshake::{FIXED_NEWSTYLE, NO_ZEROES};
use fathom_core::nbd::{
    GREETING, OPTION_MAGIC, OPTION_REPLY_MAGIC, PADDING_BYTES, Place, REQUEST_BYTES_MAX, Uri, can, info,
    option, option_bytes, reply, u16_at, u32_at, u64_at,
};
use fathom_sys::clock::monotonic_ns;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// The longest reply to an option that is read: names and messages.
const REPLY_BYTES_MAX: u32 = 64 << 10;
/// Replies that a server may give to one option.
const REPLIES_MAX: u32 = 64;
/// As much of a server's message as is told.
const WORDS_MAX: usize = 200;

/// What a server says of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Export {
    pub size_bytes: u64,
    /// Of [`can`].
    pub can: u16,
    /// What offsets and lengths have to be multiples of.
    pub block_bytes: u32,
    /// The longest request that moves data.
    pub request_bytes_max: u32,
}

/// A connection, which never blocks.
#[derive(Debug)]
pub(super) enum Wire {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl AsFd for Wire {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(stream) => stream.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
        }
    }
}

impl Wire {
    pub(super) fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => (&mut &*stream).read(buffer),
            Self::Tcp(stream) => (&mut &*stream).read(buffer),
        }
    }

    pub(super) fn write(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => (&mut &*stream).write_vectored(parts),
            Self::Tcp(stream) => (&mut &*stream).write_vectored(parts),
        }
    }

    /// Waits for what is asked for, `timeout` at most; it may be for less.
    pub(super) fn wait(&self, what: PollFlags, timeout: Duration) -> io::Result<()> {
        let timeout = Timespec {
            tv_sec: timeout.as_secs().min(1 << 20) as i64,
            tv_nsec: timeout.subsec_nanos().into(),
        };
        match poll(&mut [PollFd::new(self, what)], Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn connect(place: &Place, patience: Duration) -> io::Result<Self> {
        match place {
            Place::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_nonblocking(true)?;
                Ok(Self::Unix(stream))
            }
            Place::Tcp { host, port } => {
                let mut last = io::Error::new(ErrorKind::NotFound, "the host has no address");
                for address in (host.as_str(), *port).to_socket_addrs()? {
                    match TcpStream::connect_timeout(&address, patience) {
                        Ok(stream) => {
                            stream.set_nodelay(true)?;
                            stream.set_nonblocking(true)?;
                            return Ok(Self::Tcp(stream));
                        }
                        Err(error) => last = error,
                    }
                }
                Err(last)
            }
        }
    }
}

/// A connection on which all has to be said before a time.
struct Patient<'a> {
    wire: &'a Wire,
    until_ns: u64,
}

impl Patient<'_> {
    fn wait(&self, what: PollFlags) -> io::Result<()> {
        let left_ns = self.until_ns.saturating_sub(monotonic_ns());
        if left_ns == 0 {
            return Err(io::Error::new(ErrorKind::TimedOut, "the server does not answer"));
        }
        self.wire.wait(what, Duration::from_nanos(left_ns))
    }
}

impl Read for Patient<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.wire.read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait(PollFlags::IN)?,
                done => return done,
            }
        }
    }
}

impl Write for Patient<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.wire.write(&[IoSlice::new(bytes)]) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait(PollFlags::OUT)?,
                done => return done,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Connects and agrees, within `patience` each.
pub(super) fn open(uri: &Uri, patience: Duration) -> io::Result<(Wire, Export)> {
    agreed(Wire::connect(&uri.place, patience)?, &uri.export, patience)
}

/// The same over a connection that is there.
pub(super) fn agreed(wire: Wire, name: &str, patience: Duration) -> io::Result<(Wire, Export)> {
    let mut patient = Patient {
        wire: &wire,
        until_ns: monotonic_ns().saturating_add(patience.as_nanos() as u64),
    };
    let export = agree(&mut patient, name)?;
    Ok((wire, export))
}

fn wrong(words: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, words.into())
}

fn read<const N: usize>(stream: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream
        .read_exact(&mut bytes)
        .map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => {
                wrong("the server ended the connection before it had said what it serves")
            }
            _ => error,
        })?;
    Ok(bytes)
}

/// Asks for the export of this name.
///
/// # Errors
/// There is none, the server wants what is not spoken here, or speaks something else.
pub fn agree(stream: &mut (impl Read + Write), name: &str) -> io::Result<Export> {
    let greeting: [u8; 18] = read(stream)?;
    if u64_at(&greeting, 0) != GREETING {
        return Err(wrong("it is no NBD server"));
    }
    let theirs = u16_at(&greeting, 16);
    if u64_at(&greeting, 8) != OPTION_MAGIC || theirs & FIXED_NEWSTYLE == 0 {
        return Err(wrong(
            "the server speaks an old form of the protocol, without options",
        ));
    }
    let ours = theirs & (FIXED_NEWSTYLE | NO_ZEROES);
    stream.write_all(&u32::from(ours).to_be_bytes())?;
    let mut asked = (name.len() as u32).to_be_bytes().to_vec();
    asked.extend(name.as_bytes());
    // One more thing to be told: sizes of blocks.
    asked.extend(1u16.to_be_bytes());
    asked.extend(info::BLOCK_SIZE.to_be_bytes());
    stream.write_all(&option_bytes(option::GO, &asked))?;
    if let Some(export) = answers(stream)? {
        return checked(export);
    }
    // Servers of before 2017: the same without a way to refuse.
    stream.write_all(&option_bytes(option::EXPORT_NAME, name.as_bytes()))?;
    let told: [u8; 10] = read(stream)?;
    if ours & NO_ZEROES == 0 {
        let _padding: [u8; PADDING_BYTES] = read(stream)?;
    }
    checked(plain(u64_at(&told, 0), u16_at(&told, 8)))
}

fn plain(size_bytes: u64, can: u16) -> Export {
    Export {
        size_bytes,
        can,
        block_bytes: 1,
        request_bytes_max: REQUEST_BYTES_MAX,
    }
}

/// What is said to `NBD_OPT_GO`. `None`: the server does not know it.
fn answers(stream: &mut (impl Read + Write)) -> io::Result<Option<Export>> {
    let mut export = None;
    let mut blocks = None;
    for _ in 0..REPLIES_MAX {
        let header: [u8; 20] = read(stream)?;
        let (kind, len) = (u32_at(&header, 12), u32_at(&header, 16));
        if u64_at(&header, 0) != OPTION_REPLY_MAGIC || u32_at(&header, 8) != option::GO {
            return Err(wrong("the server answers what was not asked"));
        }
        if len > REPLY_BYTES_MAX {
            return Err(wrong(format!("the server answers an option with {len} bytes")));
        }
        let mut data = vec![0; len as usize];
        stream.read_exact(&mut data)?;
        match kind {
            reply::ACK => {
                let export: Export =
                    export.ok_or_else(|| wrong("the server does not say how large the export is"))?;
                let (block_bytes, most) = blocks.unwrap_or((1, REQUEST_BYTES_MAX));
                return Ok(Some(Export {
                    block_bytes,
                    request_bytes_max: most,
                    ..export
                }));
            }
            reply::INFO if data.len() < 2 => return Err(wrong("the server tells of nothing")),
            reply::INFO => match (u16_at(&data, 0), data.len()) {
                (info::EXPORT, 12) => export = Some(plain(u64_at(&data, 2), u16_at(&data, 10))),
                (info::BLOCK_SIZE, 14) => blocks = Some((u32_at(&data, 2), u32_at(&data, 10))),
                (info::EXPORT | info::BLOCK_SIZE, _) => {
                    return Err(wrong("what the server tells of the export has a wrong length"));
                }
                _ => {}
            },
            reply::UNSUPPORTED => return Ok(None),
            reply::UNKNOWN => return Err(wrong(format!("the server has no such export{}", said(&data)))),
            reply::TLS_REQUIRED => {
                return Err(wrong(
                    "the server wants TLS, which is not spoken here: serve the disk without, or on a socket",
                ));
            }
            kind if kind & reply::ERROR != 0 => {
                let number = kind & !reply::ERROR;
                return Err(wrong(format!(
                    "the server refuses (error {number}){}",
                    said(&data)
                )));
            }
            _ => return Err(wrong("the server answers what was not asked")),
        }
    }
    Err(wrong("the server answers without end"))
}

/// A server's own words, for a terminal.
fn said(data: &[u8]) -> String {
    let text = String::from_utf8_lossy(data);
    let text: String = text.chars().filter(|c| !c.is_control()).take(WORDS_MAX).collect();
    if text.is_empty() {
        text
    } else {
        format!(": {text}")
    }
}

/// Only what makes sense goes on.
fn checked(export: Export) -> io::Result<Export> {
    let block = export.block_bytes;
    if export.can & can::HAS_FLAGS == 0 {
        return Err(wrong("the server does not say what the export can do"));
    }
    if i64::try_from(export.size_bytes).is_err() {
        return Err(wrong("the server says that the export is larger than 8 EiB"));
    }
    if !block.is_power_of_two() || block > 64 << 10 || export.request_bytes_max < block {
        return Err(wrong("the sizes of blocks that the server says make no sense"));
    }
    Ok(Export {
        request_bytes_max: export.request_bytes_max.min(REQUEST_BYTES_MAX),
        ..export
    })
}
