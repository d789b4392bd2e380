//! Two sides against each other, and one against such as go early, say nothing, say too much, or are somebody else.

use super::wire::{CLOSE, Numbers, OPEN, number_of, write_number};
use super::{Lasts, NetBackend, OVER};
use fathom_core::backend::{Backend, Errno, Op, Outcome, Request, Submit};
use fathom_core::rng::Rng;
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::workload::{EngineKind, Job, Mix, Net, NetProtocol};
use fathom_sys::arena::{Arena, PageKind};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const BLOCK: u32 = 4096;
const PATIENCE: Duration = Duration::from_millis(400);

const REFUSED: i32 = rustix::io::Errno::CONNREFUSED.raw_os_error();
const TIMED_OUT: i32 = rustix::io::Errno::TIMEDOUT.raw_os_error();
const PIPE: i32 = rustix::io::Errno::PIPE.raw_os_error();
const RESET: i32 = rustix::io::Errno::CONNRESET.raw_os_error();

/// A port of this machine that nobody has at the moment.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

fn job(mix: Mix, net: Net) -> Job {
    let mut job = crate::testing::job(mix, BLOCK.into());
    job.engine.kind = EngineKind::Net;
    job.net = net;
    job
}

fn receiving(protocol: NetProtocol, port: u16) -> Job {
    job(
        Mix::Read,
        Net {
            protocol,
            port,
            listens: protocol.is_tcp(),
            ..Net::default()
        },
    )
}

fn sending(protocol: NetProtocol, port: u16) -> Job {
    let host = if protocol.is_v6() { "::1" } else { "127.0.0.1" };
    job(
        Mix::Write,
        Net {
            protocol,
            port,
            host: String::from(host),
            ..Net::default()
        },
    )
}

fn through(mut job: Job, socket: &Path) -> Job {
    job.net.protocol = NetProtocol::Unix;
    job.net.listens = false;
    job.net.host = socket.display().to_string();
    job
}

fn lasts() -> Lasts {
    Lasts {
        stop: Arc::default(),
        enough: Arc::default(),
        time: None,
        patience: PATIENCE,
    }
}

fn side_that(job: &Job, lasts: Lasts) -> std::io::Result<NetBackend> {
    let arena = Arena::new(1, BLOCK as usize, PageKind::Normal).expect("an arena");
    NetBackend::new(job, 0, arena, lasts)
}

fn side(job: &Job) -> NetBackend {
    side_that(job, lasts()).expect("a side")
}

fn carry_out(side: &mut NetBackend, op: Op) -> Outcome {
    let request = Request {
        slot: 0,
        op,
        file: 0,
        offset: 0,
        len: BLOCK,
    };
    match side.submit(request, MonoTime(0)) {
        Submit::Done(outcome) => outcome,
        other => panic!("{other:?}"),
    }
}

/// Sends so many blocks from random numbers; what came of each.
fn send_all(mut side: NetBackend, blocks: u32, seed: u64) -> Vec<Outcome> {
    side.begin().expect("the other side");
    let mut rng = Rng::new(seed);
    let send = |_| {
        rng.fill(side.buffer(0));
        carry_out(&mut side, Op::Write)
    };
    (0..blocks).map(send).collect()
}

/// Receives until it is over; how many blocks were those of `seed`, and what there was besides.
fn receive_all(mut side: NetBackend, seed: u64, compared: usize) -> (u32, Vec<Outcome>) {
    side.begin().expect("the other side");
    let mut rng = Rng::new(seed);
    let mut expected = [0; BLOCK as usize];
    let (mut same, mut others) = (0, Vec::new());
    loop {
        match carry_out(&mut side, Op::Read) {
            Err(OVER) => return (same, others),
            Ok(BLOCK) => {
                rng.fill(&mut expected);
                assert_eq!(side.buffer(0)[..compared], expected[..compared], "block {same}");
                same += 1;
            }
            other => others.push(other),
        }
    }
}

fn in_a_thread<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    std::thread::spawn(run)
}

