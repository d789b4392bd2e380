//! Where a server is: fio's forms of `--client` and `--server`.
//!
//! Data in: a word. Data out: a host and port, or a socket of the file system. It must not look names up.

use std::fmt;
use std::path::PathBuf;

/// fio's port.
pub const DEFAULT_PORT: u16 = 8765;

/// A place to connect to, or to listen at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A host by name or number; empty: all of this machine's.
    Host { host: String, port: u16 },
    /// A socket in the file system.
    Socket(PathBuf),
}

/// Why a word is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is no address: write HOST, HOST,PORT, ip:HOST, ip6:HOST (each with ,PORT) or sock:PATH")]
pub struct AddressError {
    word: String,
}

impl Address {
    /// Reads `host`, `host,port`, `,port`, `ip:host,port`, `ip6:host,port`, `sock:path`; of a server also a bare port.
    ///
    /// # Errors
    /// It is none of them.
    pub fn from_word(word: &str) -> Result<Self, AddressError> {
        let wrong = || AddressError {
            word: word.to_owned(),
        };
        if let Some(path) = word.strip_prefix("sock:") {
            return if path.is_empty() {
                Err(wrong())
            } else {
                Ok(Self::Socket(PathBuf::from(path)))
            };
        }
        let rest = word.strip_prefix("ip6:").or_else(|| word.strip_prefix("ip:"));
        let rest = rest.unwrap_or(word);
        let (host, port) = match rest.split_once(',') {
            Some((host, port)) => (host, port.parse().map_err(|_| wrong())?),
            None => match rest.parse::<u16>() {
                Ok(port) => ("", port),
                Err(_) => (rest, DEFAULT_PORT),
            },
        };
        if port == 0 || host.contains(char::is_whitespace) {
            return Err(wrong());
        }
        Ok(Self::Host {
            host: host.to_owned(),
            port,
        })
    }

    /// The port; 0 of a socket.
    pub fn port(&self) -> u16 {
        match self {
            Self::Host { port, .. } => *port,
            Self::Socket(_) => 0,
        }
    }

    /// The host as it was named, or the path.
    pub fn name(&self) -> String {
        match self {
            Self::Host { host, .. } if host.is_empty() => String::from("localhost"),
            Self::Host { host, .. } => host.clone(),
            Self::Socket(path) => path.display().to_string(),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host { host, port } if host.is_empty() => write!(f, "port {port}"),
            Self::Host { host, port } => write!(f, "{host} port {port}"),
            Self::Socket(path) => path.display().fmt(f),
        }
    }
}

#[cfg(test)]
mod tests;
