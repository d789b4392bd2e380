//! fio's iolog, versions 2 and 3 (`write_iolog=`, `read_iolog=`).
//!
//! As fio 3.33 writes and reads it (`iolog.c`): version 3 begins each line with microseconds since the log began; version 2 has
//! no times but those of `wait`, whose number is in milliseconds since the replay began (its manual says microseconds since the
//! last `wait`; the program does otherwise). Completions are not in it.

use super::lines::{Lines, cut, number};
use super::{Order, Out, Row, TraceError, length, trim_length};
use fathom_core::arrival::{Sent, Waits};
use fathom_core::backend::Op;

#[derive(Debug, Default)]
pub(super) struct Iolog {
    lines: Lines,
    log: Log,
}

#[derive(Debug, Default)]
struct Log {
    /// 2 or 3; `None`: the first line has not come.
    version: Option<u8>,
    order: Order,
    /// Of version 2: what the last `wait` said.
    waited_ns: u64,
    has_waits: bool,
}

impl Iolog {
    pub(super) fn feed(&mut self, bytes: &[u8], out: &mut Out) -> Result<(), TraceError> {
        let Self { lines, log } = self;
        lines.feed(bytes, &mut |line| log.line(line, out))?;
        if lines.has_ended() && log.version.is_none() {
            return Err(lines.error(String::from(
                "empty: fio's iolog begins with `fio version 3 iolog`",
            )));
        }
        Ok(())
    }

    pub(super) fn has_ended(&self) -> bool {
        self.lines.has_ended()
    }

    pub(super) fn has_times(&self) -> bool {
        self.log.version == Some(3) || self.log.has_waits
    }
}

impl Log {
    fn line(&mut self, line: &str, out: &mut Out) -> Result<(), String> {
        let Some(version) = self.version else {
            self.version = Some(match line {
                "fio version 2 iolog" => 2,
                "fio version 3 iolog" => 3,
                other => {
                    return Err(format!(
                        "`{}`: fio's iolog begins with `fio version 2 iolog` or `fio version 3 iolog`",
                        cut(other)
                    ));
                }
            });
            return Ok(());
        };
        let mut words = line.split_ascii_whitespace();
        let mut word = |what: &str| {
            words
                .next()
                .ok_or_else(|| format!("the {what} is missing: `{}`", cut(line)))
        };
        let mut start_ns = self.waited_ns;
        if version == 3 {
            let us: u64 = number(word("time")?, "time")?;
            start_ns = us.checked_mul(1_000).ok_or("the time does not fit")?;
            self.order.take(start_ns)?;
        }
        let (file, action) = (word("file name")?, word("action")?);
        let op = match action {
            "add" | "open" | "close" => return Ok(()),
            "wait" if version == 3 => {
                return Err(String::from(
                    "`wait` is not allowed in version 3: its lines have times",
                ));
            }
            "wait" => {
                let ms: u64 = number(word("time to wait for")?, "time to wait for")?;
                let ns = ms
                    .checked_mul(1_000_000)
                    .ok_or("the time to wait for does not fit")?;
                self.waited_ns = self.waited_ns.max(ns);
                self.has_waits = true;
                return Ok(());
            }
            "read" => Op::Read,
            "write" => Op::Write,
            "trim" => Op::Trim,
            "sync" => Op::Sync,
            "datasync" => Op::DataSync,
            other => {
                return Err(format!(
                    "unknown action `{}`: add, open, close, read, write, trim, sync, datasync and wait are known",
                    cut(other)
                ));
            }
        };
        let offset_bytes = number(word("offset")?, "offset")?;
        let len = number(word("length")?, "length")?;
        let len = if op == Op::Trim {
            trim_length(offset_bytes, len)?
        } else {
            length(offset_bytes, len)?
        };
        if let Some(more) = words.next() {
            return Err(format!("`{}` stands behind the end of the line", cut(more)));
        }
        let flush = matches!(op, Op::Sync | Op::DataSync);
        if len == 0 && !flush {
            out.skip("of length 0");
            return Ok(());
        }
        let volume = out.volume(file)?;
        out.rows.push(Row {
            volume,
            sent: Sent {
                start_ns,
                end_ns: start_ns,
                offset_bytes: if flush { 0 } else { offset_bytes },
                len_bytes: if flush { 0 } else { len },
                worker: 0,
                op,
                waits: Waits::No,
            },
        });
        Ok(())
    }
}
