//! The server: who may ask, how much of it at a time, and what is answered.
//!
//! One thread, which the measured ones do not know. Data in: connections. Data out: what a [`Site`] answers. It takes a bounded number
//! of connections, gives each little time for its request and its reading, checks whom a request is for and where it comes from, and
//! sends headers that let a page do nothing but what it is for. It must not know what is served.

mod access;
mod answer;
mod connection;
mod events;
mod pieces;
mod timed;

pub use access::{Access, HostName, Secured, Token, TokenError};
pub(crate) use answer::{Asked, Policy, Refusal, Reply, Site};

use crate::browse::{Browse, Reports};
use crate::hub::Hub;
use crate::live::Live;
use connection::Served;
use pieces::Room;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, watch};

/// Connections at a time; what is beyond is closed at once.
const CONNECTIONS: usize = 64;
/// Of these, how many may watch.
const VIEWERS: usize = 24;
/// How long those who watch have at the end to hear of it, and how often it is looked whether they have.
const FAREWELL: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(20);
/// What was told has to be sent.
const SENT: Duration = Duration::from_millis(100);
/// Threads for what takes its time: reports of a browser.
const SLOW_THREADS: usize = 2;

/// A server under way. Dropped, it ends.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    viewers: Arc<Semaphore>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves what is known of a measurement: a live page, its events, metrics.
    ///
    /// # Errors
    /// The address cannot be listened on, or there is no thread.
    pub fn of_measurement(access: Access, hub: Arc<Hub>) -> io::Result<Self> {
        Self::begin(access, Live::new(hub))
    }

    /// Serves what was measured, in `folder`: a list, reports and comparisons as `reports` makes them, names and notes.
    ///
    /// # Errors
    /// The address cannot be listened on, there is no thread, or there are no random numbers.
    pub fn of_folder(
        access: Access,
        folder: PathBuf,
        reports: Box<dyn Reports>,
        version: &str,
    ) -> io::Result<Self> {
        let secret =
            connection::nonce().ok_or_else(|| io::Error::other("the system gives no random numbers"))?;
        Self::begin(access, Browse::new(folder, reports, secret, version.to_owned()))
    }

    /// Serves `site` to whom `access` allows.
    ///
    /// # Errors
    /// The address cannot be listened on, or there is no thread.
    pub(crate) fn begin(access: Access, site: impl Site) -> io::Result<Self> {
        let listener = TcpListener::bind(access.address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(SLOW_THREADS)
            .thread_name("fathom-served")
            .build()?;
        let (stop, stopped) = watch::channel(false);
        let viewers = Arc::new(Semaphore::new(VIEWERS));
        let served = Arc::new(Served {
            site: Arc::new(site),
            access,
            viewers: Arc::clone(&viewers),
            room: Room::default(),
            stopped: stopped.clone(),
        });
        let body = move || {
            runtime.block_on(accept(listener, served, stopped));
            // A report that is being made is not waited for.
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new().name(String::from("fathom-serve"));
        Ok(Self {
            address,
            stop,
            viewers,
            thread: Some(thread.spawn(body)?),
        })
    }

    /// Where it listens, with the port that the system chose where 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many watch.
    pub fn viewers(&self) -> usize {
        VIEWERS - self.viewers.available_permits()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let watched = self.viewers() > 0;
        let begin = Instant::now();
        while self.viewers() > 0 && begin.elapsed() < FAREWELL {
            std::thread::sleep(LOOK);
        }
        if watched {
            std::thread::sleep(SENT);
        }
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // Its panic was told by itself; the measurement is not to end with it.
            let _told = thread.join();
        }
    }
}

/// Takes connections until it is stopped.
async fn accept(listener: TcpListener, served: Arc<Served>, mut stopped: watch::Receiver<bool>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let stream = tokio::select! {
            _ = stopped.changed() => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = stream else {
            // Out of files: they come back when connections end.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let Ok(permit) = Arc::clone(&room).try_acquire_owned() else {
            drop(stream);
            continue;
        };
        let served = Arc::clone(&served);
        tokio::spawn(async move {
            connection::serve(stream, served).await;
            drop(permit);
        });
    }
}

#[cfg(test)]
mod tests;
