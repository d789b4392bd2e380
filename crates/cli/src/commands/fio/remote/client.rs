//! The client: sends job files to servers, and prints what they say as fio would.

use super::key::key;
use super::stream::Stream;
use super::together::Together;
use crate::allowed::Allowed;
use crate::args::FioArgs;
use crate::commands::fio::live::now_in_words;
use crate::commands::fio::out::{Out, is_output};
use crate::commands::fio::settings::Outputs;
use crate::commands::{fio::out, logs};
use crate::exit::Exit;
use crate::request;
use crate::terminal::{self, signals};
use anyhow::{Context, bail};
use fathom_core::run::WorkerAccount;
use fathom_core::workload::{Job, Workload};
use fathom_dialect::{FioClient, FioCommand};
use fathom_remote::{
    Address, JobFile, Key, Results, RunRequest, Sender, ToClient, ToServer, VERSION as PROTOCOL, connect,
};
use fathom_report::fio::logs::{LogFile, LogKind, Opening};
use fathom_report::fio::{ClientPart, FioRun, VERSION};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// How often signals are looked at.
const TICK: Duration = Duration::from_millis(100);
/// The most that an exit can say.
const FAILED_MAX: u32 = 127;

/// One server, and what it is asked.
struct Peer {
    address: Address,
    asked: RunRequest,
}

/// What one server has said.
#[derive(Default)]
struct Heard {
    hostname: String,
    results: Option<Box<Results>>,
    over: bool,
    logs: BTreeMap<String, Box<dyn LogFile>>,
}

/// Has servers run job files, and prints their results.
///
/// # Errors
/// One of them cannot be reached, has another key, or refuses.
pub(in crate::commands::fio) fn ask(
    command: &FioCommand,
    args: &FioArgs,
    outputs: &Outputs,
) -> anyhow::Result<Exit> {
    if !command.jobs.is_empty() {
        bail!("--client takes options from job files only: write the jobs into one");
    }
    let key = key(args)?;
    let peers = peers(command, outputs)?;
    let allowed = Allowed::from_env();
    if let Some(path) = outputs.to.as_deref().filter(|path| !path.starts_with("/dev")) {
        out::check(path, args.force, &allowed, &is_output)?;
    }
    // All of them, before the first begins.
    let (say, heard) = mpsc::channel();
    let mut senders = Vec::new();
    for (number, peer) in peers.iter().enumerate() {
        senders.push(begin(number, peer, &key, &say)?);
    }
    drop(say);
    // Installed first: whoever asks twice wants it at once.
    let _stop = signals::stop_flag()?;
    let caught = signals::caught()?;
    let out = Out::open(outputs.to.as_deref(), args.force, &allowed)?;
    let mut conversation = Conversation {
        together: Together::new(outputs, &out, peers.len()),
        outputs,
        out,
        force: args.force,
        allowed: &allowed,
        peers: &peers,
        heard: peers.iter().map(|_| Heard::default()).collect(),
        failed: 0,
    };
    let mut stopped = false;
    while !conversation.is_over() {
        match heard.recv_timeout(TICK) {
            Ok((number, Ok(message))) => conversation.take(number, message)?,
            Ok((number, Err(error))) => conversation.lost(number, &error),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        let signal = caught.load(Ordering::Relaxed);
        if signal != 0 && !stopped {
            stopped = true;
            conversation.say(&format!("\nfio: terminating on signal {signal}\n"))?;
            let stop = ToServer::Stop.to_bytes()?;
            for sender in &mut senders {
                // Who has ended meanwhile need not be stopped.
                let _gone = sender.send(&stop);
            }
        }
    }
    conversation.finish(stopped)
}

/// The servers, each with its job files: those behind it, or of the next one that has some.
fn peers(command: &FioCommand, outputs: &Outputs) -> anyhow::Result<Vec<Peer>> {
    let mut peers = Vec::new();
    let mut jobs = (&command.files, &Vec::new());
    let mut asked = Vec::new();
    for client in command.clients.iter().rev() {
        let FioClient {
            at,
            files,
            remote_files,
        } = client;
        if !files.is_empty() || !remote_files.is_empty() {
            jobs = (files, remote_files);
        }
        asked.push((at, jobs));
    }
    for (at, (files, remote_files)) in asked.into_iter().rev() {
        if files.is_empty() && remote_files.is_empty() {
            bail!("--client={at}: give a job file behind it, or --remote-config=FILE");
        }
        let paths: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
        let source = |(name, text)| JobFile { name, text };
        let request = RunRequest {
            version: PROTOCOL,
            sources: request::read_job_files(&paths)?.into_iter().map(source).collect(),
            found_there: remote_files.clone(),
            sections: command.sections.clone(),
            status_interval_ns: outputs.status_interval.map(|step| step.0),
        };
        for address in addresses(at)? {
            peers.push(Peer {
                address,
                asked: request.clone(),
            });
        }
    }
    Ok(peers)
}

/// One address, or those of a file, one a line.
fn addresses(at: &str) -> anyhow::Result<Vec<Address>> {
    let path = Path::new(at);
    if !path.is_file() {
        return Ok(vec![Address::from_word(at)?]);
    }
    let text = request::read_text(path)?;
    let lines = text.lines().enumerate();
    let named = lines.filter(|(_, line)| !line.trim().is_empty() && !line.trim().starts_with('#'));
    let read = |(at_line, line): (usize, &str)| {
        let address = Address::from_word(line.trim());
        address.with_context(|| format!("{at}:{}", at_line + 1))
    };
    let found: Vec<Address> = named.map(read).collect::<anyhow::Result<_>>()?;
    if found.is_empty() {
        bail!("{at} names no server: write one a line");
    }
    Ok(found)
}

type Said = (usize, Result<ToClient, String>);

/// Opens a channel to one server and asks it; a thread hands on what it says.
fn begin(number: usize, peer: &Peer, key: &Key, say: &mpsc::Sender<Said>) -> anyhow::Result<Sender<Stream>> {
    let stream = Stream::connect(&peer.address)?;
    let opened = connect(stream.again()?, stream.again()?, key);
    let (mut sender, mut receiver) = opened.with_context(|| peer.address.to_string())?;
    sender.send(&ToServer::Run(peer.asked.clone()).to_bytes()?)?;
    let say = say.clone();
    let body = move || loop {
        let heard = receiver.receive().map_err(|error| error.to_string());
        let message = heard.and_then(|bytes| ToClient::from_bytes(&bytes).map_err(|error| error.to_string()));
        let last = !matches!(
            &message,
            Ok(ToClient::Hello { .. }
                | ToClient::Text(_)
                | ToClient::Progress(_)
                | ToClient::Standing(_)
                | ToClient::Log { .. })
        );
        if say.send((number, message)).is_err() || last {
            return;
        }
    };
    std::thread::Builder::new()
        .name(String::from("fathom-hear"))
        .spawn(body)
        .context("cannot start a thread for a server")?;
    Ok(sender)
}

/// All servers together.
struct Conversation<'a> {
    outputs: &'a Outputs,
    /// The line of all that go on.
    together: Together,
    out: Out,
    force: bool,
    allowed: &'a Allowed,
    peers: &'a [Peer],
    heard: Vec<Heard>,
    failed: u32,
}

