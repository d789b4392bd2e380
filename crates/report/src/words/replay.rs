//! A recording that is played, in words.

use super::plural;
use fathom_core::run::ReplaySummary;
use fathom_core::units::{Bytes, Nanos, count, three_digits};
use fathom_core::workload::{FoldKind, Replay, ReplayOrder};

/// What is played and how, in one line: `replay of trace.csv (Alibaba's CSV), at its recorded times`.
pub(crate) fn replay(replay: &Replay) -> String {
    let Replay { record, format, .. } = replay;
    let mut text = format!("replay of {record} ({})", format.in_words());
    let speed = match replay.speed_permille {
        1_000 => String::new(),
        permille => format!(", {} times as fast", three_digits(permille as f64 / 1e3)),
    };
    text += match replay.order {
        ReplayOrder::Timed => ", at its recorded times",
        ReplayOrder::Dependent => ", each when what it waited for is done",
        ReplayOrder::AsFast => ", without times: as fast as it goes",
    };
    text += &speed;
    if let Some(fold) = replay.fold {
        let size = Bytes(fold.to_bytes);
        let how = match fold.how {
            FoldKind::Wrap => "wrapped at",
            FoldKind::Scale { .. } => "scaled to",
        };
        text = format!("{text}, {how} {size}");
    }
    text
}

/// How its times were kept, and what was not played; a text each.
pub(crate) fn kept(replay: &ReplaySummary) -> Vec<String> {
    let mut texts = Vec::new();
    let errors = &replay.start_error_ns;
    if errors.n > 0 {
        let at = |percentile| {
            let value = errors.percentile(percentile);
            value.map_or_else(String::new, |value| format!("p{percentile} {}, ", Nanos(value)))
        };
        texts.push(format!(
            "timing error (start less intended start): {}{}at most {}",
            at(50.0),
            at(99.0),
            Nanos(errors.max)
        ));
        texts.push(late(replay));
    }
    if replay.unsent_ios > 0 {
        texts.push(format!(
            "{} of the record not sent: the run ended before",
            plural(replay.unsent_ios, "I/O")
        ));
    }
    let left = replay.left_out.iter();
    texts.extend(left.map(|left| format!("left out: {} {}", count(left.ios as f64), left.what)));
    texts
}

fn late(replay: &ReplaySummary) -> String {
    let from = Nanos(replay.late_from_ns);
    if replay.late_ios == 0 {
        return format!("none started {from} or more late");
    }
    let share = replay.late_ios as f64 / replay.start_error_ns.n.max(1) as f64 * 100.0;
    let rest = replay.late_ios - replay.late_no_room_ios - replay.late_reading_ios;
    let causes = [
        (replay.late_no_room_ios, "as many as may be were in flight"),
        (replay.late_reading_ios, "the record was not read in time"),
        (rest, "the timer or the processor was late"),
    ];
    let causes: Vec<String> = causes
        .into_iter()
        .filter(|&(ios, _)| ios > 0)
        .map(|(ios, why)| format!("{} since {why}", count(ios as f64)))
        .collect();
    format!(
        "{} ({} %) started {from} or more late: {}",
        plural(replay.late_ios, "I/O"),
        three_digits(share),
        causes.join(", ")
    )
}

#[cfg(test)]
mod tests;
