//! The words of the NBD protocol: negotiation, requests, replies.
//!
//! Data in: bytes of a client, who is not trusted: all lengths are bounded before anything is allocated. Data out: what it
//! wants, and the bytes that answer it. It must not know where the data is, nor connections.

pub use fathom_core::nbd::REQUEST_BYTES_MAX;
use fathom_core::nbd::handshake::{FIXED_NEWSTYLE, NO_ZEROES};
use fathom_core::nbd::{
    GREETING, OPTION_MAGIC, OPTION_REPLY_MAGIC, PADDING_BYTES, RequestHeader, STRUCTURED_REPLY_MAGIC,
    SimpleReply, can, command, flag, info, option, reply,
};
use std::io::{self, Read, Write};

/// What a disk can: flush, FUA, trim, write zeroes, several connections, reads in one piece.
const FLAGS: u16 = can::HAS_FLAGS | can::FLUSH | can::FUA | can::TRIM | can::WRITE_ZEROES | can::MULTI_CONN;

/// The longest option that is read; what it says are names.
const OPTION_BYTES_MAX: u32 = 16 << 10;
/// Options that a client may send before it begins.
const OPTIONS_MAX: u32 = 128;
/// What `base:allocation` is called in replies.
const CONTEXT_ID: u32 = 1;
const CONTEXT: &[u8] = b"base:allocation";

/// Room for the header of a reply to a read, before its data.
pub(super) const SIMPLE_HEADROOM: usize = 16;
pub(super) const DATA_HEADROOM: usize = 28;

const EIO: u32 = 5;
const EINVAL: u32 = 22;
const ENOSPC: u32 = 28;

/// What can be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    pub name: String,
    pub size_bytes: u64,
}

/// What was agreed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Negotiated {
    /// The number of the export.
    pub export: usize,
    pub size_bytes: u64,
    pub structured: bool,
    /// Whether extents may be asked for.
    pub extents: bool,
}

/// What a client made of its greeting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreed {
    /// It wanted nothing.
    Nothing,
    Export(Negotiated),
    /// TLS begins now; what comes then is for [`negotiate_secured`].
    StartTls(Opening),
}

/// How a client began, before TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opening {
    no_zeroes: bool,
}

/// How TLS stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tls {
    /// There is none.
    Off,
    /// Nothing is said before it.
    Required,
    On,
}

/// Why a connection ends.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Io(io::Error),
    /// It said what the protocol does not have.
    #[error("{0}")]
    Protocol(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    Read,
    Write { forced: bool },
    Disconnect,
    Flush,
    Trim,
    WriteZeroes,
    BlockStatus { one: bool },
}

/// A request; the data of a write follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    pub command: Command,
    pub cookie: u64,
    pub offset_bytes: u64,
    pub len_bytes: u32,
    /// Flags that go with no such request.
    wrong_flags: bool,
}

/// An option as a client sent it.
struct ClientOption {
    number: u32,
    data: Vec<u8>,
}

/// Talks with a client until it has chosen an export, or is to speak TLS where that is required.
///
/// # Errors
/// It went, or spoke something else.
pub fn negotiate(
    stream: &mut (impl Read + Write),
    exports: &[Export],
    requires_tls: bool,
) -> Result<Agreed, Error> {
    let mut greeting = Vec::with_capacity(18);
    greeting.extend(GREETING.to_be_bytes());
    greeting.extend(OPTION_MAGIC.to_be_bytes());
    greeting.extend((FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes());
    stream.write_all(&greeting)?;
    let flags = u32::from_be_bytes(read(stream)?);
    if flags & !u32::from(FIXED_NEWSTYLE | NO_ZEROES) != 0 {
        return Err(Error::Protocol("the client has flags that nobody knows"));
    }
    let opening = Opening {
        no_zeroes: flags & u32::from(NO_ZEROES) != 0,
    };
    let tls = if requires_tls { Tls::Required } else { Tls::Off };
    options(stream, exports, opening, tls)
}

/// The same from where TLS has begun: what was said before it does not count.
///
/// # Errors
/// As of [`negotiate`].
pub fn negotiate_secured(
    stream: &mut (impl Read + Write),
    exports: &[Export],
    opening: Opening,
) -> Result<Agreed, Error> {
    options(stream, exports, opening, Tls::On)
}

fn options(
    stream: &mut (impl Read + Write),
    exports: &[Export],
    opening: Opening,
    tls: Tls,
) -> Result<Agreed, Error> {
    let mut talk = Talk {
        stream,
        exports,
        tls,
        no_zeroes: opening.no_zeroes,
        structured: false,
        context_of: None,
    };
    for _ in 0..OPTIONS_MAX {
        match talk.option()? {
            Step::Next => {}
            Step::Begin(export) => {
                return Ok(Agreed::Export(Negotiated {
                    export,
                    size_bytes: exports[export].size_bytes,
                    structured: talk.structured,
                    extents: talk.context_of == Some(export),
                }));
            }
            Step::Secure => return Ok(Agreed::StartTls(opening)),
            Step::End => return Ok(Agreed::Nothing),
        }
    }
    Err(Error::Protocol("the client negotiates without end"))
}

/// A negotiation.
struct Talk<'a, S> {
    stream: &'a mut S,
    exports: &'a [Export],
    tls: Tls,
    no_zeroes: bool,
    structured: bool,
    /// The export whose extents may be asked for.
    context_of: Option<usize>,
}

