//! `--serve`: a live page and metrics beside a measurement.
//!
//! Data in: arguments as typed, what is measured. Data out: a server on a thread of its own, which hears what the terminal hears; a
//! thread that reads the machine's counters each second. It begins before anything is touched, so that an address that is taken
//! is a wrong request.

use crate::args::serve::ServeArgs;
use crate::commands::explain;
use crate::{terminal, tls};
use anyhow::{Context, bail};
use fathom_core::run::{Environment, Target, TargetFile};
use fathom_core::units::Nanos;
use fathom_observe::SystemRoot;
use fathom_observe::counters::CounterSampler;
use fathom_observe::target::whole_disk;
use fathom_session::{Machine, Observer};
use fathom_sys::clock::monotonic_ns;
use fathom_web::{About, Access, Hub, Measured, Server, Token, Watched};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often counters are read.
const READ_EVERY: Duration = Duration::from_secs(1);
/// How often it is looked for Ctrl-C while serving after the end.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What is measured, for who looks.
pub(crate) struct Subject<'a> {
    pub title: String,
    pub jobs: Vec<String>,
    pub machine: &'a Machine,
    pub environment: &'a Environment,
    pub target: &'a Target,
    pub sweep_steps: Option<u64>,
}

/// A server under way, or none where none was asked for.
pub(crate) struct Serving(Option<Under>);

struct Under {
    hub: Arc<Hub>,
    /// Held, so that it goes on.
    _server: Server,
    url: String,
    reader: Option<Reader>,
    after: Nanos,
}

impl Serving {
    /// Begins to serve, where that is asked for.
    ///
    /// # Errors
    /// The address cannot be listened on, or it is not this machine's alone and there is no token.
    pub(crate) fn begin(
        args: &ServeArgs,
        system: &SystemRoot,
        subject: &Subject<'_>,
    ) -> anyhow::Result<Self> {
        let about = || About {
            title: subject.title.clone(),
            target: subject.target.description.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            jobs: subject.jobs.clone(),
            measured: match subject.machine {
                Machine::This => Measured::Here,
                Machine::Modelled(_) => Measured::Modelled,
            },
            limits: explain::own_limits(subject.machine.spec(), subject.environment),
            devices: devices_of(&subject.target.files),
            sweep_steps: subject.sweep_steps,
        };
        let mut serving = Self::begin_of(args, about)?;
        if let (Some(under), Machine::This) = (&mut serving.0, subject.machine) {
            // A modelled machine's counters come with its events.
            let disks = disks_of(&subject.target.files);
            under.reader = Some(Reader::begin(system, disks, Arc::clone(&under.hub))?);
        }
        Ok(serving)
    }

    /// Begins to serve what is told to [`Serving::hub`], where that is asked for.
    ///
    /// # Errors
    /// As of [`Serving::begin`].
    pub(crate) fn begin_of(args: &ServeArgs, about: impl FnOnce() -> About) -> anyhow::Result<Self> {
        let Some(access) = access(args)? else {
            return Ok(Self(None));
        };
        let hub = Arc::new(Hub::new(about()));
        let (address, scheme) = (access.address, access.scheme());
        let server = Server::of_measurement(access, Arc::clone(&hub));
        let server = server.map_err(|error| cannot_listen(&error, address))?;
        let url = format!("{scheme}://{}/", server.address());
        terminal::say(&format!("serving {url} and /metrics"));
        Ok(Self(Some(Under {
            hub,
            url,
            _server: server,
            reader: None,
            after: args.serve_after.unwrap_or(Nanos::ZERO),
        })))
    }

    /// What those who look are told from; `None`: nobody does.
    pub(crate) fn hub(&self) -> Option<&Hub> {
        self.0.as_ref().map(|under| &*under.hub)
    }

    /// `next`, and who looks.
    pub(crate) fn watched<'a, O: Observer>(&'a self, next: &'a mut O) -> Watched<'a, O> {
        Watched::new(self.hub(), next)
    }

