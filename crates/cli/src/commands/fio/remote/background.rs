//! `--daemonize`: the server in the background.
//!
//! Data in: where its number is to be. Data out: a process in a session of its own, which listens once its caller is told
//! so. It is this program once more, begun anew: a process with threads cannot be forked.

use crate::exit::Exit;
use crate::terminal;
use anyhow::{Context, bail};
use fathom_door::output::Output;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// What tells the process in the background that it is: the number of its caller, so that nobody whom it starts later
/// takes it for his own.
const CALLER: &str = "FATHOM_FIO_BACKGROUND";
/// A file with a number is no longer than this.
const NUMBER_BYTES_MAX: u64 = 32;
/// What the caller hears first when all is well; anything else is an error.
const LISTENS: &[u8; 1] = b"+";

/// Whether this is the process in the background.
pub(super) fn is_here() -> bool {
    let caller = terminal::env(CALLER).and_then(|number| number.parse().ok());
    caller.is_some_and(|caller: i32| {
        rustix::process::getppid().is_some_and(|parent| parent.as_raw_nonzero().get() == caller)
    })
}

/// Begins the process in the background, and waits until it listens.
///
/// # Errors
/// It could not be begun, or what it said.
pub(super) fn begin(pidfile: &Path) -> anyhow::Result<Exit> {
    check(pidfile)?;
    let (mut told, tells) = UnixStream::pair().context("cannot begin the server")?;
    let mut words = std::env::args_os();
    let name = words.next().unwrap_or_default();
    let mut server = Command::new("/proc/self/exe")
        .arg0(name)
        .args(words)
        .env(CALLER, std::process::id().to_string())
        .stdin(OwnedFd::from(tells))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("cannot begin the server in the background")?;
    let mut first = [0u8; 1];
    match told.read_exact(&mut first) {
        Ok(()) if first == *LISTENS => return Ok(Exit::Done),
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
        Err(error) => return Err(error).context("the server in the background says nothing"),
    }
    let mut rest = String::new();
    told.read_to_string(&mut rest)
        .context("what the server in the background says is no text")?;
    let status = server.wait().context("cannot wait for the server")?;
    if rest.is_empty() {
        bail!("the server in the background ended before it listened: {status}");
    }
    bail!("{rest}");
}

/// Somebody listens: leaves the caller's session, writes the number of this process, and tells the caller.
///
/// # Errors
/// The number cannot be written.
pub(super) fn listens(pidfile: &Path) -> anyhow::Result<()> {
    rustix::process::setsid().context("cannot begin a session")?;
    check(pidfile)?;
    // What is there has been found to be of a server that is gone.
    let mut file = Output::create(pidfile, true)?;
    let write = || format!("cannot write {}", pidfile.display());
    writeln!(file, "{}", std::process::id()).with_context(write)?;
    file.publish()?;
    tell(LISTENS).context("cannot tell the caller")
}

/// Tells the caller what is wrong.
pub(super) fn failed(error: &anyhow::Error) {
    // The first letter says that it is no success. A caller that is gone hears nothing.
    let _gone = tell(format!("!{error:#}").as_bytes());
}

/// The caller is at the other end of stdin, which nobody reads.
fn tell(bytes: &[u8]) -> io::Result<()> {
    let stdin = io::stdin();
    let mut rest = bytes;
    while !rest.is_empty() {
        let written = rustix::io::write(stdin.as_fd(), rest)?;
        rest = &rest[written..];
    }
    Ok(())
}

/// Whether the number may be written there: nothing is there, or the number of a process that is gone.
///
/// # Errors
/// What is there.
fn check(pidfile: &Path) -> anyhow::Result<()> {
    let name = pidfile.display();
    let mut text = String::new();
    match std::fs::symlink_metadata(pidfile) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).with_context(|| format!("cannot look at {name}")),
        Ok(found) if found.is_file() && found.len() <= NUMBER_BYTES_MAX => {
            let file = std::fs::File::open(pidfile).with_context(|| format!("cannot read {name}"))?;
            file.take(NUMBER_BYTES_MAX)
                .read_to_string(&mut text)
                .with_context(|| format!("cannot read {name}"))?;
        }
        Ok(_) => {}
    }
    let Ok(number) = text.trim().parse::<u32>() else {
        bail!("--daemonize: {name} is no file of a process's number, and stays: choose another name");
    };
    if Path::new(&format!("/proc/{number}")).exists() {
        bail!(
            "--daemonize: {name} is there, and so is process {number}: end that server, or choose another name"
        );
    }
    Ok(())
}
