//! Addresses of exports: `nbd://host:port/export`, `nbd+unix:///export?socket=path`.

use std::fmt;

/// Where servers listen unless they say otherwise.
pub const PORT: u16 = 10_809;

/// An export, and where it is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uri {
    pub place: Place,
    /// Its name; empty: the one that the server has for those who name none.
    pub export: String,
}

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The path of a socket.
    Unix(String),
    /// A host by its name or number, without brackets.
    Tcp { host: String, port: u16 },
}

/// Why an address leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UriError {
    NoScheme,
    Tls,
    Vsock,
    User,
    NoHost,
    Port,
    NoSocket,
    /// `nbd+unix` with a host.
    Host,
    Escape,
}

impl fmt::Display for UriError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoScheme => "it begins neither with nbd:// nor with nbd+unix://",
            Self::Tls => {
                "TLS to an export is not spoken: put a proxy such as stunnel(8) before it, or a socket"
            }
            Self::Vsock => "sockets of virtual machines (vsock) are not spoken: use nbd:// or nbd+unix://",
            Self::User => "there are no users without TLS: leave out what stands before the @",
            Self::NoHost => "it names no host",
            Self::Port => "its port is no number from 1 to 65535",
            Self::NoSocket => "it names no socket: write such as nbd+unix:///?socket=/run/nbd.sock",
            Self::Host => "nbd+unix:// is followed by a third slash: its socket is named by ?socket=",
            Self::Escape => {
                "a % in it is not followed by two hexadecimal digits of UTF-8: write %25 for a % itself"
            }
        })
    }
}

impl std::error::Error for UriError {}

impl Uri {
    /// Reads an address.
    ///
    /// # Errors
    /// See [`UriError`].
    pub fn parse(text: &str) -> Result<Self, UriError> {
        let (scheme, rest) = text.split_once("://").ok_or(UriError::NoScheme)?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, export) = rest.split_once('/').unwrap_or((rest, ""));
        let export = decoded(export)?;
        if authority.contains('@') {
            return Err(UriError::User);
        }
        let place = match scheme {
            "nbd" => host_and_port(authority)?,
            "nbd+unix" if authority.is_empty() => {
                let mut words = query.split('&').filter_map(|word| word.split_once('='));
                let socket = words.find(|(name, _)| *name == "socket");
                let (_, path) = socket
                    .filter(|(_, path)| !path.is_empty())
                    .ok_or(UriError::NoSocket)?;
                Place::Unix(decoded(path)?)
            }
            "nbd+unix" => return Err(UriError::Host),
            "nbds" | "nbds+unix" | "nbds+vsock" => return Err(UriError::Tls),
            "nbd+vsock" => return Err(UriError::Vsock),
            _ => return Err(UriError::NoScheme),
        };
        Ok(Self { place, export })
    }
}

fn host_and_port(authority: &str) -> Result<Place, UriError> {
    let (host, rest) = match authority.strip_prefix('[') {
        Some(inside) => inside.split_once(']').ok_or(UriError::NoHost)?,
        None => match authority.find(':') {
            Some(colon) => authority.split_at(colon),
            None => (authority, ""),
        },
    };
    let port = match rest.strip_prefix(':') {
        None if rest.is_empty() => PORT,
        Some("") => PORT,
        Some(port) => port.parse().ok().filter(|&port| port > 0).ok_or(UriError::Port)?,
        None => return Err(UriError::Port),
    };
    let host = decoded(host)?;
    if host.is_empty() {
        return Err(UriError::NoHost);
    }
    Ok(Place::Tcp { host, port })
}

/// With each `%41` in it taken for the byte that it stands for.
fn decoded(text: &str) -> Result<String, UriError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next(), rest.next()];
        let [Some(high), Some(low)] = digits.map(|digit| char::from(digit?).to_digit(16)) else {
            return Err(UriError::Escape);
        };
        bytes.push((high << 4 | low) as u8);
    }
    String::from_utf8(bytes).map_err(|_| UriError::Escape)
}
