//! Options: of streams to and from others on a network.

use super::row::OptionRow as Row;
use super::rule::{Choice, Field, Rule, field};
use crate::draft::Draft;
use fathom_core::workload::NetProtocol;

const NET: &[&str] = &["net"];
/// The largest number that sockets take.
const MAX: u64 = i32::MAX as u64;

/// A text, as long as there is one.
fn given(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// A size of a socket's; 0: none was given.
macro_rules! size {
    ($($path:ident).+) => {
        Rule::Size(
            0,
            MAX,
            Field {
                set: |d: &mut Draft, bytes| d.$($path).+ = bytes as u32,
                get: |d| Some(u64::from(d.$($path).+)).filter(|&bytes| bytes > 0),
            },
        )
    };
}

pub(super) static ROWS: &[&[Row]] = &[&[
    Row::new(
        "protocol",
        Rule::Choice(&[
            Choice::new("tcp", |d| d.job.net.protocol = NetProtocol::Tcp),
            Choice::new("tcpv6", |d| d.job.net.protocol = NetProtocol::TcpV6),
            Choice::new("udp", |d| d.job.net.protocol = NetProtocol::Udp),
            Choice::new("udpv6", |d| d.job.net.protocol = NetProtocol::UdpV6),
            Choice::new("unix", |d| d.job.net.protocol = NetProtocol::Unix),
        ]),
        "How blocks travel between two sides",
    )
    .aliases(&["proto"])
    .example("tcpv6")
    .only_for(NET),
    Row::new(
        "hostname",
        Rule::Text(
            "text",
            |d, text| {
                text.trim().clone_into(&mut d.job.net.host);
                Ok(())
            },
            |d| given(&d.job.net.host),
        ),
        "The other side, the group of a multicast, or the path of a socket (protocol=unix)",
    )
    .example("localhost")
    .only_for(NET),
    Row::new(
        "port",
        Rule::Number(
            1,
            65_535,
            Field {
                set: |d, port| d.job.net.port = port as u16,
                get: |d| Some(i64::from(d.job.net.port)).filter(|&port| port > 0),
            },
        ),
        "Its port; each further worker has the next one",
    )
    .example("8765")
    .only_for(NET),
    Row::new(
        "listen",
        Rule::Flag(field!(job.net.listens)),
        "Waits for a TCP connection in place of making one",
    )
    .only_for(NET),
    Row::new(
        "pingpong",
        Rule::Flag(field!(job.net.pingpong)),
        "Each block is sent back, and is complete when it has come back: both sides need it",
    )
    .only_for(NET),
    Row::new(
        "nodelay",
        Rule::Bool(field!(job.net.nodelay)),
        "TCP sends at once and gathers nothing (TCP_NODELAY)",
    )
    .only_for(NET),
    Row::new(
        "interface",
        Rule::Text(
            "address",
            |d, text| {
                text.trim().clone_into(&mut d.job.net.interface);
                Ok(())
            },
            |d| given(&d.job.net.interface),
        ),
        "The address at which it listens (0.0.0.0 or ::: all of this machine's), or of a multicast's interface",
    )
    .example("127.0.0.1")
    .only_for(NET),
    Row::new(
        "ttl",
        Rule::Number(0, 255, field!(job.net.ttl as u8)),
        "How many routers a multicast passes at most",
    )
    .example("4")
    .only_for(NET),
    Row::new(
        "window_size",
        size!(job.net.window_bytes),
        "The socket's buffer (SO_SNDBUF, SO_RCVBUF)",
    )
    .example("64k")
    .only_for(NET),
    Row::new(
        "mss",
        size!(job.net.segment_bytes_max),
        "The longest segment of TCP (TCP_MAXSEG)",
    )
    .example("1400")
    .only_for(NET),
]];
