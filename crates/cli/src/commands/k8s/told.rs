//! What is told of a run on a cluster: lines while it goes on, its tests at the end, sides compared.
//!
//! Data in: events, and what came of tests. Data out: lines on stderr, texts. It must not decide how a run goes on.

use super::compared::{Found, Side, named as comparison_of, pages};
use super::fleet;
use crate::args::compare::CompareArgs;
use crate::commands::compare;
use crate::terminal;
use fathom_analysis::compare::{Figure, Observed, Order, Quantity, Value};
use fathom_cluster::agent::Said;
use fathom_cluster::attach::{AttachTimes, Step};
use fathom_cluster::conduct::{Event, TestDone, test_dir};
use fathom_cluster::objects::{COMMAND_STEP, RECORD_STEP};
use fathom_cluster::plan::{Plan, Test, Work};
use fathom_core::run::Warning;
use fathom_core::units::{Bytes, Nanos, binary_rate, count};
use fathom_report::compared::Kind;
use serde_json::json;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A way between two steps: what it is called, from where to where.
type Duration = (&'static str, Option<Step>, Step);

/// Which durations are compared.
const DURATIONS: [Duration; 6] = [
    ("pod made to scheduled", None, Step::Scheduled),
    ("scheduled to attached", Some(Step::Scheduled), Step::Attached),
    ("attached to mounted", Some(Step::Attached), Step::Mounted),
    ("mounted to started", Some(Step::Mounted), Step::Started),
    ("pod made to started", None, Step::Started),
    ("pod deleted to detached", None, Step::Detached),
];

/// The sum of two of them, which documents have as well.
const ATTACHED_TO_STARTED: Duration = ("attached to started", Some(Step::Attached), Step::Started);

/// Tells what happens, a line each.
pub(super) struct Told<'a> {
    plan: &'a Plan,
    quiet: bool,
    begun: Instant,
}

impl<'a> Told<'a> {
    pub(super) fn new(plan: &'a Plan, quiet: bool) -> Self {
        Self {
            plan,
            quiet,
            begun: Instant::now(),
        }
    }

    pub(super) fn event(&self, event: &Event<'_>) {
        if self.quiet {
            return;
        }
        let of = |test: &Test| named(self.plan, *test);
        let line = match event {
            Event::Begun {
                test,
                number,
                of: all,
            } => {
                format!("{}: test {number} of {all}{}", of(test), self.left(*number, *all))
            }
            Event::Waits { test, hindrance } => format!("{}: waits for {hindrance}", of(test)),
            Event::Runs { test, node } => format!("{}: its pod runs on {node}", of(test)),
            Event::Step { test, said } => match said {
                Said::Begun { step } => format!("{}: {step} begins", of(test)),
                Said::Ended {
                    step, exit: Some(0), ..
                } => format!("{}: {step} is done", of(test)),
                Said::Ended {
                    step,
                    exit: Some(code),
                    ..
                } => format!("{}: {step} ended with exit code {code}", of(test)),
                Said::Ended { step, exit: None, .. } => format!("{}: {step} was ended by a signal", of(test)),
                Said::Failed { step, why } => format!("{}: {step} could not be started: {why}", of(test)),
                Said::Ready | Said::Released { .. } | Said::Done => return,
            },
            Event::Released {
                members,
                uncertainty_ns,
            } => format!(
                "{members} pods are prepared and told to begin; their clocks are known to {}",
                Nanos(*uncertainty_ns)
            ),
            Event::Fetched { test, bytes, of: all } if bytes == all => {
                format!("{}: {} fetched", of(test), Bytes(*all))
            }
            Event::Fetched { .. } => return,
            Event::Ended { done } => match &done.failed {
                Some(why) => format!("{}: failed: {why}", of(&done.test)),
                None => return,
            },
            Event::GivenUp { side } => {
                format!("{side}: it failed twice in a row: its other tests are left out")
            }
            Event::Removing => String::from("removing what was made"),
        };
        terminal::say(&line);
    }