#[test]
fn blocks_arrive_as_they_were_sent() {
    let directory = tempfile::tempdir().expect("a directory");
    let seed = crate::testing::seed();
    for protocol in [
        NetProtocol::Tcp,
        NetProtocol::TcpV6,
        NetProtocol::Udp,
        NetProtocol::UdpV6,
        NetProtocol::Unix,
    ] {
        if protocol.is_v6() && TcpListener::bind("[::1]:0").is_err() {
            crate::testing::skipped("blocks_arrive_as_they_were_sent", "no IPv6 here");
            continue;
        }
        for pingpong in [false, true] {
            let port = free_port();
            let socket = directory.path().join(format!("{pingpong}"));
            let with = |mut job: Job| {
                job.net.pingpong = pingpong;
                if protocol == NetProtocol::Unix {
                    job = through(job, &socket);
                }
                job
            };
            let receiver = side(&with(receiving(protocol, port)));
            let sender = with(sending(protocol, port));
            let sent = in_a_thread(move || send_all(side(&sender), 20, seed));
            // The last bytes of a datagram are its number.
            let compared = BLOCK as usize - if protocol.is_udp() { 24 } else { 0 };
            let came = receive_all(receiver, seed, compared);
            assert_eq!(came, (20, Vec::new()), "{protocol:?} pingpong {pingpong}");
            assert_eq!(sent.join().expect("the sender"), [Ok(BLOCK); 20], "{protocol:?}");
            assert!(!socket.exists(), "the socket goes with who made it");
        }
    }
}

/// Over TCP who connects may receive, and who listens send.
#[test]
fn who_listens_may_send() {
    let port = free_port();
    let mut sender = sending(NetProtocol::Tcp, port);
    sender.net.listens = true;
    sender.net.host.clear();
    let mut receiver = receiving(NetProtocol::Tcp, port);
    receiver.net.listens = false;
    receiver.net.host = String::from("localhost");
    let sender = side(&sender);
    let sent = in_a_thread(move || send_all(sender, 5, 1));
    assert_eq!(receive_all(side(&receiver), 1, BLOCK as usize), (5, Vec::new()));
    assert_eq!(sent.join().expect("the sender"), [Ok(BLOCK); 5]);
}

