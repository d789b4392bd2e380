//! A stream of blocks to or from somebody on a network, in place of a file (`ioengine=net`).

use super::Job;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The longest datagram of UDP over IPv4, in bytes.
pub const DATAGRAM_BYTES_MAX: u64 = 65_507;

/// Who is spoken to, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Net {
    pub protocol: NetProtocol,
    /// The other side, or the group of a multicast; empty: what `filename` names.
    pub host: String,
    /// Of the first worker; each further one has the next. 0: none was given.
    pub port: u16,
    /// Waits for the other side of a TCP connection.
    pub listens: bool,
    /// Each block is sent back, and is complete when it has come back.
    pub pingpong: bool,
    /// Segments are sent at once.
    pub nodelay: bool,
    /// The address at which it listens, or of the interface of a multicast; empty: this machine's own, or any.
    pub interface: String,
    /// How far a multicast goes.
    pub ttl: u8,
    /// Of the socket's buffer; 0: as the system sets it.
    pub window_bytes: u32,
    /// The longest segment of TCP; 0: as the system sets it.
    pub segment_bytes_max: u32,
}

impl Default for Net {
    /// TCP, to nobody.
    fn default() -> Self {
        Self {
            protocol: NetProtocol::Tcp,
            host: String::new(),
            port: 0,
            listens: false,
            pingpong: false,
            nodelay: false,
            interface: String::new(),
            ttl: 1,
            window_bytes: 0,
            segment_bytes_max: 0,
        }
    }
}

/// How blocks travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetProtocol {
    Tcp,
    TcpV6,
    Udp,
    UdpV6,
    /// A socket of this machine.
    Unix,
}

impl NetProtocol {
    /// The name that job files use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::TcpV6 => "tcpv6",
            Self::Udp => "udp",
            Self::UdpV6 => "udpv6",
            Self::Unix => "unix",
        }
    }
    pub const fn is_tcp(self) -> bool {
        matches!(self, Self::Tcp | Self::TcpV6)
    }
    pub const fn is_udp(self) -> bool {
        matches!(self, Self::Udp | Self::UdpV6)
    }
    /// Whether its addresses are those of IPv6.
    pub const fn is_v6(self) -> bool {
        matches!(self, Self::TcpV6 | Self::UdpV6)
    }
    /// Where nobody but this machine gets to.
    pub const fn loopback(self) -> IpAddr {
        if self.is_v6() {
            IpAddr::V6(Ipv6Addr::LOCALHOST)
        } else {
            IpAddr::V4(Ipv4Addr::LOCALHOST)
        }
    }
}

/// One side of what a job of `ioengine=net` does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetSide {
    /// It waits for the other one.
    pub listens: bool,
    /// Blocks come, and do not go.
    pub receives: bool,
    /// Who is connected to, the group of a multicast, or the path of a socket; empty: nobody.
    pub host: String,
    pub port: u16,
}

impl Job {
    /// The side of worker `number`. The first name of `filename` is as good as `hostname`, as with fio.
    pub fn net_side(&self, number: u32) -> NetSide {
        let net = &self.net;
        let receives = !self.pattern.mix.uses()[1];
        let name = self.files.names.first().filter(|_| net.host.is_empty());
        let name = name.map(|name| name.to_string_lossy().into_owned());
        NetSide {
            listens: if net.protocol.is_tcp() {
                net.listens
            } else {
                receives
            },
            receives,
            host: name.unwrap_or_else(|| net.host.clone()),
            // What is too large is refused where options are read.
            port: u16::try_from(u32::from(net.port).saturating_add(number)).unwrap_or(0),
        }
    }

    /// The same in words: `tcp://localhost:8000`.
    pub fn net_address(&self, number: u32) -> String {
        let NetSide {
            listens, host, port, ..
        } = self.net_side(number);
        let protocol = self.net.protocol;
        if protocol == NetProtocol::Unix {
            return format!("unix:{host}");
        }
        let here = || protocol.loopback().to_string();
        let at = match (listens && host.is_empty(), self.net.interface.as_str()) {
            (false, _) => host,
            (true, "") => here(),
            (true, interface) => interface.to_owned(),
        };
        let at = if at.contains(':') { format!("[{at}]") } else { at };
        format!("{}://{at}:{port}", protocol.name())
    }
}

#[cfg(test)]
mod tests;
