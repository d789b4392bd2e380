//! The server: waits for clients with the key, and runs what they ask for, by the same steps and under the same rules for what
//! may be overwritten as a run of its own.

use super::background;
use super::key::key;
use super::stream::{Listener, Stream};
use crate::allowed::Allowed;
use crate::args::FioArgs;
use crate::commands::fio::live::Shows;
use crate::commands::fio::live::where_all_stand;
use crate::commands::fio::run;
use crate::commands::fio::written::Options;
use crate::exit::Exit;
use crate::recorded::{iologs, states};
use crate::request;
use crate::terminal;
use anyhow::Context;
use fathom_core::run::{DiskSummary, WorkerAccount};
use fathom_core::workload::{Job, Workload};
use fathom_dialect::{FioCommand, Source, parse_fio};
use fathom_door::output::OutputError;
use fathom_remote::{
    AccountParts, Address, ChannelError, JobFile, Key, Progress, Receiver, Results, RunRequest, Sender,
    ToClient, ToServer, VERSION, accept,
};
use fathom_report::fio::logs::{LogFile, Opening};
use fathom_report::fio::{HeaderJob, start_lines};
use fathom_session::{Event, How, Observer, Planned, Request, Streams};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a client may take to show that it has the key, and to say what it wants.
const PATIENCE: Duration = Duration::from_secs(10);
/// What is read of one who speaks something else.
const FOREIGN_BYTES_MAX: u64 = 64 << 10;
/// A log is sent in parts of this size.
const PART_BYTES: usize = 256 << 10;
const SECOND_NS: u64 = 1_000_000_000;

/// Serves until it is killed.
///
/// # Errors
/// There is no key, or nothing can listen there.
pub(in crate::commands::fio) fn serve(
    at: &str,
    pidfile: Option<&Path>,
    args: &FioArgs,
) -> anyhow::Result<Exit> {
    let key = key(args)?;
    let address = Address::from_word(at)?;
    let listener = match pidfile {
        None => {
            let listener = Listener::bind(&address)?;
            terminal::print(&format!("fio: server listening on {address}\n"))?;
            listener
        }
        Some(pidfile) if background::is_here() => {
            let listener = Listener::bind(&address).and_then(|listener| {
                background::listens(pidfile)?;
                Ok(listener)
            });
            listener.inspect_err(background::failed)?
        }
        Some(pidfile) => return background::begin(pidfile),
    };
    let how = Arc::new(args.permissions.how(Streams::default(), args.recorded.clone()));
    loop {
        let stream = match listener.next() {
            Ok(stream) => stream,
            Err(error) => {
                // Too many open files, for one: it goes on when some are closed.
                terminal::warning(&format!("a connection failed: {error}"));
                std::thread::sleep(Duration::from_millis(100));
                continue;
            }
        };
        let (key, how) = (key.clone(), Arc::clone(&how));
        let serve = move || {
            let peer = stream.peer();
            if let Err(error) = serve_one(&stream, &key, &how) {
                terminal::warning(&format!("{peer}: {error:#}"));
            }
            stream.end();
        };
        std::thread::Builder::new()
            .name(String::from("fathom-serve"))
            .spawn(serve)
            .context("cannot start a thread for a client")?;
    }
}

/// Says things to one client, from several threads.
#[derive(Clone)]
struct Voice(Arc<Mutex<Sender<Stream>>>);

impl Voice {
    fn say(&self, message: &ToClient) -> anyhow::Result<()> {
        let bytes = message.to_bytes()?;
        let mut sender = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(sender.send(&bytes)?)
    }
}

fn serve_one(stream: &Stream, key: &Key, how: &How) -> anyhow::Result<()> {
    let begun = Instant::now();
    stream.patience(Some(PATIENCE))?;
    let opened = accept(stream.again()?, stream.again()?, key);
    if let Err(error @ ChannelError::NotFathom) = &opened {
        // Said in plain text, whatever it speaks; what it has said is read first, since a connection that is closed before
        // that takes the answer with it.
        let _gone = stream.again()?.write_all(format!("{error}\n").as_bytes());
        stream.patience(Some(PATIENCE / 20))?;
        let _silent = io::copy(&mut stream.again()?.take(FOREIGN_BYTES_MAX), &mut io::sink());
    }
    let (sender, mut receiver) = opened?;
    let voice = Voice(Arc::new(Mutex::new(sender)));
    let asked = match ToServer::from_bytes(&receiver.receive()?)? {
        ToServer::Run(asked) => asked,
        ToServer::Stop => return Ok(()),
    };
    stream.patience(None)?;
    let machine = request::machine();
    voice.say(&ToClient::Hello {
        version: VERSION,
        hostname: machine.host,
        os: String::from("Linux"),
        arch: machine.arch,
    })?;
    // A client that has another version has read ours by now.
    let stop = Arc::new(AtomicBool::new(false));
    listen(receiver, &stop)?;
    let client = stream.peer_address();
    let done = carry_out(&asked, how, (&stop, client.as_deref()), &voice, begun);
    if let Err(error) = done {
        voice.say(&ToClient::Refused(format!("{error:#}")))?;
    }
    Ok(())
}