    /// How long the rest will take, by what is done.
    fn left(&self, number: usize, all: usize) -> String {
        let done = number.saturating_sub(1);
        if done == 0 {
            return String::new();
        }
        let each = self.begun.elapsed() / done as u32;
        let left = each * (all - done) as u32;
        format!(
            ", about {} to go",
            Nanos(u64::try_from(left.as_nanos()).unwrap_or(u64::MAX))
        )
    }
}

/// A test in words.
pub(super) fn named(plan: &Plan, test: Test) -> String {
    let name = format!("{} {}", plan.sides[test.side].name(), test.repeat);
    if plan.begins_together() {
        format!("{name}.{}", test.member)
    } else {
        name
    }
}

/// The steps of each test whose results are run directories.
pub(super) fn steps(plan: &Plan) -> Vec<String> {
    match &plan.work {
        Work::Load { files, .. } => files.iter().map(|file| file.name.clone()).collect(),
        Work::Command { .. } => vec![String::from(COMMAND_STEP)],
        Work::Watch { .. } => vec![String::from(RECORD_STEP)],
    }
}

/// What came of all tests.
pub(super) fn text(plan: &Plan, done: &[TestDone]) -> String {
    let mut text = String::new();
    let whole = done.iter().filter(|one| one.is_whole()).count();
    let _written = writeln!(text, "{whole} of {} tests came to their end", plan.tests().len());
    for one in done {
        if let Some(why) = &one.failed {
            let _written = writeln!(text, "{}: {why}", named(plan, one.test));
        }
    }
    let overheads: Vec<u64> = done.iter().filter_map(TestDone::overhead_ms).collect();
    if let Some(told) = ranged(overheads) {
        let _written = writeln!(text, "beside load and attaching, a test took {told}");
    }
    text
}

/// The middle one of some milliseconds, and how far they go; `None`: there are none.
fn ranged(mut all: Vec<u64>) -> Option<String> {
    all.sort_unstable();
    let (first, last) = (*all.first()?, *all.last()?);
    let middle = u64::midpoint(all[(all.len() - 1) / 2], all[all.len() / 2]);
    let told = |ms: u64| Nanos(ms * 1_000_000).to_string();
    Some(if first == last {
        told(middle)
    } else {
        format!("{} ({} to {})", told(middle), told(first), told(last))
    })
}

/// The same as a document: `fathom.k8s/1`.
pub(super) fn json(plan: &Plan, done: &[TestDone], dir: &Path) -> anyhow::Result<String> {
    let tests: Vec<_> = done
        .iter()
        .map(|one| {
            let durations: serde_json::Map<String, serde_json::Value> = DURATIONS
                .iter()
                .chain([&ATTACHED_TO_STARTED])
                .map(|(name, from, to)| {
                    let key = format!("{}_ms", name.replace(' ', "_"));
                    (key, json!(one.attach.between_ms(*from, *to)))
                })
                .collect();
            json!({
                "side": one.side,
                "repeat": one.test.repeat,
                "member": one.test.member,
                "release": one.release,
                "node": one.node,
                "failed": one.failed,
                "attach": one.attach,
                "durations": durations,
                "steps": one.steps,
                "phases": one.phases,
                "overhead_ms": one.overhead_ms(),
                "directory": test_dir(dir, plan, one.test),
            })
        })
        .collect();
    let mut document = json!({
        "schema": "fathom.k8s/1",
        "id": plan.id,
        "directory": dir,
        "sides": plan.sides.iter().map(fathom_cluster::plan::Side::name).collect::<Vec<_>>(),
        "tests": tests,
    });
    let attach = attach_compared(plan, done);
    let mut compared: Vec<serde_json::Value> = Vec::new();
    for step in steps(plan) {
        if plan.begins_together() {
            let told = fleet::Fleets::read(plan, done, dir, &step)?;
            told.leave(dir)?;
            document["fleet"] = told.json();
            for found in told.compared(plan) {
                found.leave(dir, &format!("compared-{step}"))?;
                compared.push(found.document(&step));
            }
        } else if !matches!(plan.work, Work::Watch { .. }) {
            for mut args in sides_of(plan, done, dir, &step) {
                args.quiet = true;
                // All else that came of it is told nevertheless.
                compared.push(match compare::document(&args) {
                    Ok(document) => comparison_of(&step, document),
                    Err(why) => {
                        terminal::warning(&format!("{step}: nothing is compared: {why:#}"));
                        json!({"of": step, "failed": format!("{why:#}")})
                    }
                });
            }
        }
    }
    document["compared"] = json!(compared);
    let attach_documents = attach.iter().map(|found| found.document("attach times"));
    document["attach"] = json!(attach_documents.collect::<Vec<_>>());
    for found in &attach {
        found.leave(dir, "attach")?;
    }
    Ok(format!("{document:#}\n"))
}

