//! Sockets: where one side waits for the other, or goes to it.
//!
//! Data in: options of a job, names and addresses. Data out: sockets. It must not know blocks. It listens only where it is told
//! to, and on this machine alone where nothing is said.

use fathom_core::workload::{Net, NetProtocol, NetSide};
use fathom_door::socket::{self, SocketError, SocketName};
use socket2::{Domain, Socket, Type};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs, UdpSocket};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where it begins.
#[derive(Debug)]
pub(super) enum Place {
    TcpHere(TcpListener),
    UnixHere(UnixListener, SocketName),
    /// Bound; who sends there is not known yet.
    UdpHere(UdpSocket),
    TcpThere(Vec<SocketAddr>),
    UnixThere(PathBuf),
    UdpThere(UdpSocket, SocketAddr),
}

/// The other side.
#[derive(Debug)]
pub(super) enum Peer {
    Tcp(TcpStream),
    Unix(UnixStream),
    Udp(UdpSocket, SocketAddr),
}

impl Peer {
    /// Of a stream as much as is there, otherwise one datagram.
    pub(super) fn read(&self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => (&mut &*stream).read(room),
            Self::Unix(stream) => (&mut &*stream).read(room),
            Self::Udp(socket, known) => match socket.recv_from(room)? {
                (bytes, from) if from == *known => Ok(bytes),
                // Somebody else's is as good as none.
                _ => Err(ErrorKind::WouldBlock.into()),
            },
        }
    }

    /// On a stream as much as it takes, otherwise one datagram.
    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => (&mut &*stream).write(bytes),
            Self::Unix(stream) => (&mut &*stream).write(bytes),
            Self::Udp(socket, to) => socket.send_to(bytes, to),
        }
    }

    /// Calls wait for so long at most.
    pub(super) fn wait_for(&self, time: Duration) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => {
                stream.set_nonblocking(false)?;
                stream.set_read_timeout(Some(time))?;
                stream.set_write_timeout(Some(time))
            }
            Self::Unix(stream) => {
                stream.set_nonblocking(false)?;
                stream.set_read_timeout(Some(time))?;
                stream.set_write_timeout(Some(time))
            }
            Self::Udp(socket, _) => {
                socket.set_nonblocking(false)?;
                socket.set_read_timeout(Some(time))?;
                socket.set_write_timeout(Some(time))
            }
        }
    }

    /// What was written last is not held back for what is not written.
    pub(super) fn never_wait(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_nonblocking(true),
            Self::Unix(stream) => stream.set_nonblocking(true),
            Self::Udp(socket, _) => socket.set_nonblocking(true),
        }
    }
}

impl Place {
    /// Binds where `side` listens; nothing is sent yet.
    pub(super) fn open(net: &Net, side: &NetSide) -> io::Result<Self> {
        match net.protocol {
            NetProtocol::Unix if side.listens => {
                let path = Path::new(&side.host);
                let (listener, name) = socket::listen(path).map_err(|error| match error {
                    SocketError::Io { source, .. } => source,
                    taken => io::Error::new(ErrorKind::AddrInUse, taken),
                })?;
                Ok(Self::UnixHere(listener, name))
            }
            NetProtocol::Unix => Ok(Self::UnixThere(PathBuf::from(&side.host))),
            protocol if protocol.is_tcp() && side.listens => {
                let socket = socket(net, side)?;
                socket.set_reuse_address(true)?;
                socket.bind(&SocketAddr::new(here(net)?, side.port).into())?;
                socket.listen(1)?;
                Ok(Self::TcpHere(socket.into()))
            }
            protocol if protocol.is_tcp() => Ok(Self::TcpThere(there(net, side)?)),
            _ if side.listens => udp_here(net, side),
            _ => {
                let to = there(net, side)?;
                let to = *to.first().ok_or(ErrorKind::NotFound)?;
                let socket = socket(net, side)?;
                if let (IpAddr::V4(group), false) = (to.ip(), net.protocol.is_v6())
                    && group.is_multicast()
                {
                    socket.set_multicast_if_v4(&interface(net)?)?;
                    socket.set_multicast_ttl_v4(net.ttl.into())?;
                }
                Ok(Self::UdpThere(socket.into(), to))
            }
        }
    }
}

/// What waits for datagrams: at an address of its own, or at that of a group.
fn udp_here(net: &Net, side: &NetSide) -> io::Result<Place> {
    let socket = socket(net, side)?;
    let group = side.host.parse::<Ipv4Addr>().ok().filter(Ipv4Addr::is_multicast);
    let at = match group {
        Some(group) => {
            // Others on this machine may have joined it, too.
            socket.set_reuse_address(true)?;
            socket.join_multicast_v4(&group, &interface(net)?)?;
            IpAddr::V4(group)
        }
        None => here(net)?,
    };
    socket.bind(&SocketAddr::new(at, side.port).into())?;
    Ok(Place::UdpHere(socket.into()))
}

/// A socket with what the job says of it.
pub(super) fn socket(net: &Net, side: &NetSide) -> io::Result<Socket> {
    let domain = if net.protocol.is_v6() {
        Domain::IPV6
    } else {
        Domain::IPV4
    };
    let kind = if net.protocol.is_tcp() {
        Type::STREAM
    } else {
        Type::DGRAM
    };
    let socket = Socket::new(domain, kind, None)?;
    if net.protocol.is_v6() {
        socket.set_only_v6(true)?;
    }
    match (net.window_bytes as usize, side.receives) {
        (0, _) => {}
        (bytes, true) => socket.set_recv_buffer_size(bytes)?,
        (bytes, false) => socket.set_send_buffer_size(bytes)?,
    }
    if net.protocol.is_tcp() {
        if net.nodelay {
            socket.set_tcp_nodelay(true)?;
        }
        if net.segment_bytes_max > 0 {
            socket.set_tcp_mss(net.segment_bytes_max)?;
        }
    }
    Ok(socket)
}

/// The address at which it listens.
fn here(net: &Net) -> io::Result<IpAddr> {
    if net.interface.is_empty() {
        return Ok(net.protocol.loopback());
    }
    let address: IpAddr = net.interface.parse().map_err(not_an_address)?;
    if address.is_ipv6() == net.protocol.is_v6() {
        Ok(address)
    } else {
        Err(not_an_address(()))
    }
}

/// The address of the interface of a multicast; none: the system's choice.
fn interface(net: &Net) -> io::Result<Ipv4Addr> {
    if net.interface.is_empty() {
        return Ok(Ipv4Addr::UNSPECIFIED);
    }
    net.interface.parse().map_err(not_an_address)
}

fn not_an_address<E>(_: E) -> io::Error {
    io::Error::new(
        ErrorKind::InvalidInput,
        "interface= is no address of this protocol's",
    )
}

/// The addresses of the other side.
fn there(net: &Net, side: &NetSide) -> io::Result<Vec<SocketAddr>> {
    let all = (side.host.as_str(), side.port).to_socket_addrs()?;
    let fit: Vec<SocketAddr> = all
        .filter(|address| address.is_ipv6() == net.protocol.is_v6())
        .collect();
    if fit.is_empty() {
        let words = format!("the host has no address of {}", net.protocol.name());
        return Err(io::Error::new(ErrorKind::NotFound, words));
    }
    Ok(fit)
}
