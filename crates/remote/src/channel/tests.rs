//! Two ends of a socket.

use super::{ChannelError, accept, connect};
use crate::key::Key;
use fathom_core::rng::Rng;
use fathom_testkit::seed;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

fn key(byte: u8) -> Key {
    Key::from_text(&format!("{byte:02x}").repeat(32)).expect("a key")
}

fn twice(stream: &UnixStream) -> (UnixStream, UnixStream) {
    (
        stream.try_clone().expect("clone"),
        stream.try_clone().expect("clone"),
    )
}

#[test]
fn what_is_said_is_heard_both_ways() {
    let (near, far) = UnixStream::pair().expect("a pair");
    let mut rng = Rng::new(seed());
    let lengths = [0, 1, 65_515, 65_516, 65_519, 65_520, 200_000];
    let messages: Vec<Vec<u8>> = lengths
        .map(|length| (0..length).map(|_| rng.below(256) as u8).collect())
        .to_vec();
    let expected = messages.clone();
    let server = std::thread::spawn(move || {
        let (read, write) = twice(&far);
        let (mut sender, mut receiver) = accept(read, write, &key(7)).expect("a channel");
        for message in expected {
            assert_eq!(receiver.receive().expect("a message"), message);
        }
        sender.send(b"heard").expect("send");
        assert!(matches!(receiver.receive(), Err(ChannelError::Gone)));
    });
    let (read, write) = twice(&near);
    let (mut sender, mut receiver) = connect(read, write, &key(7)).expect("a channel");
    for message in &messages {
        sender.send(message).expect("send");
    }
    assert_eq!(receiver.receive().expect("an answer"), b"heard");
    drop((sender, receiver));
    near.shutdown(std::net::Shutdown::Both).expect("shutdown");
    server.join().expect("the server");
}

#[test]
fn another_key_opens_nothing() {
    let (near, far) = UnixStream::pair().expect("a pair");
    let server = std::thread::spawn(move || {
        let (read, write) = twice(&far);
        let refused = accept(read, write, &key(1));
        assert!(matches!(refused, Err(ChannelError::Rejected)));
        drop(refused);
        far.shutdown(std::net::Shutdown::Both).expect("shutdown");
    });
    let (read, write) = twice(&near);
    assert!(matches!(
        connect(read, write, &key(2)),
        Err(ChannelError::Rejected)
    ));
    server.join().expect("the server");
}

#[test]
fn others_are_told_from_fathom() {
    let (mut near, far) = UnixStream::pair().expect("a pair");
    near.write_all(&[0x61, 0, 3, 0, 0, 0, 0, 0, 1, 2, 3])
        .expect("write");
    let (read, write) = twice(&far);
    assert!(matches!(
        accept(read, write, &key(1)),
        Err(ChannelError::NotFathom)
    ));
}

/// Whatever bit is changed on the way, what is heard is what was said, or nothing.
#[test]
fn a_changed_bit_is_noticed() {
    let mut rng = Rng::new(seed());
    for _ in 0..40 {
        let (near, proxy_near) = UnixStream::pair().expect("a pair");
        let (proxy_far, far) = UnixStream::pair().expect("a pair");
        let bit = rng.below(8 * 300);
        // Carries what the client says, one bit of it changed, and what the server says as it is.
        let (mut from, mut to) = twice_of(&proxy_near, &proxy_far);
        let carried = std::thread::spawn(move || {
            let mut at = 0u64;
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = from.read(&mut buffer) {
                for byte in &mut buffer[..read] {
                    if at == bit / 8 {
                        *byte ^= 1 << (bit % 8);
                    }
                    at += 1;
                }
                if to.write_all(&buffer[..read]).is_err() {
                    break;
                }
            }
            drop(to.shutdown(std::net::Shutdown::Both));
        });
        let (mut back_from, mut back_to) = twice_of(&proxy_far, &proxy_near);
        let back = std::thread::spawn(move || {
            let _ended = std::io::copy(&mut back_from, &mut back_to);
            drop(back_to.shutdown(std::net::Shutdown::Both));
        });
        drop((proxy_near, proxy_far));
        let server = std::thread::spawn(move || {
            far.set_read_timeout(Some(std::time::Duration::from_secs(5)))
                .expect("timeout");
            let (read, write) = twice(&far);
            let heard = accept(read, write, &key(3)).and_then(|(_, mut receiver)| receiver.receive());
            drop(far.shutdown(std::net::Shutdown::Both));
            heard.ok()
        });
        let (read, write) = twice(&near);
        let said = vec![5; 200];
        if let Ok((mut sender, _receiver)) = connect(read, write, &key(3)) {
            let _refused = sender.send(&said);
        }
        drop(near.shutdown(std::net::Shutdown::Both));
        let heard = server.join().expect("the server");
        assert!(heard.is_none_or(|heard| heard == said), "bit {bit}");
        drop(near);
        carried.join().expect("the proxy");
        back.join().expect("the way back");
    }
}

fn twice_of(from: &UnixStream, to: &UnixStream) -> (UnixStream, UnixStream) {
    (from.try_clone().expect("clone"), to.try_clone().expect("clone"))
}
