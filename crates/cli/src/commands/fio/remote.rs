//! `--client` and `--server`: jobs that are sent to other machines, and their results.
//!
//! Data in: where servers are, job files, a key. Data out: fio's outputs of all of them; on a server, runs. Whoever has not
//! the key gets no further than its first message. fio's own protocol, which lets in whoever can reach it, is not spoken.

mod background;
mod client;
mod key;
mod server;
mod stream;
mod together;

pub(super) use client::ask;
pub(super) use server::serve;
