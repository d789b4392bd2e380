//! fio's command line: `fio [options] [job options] [job files]`.
//!
//! Data in: arguments. Data out: a [`FioCommand`], sorted into what fio itself is told, what jobs are told,
//! and files. It must not know what an option means, only whether it takes a value.

use crate::diagnostic::{Diagnostic, Fault, Findings, Place, Severity};
use crate::input::Override;
use crate::table::{Kind, OptionRow, find, find_exact, nearest_among, table};

/// A fio command line, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FioCommand {
    /// Options of fio itself, such as `--output-format=json`: full name and value.
    pub settings: Vec<Override>,
    /// Options before the first `--name`: they count for every job.
    pub globals: Vec<Override>,
    /// A job for each `--name`, which is its first option.
    pub jobs: Vec<Vec<Override>>,
    /// Job files, in order.
    pub files: Vec<String>,
    /// The sections wanted (`--section`); empty: all.
    pub sections: Vec<String>,
    /// Each `--client`, with the job files that stand behind it.
    pub clients: Vec<FioClient>,
}

/// A server that fio is to be a client of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FioClient {
    /// As typed: where it is, or a file with one of these a line.
    pub at: String,
    /// Job files to be sent there.
    pub files: Vec<String>,
    /// Job files that lie there (`--remote-config`).
    pub remote_files: Vec<String>,
}

impl FioCommand {
    /// The value of the last setting of this name: `Some(None)` for a bare one.
    pub fn setting(&self, name: &str) -> Option<Option<&str>> {
        self.settings
            .iter()
            .rev()
            .find(|s| s.name == name)
            .map(|s| s.value.as_deref())
    }
}

/// Whether an option takes the next word as its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Optional,
    Value,
}

/// Options of fio itself, from its `--help`.
const SETTINGS: [(&str, Takes); 36] = [
    ("debug", Takes::Value),
    ("parse-only", Takes::Nothing),
    ("merge-blktrace-only", Takes::Nothing),
    ("output", Takes::Value),
    ("bandwidth-log", Takes::Optional),
    ("minimal", Takes::Nothing),
    ("append-terse", Takes::Nothing),
    ("output-format", Takes::Value),
    ("terse-version", Takes::Value),
    ("version", Takes::Nothing),
    ("help", Takes::Nothing),
    ("cpuclock-test", Takes::Nothing),
    ("crctest", Takes::Optional),
    ("cmdhelp", Takes::Optional),
    ("enghelp", Takes::Optional),
    ("showcmd", Takes::Optional),
    ("eta", Takes::Value),
    ("eta-interval", Takes::Value),
    ("eta-newline", Takes::Value),
    ("status-interval", Takes::Value),
    ("readonly", Takes::Nothing),
    ("section", Takes::Value),
    ("alloc-size", Takes::Value),
    ("warnings-fatal", Takes::Nothing),
    ("max-jobs", Takes::Value),
    ("server", Takes::Optional),
    ("daemonize", Takes::Value),
    ("client", Takes::Value),
    ("remote-config", Takes::Value),
    ("idle-prof", Takes::Value),
    ("inflate-log", Takes::Value),
    ("trigger-file", Takes::Value),
    ("trigger-timeout", Takes::Value),
    ("trigger", Takes::Value),
    ("trigger-remote", Takes::Value),
    ("aux-path", Takes::Value),
];

/// Letters that stand for options of fio itself.
const LETTERS: [(&str, &str); 6] = [
    ("o", "output"),
    ("m", "minimal"),
    ("c", "cmdhelp"),
    ("h", "help"),
    ("s", "showcmd"),
    ("v", "version"),
];

