//! Messages between two fathoms: who asks for a run, and who carries it out.
//!
//! Duty: a channel that only peers with the same key can open, on which nobody else can read or change anything, and what is
//! said on it. Data in: a stream of bytes between two machines. Data out: messages. It must not open connections, run
//! anything or print; what comes from the other side is outside input, key or not.
#![forbid(unsafe_code)]

mod address;
mod channel;
mod key;
mod message;

pub use address::{Address, AddressError, DEFAULT_PORT};
pub use channel::{ChannelError, Receiver, Sender, accept, connect};
pub use key::{Key, KeyError};
pub use message::{
    AccountParts, HistogramParts, JobFile, MessageError, OptionList, Progress, Results, RunRequest, ToClient,
    ToServer, VERSION,
};
