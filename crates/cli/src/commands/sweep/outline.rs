//! What a sweep comes to before it starts: how many points, how long, how much is written.
//!
//! Data in: a sweep as asked for. Data out: text. It must not touch anything.

use super::asked::Asked;
use crate::exit::Exit;
use crate::terminal::{self, tell};
use fathom_core::sweep::PointOrder;
use fathom_core::units::{Bytes, Nanos};
use fathom_core::workload::Job;
use fathom_observe::SystemRoot;
use fathom_session::sweep::Points;
use fathom_session::{Session, check_directory};
use std::fmt::Write as _;

/// `--dry-run`: the outline, and what would stop the sweep.
pub(crate) fn dry_run(system: &SystemRoot, asked: &Asked, points: &mut Points) -> anyhow::Result<Exit> {
    terminal::print(&outline(asked, points))?;
    tell::warnings(points.warnings());
    points.check()?;
    Session::foresee(system, &asked.settings.how, points.files())?;
    check_directory(&asked.settings.output)?;
    Ok(Exit::Done)
}

/// In a few lines.
pub(crate) fn outline(asked: &Asked, points: &Points) -> String {
    let plan = &asked.plan;
    let mut text = String::new();
    let steps = plan.points.len() as u64 * u64::from(plan.repeats);
    let counted = match plan.repeats {
        1 => format!("{} points", plan.points.len()),
        n => format!("{} points, each {n} times", plan.points.len()),
    };
    let total = long(plan.timing.total_ns().saturating_mul(steps));
    let each = Nanos(plan.timing.total_ns());
    let virtually = if asked.machine.is_modelled() {
        " of virtual time"
    } else {
        ""
    };
    let _ = writeln!(text, "{counted} of {each}: {total}{virtually}{}", early(asked));
    let axes = &plan.axes;
    let order = |&random: &bool| String::from(if random { "random" } else { "sequential" });
    for (name, values) in [
        ("order", list(&axes.random, order)),
        ("reads", list(&axes.read_percent, ToString::to_string) + " %"),
        (
            "sizes",
            list(&axes.block_size_bytes, |&bytes| Bytes(bytes).to_string()),
        ),
        ("depths", list(&axes.iodepth, ToString::to_string)),
        ("threads", list(&axes.threads, ToString::to_string)),
    ] {
        let _ = writeln!(text, "  {name:9} {values}");
    }
    if plan.order == PointOrder::Shuffled {
        let _ = writeln!(text, "  shuffled, seed {}", plan.seed);
    }
    text.push_str(&writes(asked, points));
    text
}

fn list<T>(values: &[T], in_words: impl Fn(&T) -> String) -> String {
    values.iter().map(in_words).collect::<Vec<_>>().join(", ")
}

/// A time of minutes or more in hours and minutes, a shorter one in seconds.
pub(crate) fn long(ns: u64) -> String {
    let minutes = (ns + 30_000_000_000) / 60_000_000_000;
    match (minutes / 60, minutes % 60) {
        _ if ns < 120_000_000_000 => Nanos(ns).to_string(),
        (0, minutes) => format!("{minutes} min"),
        (hours, 0) => format!("{hours} h"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

/// What may make it shorter.
fn early(asked: &Asked) -> String {
    let plan = &asked.plan;
    let mut text = String::new();
    if plan.adaptive {
        text.push_str(
            " at most (adaptive: points that follow from others are skipped; one load of two block sizes more, if only that tells how large I/O is counted)",
        );
    }
    if let Some(rule) = plan.steady {
        let percent = rule.half_width * 100.0;
        let _ = write!(
            text,
            ", or less: a point ends once its mean is known to {percent} %"
        );
    }
    text
}

/// The bytes that it will write, as far as that can be told before.
fn writes(asked: &Asked, points: &Points) -> String {
    let plan = &asked.plan;
    let mut text = String::new();
    let on = &asked.origin.on;
    if asked.machine.is_modelled() {
        let _ = writeln!(text, "  on {on}, where nothing is written");
        if plan.precondition {
            let _ = writeln!(text, "  a modelled disk needs no preconditioning: it is left out");
        }
        return text;
    }
    let files = &points.files().files;
    let region: u64 = files.iter().map(|file| file.size_needed).sum();
    let laid_out: u64 = files
        .iter()
        .filter(|file| file.fill || file.changes_size())
        .map(|file| file.size_needed)
        .sum();
    let _ = writeln!(text, "  on {on}: a region of {}", Bytes(region));
    if laid_out > 0 {
        let _ = writeln!(text, "  writes {} to lay it out", Bytes(laid_out));
    }
    if plan.precondition {
        let _ = writeln!(text, "  writes {} to precondition it", Bytes(2 * region));
    }
    let writing = points
        .workloads()
        .filter(|workload| workload.jobs.iter().any(Job::writes))
        .count() as u64;
    if writing > 0 {
        let timing = &plan.timing;
        let on_ns = timing.warmup_ns + timing.duration_ns + timing.cooldown_ns;
        let seconds = on_ns * writing * u64::from(plan.repeats) / 1_000_000_000;
        let per_second = Bytes(100 << 20);
        let _ = writeln!(
            text,
            "  {writing} points write, within that region, for {} in all: at {per_second}/s of writes that is {}",
            long(seconds * 1_000_000_000),
            Bytes(seconds.saturating_mul(100 << 20)),
        );
    }
    text
}
