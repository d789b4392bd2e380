//! A command line, word by word.
//!
//! Data in: the words behind `diskspd`. Data out: a [`ParsedProfile`]. It must not know what a flag means: that is in its
//! row. The order of work is diskspd's: sort words into flags and targets, read the block size, see whether a profile
//! is named, then apply the flags from left to right.

use super::draft::Draft;
use super::flags::{FlagRow, InLinuxPort, find, flag_rows};
use super::profile::{Affinity, Profile, ResultFormat, Target};
use super::validate::validate;
use super::{Context, Dialect, ParsedProfile, value, xml};
use crate::diagnostic::{Fault, Findings, Place, Severity};
use crate::table::Support;

/// One flag as typed: the word, its row and what is glued to it.
struct Given<'a> {
    word: &'a str,
    row: &'static FlagRow,
    value: &'a str,
}

impl Given<'_> {
    fn place(&self) -> Place {
        Place::Word(self.word.to_owned())
    }
    /// Whether only the Linux port has this form.
    fn is_linux_form(&self) -> bool {
        match self.row.flag {
            "x" => matches!(self.value, "k" | "p"),
            "S" => self.value.contains(['d', 's']),
            "a" => self.value.contains('-'),
            "Z" => !self.value.is_empty() && self.value.chars().all(|c| "zrs".contains(c)),
            "Zr" => !self.value.is_empty(),
            "g" => self.value.ends_with(|c: char| "KMGTBkmgtb".contains(c)),
            _ => false,
        }
    }
}

/// Words sorted into flags and targets.
#[derive(Default)]
struct Words<'a> {
    flags: Vec<Given<'a>>,
    targets: Vec<&'a str>,
    /// How many of the flags stand before the first target.
    before_targets: usize,
}

/// Reads the words behind `diskspd`. A first word that is diskspd's own name is passed over, so that a command line can be
/// pasted as it is.
pub fn parse(args: &[String], context: &Context<'_>) -> ParsedProfile {
    let mut findings = Findings::default();
    let (profile, help) = read(args, context, &mut findings);
    let failed = findings.has_errors();
    ParsedProfile {
        profile: profile.filter(|_| !failed),
        help,
        diagnostics: if help { Vec::new() } else { findings.into_list() },
    }
}

fn read(args: &[String], context: &Context<'_>, findings: &mut Findings) -> (Option<Profile>, bool) {
    let args = without_name(args, context);
    let words = sort(args, context, findings);
    if words.flags.iter().any(|given| given.row.flag == "?") {
        return (None, true);
    }
    if findings.has_errors() {
        return (None, false);
    }
    let is_linux = is_linux(&words.flags, context, findings);
    if !is_linux && let Some(late) = words.flags.get(words.before_targets) {
        let fault = Fault::new("a flag behind the targets");
        let remedy =
            "write all flags before the first target, or --dialect linux in front, where they may follow";
        findings.error(late.place(), fault.remedy(remedy));
        return (None, false);
    }
    let Some(block) = block_size(&words.flags, findings) else {
        return (None, false);
    };
    let mut draft = Draft::new(block, is_linux, context.seed);
    for given in &words.flags {
        apply(given, &mut draft, findings);
    }
    draft.profile.command_line = command_line(args);
    let named: Vec<&Given<'_>> = words.flags.iter().filter(|given| given.row.flag == "X").collect();
    let profile = match named[..] {
        [] => Some(single(draft, &words.targets, findings)),
        [given] => beside_profile(given, &words, draft, context, findings),
        [_, second, ..] => {
            let fault =
                Fault::new("a second profile").remedy("name one profile; it may hold several time spans");
            findings.error(second.place(), fault);
            None
        }
    };
    let profile = profile.map(|mut profile| {
        round_intervals(&mut profile, findings);
        if !findings.has_errors() {
            validate(&profile, named.is_empty(), findings);
        }
        profile
    });
    (profile, false)
}

/// The longest interval that the engine keeps as one; longer ones are put together from seconds.
pub(super) const INTERVAL_MS_MAX: u32 = 60_000;
/// The shortest.
const INTERVAL_MS_MIN: u32 = 10;

/// What intervals can be kept: from 10 ms to a minute any, beyond that whole seconds.
fn round_intervals(profile: &mut Profile, findings: &mut Findings) {
    for span in profile.time_spans.iter_mut().filter(|span| span.iops_std_dev) {
        let asked = span.io_bucket_ms;
        let kept = match asked {
            0..INTERVAL_MS_MIN => INTERVAL_MS_MIN,
            INTERVAL_MS_MIN..=INTERVAL_MS_MAX => asked,
            _ => asked.div_ceil(1000).saturating_mul(1000) / 1000 * 1000,
        };
        if kept != asked {
            let fault = Fault::new(format!("the interval of {asked} ms (-D) becomes {kept} ms"));
            let remedy = "write at least 10 ms, and above a minute whole seconds, such as -D90000";
            findings.warning(None, fault.remedy(remedy));
            span.io_bucket_ms = kept;
        }
    }
}

