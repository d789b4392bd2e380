//! A stream of blocks to or from somebody on a network, or on a socket of this machine: one connection a worker, one block at a
//! time, as fio's engine `net` speaks it.
//!
//! Data in: requests; bytes of the other side, who is not trusted: they go into buffers of a given size and nowhere else. Data
//! out: their outcomes. Nothing is allocated behind the start, and nothing waits for ever: not behind Ctrl-C, not behind the
//! runtime, and not for somebody who says nothing.

mod place;
mod wire;

use fathom_core::backend::{Backend, BackendError, Capabilities, Errno, Op, Outcome, Request, Submit};
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::workload::{Job, Net, NetSide};
use fathom_door::socket::SocketName;
use fathom_sys::arena::Arena;
use fathom_sys::clock::monotonic_ns;
use place::{Peer, Place, socket};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno as System;
use rustix::time::Timespec;
use socket2::SockAddr;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wire::{CLOSE, Numbers, OPEN, number_of, write_number};

/// An I/O ends with this where there is nothing more to move: the other side has gone, or the time is over.
pub const OVER: Errno = Errno(System::SHUTDOWN.raw_os_error());

/// How often it is looked whether it is over, while nothing comes or goes.
const LOOK: Duration = Duration::from_millis(20);
/// The longest datagram, and what of a stream is taken back at a time.
const ECHO_BYTES: usize = 64 << 10;
/// What fails where nobody is there.
const CALL: &str = "net";

/// How long it goes on.
#[derive(Debug, Clone)]
pub struct Lasts {
    /// It ends at once.
    pub stop: Arc<AtomicBool>,
    /// It ends with the block that is on its way.
    pub enough: Arc<AtomicBool>,
    /// From when both sides are there; before that, how long is waited for the other one. `None`: until it is stopped.
    pub time: Option<Nanos>,
    /// So long the other side may be silent, and may take to connect to.
    pub patience: Duration,
}

/// [`Lasts`] under way.
#[derive(Debug)]
struct Watch {
    lasts: Lasts,
    until_ns: u64,
}

impl Watch {
    /// The time begins now.
    fn begin(&mut self) {
        let time = self.lasts.time;
        self.until_ns = time.map_or(u64::MAX, |time| monotonic_ns().saturating_add(time.0));
    }

    fn is_stopped(&self) -> bool {
        self.lasts.stop.load(Ordering::Relaxed) || self.lasts.enough.load(Ordering::Relaxed)
    }

    fn is_late(&self) -> bool {
        monotonic_ns() >= self.until_ns
    }

    /// Waits for `what`, until `patience` ends, or it is over: `false`.
    fn wait(&self, on: impl AsFd, what: PollFlags, patience: Option<Duration>) -> io::Result<bool> {
        let begun_ns = monotonic_ns();
        let look = Timespec {
            tv_sec: 0,
            tv_nsec: LOOK.subsec_nanos().into(),
        };
        loop {
            match poll(&mut [PollFd::new(&on, what)], Some(&look)) {
                Ok(0) | Err(System::INTR) => {}
                Ok(_) => return Ok(true),
                Err(error) => return Err(error.into()),
            }
            if self.is_stopped() {
                return Ok(false);
            }
            let waited = Duration::from_nanos(monotonic_ns().saturating_sub(begun_ns));
            if self.is_late() || patience.is_some_and(|patience| waited >= patience) {
                return Err(System::TIMEDOUT.into());
            }
        }
    }
}

/// One side of a stream of blocks.
#[derive(Debug)]
pub struct NetBackend {
    net: Net,
    side: NetSide,
    /// `None`: both sides have met.
    place: Option<Place>,
    /// `None`: they have not, or not any more.
    peer: Option<Peer>,
    /// The name of its socket among files, which goes with it.
    file: Option<SocketName>,
    arena: Arena,
    /// What is sent back to a sender that waits for it; else empty.
    echo: Box<[u8]>,
    /// Datagrams have numbers: unless what they hold is verified, and so belongs to the block.
    has_numbers: bool,
    numbers: Numbers,
    is_over: bool,
    watch: Watch,
    told: Option<(Errno, String)>,
}

impl NetBackend {
    /// The side of worker `number` of `job`, with a block in `arena`. Where it listens, it does so from now on.
    ///
    /// # Errors
    /// It cannot listen there, or the other side has no address.
    pub fn new(job: &Job, number: u32, arena: Arena, lasts: Lasts) -> io::Result<Self> {
        let side = job.net_side(number);
        let place = Place::open(&job.net, &side)?;
        let echo = if job.net.pingpong && !side.receives {
            ECHO_BYTES
        } else {
            0
        };
        Ok(Self {
            net: job.net.clone(),
            side,
            place: Some(place),
            peer: None,
            file: None,
            arena,
            echo: vec![0; echo].into(),
            has_numbers: job.verify.is_none(),
            numbers: Numbers::default(),
            is_over: false,
            watch: Watch {
                lasts,
                until_ns: u64::MAX,
            },
            told: None,
        })
    }

