//! `fathom sweep --on A --on B`: the same sweep on several targets in turns, and the comparison.
//!
//! Data in: arguments as typed. Data out: a directory with a sweep a target, the comparison on stdout, an exit.
//!
//! A pass over the matrix is measured on each target, the next one in the opposite order: ABBA and so on, so that a drift of the
//! machine, of the cloud, of the time of day hits all alike and can be told from a difference.

use super::asked::Asked;
use super::display::Display;
use super::{ask, outline, points, points_of};
use crate::args::compare::CompareArgs;
use crate::args::sweep::SweepArgs;
use crate::commands::compare;
use crate::exit::Exit;
use crate::terminal::live::Live;
use crate::terminal::{self, signals, tell};
use anyhow::{Context, bail};
use fathom_dialect::Override;
use fathom_observe::SystemRoot;
use fathom_session::sweep::{Points, Sweep};
use fathom_session::{AfterTouching as _, End, Output, Session, check_directory, reserve_directory};
use fathom_store::SweepDir;
use std::path::Path;

/// Letters that a side's name has at most.
const NAME_MAX: usize = 24;
/// Targets are called by letters.
const TARGETS_MAX: usize = 26;

/// A sweep that takes turns with others.
struct Turn {
    asked: Asked,
    points: Points,
    /// What it is called: `a`, `b`.
    letter: char,
}

/// Carries it out.
pub(super) fn sweep(args: &SweepArgs) -> anyhow::Result<Exit> {
    if args.on.len() > TARGETS_MAX {
        bail!(
            "--on: {} targets in turns are too many: give {TARGETS_MAX} at most",
            args.on.len()
        );
    }
    if args.settings.json && args.on.len() > 2 {
        bail!(
            "--json is one comparison: give two targets, or leave --json out and ask fathom compare for each"
        );
    }
    let system = SystemRoot::default();
    let Some(mut turns) = turns(args, &system)? else {
        return Ok(Exit::Wrong);
    };
    if args.settings.dry_run {
        for turn in &mut turns {
            outline::dry_run(&system, &turn.asked, &mut turn.points)?;
        }
        return Ok(Exit::Done);
    }
    if args.settings.serve.serve.is_some() {
        bail!("--serve is for a sweep of one target: leave it out, or sweep one target at a time");
    }
    let output = &args.settings.output;
    if *output == Output::None {
        bail!("sweeps are kept in a directory, from which they are compared: give one with -o, not none");
    }
    check_directory(output)?;
    for turn in &mut turns {
        turn.points.check()?;
    }
    let stop = signals::stop_flag()?;
    let mut live = Live::new(args.settings.quiet);
    let mut sessions = Vec::new();
    for Turn { asked, points, .. } in &turns {
        let session = Session::open(&system, &asked.settings.how, &stop, points.files(), &mut live)?;
        sessions.push(session);
    }
    let parent =
        reserve_directory(output, &turns[0].asked.plan.name)?.context("a sweep needs a directory")?;
    let dirs =
        place(&turns, &parent).after_touching(|| vec![format!("the directory {}", parent.display())])?;
    let end = all_passes(&turns, &sessions, &dirs);
    match end {
        End::Done => {}
        End::Interrupted | End::Errors => {
            let each = dirs
                .iter()
                .map(|dir| format!("  fathom sweep --resume {}", dir.path().display()));
            terminal::say(&format!(
                "not all of it was measured; to go on, target by target and not in turns any more:\n{}",
                each.collect::<Vec<String>>().join("\n")
            ));
        }
    }
    if end == End::Interrupted {
        return Ok(Exit::Interrupted);
    }
    conclude(args, &turns, &dirs).after_touching(|| vec![format!("the sweeps in {}", parent.display())])?;
    Ok(end.into())
}

