//! `fathom diskspd`: diskspd's command line, carried out by fathom, with diskspd's results.
//!
//! Data in: diskspd's words. Data out: text or XML in diskspd's layout on stdout, findings on stderr, an exit; a run directory
//! where one is asked for. What the words mean is the dialect's, the layout the report's.

mod aim;
mod flags;
mod system;

use crate::args::diskspd::DiskspdArgs;
use crate::exit::{self, Exit};
use crate::terminal::live::Live;
use crate::terminal::{self, signals, tell};
use crate::text_file::{self, Expected};
use crate::{request, target};
use anyhow::Context as _;
use fathom_core::run::{Environment, Run, SeriesRow, Warning};
use fathom_core::units::{Nanos, WallTime};
use fathom_core::workload::{Workload, Written, WrittenSection};
use fathom_dialect::diskspd::results::{self, CpuUse, DiskspdResult, SpanResult};
use fathom_dialect::diskspd::{
    Context, Lowered, Lowering, PROFILE_BYTES_MAX, Profile, ResultFormat, TimeSpan, flag_rows, lower, parse,
    profile_as_text, profile_as_xml,
};
use fathom_door::own;
use fathom_observe::SystemRoot;
use fathom_session::{
    AfterTouching as _, Conduct, Event, How, Machine, Measured, Observer, Output, Planned, Refused, Request,
    Session, Streams, behind, files_of_all, reserve_directory, reworded, with_causes,
};
use std::fmt::Write as _;
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Carries `fathom diskspd` out.
pub(crate) fn diskspd(args: &DiskspdArgs) -> anyhow::Result<Exit> {
    // Refusals name no options of job files.
    carried_out(args).map_err(|error| {
        if error.is::<Refused>() {
            error
        } else {
            reworded(error, flags::in_flags)
        }
    })
}

fn carried_out(args: &DiskspdArgs) -> anyhow::Result<Exit> {
    if args.words.iter().any(|word| word == "--help") {
        terminal::print(&help())?;
        return Ok(Exit::Done);
    }
    let on = args
        .on
        .as_deref()
        .map(|on| target::resolve(on.as_ref()))
        .transpose()?;
    let runs_on = request::machine_of(on.as_ref(), None)?;
    let parsed = parse(
        &args.words,
        &Context {
            dialect: args.dialect,
            look: &size_of,
            read_profile: &read_profile,
            seed: request::unix_ns() as u32,
        },
    );
    tell::findings(&parsed.diagnostics, args.quiet);
    if parsed.help {
        terminal::print(&help())?;
        return Ok(Exit::Done);
    }
    let Some(mut profile) = parsed.profile else {
        // As diskspd ends where it cannot read its command line.
        return Ok(Exit::Refused);
    };
    if let Some(on) = &on {
        aim::aim(&mut profile, on)?;
    }
    if profile.profile_only {
        terminal::print(&match profile.result_format {
            ResultFormat::Text => profile_as_text(&profile),
            ResultFormat::Xml => profile_as_xml(&profile),
        })?;
        return Ok(Exit::Done);
    }
    let cpus = if runs_on.is_modelled() {
        Vec::new()
    } else {
        system::cpus_allowed()?
    };
    let lowered = lower(
        &profile,
        &Lowering {
            cpus: &cpus,
            look: if runs_on.is_modelled() {
                &|_| None
            } else {
                &size_of
            },
            read_bytes: &read_bytes,
        },
    );
    tell::findings(&lowered.diagnostics, args.quiet);
    if lowered.spans.is_empty() {
        return Ok(Exit::Wrong);
    }
    let order = Order {
        args,
        profile: &profile,
        machine: runs_on,
        system: SystemRoot::default(),
        environment: request::machine(),
        how: args.permissions.how(Streams::default(), args.recorded.clone()),
        stop: signals::stop_flag()?,
    };
    order.carry_out(&lowered.spans)
}

/// All that the time spans of a profile share.
struct Order<'a> {
    args: &'a DiskspdArgs,
    profile: &'a Profile,
    machine: Machine,
    system: SystemRoot,
    environment: Environment,
    how: How,
    stop: Arc<AtomicBool>,
}

