//! The CSV of three public sets of block traces.
//!
//! - MSR Cambridge (SNIA, 2007): `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`; times in 100 ns since 1601.
//! - Alibaba (2020): `device_id,opcode,offset,length,timestamp`; microseconds since 1970, when the server had it.
//! - Tencent (2018): `Timestamp,Offset,Size,IOType,VolumeID`; whole seconds, sectors of 512 bytes. Within a second I/Os are spread
//!   evenly, in the order of the file: when they came is not in it.

use super::lines::{Lines, cut, number};
use super::{Order, Out, Row, TraceError, length};
use fathom_core::arrival::{Sent, Waits};
use fathom_core::backend::Op;

const SECOND_NS: u64 = 1_000_000_000;
/// 1601 to 1970, in units of 100 ns.
const FILETIME_OF_1970: u64 = 116_444_736_000_000_000;
const SECTOR_BYTES: u64 = 512;
/// I/Os of one second, at most, where that has to be held.
const SECOND_ROWS_MAX: usize = 4 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Columns {
    Msr,
    Alibaba,
    Tencent,
}

impl Columns {
    pub(super) const fn names(self) -> &'static str {
        match self {
            Self::Msr => "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
            Self::Alibaba => "device_id,opcode,offset,length,timestamp",
            Self::Tencent => "Timestamp,Offset,Size,IOType,VolumeID",
        }
    }
}

#[derive(Debug)]
pub(super) struct Csv {
    lines: Lines,
    table: Table,
}

#[derive(Debug)]
struct Table {
    columns: Columns,
    order: Order,
    lines: u64,
    /// Of Tencent: the I/Os of the second under way.
    second: Vec<Row>,
}

impl Csv {
    pub(super) fn new(columns: Columns) -> Self {
        Self {
            lines: Lines::default(),
            table: Table {
                columns,
                order: Order::default(),
                lines: 0,
                second: Vec::new(),
            },
        }
    }

    pub(super) fn feed(&mut self, bytes: &[u8], out: &mut Out) -> Result<(), TraceError> {
        let Self { lines, table } = self;
        lines.feed(bytes, &mut |line| table.line(line, out))?;
        if lines.has_ended() {
            table.spread(out);
        }
        Ok(())
    }

    pub(super) fn has_ended(&self) -> bool {
        self.lines.has_ended()
    }

    pub(super) fn has_ends(&self) -> bool {
        self.table.columns == Columns::Msr
    }
}

/// The fields of a line, exactly so many.
fn fields<const N: usize>(line: &str, columns: Columns) -> Result<[&str; N], String> {
    let mut fields = [""; N];
    let mut there = 0;
    for (at, field) in line.split(',').enumerate() {
        if let Some(place) = fields.get_mut(at) {
            *place = field.trim();
        }
        there = at + 1;
    }
    if there == N {
        return Ok(fields);
    }
    Err(format!(
        "{there} fields instead of {N} ({}): `{}`",
        columns.names(),
        cut(line)
    ))
}

fn times(number: u64, unit: u64, what: &str) -> Result<u64, String> {
    number
        .checked_mul(unit)
        .ok_or_else(|| format!("the {what} {number} does not fit"))
}

impl Table {
    fn line(&mut self, line: &str, out: &mut Out) -> Result<(), String> {
        self.lines += 1;
        if line.trim().is_empty() {
            return Ok(());
        }
        if self.lines == 1 && line.starts_with(|first: char| first.is_ascii_alphabetic()) && is_header(line) {
            return Ok(());
        }
        let (volume, sent, len) = match self.columns {
            Columns::Msr => msr(line, out)?,
            Columns::Alibaba => alibaba(line, out)?,
            Columns::Tencent => tencent(line, out)?,
        };
        self.order.take(sent.start_ns)?;
        if len == 0 {
            out.skip("of length 0");
            return Ok(());
        }
        let len_bytes = length(sent.offset_bytes, len)?;
        let row = Row {
            volume,
            sent: Sent { len_bytes, ..sent },
        };
        if self.columns != Columns::Tencent {
            out.rows.push(row);
            return Ok(());
        }
        if self
            .second
            .last()
            .is_some_and(|last| last.sent.start_ns != sent.start_ns)
        {
            self.spread(out);
        }
        if self.second.len() >= SECOND_ROWS_MAX {
            return Err(format!(
                "more than {SECOND_ROWS_MAX} I/Os in one second: cut the volume that is wanted out of it first"
            ));
        }
        self.second.push(row);
        Ok(())
    }