/// The sweep of each target; `None` where an option is wrong, which is on stderr.
fn turns(args: &SweepArgs, system: &SystemRoot) -> anyhow::Result<Option<Vec<Turn>>> {
    let is_interleaved =
        |flag: &&Override| !(flag.name == "order" && flag.value.as_deref() == Some("interleaved"));
    let flags: Vec<Override> = args.flags.0.iter().filter(is_interleaved).cloned().collect();
    let mut turns = Vec::new();
    for (number, on) in args.on.iter().enumerate() {
        let Some(mut asked) = ask(args, Some(on), &flags)? else {
            return Ok(None);
        };
        if asked.plan.adaptive {
            bail!(
                "--adaptive: what it skips on one target it may measure on the other: leave it out, or sweep one target at a time"
            );
        }
        // Modelled targets draw their own chances: with one seed, a disk would not differ from itself at all.
        asked.plan.seed = asked.plan.seed.wrapping_add(number as u64);
        let Some(points) = points_of(&asked)? else {
            return Ok(None);
        };
        asked.plan.target = points.target(system);
        let letter = char::from(b'a' + number as u8);
        turns.push(Turn {
            asked,
            points,
            letter,
        });
    }
    Ok(Some(turns))
}

/// A directory a target, each a sweep's own.
fn place(turns: &[Turn], parent: &Path) -> anyhow::Result<Vec<SweepDir>> {
    let mut dirs = Vec::new();
    for Turn {
        asked,
        points,
        letter,
    } in turns
    {
        let output = Output::Directory(parent.join(letter.to_string()));
        let dir = reserve_directory(&output, &asked.plan.name)?.context("a sweep needs a directory")?;
        dirs.push(SweepDir::create(&dir, &asked.plan, &asked.origin)?);
        if !asked.settings.quiet {
            terminal::say(outline::outline(asked, points).trim_end());
            tell::warnings(points.warnings());
        }
    }
    Ok(dirs)
}

/// A pass on each target, back and forth; how it ended.
fn all_passes(turns: &[Turn], sessions: &[Session<'_>], dirs: &[SweepDir]) -> End {
    let repeats = turns
        .iter()
        .map(|turn| turn.asked.plan.repeats)
        .max()
        .unwrap_or(1);
    let mut whole = End::Done;
    for pass in 0..repeats {
        let mut order: Vec<usize> = (0..turns.len()).collect();
        if pass % 2 == 1 {
            order.reverse();
        }
        for number in order {
            let Turn { asked, points, .. } = &turns[number];
            let sweep = Sweep {
                plan: &asked.plan,
                points,
                make_probe: &|probe| points::probe(asked, probe),
                session: &sessions[number],
                dir: &dirs[number],
                passes: pass + 1,
            };
            let mut display = Display::new(&asked.plan, asked.settings.quiet, asked.machine.is_modelled());
            let swept = sweep.carry_out(&mut display);
            if let Some(why) = swept.stopped {
                terminal::say(&format!("{}: {why}", asked.origin.on));
                return if swept.end == End::Interrupted {
                    End::Interrupted
                } else {
                    End::Errors
                };
            }
            if swept.end != End::Done {
                whole = swept.end;
            }
        }
    }
    whole
}

/// The first target against each other one.
fn conclude(args: &SweepArgs, turns: &[Turn], dirs: &[SweepDir]) -> anyhow::Result<()> {
    let settings = &args.settings;
    for number in 1..turns.len() {
        let (a, b) = (&dirs[0], &dirs[number]);
        let [a, b] = [a, b].map(|dir| vec![dir.path().to_owned()]);
        let compared = CompareArgs {
            json: settings.json,
            colour: settings.colour,
            ..CompareArgs::of_targets(a, b, names(turns, number), settings.quiet)
        };
        compare::compare(&compared)?;
    }
    if !settings.quiet {
        let paths: Vec<&Path> = dirs.iter().map(SweepDir::path).collect();
        let shown = paths
            .iter()
            .map(|path| format!("  fathom show {}", path.display()));
        terminal::say(&format!(
            "recorded; each target by itself, and the comparison as a page with charts:\n{}\n  fathom compare {} --with {} -o \
             compared.html",
            shown.collect::<Vec<String>>().join("\n"),
            paths[0].display(),
            paths[1].display()
        ));
    }
    Ok(())
}

/// What two targets are called: as they were typed, where that is short, and by their letters otherwise.
fn names(turns: &[Turn], other: usize) -> (String, String) {
    let word = |turn: &Turn| turn.asked.origin.on.trim_start_matches("model:").to_owned();
    let (a, b) = (word(&turns[0]), word(&turns[other]));
    let fine = |name: &String| name.chars().count() <= NAME_MAX && !name.chars().any(char::is_control);
    if fine(&a) && fine(&b) && a != b {
        return (a, b);
    }
    let letter = |turn: &Turn| turn.letter.to_ascii_uppercase().to_string();
    (letter(&turns[0]), letter(&turns[other]))
}