    /// Waits for the other side, or goes to it. `None`: it is over before they have met.
    fn meet(&mut self) -> io::Result<Option<Peer>> {
        let Some(place) = self.place.take() else {
            return Ok(None);
        };
        let watch = &self.watch;
        match place {
            Place::TcpHere(listener) => {
                if !watch.wait(&listener, PollFlags::IN, None)? {
                    return Ok(None);
                }
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(self.net.nodelay)?;
                Ok(Some(Peer::Tcp(stream)))
            }
            Place::UnixHere(listener, file) => {
                self.file = Some(file);
                if !watch.wait(&listener, PollFlags::IN, None)? {
                    return Ok(None);
                }
                let (stream, _) = listener.accept()?;
                Ok(Some(Peer::Unix(stream)))
            }
            Place::UdpHere(socket) => loop {
                if !watch.wait(&socket, PollFlags::IN, None)? {
                    return Ok(None);
                }
                let mut word = [0; 9];
                // What somebody says who does not open is not for this side.
                if let (8, from) = socket.recv_from(&mut word)?
                    && word[..8] == OPEN
                {
                    return Ok(Some(Peer::Udp(socket, from)));
                }
            },
            Place::TcpThere(addresses) => self.connect(&addresses),
            Place::UnixThere(path) => Ok(Some(Peer::Unix(UnixStream::connect(path)?))),
            Place::UdpThere(socket, to) => {
                socket.send_to(&OPEN, to)?;
                Ok(Some(Peer::Udp(socket, to)))
            }
        }
    }

