//! What was recorded and what its replay shows, in words.

use super::{duration, machine, mbps, of_machines, thousands};
use crate::document::Reader;
use crate::document::content::{Block, Table};
use crate::document::explained::percent;
use crate::planned::{PlanReport, SeenReport};
use fathom_core::histogram::Histogram;
use fathom_core::units::{Bytes, Nanos};
use fathom_plan::need::Need;
use fathom_plan::plan::Proven;
use fathom_plan::prove::Proof;
use fathom_plan::replay::Replayed;
use fathom_plan::seen::{Amounts, Recording, SECOND_NS, Seen, Source};

/// Seconds that are told of a recording, the busiest last.
const PERCENTS: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 100.0];

/// What was recorded.
pub(super) fn blocks(report: &SeenReport<'_>, need: &Need, reader: Reader) -> Vec<Block> {
    let mut blocks = Vec::new();
    for recording in &report.recordings {
        let mut lines = lines(recording);
        if reader == Reader::Page {
            blocks.push(Block::Heading(lines.remove(0)));
            blocks.push(Block::List(lines));
        } else {
            blocks.push(Block::Nested(lines));
        }
    }
    blocks.push(Block::Table(busiest(report)));
    let touched = report
        .recordings
        .iter()
        .map(|one| one.seen.end_bytes)
        .max()
        .unwrap_or(0);
    let room = if touched == 0 {
        String::from("Of the room nothing is known: --gib says how much is needed.")
    } else {
        format!(
            "Room for {}: {} is the highest place that was touched; what lay still is not seen (--gib says otherwise).",
            Bytes(need.size_bytes),
            Bytes(touched)
        )
    };
    blocks.push(Block::Text(format!(
        "Planned for {} % of the seconds (--percentile says otherwise): {} IOPS, of I/Os of up to 256 KiB, and {} MB/s. Burst credit \
         counts as far as it covers the busiest stretches of every length, if what was recorded comes again and again. {room}",
        report.percent,
        thousands(need.load.ios),
        mbps(need.load.bytes)
    )));
    blocks
}

fn lines(recording: &Recording) -> Vec<String> {
    let seen = &recording.seen;
    let total = seen.total();
    let mut of = String::new();
    if !recording.devices.is_empty() {
        of = format!(" of {}", recording.devices.join(", "));
    }
    let what = match seen.source {
        Source::Requests => format!("each request{of}"),
        Source::Ios => String::from("each I/O of the load"),
        Source::Counters => format!("counters{of}"),
        Source::Series => String::from("the run's series"),
        Source::Sums => format!("sums by the second{of}, made where it ran"),
    };
    let mut lines = vec![
        format!("{}: {} of {what}", recording.name, duration(seen.seconds())),
        format!(
            "{} reads of {} and {} writes of {} on average ({} reads){}",
            thousands(total.reads),
            mean(total.read_bytes, total.reads),
            thousands(total.writes),
            mean(total.write_bytes, total.writes),
            percent(total.reads as f64 / total.ios().max(1) as f64),
            besides(seen)
        ),
    ];
    if seen.source.has_ios() {
        let sizes = [("reads", &seen.read_len), ("writes", &seen.write_len)];
        let sizes: Vec<String> = sizes
            .into_iter()
            .filter(|(_, len)| len.n() > 0)
            .map(|(name, len)| format!("{name} {}", sizes_words(len)))
            .collect();
        lines.push(format!("sizes: {}", sizes.join("; ")));
        lines.push(format!(
            "took then: p50 {}, p99 {}, p99.9 {}; {:.1} in flight on average while there were any",
            Nanos(seen.latency.percentile(50.0)),
            Nanos(seen.latency.percentile(99.0)),
            Nanos(seen.latency.percentile(99.9)),
            seen.in_flight()
        ));
        lines.push(format!(
            "touched: {} of the first {}",
            Bytes(seen.touched_bytes()),
            Bytes(seen.end_bytes)
        ));
    } else {
        lines.push(format!(
            "{:.1} in flight on average while there were any",
            seen.in_flight()
        ));
    }
    lines.extend(left_out(recording));
    lines
}

