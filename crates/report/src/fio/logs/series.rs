//! One log of latencies or rates: a row an I/O, or a row a window and direction.

use super::{Columns, push_number, time_ms};
use fathom_core::record::IoRecord;
use fathom_core::run::{Latency, Samples};
use fathom_core::workload::{IoPriority, LogValue};

/// What is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    /// Nanoseconds.
    Latency(Latency),
    /// Of a window KiB a second; of one I/O, as in fio, kB a second.
    Bandwidth,
    /// Of a window I/Os a second; of one I/O 1.
    Iops,
}

/// What a window has so far.
#[derive(Debug, Clone, Copy, Default)]
struct Window {
    ios: u64,
    bytes: u64,
    sum: u128,
    max: u64,
}

/// A log under way.
#[derive(Debug)]
pub(super) struct Series {
    file: usize,
    measure: Measure,
    /// 0: a row for each I/O.
    window_ns: u64,
    value: LogValue,
    columns: Columns,
    windows: [Window; 3],
    /// When the worker began; and since then, when the current window did.
    start_ns: u64,
    begun_ns: u64,
    /// The last I/O, since the start.
    last_ns: u64,
    /// Of a rate whose rows are I/Os.
    samples: [Samples; 3],
}

impl Series {
    pub(super) fn new(
        file: usize,
        measure: Measure,
        window_ns: u64,
        value: LogValue,
        columns: Columns,
    ) -> Self {
        Self {
            file,
            measure,
            window_ns,
            value,
            columns,
            windows: [Window::default(); 3],
            start_ns: 0,
            begun_ns: 0,
            last_ns: 0,
            samples: [Samples::default(); 3],
        }
    }

    /// Which file it is written to.
    pub(super) fn file(&self) -> usize {
        self.file
    }

    /// Takes one I/O in; what it ends is appended to `rows`.
    pub(super) fn take(&mut self, io: &IoRecord, direction: usize, start_ns: u64, rows: &mut Vec<u8>) {
        let value = match self.measure {
            Measure::Latency(Latency::Slat) => io.submitted_ns.saturating_sub(io.created_ns),
            Measure::Latency(Latency::Clat) => io.completed_ns.saturating_sub(io.submitted_ns),
            Measure::Latency(_) => io.lat_ns(),
            Measure::Bandwidth => {
                let clat_ns = io.completed_ns.saturating_sub(io.submitted_ns).max(1);
                u64::from(io.len_bytes) * 1_000_000 / clat_ns
            }
            Measure::Iops => 1,
        };
        if self.window_ns == 0 {
            if !matches!(self.measure, Measure::Latency(_)) {
                self.samples[direction].record(value);
            }
            return self.row_of_one(io, direction, value, start_ns, rows);
        }
        self.start_ns = start_ns;
        self.last_ns = io.completed_ns.saturating_sub(start_ns);
        let is_rate = !matches!(self.measure, Measure::Latency(_));
        // A rate's window ends with the clock, before what comes after it.
        if is_rate && self.last_ns >= self.begun_ns + self.window_ns {
            self.close(self.begun_ns + self.window_ns, rows);
        }
        let window = &mut self.windows[direction];
        window.ios += 1;
        window.bytes += u64::from(io.len_bytes);
        window.sum += u128::from(value);
        window.max = window.max.max(value);
        // A latency's ends with the I/O that is the first behind it, as in fio.
        if !is_rate && self.last_ns >= self.begun_ns + self.window_ns {
            self.close(self.last_ns, rows);
        }
    }

    /// The samples of `measure`, where that is what it logs, I/O by I/O.
    pub(super) fn samples_of(&self, measure: Measure) -> Option<[Samples; 3]> {
        (self.measure == measure && self.window_ns == 0).then_some(self.samples)
    }

    /// Appends what the last window has.
    pub(super) fn rest(&mut self, rows: &mut Vec<u8>) {
        if self.window_ns > 0 && self.last_ns > self.begun_ns {
            self.close(self.last_ns, rows);
        }
    }

    /// The window ends at `end_ns`; the next one begins at the last whole one before the last I/O.
    fn close(&mut self, end_ns: u64, rows: &mut Vec<u8>) {
        let length_ns = end_ns.saturating_sub(self.begun_ns).max(1);
        for direction in 0..3 {
            let window = std::mem::take(&mut self.windows[direction]);
            if window.ios == 0 {
                continue;
            }
            let a_second = |amount: u64| (u128::from(amount) * 1_000_000_000 / u128::from(length_ns)) as u64;
            let (mean, max) = match self.measure {
                Measure::Latency(_) => {
                    let ios = u128::from(window.ios);
                    (((window.sum + ios / 2) / ios) as u64, window.max)
                }
                Measure::Bandwidth => (a_second(window.bytes) / 1024, a_second(window.bytes) / 1024),
                Measure::Iops => (a_second(window.ios), a_second(window.ios)),
            };
            let time = time_ms(
                self.start_ns + end_ns,
                self.start_ns,
                self.columns.clock_offset_ns,
            );
            self.row(
                time,
                (mean, max),
                (direction, 0, 0),
                (0, self.columns.priority),
                rows,
            );
        }
        self.begun_ns = self.last_ns - self.last_ns % self.window_ns;
    }

    fn row_of_one(&self, io: &IoRecord, direction: usize, value: u64, start_ns: u64, rows: &mut Vec<u8>) {
        let time = time_ms(io.completed_ns, start_ns, self.columns.clock_offset_ns);
        let place = (direction, io.len_bytes, io.offset_bytes);
        // fio has no time of sending for the whole latency.
        let sent = match self.measure {
            Measure::Latency(Latency::Lat) => 0,
            _ => io.created_ns.saturating_sub(start_ns),
        };
        let priority = match io.priority {
            0 => self.columns.priority,
            own => self.columns.of_priority(IoPriority::unpacked(own)),
        };
        self.row(time, (value, 0), place, (sent, priority), rows);
    }

    fn row(
        &self,
        time_ms: u64,
        (mean, max): (u64, u64),
        (direction, bytes, offset): (usize, u32, u64),
        (sent_ns, priority): (u64, u32),
        rows: &mut Vec<u8>,
    ) {
        push_number(rows, time_ms);
        let mut column = |number: u64| {
            rows.extend_from_slice(b", ");
            push_number(rows, number);
        };
        let windowed = self.window_ns > 0;
        column(if self.value == LogValue::Max && windowed {
            max
        } else {
            mean
        });
        if self.value == LogValue::Both {
            column(max);
        }
        column(direction as u64);
        column(u64::from(bytes));
        if self.columns.offset {
            column(offset);
        }
        if self.columns.whole_priority {
            rows.extend_from_slice(format!(", 0x{priority:04x}").as_bytes());
        } else {
            column(u64::from(priority));
        }
        if self.columns.issue_time {
            rows.extend_from_slice(b", ");
            push_number(rows, sent_ns);
        }
        rows.push(b'\n');
    }
}