/// What a name on the command line is.
enum Known {
    Setting(&'static str, Takes),
    Option(&'static OptionRow),
}

/// Takes a command line apart; `args` are the words behind `fio`. `own`: flags that the caller knows beside fio's, to be
/// named where one of them may be meant.
///
/// # Errors
/// One diagnostic for each word that is no option of fio's, or lacks its value.
pub fn read_fio_args(args: &[String], own: &[&str]) -> Result<FioCommand, Vec<Diagnostic>> {
    let mut command = FioCommand::default();
    let mut findings = Findings::default();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            words.by_ref().for_each(|file| command.file(file));
            break;
        }
        let Some(flag) = word
            .strip_prefix("--")
            .or_else(|| word.strip_prefix('-'))
            .filter(|f| !f.is_empty())
        else {
            command.file(word);
            continue;
        };
        let (name, joined) = flag
            .split_once('=')
            .map_or((flag, None), |(n, v)| (n, Some(v.to_owned())));
        let Some(known) = look_up(name) else {
            let settings = SETTINGS.iter().map(|&(setting, _)| setting);
            let others: Vec<&str> = settings.chain(own.iter().copied()).collect();
            findings.error(Place::Flag(name.to_owned()), unknown(name, &others));
            continue;
        };
        let (name, takes) = match &known {
            Known::Setting(name, takes) => (*name, *takes),
            Known::Option(row) if row.kind() == Kind::Flag => (row.name, Takes::Optional),
            Known::Option(row) => (row.name, Takes::Value),
        };
        let value = match (takes, joined) {
            (_, Some(value)) => Some(value),
            (Takes::Nothing | Takes::Optional, None) => None,
            (Takes::Value, None) => {
                let Some(value) = words.next() else {
                    let fault = Fault::new("its value is missing").remedy(format!("write --{name}=…"));
                    findings.error(Place::Flag(name.to_owned()), fault);
                    continue;
                };
                Some(value.clone())
            }
        };
        command.take(
            &known,
            Override {
                name: name.to_owned(),
                value,
            },
        );
    }
    if findings.has_errors() {
        Err(findings.into_list())
    } else {
        Ok(command)
    }
}

impl FioCommand {
    /// A job file: of the last client, where there is one.
    fn file(&mut self, name: &str) {
        let client = self.clients.last_mut().map(|client| &mut client.files);
        client.unwrap_or(&mut self.files).push(name.to_owned());
    }

    fn take(&mut self, known: &Known, flag: Override) {
        match known {
            Known::Setting("section", _) => self.sections.extend(flag.value),
            Known::Setting("client", _) => self.clients.push(FioClient {
                at: flag.value.unwrap_or_default(),
                ..FioClient::default()
            }),
            Known::Setting("remote-config", _) => {
                if let Some(client) = self.clients.last_mut() {
                    client.remote_files.extend(flag.value);
                } else {
                    self.settings.push(flag);
                }
            }
            Known::Setting(..) => self.settings.push(flag),
            Known::Option(row) if row.name == "name" => self.jobs.push(vec![flag]),
            Known::Option(_) => self.jobs.last_mut().unwrap_or(&mut self.globals).push(flag),
        }
    }
}

/// A full name, or the beginning of only one; settings and options share one space of names.
fn look_up(name: &str) -> Option<Known> {
    let letter = LETTERS.iter().find(|(letter, _)| *letter == name);
    let name = letter.map_or(name, |(_, setting)| setting);
    let exact = SETTINGS.iter().find(|(setting, _)| *setting == name);
    if let Some(&(name, takes)) = exact {
        return Some(Known::Setting(name, takes));
    }
    if let Some(row) = find_exact(name) {
        return Some(Known::Option(row));
    }
    let mut begun = SETTINGS.iter().filter(|(setting, _)| setting.starts_with(name));
    match (begun.next(), begun.next(), find(name)) {
        (Some(&(setting, takes)), None, None) => Some(Known::Setting(setting, takes)),
        (None, None, Some(row)) => Some(Known::Option(row)),
        _ => None,
    }
}

/// What to say of a flag that is neither an option nor one of `others`, the flags that the caller has beside them. `name`
/// is without its dashes.
pub fn unknown_flag(name: &str, others: &[&str]) -> Diagnostic {
    let fault = unknown(name, others);
    Diagnostic {
        severity: Severity::Error,
        at: Some(Place::Flag(name.to_owned())),
        message: fault.message,
        remedy: fault.remedy,
    }
}

fn unknown(name: &str, others: &[&str]) -> Fault {
    /// So many are named of those that begin alike.
    const NAMED_MAX: usize = 6;
    let mut all: Vec<&str> = others.to_vec();
    for row in table() {
        all.extend(row.names().map(|name| -> &str { name }));
    }
    let names = || all.iter().copied();
    let begun: Vec<String> = names()
        .filter(|known| known.starts_with(name))
        .map(|known| format!("--{known}"))
        .collect();
    if begun.len() > 1 {
        let more = if begun.len() > NAMED_MAX { " and more" } else { "" };
        let list = begun[..begun.len().min(NAMED_MAX)].join(", ");
        return Fault::new(format!("`{name}` is the beginning of several options"))
            .remedy(format!("write one in full: {list}{more}"));
    }
    let fault = Fault::new(format!("unknown option `{name}`"));
    match nearest_among(name, names) {
        Some(known) => fault.remedy(format!("did you mean `--{known}`?")),
        None => fault.remedy("no option has a similar name"),
    }
}

#[cfg(test)]
mod tests;