    /// The measurement has ended: whoever looks is told, and it goes on for as long as it was asked to, or until `stop`.
    pub(crate) fn end(self, stop: &AtomicBool) {
        let Some(under) = self.0 else { return };
        if let Some(reader) = under.reader {
            reader.end();
        }
        under.hub.end();
        let mut left = Duration::from_nanos(under.after.0);
        if left > Duration::ZERO && !stop.load(Ordering::Relaxed) {
            terminal::say(&format!(
                "serving {} for {} more (Ctrl-C ends it)",
                under.url, under.after
            ));
        }
        while left > Duration::ZERO && !stop.load(Ordering::Relaxed) {
            let pause = LOOK_EVERY.min(left);
            std::thread::sleep(pause);
            left -= pause;
        }
    }
}

/// Where and to whom; `None`: nobody asked for it.
pub(crate) fn access(args: &ServeArgs) -> anyhow::Result<Option<Access>> {
    let Some(address) = args.serve else {
        return Ok(None);
    };
    let access = Access {
        address,
        tls: tls::secured(&args.tls)?,
        token: args.serve_token.as_deref().map(Token::read).transpose()?,
        names: args.serve_name.clone(),
    };
    if !access.is_local() && !access.asks_who() {
        bail!(
            "--serve={address}: others than this machine could look: give --token FILE with a token that they must know, or --tls-ca \
             FILE with who signs their certificates, or listen on 127.0.0.1"
        );
    }
    Ok(Some(access))
}

/// Why nothing can be served there, and what to do.
pub(crate) fn cannot_listen(error: &std::io::Error, address: std::net::SocketAddr) -> anyhow::Error {
    let remedy = match error.kind() {
        ErrorKind::AddrInUse => {
            "another program listens there: give another port, as --serve=9878, or --serve=0 for any"
        }
        ErrorKind::AddrNotAvailable => "this machine has no such address: `ip address` lists those it has",
        ErrorKind::PermissionDenied => "ports below 1024 are for root: give another one",
        _ => "give another address",
    };
    anyhow::anyhow!("--serve={address}: cannot listen: {error}: {remedy}")
}

/// The disks below the target, each once.
fn devices_of(files: &[TargetFile]) -> Vec<String> {
    let names = files.iter().filter_map(|file| file.device.as_ref());
    let names: BTreeSet<String> = names.map(|device| device.name.clone()).collect();
    names.into_iter().collect()
}

/// These, and what lies below them.
fn disks_of(files: &[TargetFile]) -> Vec<String> {
    let names: BTreeSet<String> = files.iter().flat_map(whole_disk).collect();
    names.into_iter().collect()
}

/// Reads the machine's counters each second.
struct Reader {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Reader {
    fn begin(system: &SystemRoot, disks: Vec<String>, hub: Arc<Hub>) -> anyhow::Result<Self> {
        let (stop, stopped) = channel();
        let system = system.clone();
        let body = move || {
            let (mut sampler, _missing) = CounterSampler::new(&system, &disks);
            sampler.follow(std::process::id(), monotonic_ns());
            loop {
                let now_ns = monotonic_ns();
                let (mut rows, mut processes) = (Vec::new(), Vec::new());
                sampler.sample(now_ns, &mut rows, &mut processes);
                hub.counters(now_ns, &rows);
                let used = Duration::from_nanos(monotonic_ns().saturating_sub(now_ns));
                match stopped.recv_timeout(READ_EVERY.saturating_sub(used)) {
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        };
        let thread = std::thread::Builder::new().name(String::from("fathom-counters"));
        let thread = thread
            .spawn(body)
            .context("cannot start the thread that reads counters")?;
        Ok(Self { stop, thread })
    }

    fn end(self) {
        // One that is gone has ended with a panic, which was told.
        let _gone = self.stop.send(());
        let _told = self.thread.join();
    }
}