enum Step {
    Next,
    Begin(usize),
    Secure,
    End,
}

impl<S: Read + Write> Talk<'_, S> {
    fn option(&mut self) -> Result<Step, Error> {
        if u64::from_be_bytes(read(self.stream)?) != OPTION_MAGIC {
            return Err(Error::Protocol("no option where one is to be"));
        }
        let number = u32::from_be_bytes(read(self.stream)?);
        let len = u32::from_be_bytes(read(self.stream)?);
        if len > OPTION_BYTES_MAX {
            if len > REQUEST_BYTES_MAX || number == option::EXPORT_NAME {
                return Err(Error::Protocol("an option is too long"));
            }
            skip(self.stream, len)?;
            return self.reply(number, reply::TOO_BIG, &[]);
        }
        let mut data = vec![0; len as usize];
        self.stream.read_exact(&mut data)?;
        self.carry_out(&ClientOption { number, data })
    }

    fn carry_out(&mut self, asked: &ClientOption) -> Result<Step, Error> {
        let number = asked.number;
        match number {
            option::STARTTLS if self.tls == Tls::Off => self.reply(number, reply::UNSUPPORTED, &[]),
            option::STARTTLS if self.tls == Tls::On || !asked.data.is_empty() => {
                self.reply(number, reply::INVALID, &[])
            }
            option::STARTTLS => {
                self.reply(number, reply::ACK, &[])?;
                Ok(Step::Secure)
            }
            option::EXPORT_NAME if self.tls == Tls::Required => Err(Error::Protocol(
                "the client does not speak TLS, which is required",
            )),
            _ if self.tls == Tls::Required && number != option::ABORT => {
                self.reply(number, reply::TLS_REQUIRED, b"TLS is required")
            }
            option::EXPORT_NAME => self.export_name(&asked.data),
            option::ABORT => {
                // It may be gone without waiting for it.
                let _told = self.reply(number, reply::ACK, &[]);
                Ok(Step::End)
            }
            option::LIST if !asked.data.is_empty() => self.reply(number, reply::INVALID, &[]),
            option::LIST => {
                for export in self.exports {
                    let mut entry = (export.name.len() as u32).to_be_bytes().to_vec();
                    entry.extend(export.name.as_bytes());
                    self.reply(number, reply::SERVER, &entry)?;
                }
                self.reply(number, reply::ACK, &[])
            }
            option::INFO | option::GO => self.info(asked),
            option::STRUCTURED_REPLY if asked.data.is_empty() => {
                self.structured = true;
                self.reply(number, reply::ACK, &[])
            }
            option::STRUCTURED_REPLY => self.reply(number, reply::INVALID, &[]),
            option::LIST_META_CONTEXT | option::SET_META_CONTEXT => self.contexts(asked),
            _ => self.reply(number, reply::UNSUPPORTED, &[]),
        }
    }

    fn reply(&mut self, number: u32, kind: u32, data: &[u8]) -> Result<Step, Error> {
        let mut bytes = Vec::with_capacity(20 + data.len());
        bytes.extend(OPTION_REPLY_MAGIC.to_be_bytes());
        bytes.extend(number.to_be_bytes());
        bytes.extend(kind.to_be_bytes());
        bytes.extend((data.len() as u32).to_be_bytes());
        bytes.extend(data);
        self.stream.write_all(&bytes)?;
        Ok(Step::Next)
    }

    /// The export of that name; the first without one.
    fn find(&self, name: &[u8]) -> Option<usize> {
        if name.is_empty() && !self.exports.is_empty() {
            return Some(0);
        }
        self.exports
            .iter()
            .position(|export| export.name.as_bytes() == name)
    }

    fn flags(&self) -> u16 {
        if self.structured { FLAGS | can::DF } else { FLAGS }
    }

    /// The old way to begin, which has no way to refuse.
    fn export_name(&mut self, name: &[u8]) -> Result<Step, Error> {
        let export = self
            .find(name)
            .ok_or(Error::Protocol("the client asks for an export that there is not"))?;
        let mut bytes = self.exports[export].size_bytes.to_be_bytes().to_vec();
        bytes.extend(self.flags().to_be_bytes());
        if !self.no_zeroes {
            bytes.extend([0; PADDING_BYTES]);
        }
        self.stream.write_all(&bytes)?;
        Ok(Step::Begin(export))
    }

    fn info(&mut self, asked: &ClientOption) -> Result<Step, Error> {
        let number = asked.number;
        let Some(name) = name_and_informations(&asked.data) else {
            return self.reply(number, reply::INVALID, &[]);
        };
        let Some(export) = self.find(name) else {
            return self.reply(number, reply::UNKNOWN, b"there is no such export");
        };
        // NBD_INFO_EXPORT
        let mut told = info::EXPORT.to_be_bytes().to_vec();
        told.extend(self.exports[export].size_bytes.to_be_bytes());
        told.extend(self.flags().to_be_bytes());
        self.reply(number, reply::INFO, &told)?;
        // NBD_INFO_BLOCK_SIZE: any, pages rather, no more than the protocol has.
        let mut sizes = info::BLOCK_SIZE.to_be_bytes().to_vec();
        for size in [1, 4096, REQUEST_BYTES_MAX] {
            sizes.extend(size.to_be_bytes());
        }
        self.reply(number, reply::INFO, &sizes)?;
        self.reply(number, reply::ACK, &[])?;
        Ok(if number == option::GO {
            Step::Begin(export)
        } else {
            Step::Next
        })
    }

    fn contexts(&mut self, asked: &ClientOption) -> Result<Step, Error> {
        let number = asked.number;
        let sets = number == option::SET_META_CONTEXT;
        let Some((name, queries)) = name_and_queries(&asked.data).filter(|_| self.structured) else {
            return self.reply(number, reply::INVALID, &[]);
        };
        let Some(export) = self.find(name) else {
            return self.reply(number, reply::UNKNOWN, b"there is no such export");
        };
        let lists_all = !sets && queries.is_empty();
        let wanted = queries
            .iter()
            .any(|query| *query == CONTEXT || (!sets && *query == b"base:"));
        if sets {
            self.context_of = wanted.then_some(export);
        }
        if wanted || lists_all {
            let mut context = CONTEXT_ID.to_be_bytes().to_vec();
            context.extend(CONTEXT);
            self.reply(number, reply::META_CONTEXT, &context)?;
        }
        self.reply(number, reply::ACK, &[])
    }
}