    /// Spreads what came in one second over it, each volume's evenly.
    fn spread(&mut self, out: &mut Out) {
        // A second of many volumes: each has its own pace.
        let mut counts: std::collections::BTreeMap<u32, (u64, u64)> = std::collections::BTreeMap::new();
        for row in &self.second {
            counts.entry(row.volume).or_default().1 += 1;
        }
        let first = out.rows.len();
        for mut row in self.second.drain(..) {
            if let Some((number, of)) = counts.get_mut(&row.volume) {
                row.sent.start_ns += (u128::from(*number) * u128::from(SECOND_NS) / u128::from(*of)) as u64;
                row.sent.end_ns = row.sent.start_ns;
                *number += 1;
            }
            out.rows.push(row);
        }
        out.rows[first..].sort_by_key(|row| row.sent.start_ns);
    }
}

/// Whether a first line names the columns.
pub(super) fn is_header(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    lower.contains("timestamp") || lower.contains("offset")
}

type Read = (u32, Sent, u64);

fn sent(start_ns: u64, end_ns: u64, offset_bytes: u64, op: Op, waits: Waits) -> Sent {
    Sent {
        start_ns,
        end_ns,
        offset_bytes,
        len_bytes: 0,
        worker: 0,
        op,
        waits,
    }
}

fn msr(line: &str, out: &mut Out) -> Result<Read, String> {
    let [time, host, disk, kind, offset, size, response] = fields(line, Columns::Msr)?;
    let ticks: u64 = number(time, "time")?;
    // Rebased ones are taken as they are.
    let ticks = ticks.checked_sub(FILETIME_OF_1970).unwrap_or(ticks);
    let start_ns = times(ticks, 100, "time")?;
    let took_ns = times(number(response, "response time")?, 100, "response time")?;
    let op = match kind {
        "Read" => Op::Read,
        "Write" => Op::Write,
        other => return Err(format!("the type `{}` is neither Read nor Write", cut(other))),
    };
    let mut name = String::with_capacity(host.len() + 4);
    name.push_str(host);
    name.push('.');
    name.push_str(disk);
    let sent = sent(
        start_ns,
        start_ns.saturating_add(took_ns),
        number(offset, "offset")?,
        op,
        Waits::Perhaps,
    );
    let volume = out.volume(&name)?;
    let worker = volume;
    Ok((volume, Sent { worker, ..sent }, number(size, "size")?))
}

fn alibaba(line: &str, out: &mut Out) -> Result<Read, String> {
    let [device, opcode, offset, length, time] = fields(line, Columns::Alibaba)?;
    let start_ns = times(number(time, "timestamp")?, 1_000, "timestamp")?;
    let op = match opcode {
        "R" => Op::Read,
        "W" => Op::Write,
        other => return Err(format!("the opcode `{}` is neither R nor W", cut(other))),
    };
    let sent = sent(start_ns, start_ns, number(offset, "offset")?, op, Waits::No);
    Ok((out.volume(device)?, sent, number(length, "length")?))
}

fn tencent(line: &str, out: &mut Out) -> Result<Read, String> {
    let [time, offset, size, kind, volume] = fields(line, Columns::Tencent)?;
    let start_ns = times(number(time, "timestamp")?, SECOND_NS, "timestamp")?;
    let op = match kind {
        "0" => Op::Read,
        "1" => Op::Write,
        other => {
            return Err(format!(
                "the type `{}` is neither 0 (read) nor 1 (write)",
                cut(other)
            ));
        }
    };
    let offset_bytes = times(number(offset, "offset")?, SECTOR_BYTES, "offset")?;
    let sent = sent(start_ns, start_ns, offset_bytes, op, Waits::No);
    let len = times(number(size, "size")?, SECTOR_BYTES, "size")?;
    Ok((out.volume(volume)?, sent, len))
}
