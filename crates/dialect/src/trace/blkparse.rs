//! What `blkparse` prints by default: `maj,min cpu sequence time pid action rwbs` and, by action, what follows.
//!
//! Read are Q, D and C; other actions are passed over. With `-f` or `-F` anything may be printed: that is refused at its first
//! line.

use super::events::{Action, Event, Events, What};
use super::lines::{Lines, cut, number};
use super::{Order, Out, TraceError};
use fathom_core::backend::Op;

#[derive(Debug, Default)]
pub(super) struct Blkparse {
    lines: Lines,
    text: Text,
}

#[derive(Debug, Default)]
struct Text {
    events: Events,
    order: Order,
    /// The summary has begun, which stands at the end.
    over: bool,
}

impl Blkparse {
    pub(super) fn feed(&mut self, bytes: &[u8], out: &mut Out) -> Result<(), TraceError> {
        let Self { lines, text } = self;
        lines.feed(bytes, &mut |line| text.line(line, out))?;
        if lines.has_ended() {
            text.events.finish(out);
            if let Some(lacks) = text.events.lacks() {
                return Err(lines.error(lacks));
            }
        }
        Ok(())
    }

    pub(super) fn has_ended(&self) -> bool {
        self.lines.has_ended()
    }

    pub(super) fn has_ends(&self) -> bool {
        self.text.events.has_ends()
    }
}

impl Text {
    fn line(&mut self, line: &str, out: &mut Out) -> Result<(), String> {
        if self.over || line.trim().is_empty() {
            return Ok(());
        }
        if line.starts_with("CPU") || line.starts_with("Total") {
            self.over = true;
            return Ok(());
        }
        if let Some(event) = event(line)? {
            self.order.take(event.ns)?;
            self.events.take(&event, out)?;
        }
        Ok(())
    }
}

/// The event of a line; `None`: none that is read.
pub(super) fn event(line: &str) -> Result<Option<Event>, String> {
    let mut words = line.split_ascii_whitespace();
    let mut word = |what: &str| {
        words.next().ok_or_else(|| {
            format!(
                "the {what} is missing (`maj,min cpu sequence time pid action rwbs …` as blkparse prints without -f): `{}`",
                cut(line)
            )
        })
    };
    let device = device(word("device")?)?;
    let _cpu: u32 = number(word("CPU")?, "CPU")?;
    let _sequence: u64 = number(word("sequence")?, "sequence")?;
    let ns = time(word("time")?)?;
    let pid: u32 = number(word("pid")?, "pid")?;
    let action = match word("action")? {
        "Q" => Action::Queued,
        "D" => Action::Issued,
        "C" => Action::Completed,
        other if other.len() <= 3 => return Ok(None),
        other => return Err(format!("`{}` is no action of blkparse", cut(other))),
    };
    let what = what(word("rwbs")?)?;
    let mut event = Event {
        ns,
        device,
        action,
        sector: 0,
        len_bytes: 0,
        pid,
        what,
    };
    let first = words.next();
    let Some(sector) = first.filter(|first| !first.starts_with(['[', '('])) else {
        return Ok(Some(event));
    };
    event.sector = number(sector, "sector")?;
    if words.next() == Some("+") {
        let sectors: u64 = number(words.next().unwrap_or(""), "number of sectors")?;
        event.len_bytes = sectors
            .checked_mul(512)
            .ok_or("the number of sectors does not fit")?;
    }
    Ok(Some(event))
}

fn device(word: &str) -> Result<(u32, u32), String> {
    let device = word
        .split_once(',')
        .and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    device.ok_or_else(|| {
        format!(
            "`{}` is no device as `8,16`: this is no line of blkparse",
            cut(word)
        )
    })
}

/// `sec.nnnnnnnnn`.
fn time(word: &str) -> Result<u64, String> {
    let wrong = || format!("the time `{}` is none as `12.000345678`", cut(word));
    let (seconds, ns) = word.split_once('.').ok_or_else(wrong)?;
    if ns.len() != 9 {
        return Err(wrong());
    }
    let seconds: u64 = seconds.parse().map_err(|_| wrong())?;
    let ns: u64 = ns.parse().map_err(|_| wrong())?;
    seconds
        .checked_mul(1_000_000_000)
        .and_then(|all| all.checked_add(ns))
        .ok_or_else(wrong)
}

/// The kernel's letters: a flush before, the operation, then FUA, read ahead, sync, metadata.
fn what(word: &str) -> Result<What, String> {
    let wrong = || format!("`{}` are no letters of an operation as WS or FWS", cut(word));
    let mut rest = word;
    let mut what = What::default();
    if let Some(after) = rest.strip_prefix('F') {
        what.flush = true;
        rest = after;
    }
    for (letter, op) in [
        ('D', Some(Op::Trim)),
        ('W', Some(Op::Write)),
        ('R', Some(Op::Read)),
    ] {
        if let Some(after) = rest.strip_prefix(letter) {
            what.op = op;
            rest = after;
            break;
        }
    }
    if what.op.is_none() {
        // Nothing to move: a flush alone, or what is of zones.
        rest = rest.strip_prefix('N').unwrap_or(rest);
        if rest.starts_with('Z') {
            return Ok(what);
        }
    }
    // A secure discard.
    rest = rest.strip_prefix('E').unwrap_or(rest);
    for letter in rest.chars() {
        match letter {
            'S' => what.sync = true,
            'A' => what.ahead = true,
            'F' | 'M' | 'B' => {}
            _ => return Err(wrong()),
        }
    }
    Ok(what)
}