/// The words without a leading `diskspd` or `diskspd.exe`.
fn without_name<'a>(args: &'a [String], context: &Context<'_>) -> &'a [String] {
    let Some((first, rest)) = args.split_first() else {
        return args;
    };
    let base = first.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_name = ["diskspd", "diskspd.exe"]
        .iter()
        .any(|name| base.eq_ignore_ascii_case(name));
    let followed = rest.first().is_some_and(|word| is_flag(word, context));
    if is_name && followed { rest } else { args }
}

/// Whether a word is a flag: it begins with a dash; or with a slash, names nothing that exists, and is a flag and a value
/// that fits it. On Windows the slash is enough, but there no path begins with one.
fn is_flag(word: &str, context: &Context<'_>) -> bool {
    if word.starts_with('-') {
        return true;
    }
    let Some(rest) = word.strip_prefix('/') else {
        return false;
    };
    let fits = find(rest).is_some_and(|(row, value)| (row.fits)(value));
    fits && (context.look)(word).is_none()
}

fn sort<'a>(args: &'a [String], context: &Context<'_>, findings: &mut Findings) -> Words<'a> {
    let mut words = Words::default();
    for word in args {
        let place = || Place::Word(word.clone());
        if !is_flag(word, context) {
            words.targets.push(word);
            continue;
        }
        match find(&word[1..]) {
            Some((row, value)) => {
                words.before_targets += usize::from(words.targets.is_empty());
                words.flags.push(Given { word, row, value });
            }
            None => findings.error(place(), unknown(word)),
        }
    }
    words
}

fn unknown(word: &str) -> Fault {
    let fault = Fault::new("diskspd has no such flag");
    let Some(letter) = word.chars().nth(1) else {
        return Fault::new("a dash with nothing behind it").remedy("write a flag, such as -b8K");
    };
    if word.starts_with("--") {
        return fault.remedy(
            "diskspd's flags are one letter with the value glued on, such as -b8K; fathom's own are in --help",
        );
    }
    let other = if letter.is_uppercase() {
        letter.to_lowercase().to_string()
    } else {
        letter.to_uppercase().to_string()
    };
    match flag_rows().find(|row| row.flag == other) {
        Some(row) => fault.remedy(format!("is {} meant?", row.spelling())),
        None => fault.remedy("-? lists them all"),
    }
}

