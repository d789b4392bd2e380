//! Who may ask: the address that is listened on, the name that a request is for, the token, where it comes from.
//!
//! A page of another site must not reach this one: its requests say so (`Origin`, `Sec-Fetch-Site`), and a name of its own that leads
//! here (rebinding) is none of those that are known here (`Host`). Beyond this machine a token is asked for as well.

use super::answer::Refusal;
use data_encoding::BASE64;
use hyper::header::{self, HeaderMap, HeaderValue};
use rustls::ServerConfig;
use std::io::Read as _;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

/// Fewer letters could be guessed.
const TOKEN_LEAST: usize = 16;
const TOKEN_MOST: usize = 1024;
/// What is read of its file: with some room for what surrounds it, and one too many of any token that is too long.
const TOKEN_FILE_BYTES_MAX: u64 = 2 * TOKEN_MOST as u64;

/// TLS: who this is, and whose clients are let in.
#[derive(Debug, Clone)]
pub struct Secured {
    pub config: Arc<ServerConfig>,
    /// Whether who asks must have a certificate of an authority that is trusted.
    pub knows_clients: bool,
}

/// Where and to whom something is served.
#[derive(Debug, Clone)]
pub struct Access {
    /// What is listened on; port 0: any.
    pub address: SocketAddr,
    /// What who asks must know; `None`: nothing, for this machine alone.
    pub token: Option<Token>,
    /// `None`: nothing is sealed.
    pub tls: Option<Secured>,
    /// Names that this machine is called by, beside `localhost` and its addresses.
    pub names: Vec<HostName>,
}

/// A name in a `Host` header, in small letters and without a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostName(String);

impl std::str::FromStr for HostName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fine = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        if text.is_empty() || text.len() > 253 || !text.bytes().all(fine) {
            return Err(format!(
                "{text:?} is no name of a host: give letters, digits, - and ., without a port"
            ));
        }
        Ok(Self(text.to_ascii_lowercase()))
    }
}

/// What who asks must know.
#[derive(Clone)]
pub struct Token(String);

impl std::fmt::Debug for Token {
    /// It is not for logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

/// Why a file is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error("cannot read the token in {}: {source}", path.display())]
    Unreadable {
        path: std::path::PathBuf,
        source: std::io::Error,
    },
    #[error(
        "{}: a token is one line of {TOKEN_LEAST} to {TOKEN_MOST} printable letters without spaces; make one with: openssl rand -hex 32",
        path.display()
    )]
    Unfit { path: std::path::PathBuf },
}

impl Token {
    /// The one line of a file.
    ///
    /// # Errors
    /// It cannot be read, or what is in it can be guessed or not be sent.
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        let mut bytes = Vec::new();
        // No more than a token and an end of line can have: a device gives without end, and a pipe (`<(…)`) is as good as a file.
        std::fs::File::open(path)
            .and_then(|file| file.take(TOKEN_FILE_BYTES_MAX).read_to_end(&mut bytes))
            .map_err(|source| TokenError::Unreadable {
                path: path.to_owned(),
                source,
            })?;
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim();
        let fine = text.bytes().all(|byte| byte.is_ascii_graphic());
        if !fine || !(TOKEN_LEAST..=TOKEN_MOST).contains(&text.len()) {
            return Err(TokenError::Unfit {
                path: path.to_owned(),
            });
        }
        Ok(Self(text.to_owned()))
    }

    /// Whether a request has it: as a bearer's, as scrapers send it, or as the password of any user, as browsers ask for it.
    fn is_in(&self, headers: &HeaderMap) -> bool {
        let sent = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
        let Some((kind, sent)) = sent.and_then(|sent| {
            let space = sent.iter().position(|&byte| byte == b' ')?;
            Some((&sent[..space], sent[space..].trim_ascii()))
        }) else {
            return false;
        };
        if kind.eq_ignore_ascii_case(b"bearer") {
            return same(sent, self.0.as_bytes());
        }
        if !kind.eq_ignore_ascii_case(b"basic") {
            return false;
        }
        let Ok(pair) = BASE64.decode(sent) else {
            return false;
        };
        let colon = pair.iter().position(|&byte| byte == b':');
        colon.is_some_and(|colon| same(&pair[colon + 1..], self.0.as_bytes()))
    }
}

/// Whether two are equal, in a time that does not say where they differ.
fn same(sent: &[u8], known: &[u8]) -> bool {
    let differ = sent
        .iter()
        .zip(known.iter().cycle())
        .fold(0, |all, (a, b)| all | (a ^ b));
    differ == 0 && sent.len() == known.len()
}

impl Access {
    /// Whether nobody but this machine reaches it.
    pub fn is_local(&self) -> bool {
        self.address.ip().is_loopback()
    }

    /// Whether others than this machine may be let in: who asks shows that they may.
    pub fn asks_who(&self) -> bool {
        self.token.is_some() || self.tls.as_ref().is_some_and(|tls| tls.knows_clients)
    }

    /// How an address of it begins.
    pub fn scheme(&self) -> &'static str {
        match self.tls {
            Some(_) => "https",
            None => "http",
        }
    }

    /// Whether a request to `local`, an address of this machine, is answered.
    ///
    /// # Errors
    /// It is not; why.
    pub(super) fn check(&self, headers: &HeaderMap, local: SocketAddr) -> Result<(), Refusal> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(Refusal::Malformed);
        };
        let host = host.to_str().map_err(|_| Refusal::Malformed)?;
        if !self.is_called(host, local) {
            return Err(Refusal::OtherHost);
        }
        if let Some(token) = &self.token
            && !token.is_in(headers)
        {
            return Err(Refusal::Unknown);
        }
        if comes_from_elsewhere(headers, host) {
            return Err(Refusal::CrossSite);
        }
        Ok(())
    }

    /// Whether that is a name of this server.
    fn is_called(&self, host: &str, local: SocketAddr) -> bool {
        let (name, port) = split_host(host);
        // Behind a forwarded port a number may be another one; a name is what rebinding needs.
        if port.is_some_and(|port| port.parse::<u16>().is_err()) {
            return false;
        }
        if let Ok(ip) = name
            .trim_start_matches('[')
            .trim_end_matches(']')
            .parse::<IpAddr>()
        {
            let known = ip.is_loopback() || ip == local.ip() || ip == self.address.ip();
            return known && !ip.is_unspecified();
        }
        let name = name.to_ascii_lowercase();
        name == "localhost" || self.names.iter().any(|known| known.0 == name)
    }
}

/// A host and its port, where there is one.
fn split_host(host: &str) -> (&str, Option<&str>) {
    let end = host.rfind(']').map_or(0, |bracket| bracket + 1);
    match host[end..].rfind(':') {
        Some(colon) => (&host[..end + colon], Some(&host[end + colon + 1..])),
        None => (host, None),
    }
}

/// Whether another site's page sends it. A link that somebody follows is not a page's doing.
fn comes_from_elsewhere(headers: &HeaderMap, host: &str) -> bool {
    let of = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(origin) = headers.get(header::ORIGIN) {
        let own = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
        return own.is_none_or(|(_, own)| !own.eq_ignore_ascii_case(host));
    }
    match of("sec-fetch-site") {
        None | Some("same-origin" | "none") => false,
        Some(_) => of("sec-fetch-mode") != Some("navigate") || of("sec-fetch-dest") != Some("document"),
    }
}

#[cfg(test)]
mod tests;
