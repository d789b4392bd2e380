//! The channel: Noise `NNpsk0` (25519, `ChaChaPoly`, BLAKE2s) over any stream of bytes, by the `snow` library.
//!
//! Both sides prove by their first message that they have the key; each connection has keys of its own, so that the shared
//! one, were it lost later, opens no earlier connection. A message is cut into frames: two bytes of length, then at most
//! 65,535 bytes that the receiver rejects if a bit of them was changed, left out, repeated or moved.
//!
//! Data in: bytes of messages. Data out: the same at the other side. It must not know what they say.

use crate::key::Key;
use snow::{Builder, HandshakeState, StatelessTransportState};
use std::io::{self, Read, Write};
use std::sync::Arc;

const PATTERN: &str = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s";
/// What the client sends first, so that others are told from it: fio's own first bytes are a version.
const GREETING: [u8; 8] = *b"fathom1\n";
/// The most that a frame holds, and what of it is the tag.
const FRAME_BYTES: usize = 65_535;
const TAG_BYTES: usize = 16;
/// No message is longer: hours of logs come in many.
const MESSAGE_BYTES_MAX: usize = 256 << 20;

/// Why two sides do not understand each other.
#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    /// The connection failed.
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
    /// The other side ended it between two messages.
    #[error("the other side has gone")]
    Gone,
    /// It speaks another protocol.
    #[error(
        "the other side is no fathom: fio's own protocol, which lets in whoever can reach it, is not spoken"
    )]
    NotFathom,
    /// It has another key, or somebody changed what it said.
    #[error("the other side has another key, or what it said was changed on the way")]
    Rejected,
    /// It said more than any message holds.
    #[error("the other side sent a message of {0} bytes: too long")]
    TooLong(usize),
}

impl From<snow::Error> for ChannelError {
    fn from(_: snow::Error) -> Self {
        Self::Rejected
    }
}

/// The half that says things.
pub struct Sender<W> {
    stream: W,
    state: Arc<StatelessTransportState>,
    nonce: u64,
    frame: Vec<u8>,
}

/// The half that hears them.
pub struct Receiver<R> {
    stream: R,
    state: Arc<StatelessTransportState>,
    nonce: u64,
    /// What of the last frame belongs to the next message.
    rest: Vec<u8>,
}

/// Opens a channel as the one who called. The stream is given twice: to read from and to write to.
///
/// # Errors
/// The other side is no fathom, or has another key.
pub fn connect<R: Read, W: Write>(
    mut read: R,
    mut write: W,
    key: &Key,
) -> Result<(Sender<W>, Receiver<R>), ChannelError> {
    let mut state = builder(key)?.build_initiator()?;
    write.write_all(&GREETING)?;
    send_handshake(&mut state, &mut write)?;
    receive_handshake(&mut state, &mut read)?;
    halves(state, read, write)
}

/// Opens a channel as the one who was called.
///
/// # Errors
/// The other side is no fathom, or has another key.
pub fn accept<R: Read, W: Write>(
    mut read: R,
    mut write: W,
    key: &Key,
) -> Result<(Sender<W>, Receiver<R>), ChannelError> {
    let mut greeting = [0; GREETING.len()];
    read.read_exact(&mut greeting)?;
    if greeting != GREETING {
        return Err(ChannelError::NotFathom);
    }
    let mut state = builder(key)?.build_responder()?;
    receive_handshake(&mut state, &mut read)?;
    send_handshake(&mut state, &mut write)?;
    halves(state, read, write)
}

fn builder(key: &Key) -> Result<Builder<'_>, ChannelError> {
    let pattern = PATTERN.parse().map_err(|_| ChannelError::Rejected)?;
    Ok(Builder::new(pattern).psk(0, key.bytes())?)
}

fn send_handshake(state: &mut HandshakeState, write: &mut impl Write) -> Result<(), ChannelError> {
    let mut frame = vec![0; 256];
    let length = state.write_message(&[], &mut frame)?;
    write.write_all(&(length as u16).to_be_bytes())?;
    write.write_all(&frame[..length])?;
    Ok(write.flush()?)
}

fn receive_handshake(state: &mut HandshakeState, read: &mut impl Read) -> Result<(), ChannelError> {
    let mut length = [0; 2];
    read.read_exact(&mut length).map_err(rejected)?;
    let mut frame = vec![0; usize::from(u16::from_be_bytes(length))];
    read.read_exact(&mut frame).map_err(rejected)?;
    let mut payload = vec![0; frame.len()];
    state.read_message(&frame, &mut payload)?;
    Ok(())
}

/// Who has another key goes without a word.
fn rejected(error: io::Error) -> ChannelError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
            ChannelError::Rejected
        }
        _ => error.into(),
    }
}

fn halves<R, W>(state: HandshakeState, read: R, write: W) -> Result<(Sender<W>, Receiver<R>), ChannelError> {
    let state = Arc::new(state.into_stateless_transport_mode()?);
    let sender = Sender {
        stream: write,
        state: Arc::clone(&state),
        nonce: 0,
        frame: vec![0; FRAME_BYTES],
    };
    let receiver = Receiver {
        stream: read,
        state,
        nonce: 0,
        rest: Vec::new(),
    };
    Ok((sender, receiver))
}

impl<W: Write> Sender<W> {
    /// Says something.
    ///
    /// # Errors
    /// The connection failed, or it is longer than any message may be.
    pub fn send(&mut self, message: &[u8]) -> Result<(), ChannelError> {
        if message.len() > MESSAGE_BYTES_MAX {
            return Err(ChannelError::TooLong(message.len()));
        }
        let mut whole = Vec::with_capacity(message.len() + 4);
        whole.extend_from_slice(&(message.len() as u32).to_be_bytes());
        whole.extend_from_slice(message);
        for part in whole.chunks(FRAME_BYTES - TAG_BYTES) {
            let length = self.state.write_message(self.nonce, part, &mut self.frame)?;
            self.nonce += 1;
            self.stream.write_all(&(length as u16).to_be_bytes())?;
            self.stream.write_all(&self.frame[..length])?;
        }
        Ok(self.stream.flush()?)
    }
}

impl<R: Read> Receiver<R> {
    /// The next thing that is said.
    ///
    /// # Errors
    /// The other side has gone, or it is not as it was said.
    pub fn receive(&mut self) -> Result<Vec<u8>, ChannelError> {
        while self.rest.len() < 4 {
            self.frame(self.rest.is_empty())?;
        }
        let (length, _) = self.rest.split_at(4);
        let length = u32::from_be_bytes([length[0], length[1], length[2], length[3]]) as usize;
        if length > MESSAGE_BYTES_MAX {
            return Err(ChannelError::TooLong(length));
        }
        while self.rest.len() < 4 + length {
            self.frame(false)?;
        }
        let behind = self.rest.split_off(4 + length);
        let mut message = std::mem::replace(&mut self.rest, behind);
        message.drain(..4);
        Ok(message)
    }

    /// Takes one frame in; before the `first` of a message the other side may go.
    fn frame(&mut self, first: bool) -> Result<(), ChannelError> {
        let mut length = [0; 2];
        self.stream
            .read_exact(&mut length)
            .map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof if first => ChannelError::Gone,
                _ => error.into(),
            })?;
        let mut frame = vec![0; usize::from(u16::from_be_bytes(length))];
        self.stream.read_exact(&mut frame)?;
        let mut part = vec![0; frame.len()];
        let length = self.state.read_message(self.nonce, &frame, &mut part)?;
        self.nonce += 1;
        self.rest.extend_from_slice(&part[..length]);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