/// What of the loads is not as it was asked for, each once.
pub(super) fn replaced(plan: &Plan, done: &[TestDone], dir: &Path) -> anyhow::Result<Vec<String>> {
    let mut all = BTreeSet::new();
    if !matches!(plan.work, Work::Load { .. }) {
        return Ok(Vec::new());
    }
    for one in done.iter().filter(|one| one.is_whole()) {
        for step in steps(plan) {
            let run = fathom_store::read_run(&test_dir(dir, plan, one.test).join(step))?;
            let warnings = run.summary.warnings.iter();
            let blocked = warnings.filter(|warning| matches!(warning, Warning::EngineBlocked { .. }));
            all.extend(blocked.map(Warning::in_full));
        }
    }
    Ok(all.into_iter().collect())
}

/// What the load of each test came to, where there is nothing to compare it with.
pub(super) fn each(plan: &Plan, done: &[TestDone], dir: &Path, step: &str) -> anyhow::Result<String> {
    let mut text = String::new();
    for one in done.iter().filter(|one| one.is_whole()) {
        let run = fathom_store::read_run(&test_dir(dir, plan, one.test).join(step))?;
        let jobs = run
            .summary
            .jobs
            .iter()
            .flat_map(|job| [(job, "read", &job.read), (job, "write", &job.write)]);
        let moved = jobs.filter(|(_, _, op)| op.ios > 0).map(|(job, name, op)| {
            let p99 = op.lat_ns.percentile(99.0).unwrap_or_default();
            format!(
                "{} {name} {} IOPS, {}, p99 {}",
                job.name,
                count(op.iops.round()),
                binary_rate(op.bytes_per_second),
                Nanos(p99)
            )
        });
        let commands = run.summary.commands.iter();
        let took = commands.map(|command| format!("took {}", Nanos(command.duration_ns())));
        let all: Vec<String> = moved.chain(took).collect();
        let node = one.node.as_deref().unwrap_or("?");
        let _written = writeln!(text, "{} on {node}: {}", named(plan, one.test), all.join("; "));
    }
    Ok(text)
}

/// The first side against each other one, by the runs of `step`.
pub(super) fn compare(
    plan: &Plan,
    done: &[TestDone],
    dir: &Path,
    step: &str,
    quiet: bool,
) -> anyhow::Result<()> {
    for mut args in sides_of(plan, done, dir, step) {
        args.quiet = quiet;
        terminal::print(&format!("\n{step}\n"))?;
        compare::compare(&args)?;
    }
    Ok(())
}

/// The first side against each other one that has runs of `step`, as `fathom compare` is asked, with pages.
fn sides_of(plan: &Plan, done: &[TestDone], dir: &Path, step: &str) -> Vec<CompareArgs> {
    let runs = |side: usize| -> Vec<PathBuf> {
        let whole = done.iter().filter(|one| one.test.side == side && one.is_whole());
        whole
            .map(|one| test_dir(dir, plan, one.test).join(step))
            .collect()
    };
    let each = (1..plan.sides.len()).filter_map(|other| {
        let (a, b) = (runs(0), runs(other));
        if a.is_empty() || b.is_empty() {
            return None;
        }
        let names = [0, other].map(|side| plan.sides[side].name().to_owned());
        let mut args = CompareArgs::of_targets(a, b, names.into(), false);
        args.outputs = pages(dir, &format!("compared-{step}"), plan.sides[other].name());
        // A run that is taken up again is told anew.
        args.force = true;
        Some(args)
    });
    each.collect()
}