/// How a time span ended, and when it began and what it gave; nothing was measured without that, why is on stderr.
type Ended = (Exit, Option<(WallTime, SpanResult)>);

impl Order<'_> {
    /// All that may refuse, for all time spans; then one after the other.
    fn carry_out(&self, spans: &[Lowered]) -> anyhow::Result<Exit> {
        let mut plans = Vec::new();
        for span in spans {
            let plan = self.machine.plan(&span.workload)?;
            self.machine.check(&plan)?;
            plans.push(plan);
        }
        let output = self.args.keep.clone().map_or(Output::None, Output::Directory);
        let dir = reserve_directory(&output, "diskspd")?;
        let files = files_of_all(plans);
        let mut live = Live::new(self.args.quiet);
        let session = Session::open(&self.system, &self.how, &self.stop, &files, &mut live)?;
        let (mut results, mut end) = (Vec::new(), Ok(Exit::Done));
        for (number, (span, settings)) in spans.iter().zip(&self.profile.time_spans).enumerate() {
            let place = dir.as_deref().map(|dir| place(dir, number, spans.len()));
            let (exit, result) = match self.span(span, settings, &session, place.as_deref()) {
                Ok(ended) => ended,
                Err(error) => {
                    end = Err(error);
                    break;
                }
            };
            if exit != Exit::Done {
                end = Ok(exit);
            }
            // What was interrupted goes no further.
            let last = result.is_none() || exit == Exit::Interrupted;
            results.extend(result);
            if last {
                break;
            }
        }
        drop(session);
        let Some(&(first, _)) = results.first() else {
            return end;
        };
        // What was measured is told, whatever became of the time spans after it.
        let results = results.into_iter().map(|(_, result)| result).collect();
        self.print(results, first)
            .after_touching(|| tell::kept(dir.as_deref()))?;
        if spans.len() == 1 {
            tell::place_of_run(dir.as_deref(), self.args.quiet);
        }
        match end {
            Ok(Exit::Wrong) => Ok(Exit::Errors),
            Err(error) => {
                terminal::error(&flags::in_flags(&with_causes(&error)));
                Ok(Exit::Errors)
            }
            Ok(exit) => Ok(exit),
        }
    }

    fn span(
        &self,
        lowered: &Lowered,
        span: &TimeSpan,
        session: &Session<'_>,
        dir: Option<&Path>,
    ) -> anyhow::Result<Ended> {
        let request = self.request(&lowered.workload);
        // Planned once more: the time spans before it may have made or filled its files.
        let mut planned = Planned::new(&request)?;
        let mut watched = Watched {
            live: Live::new(self.args.quiet),
            rows: span.iops_std_dev.then(Vec::new),
        };
        let Some(laid_out) = session.lay_out(&mut planned.plan, &mut watched)? else {
            return Ok((Exit::Interrupted, None));
        };
        if let Some(dir) = dir {
            own::make_directories(dir).with_context(|| format!("cannot make {}", dir.display()))?;
        }
        let conduct = Conduct {
            interval: interval_of(span),
            ..Conduct::default()
        };
        let before = system::cpu_times(&self.system);
        let measured = session.measure(&planned, dir, &conduct, &mut watched);
        let measured = behind(&laid_out, measured)?;
        let after = system::cpu_times(&self.system);
        match measured {
            Measured::NotStarted { message } => {
                let (exit, message) = exit::not_started(&message, laid_out);
                terminal::error(&flags::in_flags(&message));
                Ok((exit, None))
            }
            Measured::Ended {
                run, histograms, end, ..
            } => {
                let cpus = match self.machine {
                    Machine::Modelled(_) => Vec::new(),
                    Machine::This => CpuUse::between(&before, &after),
                };
                let series = watched.rows.unwrap_or_default();
                let result = results::span_result(span, &lowered.rows, &run, &series, &histograms, cpus);
                tell_in_flags(&run);
                Ok((end.into(), Some((run.started_unix_ns, result))))
            }
        }
    }

    fn request(&self, workload: &Workload) -> Request {
        Request {
            workload: workload.clone(),
            written: Written {
                source: String::from("command line"),
                sections: vec![WrittenSection {
                    name: String::from("diskspd"),
                    options: self.args.words.iter().map(|word| (word.clone(), None)).collect(),
                }],
            },
            warnings: Vec::new(),
            environment: self.environment.clone(),
            machine: self.machine.clone(),
        }
    }

    fn print(&self, spans: Vec<SpanResult>, started: WallTime) -> anyhow::Result<()> {
        let result = DiskspdResult {
            profile_text: profile_as_text(self.profile),
            profile_xml: profile_as_xml(self.profile),
            verbose_stats: self.profile.verbose_stats,
            system: system::describe(&self.system, &self.environment, started),
            spans,
        };
        terminal::print(&match self.profile.result_format {
            ResultFormat::Text => results::text(&result),
            ResultFormat::Xml => results::xml(&result),
        })
    }
}