/// What the plan cannot know of a recording.
fn left_out(recording: &Recording) -> Vec<String> {
    let seen = &recording.seen;
    let mut lines = Vec::new();
    if !seen.source.has_ios() {
        lines.push(String::from(
            "left out, since single I/Os were not recorded: what happens within a second, the mix of sizes, which places, who \
             waits, flushes. The replay spaces I/Os of the mean size evenly, at drawn places: its latency is that of a load \
             without bursts (fathom record keeps each request)",
        ));
    }
    if recording.above_cache {
        lines.push(String::from(
            "these I/Os went through the page cache: the disks see others (record as root, and the requests are kept)",
        ));
    }
    if recording.dropped > 0 {
        lines.push(format!(
            "{} rows or events were lost while recording: the load was larger",
            thousands(recording.dropped)
        ));
    }
    if !recording.aside.is_empty() {
        lines.push(format!(
            "left aside: {} (--device names one)",
            recording.aside.join(", ")
        ));
    }
    if seen.each_seconds() > 1 {
        lines.push(format!(
            "so long a recording is seen {} seconds at a time",
            seen.each_seconds()
        ));
    }
    lines
}

fn besides(seen: &Seen) -> String {
    let mut more = Vec::new();
    if seen.flushes > 0 {
        more.push(format!("{} flushes", thousands(seen.flushes)));
    }
    if seen.discards > 0 {
        more.push(format!(
            "{} discards, which are neither planned for nor replayed",
            thousands(seen.discards)
        ));
    }
    if more.is_empty() {
        return String::new();
    }
    format!("; {}", more.join(", "))
}

fn mean(bytes: u64, ios: u64) -> String {
    bytes
        .checked_div(ios)
        .map_or_else(|| String::from("–"), |mean| Bytes(mean).to_string())
}

fn sizes_words(len: &Histogram) -> String {
    let [half, most] = [50.0, 99.0].map(|percentile| Bytes(len.percentile(percentile)));
    if half == most {
        return format!("of {half}");
    }
    format!("of {half} (median) to {most} (p99)")
}

/// The busiest seconds by percentile, a column a recording where there are few.
fn busiest(report: &SeenReport<'_>) -> Table {
    const SHOWN: usize = 3;
    let shown = report.recordings.iter().take(SHOWN);
    let mut head = vec![String::from("of the seconds")];
    for (index, _) in shown.clone().enumerate() {
        let number = if report.recordings.len() > 1 {
            format!(" ({})", index + 1)
        } else {
            String::new()
        };
        head.push(format!("IOPS{number}"));
        head.push(format!("MB/s{number}"));
    }
    let row = |percent: f64| {
        let mut row = vec![if percent < 100.0 {
            format!("{percent} %")
        } else {
            String::from("all")
        }];
        for recording in shown.clone() {
            row.push(thousands(recording.seen.percentile(percent, Amounts::ios)));
            row.push(mbps(recording.seen.percentile(percent, Amounts::bytes)));
        }
        row
    };
    Table::new(0, head, PERCENTS.map(row).to_vec())
}

/// The layouts with what the replay shows of each; what stands at present first.
pub(super) fn table(report: &PlanReport<'_>, layouts: &[Proven<'_>], present: Option<&Proven<'_>>) -> Table {
    let row = |number: String, one: &Proven<'_>| {
        let answer = &one.answer;
        let mut row = vec![
            number,
            answer.layout.disks_word(),
            machine(&answer.layout).to_owned(),
            report.money.known(&answer.cost),
        ];
        let replayed = one
            .proof
            .as_ref()
            .and_then(|proof| Some((proof, proof.replayed.as_ref()?)));
        match replayed {
            Some((_, replayed)) if replayed.given_up_seconds.is_some() => {
                row.extend(["–", "–", "–", "given up"].map(str::to_owned));
            }
            Some((proof, replayed)) => {
                let latency = [99.0, 99.9].map(|percentile| Nanos(proof.latency.percentile(percentile)));
                row.extend(latency.map(|ns| ns.to_string()));
                row.push(seconds(replayed.throttled_seconds));
                row.push(seconds(replayed.late_ns / SECOND_NS));
            }
            None => row.extend(["–"; 4].map(str::to_owned)),
        }
        row
    };
    let present = present.map(|one| row(String::from("now"), one));
    let listed = layouts.iter().enumerate();
    let listed = listed.map(|(index, one)| row((index + 1).to_string(), one));
    let price = format!("{}/month", report.money.code);
    let head = ["#", "disks", "machine", &price, "p99", "p99.9", "held", "behind"];
    of_machines(&head, present.into_iter().chain(listed).collect(), 2)
}

fn seconds(seconds: u64) -> String {
    format!("{} s", thousands(seconds))
}