/// It listens where it is told to, and on this machine alone where nothing is said.
#[test]
fn who_can_reach_a_listener() {
    let port = free_port();
    let mut receiver = receiving(NetProtocol::Tcp, port);
    let address_of = |job: &Job| match &side(job).place {
        Some(super::Place::TcpHere(listener)) => listener.local_addr().expect("an address").to_string(),
        Some(super::Place::UdpHere(socket)) => socket.local_addr().expect("an address").to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(address_of(&receiver), format!("127.0.0.1:{port}"));
    assert_eq!(
        address_of(&receiving(NetProtocol::Udp, port)),
        format!("127.0.0.1:{port}")
    );
    receiver.net.interface = String::from("0.0.0.0");
    assert_eq!(address_of(&receiver), format!("0.0.0.0:{port}"));
    receiver.net.interface = String::from("::1");
    assert!(side_that(&receiver, lasts()).is_err());
}

/// What `say` says to a receiver; what it makes of that.
fn told(
    protocol: NetProtocol,
    lasts: Lasts,
    say: impl FnOnce(&mut TcpStream, &UdpSocket) + Send + 'static,
) -> (Vec<Outcome>, NetBackend) {
    let port = free_port();
    let mut receiver = side_that(&receiving(protocol, port), lasts).expect("a side");
    let peer = in_a_thread(move || {
        let datagrams = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        datagrams.connect(("127.0.0.1", port)).expect("connected");
        let nobody = TcpListener::bind("127.0.0.1:0").expect("a port");
        let to = if protocol.is_tcp() {
            port
        } else {
            nobody.local_addr().expect("an address").port()
        };
        let mut stream = TcpStream::connect(("127.0.0.1", to)).expect("connected");
        say(&mut stream, &datagrams);
        // It does not go before it is gone from.
        std::thread::sleep(Duration::from_millis(50));
    });
    receiver.begin().expect("the other side");
    let mut outcomes = Vec::new();
    loop {
        let outcome = carry_out(&mut receiver, Op::Read);
        outcomes.push(outcome);
        if outcome.is_err() {
            break;
        }
    }
    peer.join().expect("the peer");
    (outcomes, receiver)
}

#[test]
fn a_stream_ends_as_its_sender_says_or_goes() {
    let say = |bytes: &'static [usize], end: &'static [u8], closes: bool| {
        told(NetProtocol::Tcp, lasts(), move |stream, _| {
            for &bytes in bytes {
                stream.write_all(&vec![7; bytes]).expect("sent");
                std::thread::sleep(Duration::from_millis(5));
            }
            stream.write_all(end).expect("sent");
            if closes {
                stream.shutdown(std::net::Shutdown::Write).expect("closed");
            } else {
                std::thread::sleep(Duration::from_millis(30));
            }
        })
        .0
    };
    let (block, over) = (Ok(BLOCK), Err(OVER));
    // In pieces, and with the last one short.
    assert_eq!(
        say(&[4096, 1000, 3096, 2048], &CLOSE, false),
        [block, block, Ok(2048), over]
    );
    assert_eq!(say(&[8192], &CLOSE, true), [block, block, over]);
    // Without a word.
    assert_eq!(say(&[4096, 10], &[], true), [block, Ok(10), over]);
    assert_eq!(say(&[], &[], true), [over]);
    assert_eq!(say(&[], &CLOSE, false), [over]);
}

/// What is not of who opened does not count, and what did not come is known.
#[test]
fn datagrams_of_one_sender() {
    let datagram = |number: u64| {
        let mut bytes = vec![7; BLOCK as usize];
        write_number(&mut bytes, number);
        bytes
    };
    let (outcomes, receiver) = told(NetProtocol::Udp, lasts(), move |_, to| {
        let somebody = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let at = to.peer_addr().expect("connected");
        somebody.send_to(b"hello", at).expect("sent");
        to.send(&OPEN).expect("sent");
        std::thread::sleep(Duration::from_millis(30));
        somebody.send_to(&CLOSE, at).expect("sent");
        somebody.send_to(&[1; 100], at).expect("sent");
        for bytes in [
            datagram(0),
            OPEN.to_vec(),
            Vec::new(),
            datagram(4),
            datagram(3),
            // Without a number, and longer than a block.
            vec![3; 10],
            vec![9; 5000],
            CLOSE.to_vec(),
        ] {
            to.send(&bytes).expect("sent");
        }
    });
    let block = Ok(BLOCK);
    assert_eq!(outcomes, [block, block, block, Ok(10), block, Err(OVER)]);
    assert_eq!(receiver.lost(), 2);
}

#[test]
fn numbers_of_datagrams() {
    let mut bytes = [0; 64];
    write_number(&mut bytes, 0x0102);
    assert_eq!(bytes[..40], [0; 40]);
    assert_eq!(&bytes[40..], b"ceUnquse\x02\x01\0\0\0\0\0\0\x40\0\0\0\0\0\0\0");
    assert_eq!(number_of(&bytes), Some(0x0102));
    assert_eq!(number_of(&bytes[..63]), None);
    write_number(&mut bytes[..23], 9);
    assert_eq!(bytes[..23], [0; 23]);
    // Whatever is said, it is no panic.
    let mut numbers = Numbers::default();
    for number in [u64::MAX, 0, u64::MAX, 5] {
        numbers.came(number);
    }
    let mut numbers = Numbers::default();
    for number in [0, 1, 5, 3, 6] {
        numbers.came(number);
    }
    assert_eq!(numbers.lost, 2);
}

#[test]
fn who_says_nothing_holds_nobody_up_for_ever() {
    let begun = Instant::now();
    let silence = |stream: &mut TcpStream, to: &UdpSocket| {
        to.send(&OPEN).expect("sent");
        stream.write_all(&[1; 10]).expect("sent");
        std::thread::sleep(PATIENCE * 2);
    };
    for protocol in [NetProtocol::Tcp, NetProtocol::Udp] {
        let (outcomes, receiver) = told(protocol, lasts(), silence);
        assert_eq!(outcomes, [Err(Errno(TIMED_OUT))]);
        let words = receiver.remark(0, Errno(TIMED_OUT)).expect("words");
        assert_eq!(words, "the other side has said nothing for 0.4 s");
        // Its time is over, or somebody ends it: no failure.
        let short = Lasts {
            time: Some(Nanos::from_millis(100)),
            ..lasts()
        };
        assert_eq!(told(protocol, short, silence).0, [Err(OVER)]);
    }
    for ends in 0..2 {
        let lasts = lasts();
        let flag = [&lasts.stop, &lasts.enough].map(Arc::clone)[ends].clone();
        let end = move |_: &mut TcpStream, _: &UdpSocket| flag.store(true, Ordering::Relaxed);
        assert_eq!(told(NetProtocol::Tcp, lasts, end).0, [Err(OVER)]);
    }
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn nobody_is_waited_for_as_long_as_the_job_lasts() {
    let stop: Arc<AtomicBool> = Arc::default();
    for protocol in [NetProtocol::Tcp, NetProtocol::Udp] {
        let lasts = Lasts {
            time: Some(Nanos::from_millis(100)),
            ..lasts()
        };
        let mut receiver = side_that(&receiving(protocol, free_port()), lasts).expect("a side");
        let error = receiver.begin().expect_err("nobody comes");
        assert_eq!(error.source.raw_os_error(), Some(TIMED_OUT), "{error}");
    }
    let lasts = Lasts {
        stop: Arc::clone(&stop),
        ..lasts()
    };
    let mut receiver = side_that(&receiving(NetProtocol::Tcp, free_port()), lasts).expect("a side");
    let ended = in_a_thread(move || receiver.begin().map(|()| carry_out(&mut receiver, Op::Read)));
    std::thread::sleep(Duration::from_millis(50));
    stop.store(true, Ordering::Relaxed);
    assert_eq!(ended.join().expect("it ends").expect("no error"), Err(OVER));
}

#[test]
fn who_is_not_there_is_not_waited_for() {
    let error = side(&sending(NetProtocol::Tcp, free_port()))
        .begin()
        .expect_err("nobody is there");
    assert_eq!(error.source.raw_os_error(), Some(REFUSED), "{error}");
    let mut unknown = sending(NetProtocol::Tcp, 1);
    unknown.net.host = String::from("nobody.invalid");
    assert!(side_that(&unknown, lasts()).is_err());
    // Datagrams go to whoever is there.
    let sent = send_all(side(&sending(NetProtocol::Udp, free_port())), 3, 1);
    assert_eq!(sent, [Ok(BLOCK); 3]);
}

#[test]
fn who_takes_nothing_or_goes_ends_a_sender() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    // It takes nothing, and stays.
    let kept = in_a_thread(move || (listener.accept().expect("a sender"), listener));
    let mut sender = side(&sending(NetProtocol::Tcp, port));
    sender.begin().expect("connected");
    let (_stream, listener) = kept.join().expect("accepted");
    let mut last = Ok(BLOCK);
    while last.is_ok() {
        last = carry_out(&mut sender, Op::Write);
    }
    assert_eq!(last, Err(Errno(TIMED_OUT)));
    let words = sender.remark(0, Errno(TIMED_OUT)).expect("words");
    assert_eq!(words, "the other side has taken nothing for 0.4 s");
    // It goes.
    for pingpong in [false, true] {
        let mut job = sending(NetProtocol::Tcp, port);
        job.net.pingpong = pingpong;
        let mut sender = side(&job);
        sender.begin().expect("connected");
        drop(listener.accept().expect("a sender"));
        let mut last = Ok(BLOCK);
        while last.is_ok() {
            last = carry_out(&mut sender, Op::Write);
        }
        assert!([Err(Errno(PIPE)), Err(Errno(RESET))].contains(&last), "{last:?}");
        let words = last
            .err()
            .and_then(|errno| sender.remark(0, errno))
            .expect("words");
        assert!(words.contains("ended the connection"), "{words}");
    }
}

/// As fio's sender hears it.
#[test]
fn who_goes_says_so() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let heard = in_a_thread(move || {
        let mut bytes = Vec::new();
        let (mut stream, _) = listener.accept().expect("a sender");
        stream.read_to_end(&mut bytes).expect("its end");
        bytes
    });
    send_all(side(&sending(NetProtocol::Tcp, port)), 2, 1);
    let heard = heard.join().expect("heard");
    assert_eq!(heard.len(), 2 * BLOCK as usize + CLOSE.len());
    assert_eq!(heard[2 * BLOCK as usize..], CLOSE);
    // Datagrams: a word before, and one behind.
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let port = socket.local_addr().expect("an address").port();
    send_all(side(&sending(NetProtocol::Udp, port)), 1, 1);
    let mut bytes = [0; 5000];
    let mut next = || {
        let count = socket.recv(&mut bytes).expect("a datagram");
        bytes[..count].to_vec()
    };
    assert_eq!(next(), OPEN);
    assert_eq!(number_of(&next()), Some(0));
    assert_eq!(next(), CLOSE);
}

