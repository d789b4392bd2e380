//! A network between a browser and what is served, which can be cut.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Passes on what comes, as long as it is whole.
pub(super) struct Network {
    pub(super) at: String,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    ended: AtomicBool,
    is_cut: AtomicBool,
    streams: Mutex<Vec<TcpStream>>,
}

impl Network {
    /// To that address.
    pub(super) fn to(address: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("a listener");
        let at = listener.local_addr().expect("its address").to_string();
        let shared = Arc::new(Shared::default());
        let (address, own) = (address.to_owned(), Arc::clone(&shared));
        let thread = std::thread::spawn(move || {
            while !own.ended.load(Ordering::Relaxed) {
                match listener.accept() {
                    Ok((stream, _)) => own.pass_on(&stream, &address),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {
                        std::thread::sleep(Duration::from_millis(10));
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        });
        Self {
            at,
            shared,
            thread: Some(thread),
        }
    }

    /// All connections break, and none can be made until it is mended.
    pub(super) fn cut(&self) {
        self.shared.is_cut.store(true, Ordering::Relaxed);
        self.shared.end_all();
    }

    pub(super) fn mend(&self) {
        self.shared.is_cut.store(false, Ordering::Relaxed);
    }
}

impl Shared {
    fn streams(&self) -> std::sync::MutexGuard<'_, Vec<TcpStream>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass_on(&self, theirs: &TcpStream, address: &str) {
        let Ok(ours) = TcpStream::connect(address) else {
            return;
        };
        let mut streams = self.streams();
        if self.is_cut.load(Ordering::Relaxed) {
            return;
        }
        theirs.set_nonblocking(false).expect("a connection");
        for (from, to) in [(theirs, &ours), (&ours, theirs)] {
            let (mut from, mut to) = (from.try_clone().expect("a file"), to.try_clone().expect("a file"));
            streams.push(from.try_clone().expect("a file"));
            std::thread::spawn(move || {
                let mut buffer = [0; 16 << 10];
                while let Ok(n @ 1..) = from.read(&mut buffer) {
                    if to.write_all(&buffer[..n]).is_err() {
                        break;
                    }
                }
                // The other side may have ended it.
                let _gone = to.shutdown(Shutdown::Both);
            });
        }
    }

    fn end_all(&self) {
        for stream in self.streams().drain(..) {
            let _gone = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        self.shared.end_all();
        if let Some(thread) = self.thread.take() {
            let _told = thread.join();
        }
    }
}