/// Stops the run when the client says so, or is gone.
fn listen(mut receiver: Receiver<Stream>, stop: &Arc<AtomicBool>) -> anyhow::Result<()> {
    let stop = Arc::clone(stop);
    let body = move || {
        while let Ok(bytes) = receiver.receive() {
            if matches!(ToServer::from_bytes(&bytes), Ok(ToServer::Stop) | Err(_)) {
                break;
            }
        }
        stop.store(true, Ordering::Relaxed);
    };
    std::thread::Builder::new()
        .name(String::from("fathom-hear"))
        .spawn(body)
        .context("cannot start a thread for a client")?;
    Ok(())
}

fn carry_out(
    asked: &RunRequest,
    how: &How,
    (stop, client): (&Arc<AtomicBool>, Option<&str>),
    voice: &Voice,
    begun: Instant,
) -> anyhow::Result<()> {
    anyhow::ensure!(
        asked.version == VERSION,
        "the client speaks version {}, this server version {VERSION}: use the same fathom on both",
        asked.version
    );
    let mut request = resolve(asked)?;
    if let Some(client) = client {
        make_unique(&mut request.workload, client);
    }
    let options = run::prepare(&mut request);
    let Some(recordings) = iologs::attach(&mut request.workload, false, stop)? else {
        return Ok(());
    };
    states::attach(&mut request.workload, Path::new(""))?;
    let planned = Planned::new(&request)?;
    let how = Allowed::from_env().widen(how, &planned.plan);
    let mut shown = Remote {
        workload: &request.workload,
        options,
        voice: voice.clone(),
        begun,
        status_interval_ns: asked.status_interval_ns,
        status_next_ns: asked.status_interval_ns,
        elapsed_ns: 0,
        told_s: 0,
        errors: Vec::new(),
        ended: false,
    };
    let mut open = |name: &str, _: Opening| -> Result<Box<dyn LogFile>, OutputError> {
        Ok(Box::new(SentLog {
            name: name.to_owned(),
            rows: String::new(),
            voice: voice.clone(),
        }))
    };
    let code = run::carry_out(planned, &how, (stop, &mut open, recordings), &mut shown)?;
    if !shown.ended {
        // Nothing was measured: there is nothing but what was said.
        shown.ended(&[], &[], code);
    }
    Ok(())
}

/// Files in a directory that is named begin with where the client is, so that those of two clients are apart (`unique_filename`).
fn make_unique(workload: &mut Workload, client: &str) {
    let named = |job: &&mut Job| !job.files.not_unique && !job.files.directories.is_empty();
    for job in workload.jobs.iter_mut().filter(named) {
        job.files.name_format = format!("{client}.{}", job.files.name_format);
        for name in &mut job.files.names {
            if name.is_relative() {
                let own = name
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                name.set_file_name(format!("{client}.{own}"));
            }
        }
    }
}

/// What the client sent, and what lies here.
fn resolve(asked: &RunRequest) -> anyhow::Result<Request> {
    let mut sources: Vec<JobFile> = asked.sources.clone();
    for name in &asked.found_there {
        sources.push(JobFile {
            name: name.clone(),
            text: request::read_text(name.as_ref())?,
        });
    }
    let machine = request::machine();
    let command = FioCommand {
        sections: asked.sections.clone(),
        ..FioCommand::default()
    };
    let sources: Vec<Source<'_>> = (sources.iter())
        .map(|JobFile { name, text }| Source { name, text })
        .collect();
    let parsed = request::with_context(&machine, &command.sections, |context| {
        parse_fio(&command, &sources, context)
    });
    if parsed.workload.is_none() {
        let errors: Vec<String> = parsed.errors().map(ToString::to_string).collect();
        anyhow::bail!("{}", errors.join("\n"));
    }
    request::accept(parsed, machine, true).context("the job files ask for nothing")
}

