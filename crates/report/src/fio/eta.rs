//! The line that fio draws while a run goes on.
//!
//! Data in: how far jobs are. Data out: one line, without its end. fio draws it over the last one.

use super::scale::{Scaled, in_words};
use std::fmt::Write as _;

/// Until this has passed, fio knows no rates.
const FIRST_S: u64 = 3;

/// Where workers stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Not started.
    Waiting,
    /// Before the end of the ramp.
    Ramping,
    /// Under way: fio's letter for what they do.
    Running(char),
    /// Ended.
    Ended,
}

impl Standing {
    /// The one that has this letter.
    pub fn of_letter(letter: char) -> Self {
        match letter {
            'P' => Self::Waiting,
            '/' => Self::Ramping,
            '_' => Self::Ended,
            other => Self::Running(other),
        }
    }

    /// As the line has it.
    pub fn letter(self) -> char {
        match self {
            Self::Waiting => 'P',
            Self::Ramping => '/',
            Self::Running(letter) => letter,
            Self::Ended => '_',
        }
    }
}

/// fio's letter for what a job does.
pub fn letter([reads, writes, trims]: [bool; 3], random: bool) -> char {
    match (reads, writes, trims, random) {
        (_, _, true, true) => 'd',
        (_, _, true, false) => 'D',
        (true, true, _, true) => 'm',
        (true, true, _, false) => 'M',
        (_, true, _, true) => 'w',
        (_, true, _, false) => 'W',
        (_, _, _, true) => 'r',
        (_, _, _, false) => 'R',
    }
}

/// How far a run is.
#[derive(Debug, Clone, Default)]
pub struct Eta {
    /// Each worker in order.
    pub standing: Vec<Standing>,
    pub running: u32,
    /// Files that they have open.
    pub files: u32,
    pub elapsed_s: u64,
    /// The share done, 0 to 1; `None`: not known.
    pub fraction: Option<f64>,
    pub left_s: Option<u64>,
    /// Bytes a second: read, write, trim.
    pub bytes: [u64; 3],
    /// I/Os a second.
    pub ios: [u64; 3],
}

impl Eta {
    /// Takes in another run that goes on beside it: both are as far as their mean, and end with the later.
    pub fn add(&mut self, other: &Self) {
        self.standing.extend(&other.standing);
        self.running += other.running;
        self.files += other.files;
        self.elapsed_s = self.elapsed_s.max(other.elapsed_s);
        self.left_s = self.left_s.max(other.left_s);
        for op in 0..3 {
            self.bytes[op] += other.bytes[op];
            self.ios[op] += other.ios[op];
        }
    }

    /// The line.
    pub fn line(&self) -> String {
        let mut text = format!("Jobs: {} (f={})", self.running, self.files);
        if self.elapsed_s < FIRST_S && self.fraction.is_none_or(|fraction| fraction < 1.0) {
            return text;
        }
        let _ = write!(text, ": [{}]", runs(&self.standing));
        let _ = match self.fraction {
            Some(fraction) => write!(text, "[{:.1}%]", fraction.clamp(0.0, 1.0) * 100.0),
            None => write!(text, "[-.-%]"),
        };
        let moves = (0..3).filter(|&op| self.ios[op] > 0 || self.bytes[op] > 0);
        let moves: Vec<usize> = moves.collect();
        if !moves.is_empty() {
            let names = ["r", "w", "t"];
            let list = |of: &dyn Fn(usize) -> String| {
                let items = moves.iter().map(|&op| format!("{}={}", names[op], of(op)));
                items.collect::<Vec<_>>().join(",")
            };
            let bytes = list(&|op| in_words(self.bytes[op], 4, Scaled::Binary) + "/s");
            let ios = list(&|op| in_words(self.ios[op], 4, Scaled::Plain));
            let _ = write!(text, "[{bytes}][{ios} IOPS]");
        }
        if let Some(left) = self.left_s {
            let _ = write!(text, "[eta {}]", duration(left));
        }
        text
    }
}

/// Letters with how often each comes in a row: `R(2),_(1)`.
fn runs(standing: &[Standing]) -> String {
    let letters: Vec<char> = standing.iter().map(|standing| standing.letter()).collect();
    let runs = letters.chunk_by(|a, b| a == b);
    let runs = runs.map(|run| format!("{}({})", run[0], run.len()));
    runs.collect::<Vec<_>>().join(",")
}

fn duration(seconds: u64) -> String {
    let (days, hours) = (seconds / 86_400, seconds / 3600 % 24);
    let mut text = String::new();
    if days > 0 {
        let _ = write!(text, "{days:02}d:");
    }
    if days > 0 || hours > 0 {
        let _ = write!(text, "{hours:02}h:");
    }
    text + &format!("{:02}m:{:02}s", seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests;
