//! One client: from its greeting to its end.
//!
//! Data in: what it sends. Data out: I/O for the bench; answers. It must not know other clients.

use super::output::{Output, Outstanding};
use super::protocol::{
    self, Agreed, Command, DATA_HEADROOM, Error, Export, Negotiated, Request, SIMPLE_HEADROOM, data_header,
};
use super::secret::{Input, Tls, shake_hands};
use super::{NEGOTIATION, Stream};
use crate::bench::{Bench, Io, IoKind, Outcome};
use fathom_core::record::Comm;
use rustls::ServerConfig;
use std::io::{self, BufReader, Read, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long the last word to a client may take.
const FAREWELL: Duration = Duration::from_secs(1);
/// What a request for extents is answered with at most: a client asks again from where they end.
const EXTENTS_MAX: usize = 256;

/// An export that was agreed on, and what seals it.
type Begun = (Negotiated, Option<Arc<Tls>>);

pub(super) struct Connection {
    pub(super) stream: Arc<Stream>,
    /// To be set when it is agreed what the client wants.
    pub(super) agreed: Arc<AtomicBool>,
    pub(super) bench: Arc<Bench>,
    pub(super) exports: Arc<[Export]>,
    /// Whom to trust, and who this is; `None`: nothing is sealed.
    pub(super) tls: Option<Arc<ServerConfig>>,
    /// Set when the server ends.
    pub(super) stop: Arc<AtomicBool>,
}

impl Connection {
    /// Serves the client until it goes, or says what nobody can understand.
    pub(super) fn serve(self) {
        // Nobody is left to tell why it ended: the client knows.
        let _ended = self.negotiate_and_serve();
        self.stream.close();
    }

    fn negotiate_and_serve(&self) -> Result<(), Error> {
        self.stream.set_patience(Some(NEGOTIATION))?;
        let Some((negotiated, tls)) = self.agree()? else {
            return Ok(());
        };
        self.agreed.store(true, Ordering::Relaxed);
        self.stream.set_patience(None)?;
        let output = Output::new(Arc::clone(&self.stream), tls.clone(), Arc::clone(&self.stop));
        let output = Arc::new(output);
        let writer = Arc::clone(&output);
        let writer = std::thread::Builder::new()
            .name(String::from("fathom-nbd-out"))
            .spawn(move || writer.run())?;
        let input = Input::new(Arc::clone(&self.stream), tls.clone());
        let served = self.requests(&negotiated, input, &output);
        match served {
            Ok(()) => output.drain(),
            Err(_) => output.give_up(),
        }
        // A panic of it was printed.
        let _ended = writer.join();
        if let (Ok(()), Some(tls)) = (&served, tls) {
            self.stream.set_patience(Some(FAREWELL))?;
            // It may be gone without waiting for it.
            let _told = (&*self.stream).write_all(&tls.farewell()?);
        }
        served
    }

    /// Agrees on an export, by TLS where that is required; `None`: the client wants none.
    fn agree(&self) -> Result<Option<Begun>, Error> {
        let mut both = &*self.stream;
        let opening = match protocol::negotiate(&mut both, &self.exports, self.tls.is_some())? {
            Agreed::Nothing => return Ok(None),
            Agreed::Export(negotiated) => return Ok(Some((negotiated, None))),
            Agreed::StartTls(opening) => opening,
        };
        let Some(config) = &self.tls else {
            return Err(Error::Protocol("TLS was not offered"));
        };
        let mut connection = shake_hands(config, &self.stream)?;
        let mut sealed = rustls::Stream::new(&mut connection, &mut both);
        match protocol::negotiate_secured(&mut sealed, &self.exports, opening)? {
            Agreed::Export(negotiated) => Ok(Some((negotiated, Some(Arc::new(Tls::new(connection)))))),
            Agreed::Nothing | Agreed::StartTls(_) => Ok(None),
        }
    }

    fn requests(&self, negotiated: &Negotiated, input: Input, output: &Arc<Output>) -> Result<(), Error> {
        self.bench.raise_thread();
        let mut input = BufReader::with_capacity(64 << 10, input);
        let comm = Comm::from("nbd");
        loop {
            let Some(request) = Request::read(&mut input)? else {
                return Ok(());
            };
            let len = u64::from(request.len_bytes);
            let moves = matches!(request.command, Command::Read | Command::Write { .. });
            let Some(of) = output.admit(if moves { len } else { 0 }) else {
                return Ok(());
            };
            let mut data = Vec::new();
            if matches!(request.command, Command::Write { .. }) {
                // At most what `Request::read` lets through.
                data.resize(request.len_bytes as usize, 0);
                input.read_exact(&mut data)?;
            }
            let reply = Reply {
                output: Arc::clone(output),
                of,
                cookie: request.cookie,
                structured: negotiated.structured,
            };
            if let Err(errno) = request.check(negotiated) {
                reply.error(errno, request.command == Command::Read);
                continue;
            }
            let kind = match request.command {
                Command::Disconnect => {
                    output.answer(Vec::new(), of);
                    return Ok(());
                }
                Command::BlockStatus { one } => {
                    self.block_status(negotiated.export, &request, one, &reply);
                    continue;
                }
                Command::Read => IoKind::Read {
                    len_bytes: request.len_bytes,
                    headroom: if negotiated.structured {
                        DATA_HEADROOM
                    } else {
                        SIMPLE_HEADROOM
                    },
                },
                Command::Write { forced } => IoKind::Write { data: &data, forced },
                Command::Trim | Command::WriteZeroes => IoKind::Trim { len_bytes: len },
                Command::Flush => IoKind::Flush,
            };
            let io = Io {
                disk: negotiated.export,
                offset_bytes: request.offset_bytes,
                kind,
                pid: 0,
                comm,
            };
            self.bench
                .submit(io, Box::new(move |outcome| reply.give(&request, outcome)));
        }
    }

    /// Which of a range was never written. It is looked up, not modelled: a disk is not asked.
    fn block_status(&self, disk: usize, request: &Request, one: bool, reply: &Reply) {
        let store = self.bench.store(disk);
        let (mut at, end) = (
            request.offset_bytes,
            request.offset_bytes + u64::from(request.len_bytes),
        );
        let mut extents: Vec<(u32, bool)> = Vec::new();
        let most = if one { 1 } else { EXTENTS_MAX };
        while at < end && extents.len() < most {
            // What cannot be told is data.
            let (hole, len) = store.extent(at, end - at).unwrap_or((false, end - at));
            extents.push((len as u32, hole));
            at += len;
        }
        reply
            .output
            .answer(protocol::extents(reply.cookie, &extents), reply.of);
    }
}

/// Who waits for an answer.
struct Reply {
    output: Arc<Output>,
    of: Outstanding,
    cookie: u64,
    structured: bool,
}

impl Reply {
    fn give(self, request: &Request, outcome: Outcome) {
        let is_read = request.command == Command::Read;
        match outcome {
            Err(errno) => self.error(protocol::errno(errno.0), is_read),
            Ok(mut data) if is_read => {
                data_header(&mut data, self.cookie, self.structured, request);
                self.output.answer(data, self.of);
            }
            Ok(_) => self.output.answer(protocol::simple(self.cookie, 0), self.of),
        }
    }

    fn error(self, errno: u32, is_read: bool) {
        let bytes = if self.structured && is_read {
            protocol::structured_error(self.cookie, errno)
        } else {
            protocol::simple(self.cookie, errno)
        };
        self.output.answer(bytes, self.of);
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
