//! What is told of a run on a cluster: lines while it goes on, its tests at the end, sides compared.
//!
//! Data in: events, and what came of tests. Data out: lines on stderr, texts. It must not decide how a run goes on.

use super::fleet;
use crate::args::compare::CompareArgs;
use crate::commands::compare;
use crate::terminal::{self, Colour};
use anyhow::Context as _;
use fathom_analysis::compare::{Better, Figure, Observed, Order, Quantity, Settings, Value, judge};
use fathom_cluster::agent::Said;
use fathom_cluster::attach::{AttachTimes, Step};
use fathom_cluster::conduct::{Event, TestDone, test_dir};
use fathom_cluster::objects::{COMMAND_STEP, RECORD_STEP};
use fathom_cluster::plan::{Plan, Test, Work};
use fathom_core::units::{Bytes, Nanos, binary_rate, count};
use fathom_door::output;
use fathom_report::compared::{CompareFormat, CompareReport, Kind, SideReport};
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The difference that matters, as `fathom compare` has it.
const MARGIN: f64 = 0.1;

/// Which durations are compared: what they are called, from where to where.
const DURATIONS: [(&str, Option<Step>, Step); 5] = [
    ("pod made to scheduled", None, Step::Scheduled),
    ("scheduled to attached", Some(Step::Scheduled), Step::Attached),
    ("attached to started", Some(Step::Attached), Step::Started),
    ("pod made to started", None, Step::Started),
    ("pod deleted to detached", None, Step::Detached),
];

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
                Said::Ended { step, exit: Some(0) } => format!("{}: {step} is done", of(test)),
                Said::Ended {
                    step,
                    exit: Some(code),
                } => format!("{}: {step} ended with exit code {code}", of(test)),
                Said::Ended { step, exit: None } => format!("{}: {step} was ended by a signal", of(test)),
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
    text
}

/// The same as a document: `fathom.k8s/1`.
pub(super) fn json(plan: &Plan, done: &[TestDone], dir: &Path) -> anyhow::Result<String> {
    let tests: Vec<_> = done
        .iter()
        .map(|one| {
            let durations: serde_json::Map<String, serde_json::Value> = DURATIONS
                .iter()
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
    if plan.begins_together() {
        let step = steps(plan).into_iter().next().unwrap_or_default();
        document["fleet"] = fleet::json(plan, done, dir, &step)?;
    }
    Ok(format!("{document:#}\n"))
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
    let runs = |side: usize| -> Vec<PathBuf> {
        let whole = done.iter().filter(|one| one.test.side == side && one.is_whole());
        whole
            .map(|one| test_dir(dir, plan, one.test).join(step))
            .collect()
    };
    for other in 1..plan.sides.len() {
        let (a, b) = (runs(0), runs(other));
        if a.is_empty() || b.is_empty() {
            continue;
        }
        terminal::print(&format!("\n{step}\n"))?;
        let names = [0, other].map(|side| plan.sides[side].name().to_owned());
        let mut compared = CompareArgs::of_targets(a, b, names.into(), quiet);
        compared.outputs = pages(dir, &format!("compared-{step}"), plan.sides[other].name());
        // A run that is taken up again is told anew.
        compared.force = true;
        compare::compare(&compared)?;
    }
    Ok(())
}

/// The files that a comparison of the first side with `other` is kept in.
fn pages(dir: &Path, what: &str, other: &str) -> Vec<PathBuf> {
    ["html", "md"]
        .map(|ending| dir.join(format!("{what}-{other}.{ending}")))
        .into()
}

/// How long volumes took to be attached, compared side by side.
pub(super) fn attach(plan: &Plan, done: &[TestDone], dir: &Path) -> anyhow::Result<()> {
    for other in 1..plan.sides.len() {
        let sides = [0, other].map(|side| -> Vec<&TestDone> {
            done.iter()
                .filter(|one| one.test.side == side && one.is_whole())
                .collect()
        });
        let observed = observed(&sides);
        if observed.is_empty() {
            continue;
        }
        let judged = judge(observed, Settings { margin: MARGIN });
        let side = |place: usize, number: usize| SideReport {
            name: plan.sides[number].name().to_owned(),
            from: sides[place].iter().map(|one| one.pod.clone()).collect(),
            measured: &[],
            alone: Vec::new(),
            notes: missing(&sides[place]),
        };
        let report = CompareReport {
            kind: Kind::Commands,
            sides: [side(0, 0), side(1, other)],
            judged: &judged,
            conditions: &[],
            allowed: &[],
            cautions: &[],
            ruled: &[],
            strict: false,
            settings: Settings { margin: MARGIN },
            unit: None,
            better: Better::Lower,
            version: env!("CARGO_PKG_VERSION"),
        };
        terminal::print("\nattach times, as seen every 250 ms\n")?;
        terminal::print(&report.text(terminal::stdout_style(Colour::Auto)))?;
        for path in pages(dir, "attach", plan.sides[other].name()) {
            if let Some(format) = CompareFormat::of(&path) {
                output::leave(&path, report.render(format).as_bytes(), true)
                    .with_context(|| format!("cannot write {}", path.display()))?;
            }
        }
    }
    Ok(())
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