/// The directory of a time span: the whole one where it is alone.
fn place(dir: &Path, number: usize, of: usize) -> PathBuf {
    match of {
        1 => dir.to_owned(),
        _ => dir.join(format!("timespan-{}", number + 1)),
    }
}

/// The intervals of the series: a second, or what `-D` counts in. What the engine does not keep as one interval is put
/// together from seconds.
fn interval_of(span: &TimeSpan) -> Nanos {
    match span.io_bucket_ms {
        ms @ 1..=60_000 if span.iops_std_dev => Nanos::from_millis(u64::from(ms)),
        _ => Nanos::from_secs(1),
    }
}

/// Shows a run, and keeps its rows where deviations are asked for.
struct Watched {
    live: Live,
    rows: Option<Vec<SeriesRow>>,
}

impl Observer for Watched {
    fn event(&mut self, event: Event<'_>) {
        if let (Event::Rows(rows), Some(kept)) = (&event, &mut self.rows) {
            kept.extend_from_slice(rows);
        }
        self.live.event(event);
    }
}

/// Errors and warnings of a run, on stderr: diskspd's results have no place for them.
fn tell_in_flags(run: &Run) {
    for text in fathom_report::text::error_texts(run) {
        terminal::error(&flags::in_flags(&text));
    }
    // Its table has nine nines, however few the I/Os.
    let few = |warning: &&Warning| matches!(warning, Warning::FewSamples { .. });
    for warning in run.summary.warnings.iter().filter(|warning| !few(warning)) {
        terminal::warning(&flags::in_flags(&warning.in_full()));
    }
}

/// The size of a file or device of this name.
fn size_of(name: &str) -> Option<u64> {
    let metadata = std::fs::metadata(name).ok()?;
    if metadata.is_file() {
        return Some(metadata.len());
    }
    if !metadata.file_type().is_block_device() {
        return None;
    }
    // A device has its size at its end.
    let mut device = std::fs::File::open(name).ok()?;
    std::io::Seek::seek(&mut device, std::io::SeekFrom::End(0)).ok()
}

fn read_profile(name: &str) -> Result<String, String> {
    let expected = Expected::of("XML profile", PROFILE_BYTES_MAX as u64 >> 20);
    text_file::read(Path::new(name), expected).map_err(|error| format!("{error:#}"))
}

fn read_bytes(name: &str, most: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(name).map_err(|error| format!("{name}: {error}"))?;
    let read = file.take(most).read_to_end(&mut bytes);
    read.map(|_| bytes).map_err(|error| format!("{name}: {error}"))
}

/// All flags.
fn help() -> String {
    let mut text = String::from("fathom diskspd [--FLAGS] [diskspd's flags] target...\n\n");
    for row in flag_rows() {
        let flag = format!("-{}{}", row.flag, row.value);
        let _ = write!(text, "  {flag:24} {}", row.doc);
        let _ = match row.support.reason() {
            Some(why) => writeln!(text, " [{}: {why}]", row.support.word()),
            None => writeln!(text),
        };
        if !row.default.is_empty() {
            let _ = writeln!(text, "  {:24} default: {}", "", row.default);
        }
    }
    text.push_str("\nfathom's own flags, before these:\n\n");
    text.push_str(&crate::args::help_of("diskspd"));
    text
}