/// Decides whose forms are read, and warns where diskspd and its Linux port differ.
fn is_linux(flags: &[Given<'_>], context: &Context<'_>, findings: &mut Findings) -> bool {
    let is_linux = match context.dialect {
        Dialect::Windows => return false,
        Dialect::Linux => return true,
        Dialect::Auto => flags.iter().any(Given::is_linux_form),
    };
    let taken = if is_linux {
        "the Linux port's"
    } else {
        "diskspd's own"
    };
    for given in flags {
        let InLinuxPort::Differs(differs) = given.row.linux else {
            continue;
        };
        // Bare -x and -Zr are flags of both and mean different things; all else differs by its form.
        let is_ambiguous = matches!((given.row.flag, given.value), ("x" | "Zr", ""));
        if is_ambiguous || given.is_linux_form() {
            let fault = Fault::new(format!(
                "diskspd and its Linux port differ here (in the port, {differs}); taken as {taken}"
            ));
            findings.warning(
                given.place(),
                fault.remedy("say which is meant with --dialect windows or --dialect linux"),
            );
        }
    }
    is_linux
}

/// The last block size wins, wherever it stands: other flags count in it.
fn block_size(flags: &[Given<'_>], findings: &mut Findings) -> Option<u32> {
    let mut block = Target::default().block_size;
    let mut ok = true;
    for given in flags.iter().filter(|given| given.row.flag == "b") {
        let bytes = value::size(given.value, u64::from(block)).and_then(|bytes| match u32::try_from(bytes) {
            Ok(bytes @ 1..) => Ok(bytes),
            _ => Err(Fault::new("a block is 1 byte to 4 GiB less one").remedy("write -b64K")),
        });
        match bytes {
            Ok(bytes) => block = bytes,
            Err(fault) => {
                findings.error(given.place(), fault);
                ok = false;
            }
        }
    }
    ok.then_some(block)
}

fn apply(given: &Given<'_>, draft: &mut Draft, findings: &mut Findings) {
    let row = given.row;
    if row.value.is_empty() && !given.value.is_empty() && !given.is_linux_form() {
        let fault = Fault::new(format!(
            "-{} takes no value, `{}` is left over",
            row.flag, given.value
        ));
        findings.error(given.place(), fault.remedy(format!("write -{} alone", row.flag)));
        return;
    }
    if let Err(fault) = (row.read)(draft, given.value) {
        let remedy = fault
            .remedy
            .clone()
            .unwrap_or_else(|| format!("write {}", row.example));
        findings.error(given.place(), fault.remedy(remedy));
        return;
    }
    let (severity, what, why) = match row.support {
        Support::Exact => return,
        Support::Approximate(_) if !tells(given, draft) => return,
        Support::NoEffect(_) if draft.is_linux && row.flag == "x" => return,
        Support::Approximate(why) => (Severity::Note, "carried out in another way", why),
        Support::NoEffect(why) => (Severity::Note, "changes nothing", why),
        Support::LeftOut(why) => (Severity::Warning, "is not carried out", why),
        Support::NotYet(why) | Support::Never(why) => (Severity::Error, "is refused", why),
    };
    // The reasons of refusals say behind a semicolon what to do instead.
    let (why, remedy) = why.split_once("; ").unwrap_or((why, ""));
    findings.explain(severity, row.flag, &given.place(), || {
        let fault = Fault::new(format!("{what}: {why}"));
        if remedy.is_empty() {
            fault
        } else {
            fault.remedy(remedy)
        }
    });
}

/// Whether the way in which a flag is carried out matters with the value that it has.
fn tells(given: &Given<'_>, draft: &Draft) -> bool {
    match given.row.flag {
        "a" => draft.span.affinity.iter().any(|at: &Affinity| at.group > 0),
        // Said where it is rounded, for profiles too.
        "D" => false,
        "rs" => draft.target.random_percent < 100,
        _ => true,
    }
}

/// A profile of one time span: what the flags say, on each target.
fn single(mut draft: Draft, targets: &[&str], findings: &mut Findings) -> Profile {
    if targets.is_empty() {
        let fault = Fault::new("there is no target").remedy("name a file or a device behind the flags");
        findings.error(None, fault);
    }
    draft.times.apply(&mut draft.span);
    draft.profile.result_format = draft.result_format.unwrap_or(ResultFormat::Text);
    draft.span.targets = targets
        .iter()
        .map(|path| Target {
            path: (*path).to_owned(),
            ..draft.target.clone()
        })
        .collect();
    draft.profile.time_spans.push(draft.span);
    draft.profile
}

/// A profile from XML, with the few flags that may stand beside it.
fn beside_profile(
    named: &Given<'_>,
    words: &Words<'_>,
    draft: Draft,
    context: &Context<'_>,
    findings: &mut Findings,
) -> Option<Profile> {
    for given in words.flags.iter().filter(|given| !given.row.beside_profile) {
        let allowed: Vec<String> = flag_rows()
            .filter(|row| row.beside_profile)
            .map(|row| format!("-{}", row.flag))
            .collect();
        let fault = Fault::new("may not stand beside -X: the profile says it");
        findings.error(
            given.place(),
            fault.remedy(format!("change the profile; {} may", allowed.join(", "))),
        );
    }
    if named.value.is_empty() {
        findings.error(
            named.place(),
            Fault::new("its file is missing").remedy("write -Xprofile.xml"),
        );
        return None;
    }
    let text = match (context.read_profile)(named.value) {
        Ok(text) => text,
        Err(message) => {
            let fault = Fault::new(format!("the profile cannot be read: {message}"));
            findings.error(named.place(), fault.remedy("name an XML profile that exists"));
            return None;
        }
    };
    let mut profile = xml::read(named.value, &text, &words.targets, findings)?;
    profile.command_line = draft.profile.command_line;
    profile.verbose |= draft.profile.verbose;
    profile.verbose_stats |= draft.profile.verbose_stats;
    profile.profile_only |= draft.profile.profile_only;
    if let Some(format) = draft.result_format {
        profile.result_format = format;
    }
    for span in &mut profile.time_spans {
        draft.times.apply(span);
    }
    Some(profile)
}

/// As the results repeat it: words that hold spaces in quotes.
fn command_line(args: &[String]) -> String {
    let quoted = args.iter().map(|word| {
        if word.is_empty() || word.contains(char::is_whitespace) {
            format!("\"{word}\"")
        } else {
            word.clone()
        }
    });
    std::iter::once(String::from("diskspd"))
        .chain(quoted)
        .collect::<Vec<_>>()
        .join(" ")
}
