//! A disk with limits, for tests: one file in a FUSE file system whose reads and writes take as long as a cloud disk's.
//!
//! Duty: the truth that a measurement is compared with. Data in: a mount point, limits, stalls. Data out: on stdout
//! `ready FILE` once it can be used, then a line for each stall with its begin and end on `CLOCK_MONOTONIC`, and one for each
//! change that a line on stdin asked for. It must not know who measures. Behind a loop device (`losetup --find --show --direct-io=on FILE`) its waits are those of a device.
//!
//! It ends, and unmounts, on SIGTERM, on SIGINT and when its standard input is closed, so that it never outlives the test
//! that holds the other end.
#![forbid(unsafe_code)]

mod args;
mod change;
mod clock;
mod disk;
mod limit;
mod replies;
mod stall;

use anyhow::{Context, Result};
use args::Settings;
use change::Change;
use clock::monotonic_ns;
use disk::{Disk, FILE_NAME};
use fuser::{Config, MountOption};
use limit::Limiter;
use replies::Replies;
use rustix::fs::MemfdFlags;
use rustix::mount::{UnmountFlags, unmount};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::pipe;
use stall::Stalls;
use std::fs::File;
use std::io::{self, BufRead, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often to look whether somebody else has unmounted it.
const LOOK: Duration = Duration::from_millis(100);

fn main() -> Result<()> {
    let settings = args::parse(std::env::args_os()).unwrap_or_else(|error| error.exit());
    let origin_ns = monotonic_ns();
    let stalls = Stalls::new(&settings.stalls, origin_ns);
    let limiter = Arc::new(Mutex::new(Limiter::new(&settings, stalls.clone())));
    let ends = ends(Arc::clone(&limiter))?;
    let file = backing(&settings)?;
    let replies = Replies::start().context("cannot start a thread")?;
    let disk = Disk::new(file, settings.size_bytes, limiter, replies);
    let session = fuser::spawn_mount(disk, &settings.mountpoint, &options()).with_context(|| {
        let shown = settings.mountpoint.display();
        format!("cannot mount on {shown}: it takes root, /dev/fuse and a directory that is there")
    })?;
    say(&format!(
        "ready {}",
        settings.mountpoint.join(FILE_NAME).display()
    ))?;
    announce(stalls).context("cannot start a thread")?;
    while ends.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) && !session.guard.is_finished() {}
    // Detached, so that it goes through while the file is open: whoever has it open gets errors once this process is gone.
    if !session.guard.is_finished() {
        unmount(&settings.mountpoint, UnmountFlags::DETACH)
            .with_context(|| format!("cannot unmount {}", settings.mountpoint.display()))?;
    }
    Ok(())
}

fn options() -> Config {
    let mut config = Config::default();
    config.mount_options = vec![
        MountOption::FSName("limited-disk".to_owned()),
        MountOption::Subtype("limited-disk".to_owned()),
        MountOption::RW,
        MountOption::NoAtime,
    ];
    config
}

/// Where the data is: in memory, so that no other disk has work from it, or in a file.
fn backing(settings: &Settings) -> Result<File> {
    let (file, what) = match &settings.backing {
        None => (
            rustix::fs::memfd_create("limited-disk", MemfdFlags::CLOEXEC)?.into(),
            "memory".to_owned(),
        ),
        Some(path) => {
            let shown = path.display().to_string();
            let file = File::options()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(path);
            (file.with_context(|| format!("cannot open {shown}"))?, shown)
        }
    };
    file.set_len(settings.size_bytes)
        .with_context(|| format!("cannot give {what} {} bytes", settings.size_bytes))?;
    Ok(file)
}

/// A line on stdout, at once.
fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

/// Says each stall when it begins.
fn announce(stalls: Stalls) -> io::Result<()> {
    let speak = move || {
        let mut from = 0;
        while let Some((start_ns, end_ns)) = stalls.next(from) {
            clock::sleep_until(start_ns);
            if say(&format!("stall start_ns={start_ns} end_ns={end_ns}")).is_err() {
                // Nobody listens any more; the disk goes on until it is told to end.
                return;
            }
            from = end_ns;
        }
    };
    std::thread::Builder::new()
        .name("stalls".to_owned())
        .spawn(speak)?;
    Ok(())
}

/// Gets a message when the program has to end.
fn ends(limiter: Arc<Mutex<Limiter>>) -> Result<Receiver<()>> {
    let (sender, receiver) = mpsc::channel();
    for signal in [SIGTERM, SIGINT] {
        let (here, there) = UnixStream::pair()?;
        pipe::register(signal, there).context("cannot wait for signals")?;
        watch("signal", here, sender.clone())?;
    }
    let listen = move || {
        listen(&limiter);
        let _sent = sender.send(());
    };
    std::thread::Builder::new()
        .name("stdin".to_owned())
        .spawn(listen)?;
    Ok(receiver)
}

/// Sends once `source` gives a byte or ends.
fn watch(name: &str, mut source: impl Read + Send + 'static, sender: Sender<()>) -> io::Result<()> {
    let wait = move || {
        // Whatever the read gives, waiting is over; the main thread may be gone already.
        let _read = source.read(&mut [0]);
        let _sent = sender.send(());
    };
    std::thread::Builder::new().name(name.to_owned()).spawn(wait)?;
    Ok(())
}

/// Carries out what standard input asks for, until its end.
fn listen(limiter: &Mutex<Limiter>) {
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let change = match Change::parse(&line) {
            Ok(change) => change,
            Err(error) => {
                eprintln!("limited-disk: {error}");
                continue;
            }
        };
        let mut limiter = limiter.lock().unwrap_or_else(PoisonError::into_inner);
        limiter.change(change);
        drop(limiter);
        // Nobody may listen any more; the disk goes on until it is told to end.
        let _said = say(&format!("change at_ns={} {}", monotonic_ns(), line.trim()));
    }
}
