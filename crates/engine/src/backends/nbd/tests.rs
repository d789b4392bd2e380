//! The client against servers: an honest one in memory, and such that lie, refuse, stall and go.

use super::{NbdBackend, Reader, Wanted, agree, look};
use fathom_core::backend::{Backend, Errno, Op, Outcome, Request, Submit};
use fathom_core::nbd::{
    GREETING, OPTION_MAGIC, OPTION_REPLY_MAGIC, RequestHeader, SimpleReply, Uri, can, command, flag, info,
    option, reply, u32_at, u64_at,
};
use fathom_core::rng::Rng;
use fathom_core::units::MonoTime;
use fathom_sys::arena::{Arena, PageKind};
use proptest::prelude::*;
use std::io::{self, Cursor, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const SIZE: u64 = 1 << 20;
const BLOCK: u32 = 4096;
const CAN: u16 = can::HAS_FLAGS | can::FLUSH | can::FUA | can::TRIM;
const PATIENCE: Duration = Duration::from_millis(500);

/// A server of one connection.
struct Served {
    uri: Uri,
    thread: JoinHandle<()>,
    _directory: tempfile::TempDir,
}

/// Lets `serve` talk to the first client.
fn served(serve: impl FnOnce(UnixStream) + Send + 'static) -> Served {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("nbd");
    let listener = UnixListener::bind(&path).expect("a socket");
    let uri = Uri::parse(&format!("nbd+unix:///disk?socket={}", path.display())).expect("an address");
    let thread = std::thread::spawn(move || serve(listener.accept().expect("a client").0));
    Served {
        uri,
        thread,
        _directory: directory,
    }
}

fn connect(served: &Served, wanted: Wanted, depth: u32) -> io::Result<NbdBackend> {
    let arena = Arena::new(depth, BLOCK as usize, PageKind::Normal).expect("an arena");
    NbdBackend::connect(&served.uri, wanted, depth, arena, PATIENCE)
}

fn writing() -> Wanted {
    Wanted {
        writes: true,
        forced: false,
        block_bytes: BLOCK.into(),
    }
}

/// The greeting, and the client's flags.
fn greet(stream: &mut UnixStream) {
    let mut greeting = GREETING.to_be_bytes().to_vec();
    greeting.extend(OPTION_MAGIC.to_be_bytes());
    greeting.extend(3u16.to_be_bytes());
    stream.write_all(&greeting).expect("greet");
    stream.read_exact(&mut [0; 4]).expect("flags");
}

/// The next option, with its data.
fn next_option(stream: &mut UnixStream) -> (u32, Vec<u8>) {
    let mut header = [0; 16];
    stream.read_exact(&mut header).expect("an option");
    assert_eq!(u64_at(&header, 0), OPTION_MAGIC);
    let mut data = vec![0; u32_at(&header, 12) as usize];
    stream.read_exact(&mut data).expect("its data");
    (u32_at(&header, 8), data)
}

fn answer(kind: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = OPTION_REPLY_MAGIC.to_be_bytes().to_vec();
    bytes.extend(option::GO.to_be_bytes());
    bytes.extend(kind.to_be_bytes());
    bytes.extend((data.len() as u32).to_be_bytes());
    bytes.extend(data);
    bytes
}

fn export_info(size_bytes: u64, can: u16) -> Vec<u8> {
    let mut data = info::EXPORT.to_be_bytes().to_vec();
    data.extend(size_bytes.to_be_bytes());
    data.extend(can.to_be_bytes());
    answer(reply::INFO, &data)
}

fn block_info(least: u32, most: u32) -> Vec<u8> {
    let mut data = info::BLOCK_SIZE.to_be_bytes().to_vec();
    data.extend([least, 4096, most].map(u32::to_be_bytes).concat());
    answer(reply::INFO, &data)
}

/// As most servers begin.
fn begin(stream: &mut UnixStream, can: u16) {
    greet(stream);
    let (number, data) = next_option(stream);
    assert_eq!((number, &data[..8]), (option::GO, &b"\0\0\0\x04disk"[..]));
    let told = [export_info(SIZE, can), answer(reply::ACK, &[])].concat();
    stream.write_all(&told).expect("told");
}

/// The next request, with its data; `None`: the client has gone.
fn next_request(stream: &mut UnixStream) -> Option<(RequestHeader, Vec<u8>)> {
    let mut header = [0; RequestHeader::BYTES];
    stream.read_exact(&mut header).ok()?;
    let header = RequestHeader::from_bytes(&header).expect("a request");
    let len = if header.command == command::WRITE {
        header.len_bytes
    } else {
        0
    };
    let mut data = vec![0; len as usize];
    stream.read_exact(&mut data).ok()?;
    Some((header, data))
}

fn simple(cookie: u64, errno: u32) -> [u8; 16] {
    SimpleReply { errno, cookie }.to_bytes()
}

/// A disk in memory, which answers in an order of its own: when it has so many requests, the last one first.
fn disk(mut stream: UnixStream, hold: usize, ask: impl Fn(&RequestHeader)) {
    begin(&mut stream, CAN);
    let mut data = vec![0u8; SIZE as usize];
    let mut held = Vec::new();
    while let Some((request, given)) = next_request(&mut stream) {
        ask(&request);
        let at = request.offset_bytes as usize;
        let range = at..at + request.len_bytes as usize;
        let mut answer = simple(request.cookie, 0).to_vec();
        match request.command {
            command::READ => answer.extend(&data[range]),
            command::WRITE => data[range].copy_from_slice(&given),
            command::TRIM => data[range].fill(0),
            command::FLUSH => {}
            command::DISCONNECT => return,
            other => panic!("command {other}"),
        }
        held.push(answer);
        if held.len() >= hold {
            while let Some(answer) = held.pop() {
                stream.write_all(&answer).expect("answered");
            }
        }
    }
}

fn request(slot: u32, op: Op, offset: u64, len: u32) -> Request {
    Request {
        slot,
        op,
        file: 0,
        offset,
        len,
    }
}

/// All answers to what is outstanding.
fn all(backend: &mut NbdBackend, count: u32) -> Vec<(u32, Outcome)> {
    let mut answers = Vec::new();
    let reaped = backend.reap(count, count, MonoTime::NEVER, &mut |slot, outcome| {
        answers.push((slot, outcome));
    });
    assert_eq!(reaped.expect("answers"), count);
    answers
}

fn queue(backend: &mut NbdBackend, request: Request) {
    assert_eq!(backend.submit(request, MonoTime(0)), Submit::Queued);
}

#[test]
fn random_io_agrees_with_an_oracle() {
    const DEPTH: u32 = 8;
    let mut rng = Rng::new(crate::testing::seed());
    let server = served(|stream| disk(stream, DEPTH as usize, |_| {}));
    let mut backend = connect(&server, writing(), DEPTH).expect("connected");
    assert_eq!((backend.export().size_bytes, backend.export().can), (SIZE, CAN));
    let mut oracle = vec![0u8; SIZE as usize];
    for _ in 0..300 {
        // Blocks apart, so that the order of the server does not matter.
        let first = rng.below(SIZE / u64::from(BLOCK) - u64::from(DEPTH));
        let mut expected = Vec::new();
        for slot in 0..DEPTH {
            let offset = (first + u64::from(slot)) * u64::from(BLOCK);
            let len = 512 * (1 + rng.below(8)) as u32;
            let range = offset as usize..offset as usize + len as usize;
            let op = [Op::Read, Op::Write, Op::Trim][rng.below(3) as usize];
            match op {
                Op::Write => {
                    rng.fill(&mut backend.buffer(slot)[..len as usize]);
                    oracle[range].copy_from_slice(&backend.buffer(slot)[..len as usize]);
                }
                Op::Trim => oracle[range].fill(0),
                _ => expected.push((slot, range)),
            }
            queue(&mut backend, request(slot, op, offset, len));
        }
        backend.commit().expect("sent");
        let answers = all(&mut backend, DEPTH);
        assert!(answers.iter().all(|(_, outcome)| outcome.is_ok()), "{answers:?}");
        // It answers the last one first.
        assert_eq!(answers.first().map(|(slot, _)| *slot), Some(DEPTH - 1));
        for (slot, range) in expected {
            assert!(backend.buffer(slot)[..range.len()] == oracle[range]);
        }
    }
    drop(backend);
    server.thread.join().expect("the server is told of the end");
}

#[test]
fn flushes_and_writes_through() {
    let (told, hear) = std::sync::mpsc::channel();
    let server = served(move |stream| {
        disk(stream, 1, move |request| {
            told.send((request.command, request.flags)).expect("told");
        });
    });
    let wanted = Wanted {
        forced: true,
        ..writing()
    };
    let mut backend = connect(&server, wanted, 1).expect("connected");
    for (op, len) in [
        (Op::Sync, 0),
        (Op::DataSync, 0),
        (Op::Write, BLOCK),
        (Op::Read, BLOCK),
    ] {
        queue(&mut backend, request(0, op, 4096, len));
        backend.commit().expect("sent");
        assert_eq!(all(&mut backend, 1), [(0, Ok(len))]);
    }
    drop(backend);
    let heard: Vec<_> = hear.iter().collect();
    let expected = [
        (command::FLUSH, 0),
        (command::FLUSH, 0),
        (command::WRITE, flag::FUA),
        (command::READ, 0),
        (command::DISCONNECT, 0),
    ];
    assert_eq!(heard, expected);
}

#[test]
fn what_the_server_cannot_is_not_asked_of_it() {
    let server = served(|mut stream| {
        begin(&mut stream, can::HAS_FLAGS);
        assert_eq!(
            next_request(&mut stream).map(|(header, _)| header.command),
            Some(command::DISCONNECT)
        );
    });
    let mut backend = connect(&server, writing(), 1).expect("connected");
    let at_once = |backend: &mut NbdBackend, op| backend.submit(request(0, op, 0, 0), MonoTime(0));
    assert_eq!(at_once(&mut backend, Op::Sync), Submit::Done(Ok(0)));
    assert_eq!(at_once(&mut backend, Op::Trim), Submit::Done(Err(Errno(95))));
    drop(backend);
    server.thread.join().expect("nothing was asked");
}

#[test]
fn what_does_not_fit_an_export_is_refused() {
    let forced = Wanted {
        forced: true,
        ..writing()
    };
    let read_only = can::HAS_FLAGS | can::READ_ONLY;
    for (can, blocks, wanted, words) in [
        (read_only, (1, 1 << 20), writing(), "read-only"),
        (can::HAS_FLAGS, (1, 1 << 20), forced, "FUA"),
        (CAN, (1, 2048), writing(), "no blocks of more than 2048 bytes"),
        (CAN, (8192, 1 << 20), writing(), "multiples of 8192 bytes"),
        (CAN, (3, 1 << 20), writing(), "make no sense"),
        (CAN, (4096, 512), writing(), "make no sense"),
        (0, (1, 1 << 20), writing(), "what the export can do"),
    ] {
        let server = served(move |mut stream| {
            greet(&mut stream);
            next_option(&mut stream);
            let told = [
                block_info(blocks.0, blocks.1),
                export_info(SIZE, can),
                answer(reply::ACK, &[]),
            ];
            stream.write_all(&told.concat()).expect("told");
            // Until the client goes.
            let _gone = stream.read(&mut [0; 64]);
        });
        let error = connect(&server, wanted, 1).expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn old_servers_are_asked_in_the_old_way() {
    let server = served(|mut stream| {
        greet(&mut stream);
        next_option(&mut stream);
        stream
            .write_all(&answer(reply::UNSUPPORTED, b"no"))
            .expect("told");
        assert_eq!(next_option(&mut stream), (option::EXPORT_NAME, b"disk".to_vec()));
        let mut told = SIZE.to_be_bytes().to_vec();
        told.extend(CAN.to_be_bytes());
        stream.write_all(&told).expect("told");
        let _gone = stream.read(&mut [0; 64]);
    });
    assert_eq!(look(&server.uri).expect("an export").size_bytes, SIZE);
}

/// What is said to the client after the greeting, and what it makes of it.
#[test]
fn servers_that_refuse_or_lie() {
    let greeting = |second: u64, flags: u16| {
        [
            &GREETING.to_be_bytes()[..],
            &second.to_be_bytes(),
            &flags.to_be_bytes(),
        ]
        .concat()
    };
    let modern = greeting(OPTION_MAGIC, 3);
    let said = |bytes: Vec<u8>| [modern.clone(), bytes].concat();
    let mut other_option = answer(reply::ACK, &[]);
    other_option[11] = 9;
    let mut long = answer(reply::INFO, &[]);
    long[16..20].copy_from_slice(&u32::MAX.to_be_bytes());
    let endless = answer(reply::INFO, &[0, 9]).repeat(100);
    for (bytes, words) in [
        (b"HTTP/1.1 400 Bad Request\r\n".to_vec(), "no NBD server"),
        (greeting(0x0000_4202_8186_1253, 0), "old form"),
        (greeting(OPTION_MAGIC, 0), "old form"),
        (Vec::new(), "ended the connection"),
        (
            said(answer(reply::UNKNOWN, b"no\x1b[31m disk")),
            "no such export: no[31m disk",
        ),
        (said(answer(reply::TLS_REQUIRED, b"")), "wants TLS"),
        (said(answer(reply::ERROR + 2, b"policy")), "error 2): policy"),
        (said(answer(reply::ACK, &[])), "how large"),
        (said(answer(reply::INFO, &[0])), "of nothing"),
        (said(answer(reply::INFO, &[0, 0, 1])), "wrong length"),
        (said(answer(77, &[])), "not asked"),
        (said(other_option), "not asked"),
        (said(long), "4294967295 bytes"),
        (said(endless), "without end"),
        (
            said([export_info(u64::MAX, CAN), answer(reply::ACK, &[])].concat()),
            "8 EiB",
        ),
    ] {
        let error = agree(&mut Scripted::new(bytes), "disk")
            .expect_err(words)
            .to_string();
        assert!(error.contains(words), "`{words}`: {error}");
    }
}

/// A server that says this whatever it hears.
struct Scripted(Cursor<Vec<u8>>);

impl Scripted {
    fn new(bytes: Vec<u8>) -> Self {
        Self(Cursor::new(bytes))
    }
}

impl Read for Scripted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Scripted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

proptest! {
    /// Whatever comes, there is an answer, and an export makes sense.
    #[test]
    fn no_server_is_too_strange(greets: bool, parts in prop::collection::vec((0u32..6, prop::collection::vec(any::<u8>(), 0..20)), 0..8)) {
        let mut bytes = Vec::new();
        if greets {
            bytes.extend(GREETING.to_be_bytes());
            bytes.extend(OPTION_MAGIC.to_be_bytes());
            bytes.extend(3u16.to_be_bytes());
        }
        for (kind, data) in parts {
            let kind = [reply::ACK, reply::INFO, reply::UNSUPPORTED, reply::UNKNOWN, reply::ERROR, kind][kind as usize];
            bytes.extend(answer(kind, &data));
        }
        if let Ok(export) = agree(&mut Scripted::new(bytes), "disk") {
            prop_assert!(export.block_bytes.is_power_of_two() && export.request_bytes_max >= export.block_bytes);
        }
    }
}

/// After a good start, `then` is said to the first of two requests; what becomes of `least` of them.
fn after_a_start(
    least: u32,
    then: impl FnOnce(&RequestHeader, &mut UnixStream) + Send + 'static,
) -> Result<Vec<(u32, Outcome)>, String> {
    let server = served(move |mut stream| {
        begin(&mut stream, CAN);
        let (request, _) = next_request(&mut stream).expect("a request");
        next_request(&mut stream).expect("another");
        then(&request, &mut stream);
        // Whatever else the client says.
        let _rest = io::copy(&mut stream, &mut io::sink());
    });
    let mut backend = connect(&server, writing(), 2).expect("connected");
    queue(&mut backend, request(1, Op::Read, 0, BLOCK));
    queue(&mut backend, request(0, Op::Read, 0, BLOCK));
    backend.commit().expect("sent");
    let mut answers = Vec::new();
    let reaped = backend.reap(least, 8, MonoTime::NEVER, &mut |slot, outcome| {
        answers.push((slot, outcome));
    });
    reaped.map(|_| answers).map_err(|error| error.to_string())
}

#[test]
fn an_error_of_the_server_is_one_of_the_io() {
    for (told, errno) in [(5, 5), (28, 28), (1, 1), (4711, 5), (u32::MAX, 5)] {
        let answers = after_a_start(1, move |request, stream| {
            stream.write_all(&simple(request.cookie, told)).expect("told");
        });
        assert_eq!(answers, Ok(vec![(1, Err(Errno(errno)))]), "{told}");
    }
}

#[test]
fn lies_end_the_run() {
    type Lie = fn(&RequestHeader, &mut UnixStream);
    let begun = Instant::now();
    let lies: [(Lie, &str); 6] = [
        (
            |_, stream| stream.write_all(&[0xff; 16]).expect("told"),
            "no reply",
        ),
        (
            |request, stream| stream.write_all(&simple(request.cookie ^ 1, 0)).expect("told"),
            "not asked",
        ),
        (
            |request, stream| {
                stream
                    .write_all(&simple(request.cookie + (1 << 32), 0))
                    .expect("told");
            },
            "not asked",
        ),
        (
            |_, stream| stream.write_all(&simple(u64::MAX, 5)).expect("told"),
            "not asked",
        ),
        // An answer, and the same again.
        (
            |request, stream| {
                stream
                    .write_all(&[simple(request.cookie, 5); 2].concat())
                    .expect("told");
            },
            "not asked",
        ),
        (
            |_, stream| stream.shutdown(std::net::Shutdown::Both).expect("gone"),
            "ended the connection",
        ),
    ];
    for (lie, words) in lies {
        let error = after_a_start(2, lie).expect_err(words);
        assert!(
            error.starts_with("nbd failed: ") && error.contains(words),
            "`{words}`: {error}"
        );
    }
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn who_stalls_holds_nobody_up_for_ever() {
    // One that says nothing, one that stops within the data, one that does not begin.
    let silent = after_a_start(1, |_, _| {});
    let half = after_a_start(1, |request, stream| {
        stream.write_all(&simple(request.cookie, 0)).expect("told");
        stream.write_all(&[0; 100]).expect("told");
    });
    for error in [silent, half] {
        let error = error.expect_err("it stalls");
        assert!(error.contains("said nothing for 0.5 s"), "{error}");
    }
    let server = served(|mut stream| {
        stream.write_all(&GREETING.to_be_bytes()).expect("greet");
        let _rest = io::copy(&mut stream, &mut io::sink());
    });
    let error = connect(&server, writing(), 1).expect_err("it stalls");
    assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{error}");
}

/// Writes go on while the server takes nothing, and nothing is mixed up.
#[test]
fn a_server_that_reads_slowly_gets_all() {
    const DEPTH: u32 = 64;
    let server = served(|mut stream| {
        begin(&mut stream, CAN);
        std::thread::sleep(Duration::from_millis(200));
        while let Some((request, data)) = next_request(&mut stream) {
            if request.command == command::DISCONNECT {
                return;
            }
            assert!(
                data.iter()
                    .all(|&byte| u64::from(byte) == request.offset_bytes / u64::from(BLOCK))
            );
            stream.write_all(&simple(request.cookie, 0)).expect("answered");
        }
    });
    let arena = Arena::new(DEPTH, 64 << 10, PageKind::Normal).expect("an arena");
    let wanted = Wanted {
        block_bytes: 64 << 10,
        ..writing()
    };
    let mut backend =
        NbdBackend::connect(&server.uri, wanted, DEPTH, arena, Duration::from_secs(20)).expect("connected");
    for slot in 0..DEPTH {
        backend.buffer(slot)[..64 << 10].fill(slot as u8);
        queue(
            &mut backend,
            request(slot, Op::Write, u64::from(slot * BLOCK), 64 << 10),
        );
    }
    backend.commit().expect("sent");
    assert!(!backend.unsent.is_empty(), "a socket does not take 4 MiB at once");
    let answers = all(&mut backend, DEPTH);
    assert!(answers.iter().all(|(_, outcome)| *outcome == Ok(64 << 10)));
    drop(backend);
    server.thread.join().expect("all was right");
}

#[test]
fn an_export_is_read_here_and_there() {
    let server = served(|mut stream| {
        begin(&mut stream, CAN);
        while let Some((request, _)) = next_request(&mut stream) {
            if request.command == command::DISCONNECT {
                return;
            }
            let places = request.offset_bytes..request.offset_bytes + u64::from(request.len_bytes);
            let data: Vec<u8> = places.map(|place| (place / 1000) as u8).collect();
            stream.write_all(&simple(request.cookie, 0)).expect("told");
            stream.write_all(&data).expect("told");
        }
    });
    let mut reader = Reader::connect(&server.uri).expect("connected");
    let mut bytes = [0; 7];
    for place in [0, 65_533, 999_997, SIZE - 7] {
        reader.read_exact_at(&mut bytes, place).expect("read");
        let expected: Vec<u8> = (place..place + 7).map(|place| (place / 1000) as u8).collect();
        assert_eq!(bytes[..], expected[..], "{place}");
    }
    assert!(reader.read_exact_at(&mut bytes, SIZE - 3).is_err());
}
