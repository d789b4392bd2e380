//! Clients of all kinds, well-behaved and not, against one bench.

use super::{Address, Server};
use crate::bench::{Bench, DiskOptions, Options, Running};
use fathom_core::rng::Rng;
use fathom_door::backing;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const SIZE: u64 = 8 << 20;

struct Served {
    _server: Server,
    running: Running,
    socket: PathBuf,
    _dir: tempfile::TempDir,
}

fn served() -> Served {
    let dir = tempfile::tempdir().expect("a directory");
    let file = backing::memory("nbd", SIZE).expect("memory");
    let disk = DiskOptions {
        name: String::from("data"),
        file,
        size_bytes: SIZE,
        cache_bytes: 1 << 20,
    };
    let (running, _) = Bench::start(None, vec![disk], Options::default()).expect("a bench");
    let socket = dir.path().join("nbd");
    let server = Server::start(&running.bench, &Address::Unix(socket.clone()), None).expect("a server");
    Served {
        _server: server,
        running,
        socket,
        _dir: dir,
    }
}

/// A client that begins by the old option, with simple replies.
fn connect(served: &Served) -> UnixStream {
    let mut stream = UnixStream::connect(&served.socket).expect("connect");
    stream
        .set_read_timeout(Some(Duration::from_mins(1)))
        .expect("patience");
    stream.read_exact(&mut [0; 18]).expect("a greeting");
    stream.write_all(&3u32.to_be_bytes()).expect("flags");
    stream
        .write_all(&0x4948_4156_454f_5054u64.to_be_bytes())
        .expect("an option");
    stream.write_all(&1u32.to_be_bytes()).expect("export name");
    stream.write_all(&0u32.to_be_bytes()).expect("none");
    let mut answer = [0; 10];
    stream.read_exact(&mut answer).expect("the export");
    assert_eq!(answer[..8], SIZE.to_be_bytes());
    stream
}

fn request(flags: u16, kind: u16, cookie: u64, offset: u64, len: u32) -> Vec<u8> {
    let mut bytes = 0x2560_9513u32.to_be_bytes().to_vec();
    bytes.extend(flags.to_be_bytes());
    bytes.extend(kind.to_be_bytes());
    bytes.extend(cookie.to_be_bytes());
    bytes.extend(offset.to_be_bytes());
    bytes.extend(len.to_be_bytes());
    bytes
}

/// The error and the cookie of a simple reply.
fn reply(stream: &mut UnixStream) -> (u32, u64) {
    let mut bytes = [0; 16];
    stream.read_exact(&mut bytes).expect("a reply");
    assert_eq!(bytes[..4], 0x6744_6698u32.to_be_bytes());
    let (error, cookie) = bytes[4..].split_at(4);
    (
        u32::from_be_bytes(error.try_into().expect("four")),
        u64::from_be_bytes(cookie.try_into().expect("eight")),
    )
}

fn read(stream: &mut UnixStream, offset: u64, len: u32) -> Vec<u8> {
    stream.write_all(&request(0, 0, 7, offset, len)).expect("send");
    assert_eq!(reply(stream), (0, 7));
    let mut data = vec![0; len as usize];
    stream.read_exact(&mut data).expect("data");
    data
}