/// How the load was asked for again, and what that means for the answer.
pub(super) fn about_replay(seen: &SeenReport<'_>, report: &PlanReport<'_>) -> Vec<Block> {
    let (mut ios, mut waited) = (0, 0);
    let mut only_sums = false;
    for recording in &seen.recordings {
        ios += recording.seen.total().ios();
        waited += recording.seen.waited;
        only_sums |= !recording.seen.source.has_ios();
    }
    let part = waited as f64 / ios.max(1) as f64;
    let open = "is sent when it was due, whether earlier ones are complete or not (open loop): what a layout cannot carry shows as \
                latency";
    let closed = "is sent as long after that one's end as it was then, never before it was due (closed loop): a slower layout holds \
                  the load up, and a faster one is not asked for more than was recorded, though the load might want more";
    let how = match waited {
        0 => format!("Each I/O {open}."),
        _ if waited == ios => format!("Each I/O waited for an earlier one: it {closed}."),
        _ => format!(
            "{} of the I/Os waited for an earlier one of their task: such a one {closed}. Any other {open}.",
            percent(part)
        ),
    };
    let mut text = format!(
        "The recorded load on the model of each layout, from full credit, its cache empty. {how} held: seconds in which limits held the \
         I/Os back for a millisecond each or longer; behind: how much later than recorded the last I/O was sent."
    );
    if only_sums {
        text.push_str(" Where only sums were recorded, I/Os stand evenly spaced for them.");
    }
    if let Some(present) = report.present
        && let Some(first) = report.plan.layouts.first()
    {
        text = format!("{} {text}", saved(report, present, first));
    }
    vec![Block::Text(text)]
}

/// What a layout saves of what stands: the cheapest of which the whole price is known, if there is one.
fn saved(report: &PlanReport<'_>, present: &Proven<'_>, first: &Proven<'_>) -> String {
    let is_whole = |one: &&Proven<'_>| one.answer.cost.not_known().next().is_none();
    let whole = report.plan.layouts.iter().find(is_whole);
    let chosen = whole.unwrap_or(first);
    let [now, then] = [present, chosen].map(|one| one.answer.cost.microusd_month());
    let money = |microusd: u64| format!("{} {}", report.money.code, report.money.of(microusd));
    let which = if chosen.answer.layout == first.answer.layout {
        String::from("The cheapest")
    } else {
        format!(
            "{}, the cheapest whose price is known whole,",
            chosen.answer.layout.disks_word()
        )
    };
    if then < now {
        let at_most = if whole.is_some() { "" } else { " at most" };
        return format!(
            "{which} saves{at_most} {} a month of what stands now ({} of {}).",
            money(now - then),
            percent((now - then) as f64 / now as f64),
            money(now)
        );
    }
    format!(
        "What stands now costs {} a month; {} costs {} more.",
        money(now),
        which
            .replace("The cheapest", "the cheapest")
            .trim_end_matches(','),
        money(then - now)
    )
}

/// What the replay shows of one layout, in a line.
pub(super) fn replayed(proof: &Proof) -> Option<String> {
    let replayed: &Replayed = proof.replayed.as_deref()?;
    if let Some(at) = replayed.given_up_seconds {
        return Some(format!(
            "replay: given up {} after its start: 250,000 I/Os waited",
            duration(at)
        ));
    }
    let of = |histogram: &Histogram| {
        let [half, most, tail] = [50.0, 99.0, 99.9].map(|percentile| Nanos(histogram.percentile(percentile)));
        format!("{half} / {most} / {tail}")
    };
    let directions = [("reads", &replayed.reads), ("writes", &replayed.writes)];
    let latency: Vec<String> = directions
        .into_iter()
        .filter(|(_, histogram)| histogram.n() > 0)
        .map(|(name, histogram)| format!("{name} {}", of(histogram)))
        .collect();
    let mut text = format!("replay: p50 / p99 / p99.9 of {}", latency.join(", of "));
    if replayed.throttled_seconds > 0 {
        let by = replayed
            .held
            .first()
            .map(|held| format!(", most by {}", held.limit));
        text = format!(
            "{text}; throttled in {} of {}{}",
            seconds(replayed.throttled_seconds),
            seconds(replayed.seconds),
            by.unwrap_or_default()
        );
    }
    if let Some(spent) = replayed.spent.first() {
        text = format!(
            "{text}; the credit of {} was spent {} after the start",
            spent.limit,
            duration(spent.lasted_ns / SECOND_NS)
        );
    }
    if replayed.late_ns > SECOND_NS {
        text = format!(
            "{text}; at the end the load was {} behind",
            Nanos(replayed.late_ns)
        );
    }
    Some(text)
}