/// Tells a client of a run.
struct Remote<'a> {
    workload: &'a Workload,
    options: Options,
    voice: Voice,
    begun: Instant,
    status_interval_ns: Option<u64>,
    status_next_ns: Option<u64>,
    elapsed_ns: u64,
    told_s: u64,
    errors: Vec<String>,
    ended: bool,
}

impl Remote<'_> {
    /// Who is not there any more ends the run by being gone.
    fn say(&self, message: &ToClient) {
        let _gone = self.voice.say(message);
    }

    fn results(&self, accounts: &[WorkerAccount], disks: &[DiskSummary], exit: u8) -> Box<Results> {
        Box::new(Results {
            workload: self.workload.clone(),
            global_options: self.options.global.clone(),
            job_options: self.options.jobs.clone(),
            accounts: accounts.iter().map(AccountParts::from).collect(),
            disks: disks.to_vec(),
            elapsed_ns: self.begun.elapsed().as_nanos() as u64,
            exit,
            errors: self.errors.clone(),
        })
    }
}

impl Observer for Remote<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Progress(progress) => {
                self.elapsed_ns = progress.elapsed.0;
                if self.elapsed_ns / SECOND_NS > self.told_s {
                    self.told_s = self.elapsed_ns / SECOND_NS;
                    self.say(&ToClient::Progress(summed(self.workload, progress)));
                }
            }
            Event::Standing(standing) if self.status_next_ns.is_some_and(|next| self.elapsed_ns >= next) => {
                let step = self.status_interval_ns.map(|step| step.max(SECOND_NS / 10));
                self.status_next_ns = step.map(|step| self.elapsed_ns + step);
                self.say(&ToClient::Standing(self.results(
                    &standing.accounts(),
                    &standing.disks(),
                    0,
                )));
            }
            _ => {}
        }
    }
}

fn summed(workload: &Workload, progress: &fathom_engine::run::Progress) -> Progress {
    let all = where_all_stand(workload, progress);
    let fractions: Option<Vec<f64>> = progress.groups.iter().map(|group| group.fraction).collect();
    Progress {
        elapsed_ns: progress.elapsed.0,
        running: all.running,
        fraction: fractions.map(|all| all.iter().sum::<f64>() / all.len().max(1) as f64),
        bytes: all.bytes,
        ios: all.ios,
        files: all.files,
        letters: all.standing.iter().map(|standing| standing.letter()).collect(),
    }
}

impl Shows for Remote<'_> {
    fn header(&mut self) {
        let jobs: Vec<HeaderJob<'_>> = (self.workload.jobs.iter().zip(&self.options.threads))
            .map(|(job, &threads)| HeaderJob { job, threads })
            .collect();
        // The version is the client's to tell.
        let text = start_lines(&jobs);
        let lines = text.lines().filter(|line| *line != fathom_report::fio::VERSION);
        self.say(&ToClient::Text(lines.collect::<Vec<_>>().join("\n")));
    }

    fn normal(&mut self, text: &str) {
        self.say(&ToClient::Text(text.to_owned()));
    }

    fn always(&mut self, text: &str) {
        self.say(&ToClient::Text(text.to_owned()));
    }

    fn error(&mut self, text: &str) {
        self.errors.push(text.to_owned());
    }

    fn ended(&mut self, accounts: &[WorkerAccount], disks: &[DiskSummary], exit: u8) {
        self.ended = true;
        self.say(&ToClient::Ended(self.results(accounts, disks, exit)));
    }
}

/// A log whose rows go to the client.
struct SentLog {
    name: String,
    rows: String,
    voice: Voice,
}

impl SentLog {
    fn send(&mut self) -> io::Result<()> {
        let part = ToClient::Log {
            name: self.name.clone(),
            bytes: std::mem::take(&mut self.rows),
        };
        self.voice.say(&part).map_err(io::Error::other)
    }
}

impl Write for SentLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = std::str::from_utf8(bytes).map_err(io::Error::other)?;
        self.rows.push_str(text);
        if self.rows.len() >= PART_BYTES {
            self.send()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl LogFile for SentLog {
    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.send()
    }
}

#[cfg(test)]
mod tests;
