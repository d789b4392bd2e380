//! What a side of `ioengine=net` needs, and what it cannot do.

use crate::diagnostic::Fault;
use crate::resolve::Settling;
use fathom_core::workload::{DATAGRAM_BYTES_MAX, Mix, NetProtocol};
use std::net::{IpAddr, Ipv4Addr};

impl Settling<'_> {
    pub(super) fn other_side(&mut self) {
        self.one_direction();
        self.who_is_where();
        self.at_which_address();
        let longest = self.job.max_block_bytes();
        if self.job.net.protocol.is_udp() && longest > DATAGRAM_BYTES_MAX {
            let fault = Fault::new(format!("a block of {longest} bytes is no datagram"));
            let remedy = format!("lower bs to {DATAGRAM_BYTES_MAX} at most, or use protocol=tcp");
            self.error(&["bs", "bsrange", "bssplit"], fault.remedy(remedy));
        }
        if let Some(verify) = &mut self.job.verify {
            // What was sent is checked by who receives it.
            verify.read_back = false;
            if verify.only {
                let fault = Fault::new("what was sent is not here to be verified");
                self.error(
                    &["verify_only"],
                    fault.remedy("put verify into the job that receives"),
                );
            }
        }
        for option in ["directory", "nrfiles", "opendir", "openfiles"] {
            if self.given(option) {
                let fault = Fault::new(format!("`{option}` has no effect: a stream has no files"));
                self.note(&[option], fault);
            }
        }
        if self.job.files.new_each_loop {
            let fault = Fault::new("a stream is not made anew");
            self.error(&["unlink_each_loop"], fault.remedy("leave unlink_each_loop out"));
        }
    }

    fn one_direction(&mut self) {
        let pattern = &self.job.pattern;
        if !matches!(pattern.mix, Mix::Read | Mix::Write) {
            let fault = Fault::new("one side of ioengine=net sends, and the other receives");
            return self.error(
                &["rw"],
                fault.remedy("use rw=write in one job, and rw=read in another"),
            );
        }
        if pattern.random {
            let fault = Fault::new("a stream has no places to choose from at random");
            self.error(&["rw"], fault.remedy("use rw=read or rw=write"));
        }
    }

    /// As fio refuses it.
    fn who_is_where(&mut self) {
        let side = self.job.net_side(0);
        let net = &self.job.net;
        let (protocol, port, listens) = (net.protocol, net.port, net.listens);
        if !protocol.is_tcp() && listens {
            let fault = Fault::new(format!(
                "`listen` is for TCP: over {} who receives listens",
                protocol.name()
            ));
            return self.error(&["listen"], fault.remedy("leave it out"));
        }
        if protocol == NetProtocol::Unix {
            if port > 0 {
                let fault = Fault::new("a socket of this machine has no port");
                self.error(&["port"], fault.remedy("leave it out"));
            }
            if side.host.is_empty() {
                let fault = Fault::new("protocol=unix needs the path of a socket");
                self.error(
                    &["protocol"],
                    fault.remedy("add such as filename=/run/user/1000/net.sock"),
                );
            }
            if self.job.numjobs > 1 {
                let fault = Fault::new("one socket has one side that listens");
                self.error(
                    &["numjobs"],
                    fault.remedy("use numjobs=1, or a port a worker (protocol=tcp)"),
                );
            }
            return;
        }
        if port == 0 {
            let fault = Fault::new("ioengine=net needs a port");
            self.error(&["ioengine"], fault.remedy("add such as port=8765"));
        } else if u64::from(port) + u64::from(self.job.numjobs) - 1 > 65_535 {
            let fault =
                Fault::new("each worker has a port of its own, and there are not so many behind this one");
            self.error(&["port"], fault.remedy("lower port or numjobs"));
        }
        let group = side
            .host
            .parse::<Ipv4Addr>()
            .is_ok_and(|group| group.is_multicast());
        let is_group = protocol == NetProtocol::Udp && group;
        if side.listens && !side.host.is_empty() && !is_group {
            let fault = Fault::new("who listens has nobody to go to");
            let remedy = "leave hostname and filename out; interface= says at which address it listens";
            self.error(&["hostname", "filename"], fault.remedy(remedy));
        }
        if !side.listens && side.host.is_empty() {
            let fault = Fault::new("ioengine=net needs to know the other side");
            let remedy = if protocol.is_tcp() {
                "add such as hostname=localhost, or listen"
            } else {
                "add such as hostname=localhost"
            };
            self.error(&["ioengine"], fault.remedy(remedy));
        }
    }

    fn at_which_address(&mut self) {
        let side = self.job.net_side(0);
        let net = &self.job.net;
        if net.protocol == NetProtocol::Unix {
            return;
        }
        if net.interface.is_empty() {
            if side.listens && side.host.is_empty() {
                let at = net.protocol.loopback();
                let all = if net.protocol.is_v6() { "::" } else { "0.0.0.0" };
                let fault = Fault::new(format!("it listens on this machine alone, at {at}"));
                let remedy = format!(
                    "for others name an address of this machine: interface={all} are all that it has"
                );
                self.note(&["listen", "protocol", "ioengine"], fault.remedy(remedy));
            }
            return;
        }
        let fits = |address: IpAddr| address.is_ipv6() == net.protocol.is_v6();
        if !net.interface.parse().is_ok_and(fits) {
            let fault = Fault::new(format!(
                "`{}` is no address of {}",
                net.interface,
                net.protocol.name()
            ));
            let remedy =
                "write such as 192.0.2.1, or 0.0.0.0 for all of this machine's; of IPv6 such as ::1 or ::";
            self.error(&["interface"], fault.remedy(remedy));
        }
    }
}