impl Conversation<'_> {
    fn is_over(&self) -> bool {
        self.heard.iter().all(|heard| heard.over)
    }

    fn lost(&mut self, number: usize, error: &str) {
        self.heard[number].over = true;
        self.failed += 1;
        let address = &self.peers[number].address;
        terminal::error(&format!("{address}: {error}"));
    }

    fn take(&mut self, number: usize, message: ToClient) -> anyhow::Result<()> {
        match message {
            ToClient::Hello {
                version,
                hostname,
                os,
                arch,
            } => {
                if version != PROTOCOL {
                    self.lost(number, "another version of fathom: use the same on both sides");
                    return Ok(());
                }
                let arch = arch.replace("x86_64", "x86-64");
                let line = format!(
                    "hostname={hostname}, be=0, 64-bit, os={os}, arch={arch}, fio={VERSION}, flags=1\n"
                );
                self.heard[number].hostname = hostname;
                self.normal(&line)
            }
            ToClient::Text(text) => {
                let host = &self.heard[number].hostname;
                let lines: Vec<String> = text.lines().map(|line| format!("<{host}> {line}\n")).collect();
                self.normal(&lines.concat())
            }
            ToClient::Progress(progress) => match self.together.take(number, &progress) {
                Some(line) => self.out.text(&line),
                None => Ok(()),
            },
            ToClient::Standing(results) => self.print_one(number, *results).map(drop),
            ToClient::Log { name, bytes } => self.log(number, &name, &bytes),
            ToClient::Ended(results) => {
                self.heard[number].over = true;
                self.together.ended(number);
                for line in &results.errors {
                    terminal::say(line);
                }
                self.failed += u32::from(results.exit);
                let results = self.print_one(number, *results)?;
                self.heard[number].results = Some(Box::new(results));
                Ok(())
            }
            ToClient::Refused(why) => {
                self.lost(number, &why);
                Ok(())
            }
        }
    }

    fn normal(&mut self, text: &str) -> anyhow::Result<()> {
        if self.outputs.formats.normal {
            self.say(text)?;
        }
        Ok(())
    }

    /// Prints, on a line of its own.
    fn say(&mut self, text: &str) -> anyhow::Result<()> {
        self.out.text(self.together.end_drawn())?;
        self.out.text(text)
    }

    /// Text and terse lines of one server; gives the results back.
    fn print_one(&mut self, number: usize, results: Results) -> anyhow::Result<Results> {
        let part = Part::new(results)?;
        let now = now_in_words();
        let mut formats = self.outputs.formats;
        formats.json = false;
        let text = part.run(&now).render(&formats);
        let host = &self.heard[number].hostname;
        let begin = if formats.normal && !formats.terse {
            format!("<{host}> ")
        } else {
            String::new()
        };
        self.say(&(begin + &text))?;
        Ok(part.results)
    }

    /// A part of a log, into a file of this machine with the server's name behind its own.
    fn log(&mut self, number: usize, name: &str, bytes: &str) -> anyhow::Result<()> {
        let host = self.peers[number].address.name().replace('/', "_");
        // Whatever the server calls it, it lies here.
        let base = Path::new(name).file_name().context("a log without a name")?;
        let path = PathBuf::from(format!("{}.{host}", base.to_string_lossy()));
        let heard = &mut self.heard[number];
        if !heard.logs.contains_key(name) {
            let opening = Opening {
                append: false,
                compressed: base.as_encoded_bytes().ends_with(b".fz"),
                kind: if LogKind::Iolog.is_begun_by(bytes) {
                    LogKind::Iolog
                } else {
                    LogKind::Samples
                },
            };
            let log = logs::open(&path, opening, self.force, self.allowed)?;
            heard.logs.insert(name.to_owned(), log);
        }
        if let Some(log) = heard.logs.get_mut(name) {
            log.write_all(bytes.as_bytes())
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }

    /// What all did together, the document, the exit.
    fn finish(mut self, stopped: bool) -> anyhow::Result<Exit> {
        self.say("")?;
        for heard in &mut self.heard {
            for (_, log) in std::mem::take(&mut heard.logs) {
                log.finish()?;
            }
        }
        let mut parts = Vec::new();
        for (peer, heard) in self.peers.iter().zip(&mut self.heard) {
            if let Some(results) = heard.results.take() {
                parts.push((peer, Part::new(*results)?));
            }
        }
        let now = now_in_words();
        let all = total(&parts);
        let run = FioRun {
            workload: &all.0,
            global_options: &[],
            job_options: &[],
            accounts: &all.1,
            disks: &[],
            idleness: None,
            now_unix_ms: request::unix_ns() / 1_000_000,
            now_in_words: &now,
            elapsed_ns: 0,
            eta_s: None,
            of_client: true,
        };
        if all.1.len() > 1 {
            let text = run.render_total(&self.outputs.formats);
            self.out.text(&text)?;
        }
        if self.outputs.formats.json {
            let names: Vec<String> = parts.iter().map(|(peer, _)| peer.address.name()).collect();
            let clients: Vec<ClientPart<'_>> = (parts.iter().zip(&names))
                .map(|((peer, part), hostname)| ClientPart {
                    run: part.run(&now),
                    hostname,
                    port: peer.address.port(),
                })
                .collect();
            let text = run.render_clients(&clients, &self.outputs.formats);
            self.out.text(&text)?;
        }
        self.out.finish()?;
        Ok(Exit::Foreign(if stopped {
            128
        } else {
            self.failed.min(FAILED_MAX) as u8
        }))
    }
}

