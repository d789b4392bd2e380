use super::{Net, NetProtocol, NetSide};
use crate::workload::{Job, Mix};
use std::path::PathBuf;

fn job(protocol: NetProtocol, mix: Mix, listens: bool) -> Job {
    let mut job = Job::default();
    job.pattern.mix = mix;
    job.net = Net {
        protocol,
        port: 8000,
        listens,
        ..Net::default()
    };
    job
}

/// Over TCP `listen` says who waits, whichever way blocks go; elsewhere who receives does.
#[test]
fn who_waits_for_whom() {
    for (protocol, mix, listen, waits) in [
        (NetProtocol::Tcp, Mix::Read, true, true),
        (NetProtocol::Tcp, Mix::Write, true, true),
        (NetProtocol::TcpV6, Mix::Read, false, false),
        (NetProtocol::Udp, Mix::Read, false, true),
        (NetProtocol::UdpV6, Mix::Write, false, false),
        (NetProtocol::Unix, Mix::Read, false, true),
        (NetProtocol::Unix, Mix::Write, false, false),
    ] {
        let side = job(protocol, mix, listen).net_side(1);
        assert_eq!(
            side,
            NetSide {
                listens: waits,
                receives: mix == Mix::Read,
                host: String::new(),
                port: 8001
            },
            "{protocol:?} {mix:?}"
        );
    }
}

#[test]
fn addresses_in_words() {
    let mut sender = job(NetProtocol::Tcp, Mix::Write, false);
    sender.files.names = vec![PathBuf::from("box")];
    assert_eq!(sender.net_address(0), "tcp://box:8000");
    sender.net.host = String::from("other");
    assert_eq!(sender.net_address(3), "tcp://other:8003");
    let mut receiver = job(NetProtocol::UdpV6, Mix::Read, false);
    assert_eq!(receiver.net_address(0), "udpv6://[::1]:8000");
    receiver.net.interface = String::from("::");
    assert_eq!(receiver.net_address(0), "udpv6://[::]:8000");
    let mut socket = job(NetProtocol::Unix, Mix::Read, false);
    socket.files.names = vec![PathBuf::from("/run/s")];
    assert_eq!(socket.net_address(0), "unix:/run/s");
}