#[test]
fn random_io_agrees_with_an_oracle() {
    let seed = fathom_testkit::seed();
    let mut rng = Rng::new(seed);
    let served = served();
    let mut streams = [connect(&served), connect(&served)];
    let mut oracle = vec![0u8; SIZE as usize];
    let given = std::env::var("FATHOM_DISK_ROUNDS").ok();
    let rounds = given.map_or(6000, |text| text.parse().expect("FATHOM_DISK_ROUNDS: a number"));
    for round in 0..rounds {
        let stream = &mut streams[rng.below(2) as usize];
        let offset = rng.below(SIZE);
        let len = (1 + rng.below(30_000)).min(SIZE - offset) as u32;
        let range = offset as usize..offset as usize + len as usize;
        match rng.below(8) {
            0 | 1 => {
                let mut data = vec![0; len as usize];
                rng.fill(&mut data);
                stream
                    .write_all(&request(rng.below(2) as u16, 1, round, offset, len))
                    .expect("send");
                stream.write_all(&data).expect("send");
                assert_eq!(reply(stream), (0, round));
                oracle[range].copy_from_slice(&data);
            }
            2 => {
                let kind = if rng.below(2) == 0 { 4 } else { 6 };
                stream
                    .write_all(&request(0, kind, round, offset, len))
                    .expect("send");
                assert_eq!(reply(stream), (0, round));
                oracle[range].fill(0);
            }
            3 => {
                stream.write_all(&request(0, 3, round, 0, 0)).expect("send");
                assert_eq!(reply(stream), (0, round));
            }
            _ => assert!(
                read(stream, offset, len) == oracle[range],
                "round {round}: {offset}+{len}"
            ),
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_and_the_connection_goes_on() {
    let served = served();
    let mut stream = connect(&served);
    for (sent, data, expected) in [
        (request(0, 0, 1, SIZE, 1), 0, (22, 1)),
        (request(0, 0, 2, u64::MAX, 2), 0, (22, 2)),
        (request(0, 0, 3, 0, 1 << 30), 0, (22, 3)),
        (request(0, 1, 4, SIZE - 1, 2), 2, (28, 4)),
        (request(16, 6, 5, 0, 1), 0, (22, 5)),
        (request(0, 7, 6, 0, 1), 0, (22, 6)),
        (request(0, 4, 8, SIZE, 1), 0, (22, 8)),
    ] {
        stream.write_all(&sent).expect("send");
        stream.write_all(&vec![1; data]).expect("send");
        assert_eq!(reply(&mut stream), expected);
    }
    assert_eq!(read(&mut stream, 0, 4), [0; 4]);
    // A write that is too long to be read ends it.
    stream
        .write_all(&request(0, 1, 9, 0, (32 << 20) + 1))
        .expect("send");
    assert!(matches!(stream.read(&mut [0; 16]), Ok(0) | Err(_)));
}

#[test]
fn who_stalls_or_lies_holds_up_nobody_else() {
    let served = served();
    // One that asks for more than it takes, one that begins a write and does not go on, one that says nothing, one that
    // talks nonsense.
    let mut greedy = connect(&served);
    for cookie in 0..200 {
        greedy
            .write_all(&request(0, 0, cookie, 0, 4 << 20))
            .expect("send");
    }
    let mut slow = connect(&served);
    slow.write_all(&request(0, 1, 1, 0, 1 << 20)).expect("send");
    let silent = UnixStream::connect(&served.socket).expect("connect");
    let mut liar = UnixStream::connect(&served.socket).expect("connect");
    liar.write_all(&[0xff; 4096]).expect("send");
    let mut good = connect(&served);
    let begun = Instant::now();
    for _ in 0..200 {
        read(&mut good, 0, 4096);
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    // What the greedy one asked for is kept for it, and it gets all of it.
    for cookie in 0..200 {
        assert_eq!(reply(&mut greedy), (0, cookie));
        let mut left = vec![0; 4 << 20];
        greedy.read_exact(&mut left).expect("data");
    }
    drop(silent);
}

#[test]
fn the_server_ends_though_clients_wait() {
    let served = served();
    let mut stream = connect(&served);
    served.running.bench.set_fixed_ns(3_600_000_000_000);
    stream.write_all(&request(0, 0, 1, 0, 4096)).expect("send");
    std::thread::sleep(Duration::from_millis(50));
    let begun = Instant::now();
    let socket = served.socket.clone();
    drop(served);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(!socket.exists());
}

/// One that says a byte now and then, each before anybody's patience ends, is gone all the same; one that has agreed stays.
#[test]
fn who_takes_too_long_to_say_what_it_wants_is_gone() {
    let served = served();
    let mut quiet = connect(&served);
    let mut slow = UnixStream::connect(&served.socket).expect("connect");
    slow.read_exact(&mut [0; 18]).expect("a greeting");
    let begin = Instant::now();
    // An option of 1000 bytes, which never ends.
    let begun = [
        &3u32.to_be_bytes()[..],
        b"IHAVEOPT",
        &7u32.to_be_bytes(),
        &1000u32.to_be_bytes(),
    ];
    slow.write_all(&begun.concat()).expect("sent");
    while slow.write_all(&[0]).is_ok() {
        assert!(begin.elapsed() < Duration::from_secs(30), "it is still there");
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(begin.elapsed() >= super::NEGOTIATION);
    assert_eq!(read(&mut quiet, 0, 512).len(), 512);
}