/// What is at a path stays there, unless it is the socket that was made.
#[test]
fn nothing_of_others_is_removed() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("s");
    std::fs::write(&path, "somebody's").expect("a file");
    let job = through(receiving(NetProtocol::Tcp, 1), &path);
    let error = side_that(&job, lasts()).expect_err("it is there").to_string();
    assert!(error.contains("that fathom did not make"), "{error}");
    assert_eq!(std::fs::read(&path).expect("the file"), b"somebody's");
    std::fs::remove_file(&path).expect("removed");
    let sender = through(sending(NetProtocol::Tcp, 1), &path);
    let receiver = side(&job);
    let sent = in_a_thread(move || send_all(side(&sender), 1, 1));
    let mut receiver = receiver;
    receiver.begin().expect("the other side");
    std::fs::rename(&path, path.with_extension("old")).expect("renamed");
    std::fs::write(&path, "somebody's").expect("a file");
    drop(receiver);
    sent.join().expect("the sender");
    assert_eq!(std::fs::read(&path).expect("the file"), b"somebody's");
}

/// Multicasts go through this machine's own interface as well.
#[test]
fn a_multicast_arrives() {
    let port = free_port();
    let group = |mut job: Job| {
        job.net.host = String::from("239.255.77.1");
        job.net.interface = String::from("127.0.0.1");
        job
    };
    let receiver = match side_that(&group(receiving(NetProtocol::Udp, port)), lasts()) {
        Ok(receiver) => receiver,
        Err(error) => return crate::testing::skipped("a_multicast_arrives", error),
    };
    let sender = group(sending(NetProtocol::Udp, port));
    let sent = in_a_thread(move || send_all(side(&sender), 3, 1));
    assert_eq!(receive_all(receiver, 1, 4000), (3, Vec::new()));
    assert_eq!(sent.join().expect("the sender"), [Ok(BLOCK); 3]);
}

/// The names of files stand for the other side.
#[test]
fn a_filename_is_a_host() {
    let port = free_port();
    let mut sender = sending(NetProtocol::Tcp, port);
    sender.net.host.clear();
    sender.files.names = vec![PathBuf::from("localhost")];
    let receiver = side(&receiving(NetProtocol::Tcp, port));
    let sent = in_a_thread(move || send_all(side(&sender), 2, 1));
    assert_eq!(receive_all(receiver, 1, BLOCK as usize), (2, Vec::new()));
    assert_eq!(sent.join().expect("the sender"), [Ok(BLOCK); 2]);
}