/// What one server did, read back.
struct Part {
    results: Results,
    accounts: Vec<WorkerAccount>,
}

impl Part {
    fn new(results: Results) -> anyhow::Result<Self> {
        let accounts = results.accounts.iter().cloned();
        let accounts = accounts.map(fathom_remote::AccountParts::whole);
        Ok(Self {
            accounts: accounts.collect::<Result<_, _>>()?,
            results,
        })
    }

    fn run<'a>(&'a self, now_in_words: &'a str) -> FioRun<'a> {
        FioRun {
            workload: &self.results.workload,
            global_options: &self.results.global_options,
            job_options: &self.results.job_options,
            accounts: &self.accounts,
            disks: &self.results.disks,
            idleness: None,
            now_unix_ms: request::unix_ns() / 1_000_000,
            now_in_words,
            elapsed_ns: self.results.elapsed_ns,
            eta_s: None,
            of_client: true,
        }
    }
}

/// All workers of all servers as one job.
fn total(parts: &[(&Peer, Part)]) -> (Workload, Vec<WorkerAccount>) {
    let first = parts
        .iter()
        .find_map(|(_, part)| part.results.workload.jobs.first());
    let job = Job {
        name: String::from("All clients"),
        description: String::new(),
        group: 0,
        group_reporting: true,
        ..first.cloned().unwrap_or_default()
    };
    let mut accounts = Vec::new();
    for (_, part) in parts {
        accounts.extend(part.accounts.iter().cloned().map(|account| WorkerAccount {
            job: 0,
            tid: 0,
            ..account
        }));
    }
    (Workload { jobs: vec![job] }, accounts)
}