/// A name with its length before it, and what follows.
fn counted(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = data.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_be_bytes(*len) as usize)
}

/// Of `NBD_OPT_INFO` and `NBD_OPT_GO`: the name; which informations are wanted does not matter.
fn name_and_informations(data: &[u8]) -> Option<&[u8]> {
    let (name, rest) = counted(data)?;
    let (count, rest) = rest.split_first_chunk::<2>()?;
    (rest.len() == usize::from(u16::from_be_bytes(*count)) * 2).then_some(name)
}

/// Of the options on contexts: the name, and what is asked for.
fn name_and_queries(data: &[u8]) -> Option<(&[u8], Vec<&[u8]>)> {
    let (name, rest) = counted(data)?;
    let (count, mut rest) = rest.split_first_chunk::<4>()?;
    let mut queries = Vec::new();
    for _ in 0..u32::from_be_bytes(*count) {
        let (query, after) = counted(rest)?;
        queries.push(query);
        rest = after;
    }
    rest.is_empty().then_some((name, queries))
}

impl Request {
    /// Reads the next request; `None`: the client has gone, between two of them.
    ///
    /// # Errors
    /// What comes is no request, or one whose data nobody could skip.
    pub fn read(input: &mut impl Read) -> Result<Option<Self>, Error> {
        let mut header = [0; RequestHeader::BYTES];
        let mut filled = 0;
        while filled < header.len() {
            match input.read(&mut header[filled..]) {
                Ok(0) if filled == 0 => return Ok(None),
                Ok(0) => return Err(Error::Protocol("a request is cut off")),
                Ok(some) => filled += some,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        let Some(RequestHeader {
            flags,
            command: kind,
            cookie,
            offset_bytes,
            len_bytes,
        }) = RequestHeader::from_bytes(&header)
        else {
            return Err(Error::Protocol("no request where one is to be"));
        };
        let (command, allowed) = match kind {
            command::READ => (Command::Read, flag::DF),
            command::WRITE => {
                let forced = flags & flag::FUA != 0;
                (Command::Write { forced }, 0)
            }
            command::DISCONNECT => (Command::Disconnect, 0),
            command::FLUSH => (Command::Flush, 0),
            command::TRIM => (Command::Trim, 0),
            command::WRITE_ZEROES => (Command::WriteZeroes, flag::NO_HOLE),
            command::BLOCK_STATUS => {
                let one = flags & flag::ONE != 0;
                (Command::BlockStatus { one }, flag::ONE)
            }
            _ => return Err(Error::Protocol("a command that was not offered")),
        };
        if matches!(command, Command::Write { .. }) && len_bytes > REQUEST_BYTES_MAX {
            return Err(Error::Protocol("a write of more than was agreed"));
        }
        // FUA goes with every command; with those that write nothing it means nothing.
        let wrong_flags = flags & !(allowed | flag::FUA) != 0;
        Ok(Some(Self {
            command,
            cookie,
            offset_bytes,
            len_bytes,
            wrong_flags,
        }))
    }

    /// Whether it can be carried out; else the protocol's number of the error.
    ///
    /// # Errors
    /// It cannot.
    pub fn check(&self, negotiated: &Negotiated) -> Result<(), u32> {
        if self.wrong_flags {
            return Err(EINVAL);
        }
        let end = self.offset_bytes.checked_add(u64::from(self.len_bytes));
        let inside = end.is_some_and(|end| end <= negotiated.size_bytes);
        match self.command {
            Command::Disconnect | Command::Flush => Ok(()),
            Command::Read if self.len_bytes > REQUEST_BYTES_MAX => Err(EINVAL),
            Command::BlockStatus { .. } if !negotiated.extents || self.len_bytes == 0 => Err(EINVAL),
            Command::Write { .. } | Command::WriteZeroes if !inside => Err(ENOSPC),
            _ if !inside => Err(EINVAL),
            _ => Ok(()),
        }
    }
}

/// The protocol's number of a system's error.
pub(super) fn errno(system: i32) -> u32 {
    match system {
        1 | 12 | 22 | 28 => system.cast_unsigned(),
        _ => EIO,
    }
}

/// A reply without data.
pub(super) fn simple(cookie: u64, errno: u32) -> Vec<u8> {
    SimpleReply { errno, cookie }.to_bytes().to_vec()
}

/// A chunk of a structured reply: the last one.
fn chunk(kind: u16, cookie: u64, len: u32) -> [u8; 20] {
    let mut header = [0; 20];
    header[..4].copy_from_slice(&STRUCTURED_REPLY_MAGIC.to_be_bytes());
    header[4..6].copy_from_slice(&1u16.to_be_bytes());
    header[6..8].copy_from_slice(&kind.to_be_bytes());
    header[8..16].copy_from_slice(&cookie.to_be_bytes());
    header[16..].copy_from_slice(&len.to_be_bytes());
    header
}

/// Writes the header into the room before the data of a read.
pub(super) fn data_header(bytes: &mut [u8], cookie: u64, structured: bool, request: &Request) {
    if structured {
        // NBD_REPLY_TYPE_OFFSET_DATA
        bytes[..20].copy_from_slice(&chunk(1, cookie, request.len_bytes + 8));
        bytes[20..28].copy_from_slice(&request.offset_bytes.to_be_bytes());
    } else {
        bytes[..16].copy_from_slice(&simple(cookie, 0));
    }
}

/// A read that failed, where replies are structured.
pub(super) fn structured_error(cookie: u64, errno: u32) -> Vec<u8> {
    let mut bytes = chunk((1 << 15) + 1, cookie, 6).to_vec();
    bytes.extend(errno.to_be_bytes());
    bytes.extend(0u16.to_be_bytes());
    bytes
}

/// Extents, each with whether it is a hole.
pub(super) fn extents(cookie: u64, extents: &[(u32, bool)]) -> Vec<u8> {
    let mut bytes = chunk(5, cookie, 4 + 8 * extents.len() as u32).to_vec();
    bytes.extend(CONTEXT_ID.to_be_bytes());
    for &(len, hole) in extents {
        bytes.extend(len.to_be_bytes());
        // A hole reads as zeros.
        bytes.extend(if hole { 3u32 } else { 0 }.to_be_bytes());
    }
    bytes
}

fn read<const N: usize>(input: &mut impl Read) -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn skip(input: &mut impl Read, len: u32) -> Result<(), Error> {
    let skipped = io::copy(&mut input.take(u64::from(len)), &mut io::sink())?;
    if skipped == u64::from(len) {
        Ok(())
    } else {
        Err(Error::Protocol("an option is cut off"))
    }
}

#[cfg(test)]
mod tests;