/// How long volumes took to be attached, compared side by side; of what has nothing to be compared with, by itself.
pub(super) fn attach(plan: &Plan, done: &[TestDone], dir: &Path) -> anyhow::Result<()> {
    const HEADING: &str = "\nattach times, as seen every 250 ms\n";
    if matches!(plan.work, Work::Watch { .. }) {
        return Ok(());
    }
    let compared = attach_compared(plan, done);
    for found in &compared {
        terminal::print(HEADING)?;
        terminal::print(&found.text())?;
        found.leave(dir, "attach")?;
    }
    if compared.is_empty() {
        let each = (0..plan.sides.len()).filter_map(|side| attach_alone(plan, done, side));
        for told in each {
            terminal::print(HEADING)?;
            terminal::print(&told)?;
        }
    }
    Ok(())
}

/// The whole tests of a side.
fn whole_of(done: &[TestDone], side: usize) -> Vec<&TestDone> {
    let its = done.iter().filter(|one| one.test.side == side && one.is_whole());
    its.collect()
}

/// The attach times of the first side against those of each other one.
fn attach_compared(plan: &Plan, done: &[TestDone]) -> Vec<Found> {
    // A recorder attaches nothing.
    if matches!(plan.work, Work::Watch { .. }) {
        return Vec::new();
    }
    let each = (1..plan.sides.len()).filter_map(|other| {
        let sides = [0, other].map(|side| whole_of(done, side));
        let observed = observed(&sides);
        let side = |place: usize, number: usize| Side {
            name: plan.sides[number].name().to_owned(),
            from: sides[place].iter().map(|one| one.pod.clone()).collect(),
            notes: missing(&sides[place]),
        };
        (!observed.is_empty()).then(|| Found::new(Kind::Commands, [side(0, 0), side(1, other)], observed))
    });
    each.collect()
}

/// The attach times of a side by itself: the middle one of its tests and how far they go. `None`: none is known.
fn attach_alone(plan: &Plan, done: &[TestDone], side: usize) -> Option<String> {
    let its = whole_of(done, side);
    let rows = DURATIONS.iter().filter_map(|(name, from, to)| {
        let each = its.iter().filter_map(|one| one.attach.between_ms(*from, *to));
        Some(format!("  {name:<24}{}\n", ranged(each.collect())?))
    });
    let rows: String = rows.collect();
    if rows.is_empty() {
        return None;
    }
    let notes = missing(&its)
        .into_iter()
        .map(|why| format!("  not known: {why}\n"));
    let tests = match its.len() {
        1 => String::from("1 test"),
        n => format!("{n} tests: the middle one, and from the least to the most"),
    };
    let notes: String = notes.collect();
    Some(format!("{}, {tests}\n{rows}{notes}", plan.sides[side].name()))
}

/// What is not known of them, each once.
fn missing(side: &[&TestDone]) -> Vec<String> {
    let mut all: Vec<String> = side.iter().flat_map(|one| one.attach.missing.clone()).collect();
    all.sort();
    all.dedup();
    all
}

/// The durations that all tests of both sides have.
fn observed(sides: &[Vec<&TestDone>; 2]) -> Vec<Observed> {
    let starts = sides.each_ref().map(|side| -> Vec<Option<u64>> {
        side.iter()
            .map(|one| u64::try_from(one.started_unix_ms).ok().map(|ms| ms * 1_000_000))
            .collect()
    });
    if starts.iter().any(Vec::is_empty) {
        return Vec::new();
    }
    let order = Order::of(&starts[0], &starts[1]);
    let figures = DURATIONS.iter().filter_map(|(name, from, to)| {
        let values = |side: &[&TestDone]| {
            let each = side.iter().map(|one| duration(&one.attach, *from, *to));
            each.collect::<Option<Vec<Value>>>()
        };
        Some(Observed {
            figure: Figure {
                load: (*name).to_owned(),
                op: None,
                quantity: Quantity::Duration,
            },
            sides: [values(&sides[0])?, values(&sides[1])?],
            order: order.clone(),
        })
    });
    figures.collect()
}

fn duration(attach: &AttachTimes, from: Option<Step>, to: Step) -> Option<Value> {
    let ms = attach.between_ms(from, to)?;
    Some(Value::plain(ms as f64 * 1e6))
}