    /// To the first of `addresses` that answers.
    fn connect(&self, addresses: &[SocketAddr]) -> io::Result<Option<Peer>> {
        let mut last = io::Error::from(ErrorKind::NotFound);
        for address in addresses {
            let socket = socket(&self.net, &self.side)?;
            socket.set_nonblocking(true)?;
            let begun = socket.connect(&SockAddr::from(*address));
            let ended = match begun {
                Err(error) if error.raw_os_error() == Some(System::INPROGRESS.raw_os_error()) => {
                    let patience = Some(self.watch.lasts.patience);
                    match self.watch.wait(&socket, PollFlags::OUT, patience) {
                        Ok(false) => return Ok(None),
                        Ok(true) => socket.take_error()?.map_or(Ok(()), Err),
                        Err(error) => Err(error),
                    }
                }
                begun => begun,
            };
            match ended {
                Ok(()) => return Ok(Some(Peer::Tcp(TcpStream::from(socket)))),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// One block of what comes.
    fn receive(&mut self, slot: u32, len: usize) -> Outcome {
        let mut have = 0;
        let mut waits = 0;
        loop {
            let Some(peer) = self.peer.as_ref().filter(|_| !self.is_over) else {
                return ended(have);
            };
            let is_stream = !matches!(peer, Peer::Udp(..));
            let room = &mut self.arena.slot_mut(slot)[have..len];
            match peer.read(room) {
                Ok(0) if is_stream => self.is_over = true,
                Ok(bytes) if is_stream => {
                    have += bytes;
                    waits = 0;
                    if self.arena.slot(slot)[..have].ends_with(&CLOSE) {
                        have -= CLOSE.len();
                        self.is_over = true;
                    } else if have == len {
                        return self.give_back(slot, len);
                    }
                }
                Ok(bytes) => match &room[..bytes] {
                    [] => {}
                    word if *word == CLOSE => self.is_over = true,
                    // It was said twice.
                    word if *word == OPEN => {}
                    datagram => {
                        if let Some(number) = number_of(datagram).filter(|_| self.has_numbers) {
                            self.numbers.came(number);
                        }
                        return self.give_back(slot, bytes);
                    }
                },
                Err(error) if is_idle(&error) => {
                    if let Some(errno) = self.idles(&mut waits, true) {
                        return Err(errno);
                    }
                }
                Err(error) => return Err(self.failed(&error)),
            }
        }
    }

    /// What came goes back where that is waited for.
    fn give_back(&mut self, slot: u32, len: usize) -> Outcome {
        if self.net.pingpong {
            self.push(slot, len)?;
        }
        Ok(len as u32)
    }

    /// Sends one block; waits until it has come back where that is asked for.
    fn send(&mut self, slot: u32, len: usize) -> Outcome {
        if self.has_numbers && self.net.protocol.is_udp() {
            let number = self.numbers.take();
            write_number(&mut self.arena.slot_mut(slot)[..len], number);
        }
        self.push(slot, len)?;
        if self.net.pingpong {
            self.take_back(len)?;
        }
        Ok(len as u32)
    }

    /// What is in a slot, to its end.
    fn push(&mut self, slot: u32, len: usize) -> Result<(), Errno> {
        let (mut sent, mut waits) = (0, 0);
        while sent < len {
            let Some(peer) = &self.peer else {
                return Err(OVER);
            };
            match peer.write(&self.arena.slot(slot)[sent..len]) {
                Ok(bytes) => {
                    sent += bytes;
                    waits = 0;
                }
                Err(error) if is_idle(&error) => {
                    // A block that is on its way is sent whole.
                    if let Some(errno) = self.idles(&mut waits, sent == 0) {
                        return Err(errno);
                    }
                }
                Err(error) => return Err(self.failed(&error)),
            }
        }
        Ok(())
    }

    /// As much as was sent; what it is nobody looks at.
    fn take_back(&mut self, len: usize) -> Result<(), Errno> {
        let (mut left, mut waits) = (len, 0);
        while left > 0 {
            let Some(peer) = &self.peer else {
                return Err(OVER);
            };
            let most = left.min(self.echo.len());
            match peer.read(&mut self.echo[..most]) {
                Ok(bytes) if bytes == 0 || self.echo[..bytes] == CLOSE && len != CLOSE.len() => {
                    return Err(self.failed(&System::PIPE.into()));
                }
                Ok(_) if matches!(peer, Peer::Udp(..)) => return Ok(()),
                Ok(bytes) => {
                    left -= bytes;
                    waits = 0;
                }
                Err(error) if is_idle(&error) => {
                    if let Some(errno) = self.idles(&mut waits, true) {
                        return Err(errno);
                    }
                }
                Err(error) => return Err(self.failed(&error)),
            }
        }
        Ok(())
    }

    /// Nothing came or went for [`LOOK`]. `Some`: so it ends, also by its time where it `may_end`.
    #[cold]
    fn idles(&mut self, waits: &mut u32, may_end: bool) -> Option<Errno> {
        *waits += 1;
        let stop = self.watch.lasts.stop.load(Ordering::Relaxed);
        if stop || may_end && (self.watch.is_stopped() || self.watch.is_late()) {
            self.is_over = true;
            return Some(OVER);
        }
        let patience = self.watch.lasts.patience;
        if LOOK * *waits < patience {
            return None;
        }
        let does = if self.side.receives {
            "has said nothing"
        } else {
            "has taken nothing"
        };
        let words = format!("the other side {does} for {} s", patience.as_secs_f64());
        Some(self.tell(System::TIMEDOUT, words))
    }

    #[cold]
    fn failed(&mut self, error: &io::Error) -> Errno {
        let errno = error.raw_os_error().map_or(System::IO, System::from_raw_os_error);
        let words = match errno {
            System::PIPE | System::CONNRESET => {
                String::from("the other side ended the connection before it was over")
            }
            System::MSGSIZE => String::from("the block is longer than a datagram can be"),
            _ => error.to_string(),
        };
        self.tell(errno, words)
    }

    /// Keeps the words for the end.
    fn tell(&mut self, errno: System, words: String) -> Errno {
        let errno = Errno(errno.raw_os_error());
        self.told.get_or_insert((errno, words));
        errno
    }
}

/// What is left of a block when nothing more comes.
fn ended(have: usize) -> Outcome {
    if have == 0 { Err(OVER) } else { Ok(have as u32) }
}

fn is_idle(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

impl Backend for NetBackend {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            asynchronous: false,
            has_buffers: true,
        }
    }

    fn begin(&mut self) -> Result<(), BackendError> {
        self.watch.begin();
        let met = self.meet().and_then(|peer| {
            if let Some(peer) = &peer {
                peer.wait_for(LOOK)?;
            }
            Ok(peer)
        });
        self.peer = met.map_err(|source| BackendError { call: CALL, source })?;
        self.watch.begin();
        Ok(())
    }

    fn submit(&mut self, request: Request, _now: MonoTime) -> Submit {
        let len = request.len as usize;
        Submit::Done(match request.op {
            Op::Read => self.receive(request.slot, len),
            Op::Write => self.send(request.slot, len),
            Op::Trim => Err(Errno(System::OPNOTSUPP.raw_os_error())),
            // What was sent is not on this machine any more.
            Op::Sync | Op::DataSync => Ok(0),
        })
    }

    fn lost(&self) -> u64 {
        self.numbers.lost
    }

    fn remark(&self, _file: u32, errno: Errno) -> Option<String> {
        let told = self.told.as_ref().filter(|(known, _)| *known == errno);
        told.map(|(_, words)| words.clone())
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.arena.slot_mut(slot)
    }
}

impl Drop for NetBackend {
    fn drop(&mut self) {
        if let Some(peer) = &self.peer {
            // Who is not told sees the end of the connection, or says nothing more.
            let _told = peer.never_wait().and_then(|()| peer.write(&CLOSE));
        }
        drop(self.file.take());
    }
}

#[cfg(test)]
mod tests;
