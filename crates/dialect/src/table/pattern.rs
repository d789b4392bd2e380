//! Options: directions, random offsets, seeds.

use super::not_carried_out::{BOOL, not_carried_out};
use super::row::OptionRow as Row;
use super::row::Support::NoEffect;
use super::rule::{Choice, Field, Rule, field, reads};
use crate::diagnostic::Fault;
use crate::draft::{Draft, merge};
use crate::value::{self, ZoneUnit};
use fathom_core::workload::{Distribution, Mix};
use std::mem::discriminant;

/// The theta of a bare `zipf` and the h of a bare `pareto`.
const DEFAULT_ZIPF: f64 = 1.1;
const DEFAULT_PARETO: f64 = 0.2;

const RW: &str = "read|write|trim|randread|randwrite|randtrim|rw|randrw|trimwrite|randtrimwrite[:N]";

/// The mixes, without and with `rand` in front.
const MIXES: [(&str, Mix); 5] = [
    ("read", Mix::Read),
    ("write", Mix::Write),
    ("trim", Mix::Trim),
    ("rw", Mix::ReadWrite { read_percent: 50 }),
    ("trimwrite", Mix::TrimWrite),
];

/// A direction, with `:N` behind it: I/Os for each random offset, or bytes skipped after each sequential one.
fn set_rw(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    let (word, suffix) = text
        .split_once(':')
        .map_or((text, None), |(word, suffix)| (word, Some(suffix)));
    let word = word.trim();
    let (random, direction) = match word.strip_prefix("rand") {
        Some(direction) => (true, direction),
        None if word == "readwrite" => (false, "rw"),
        None => (false, word),
    };
    let Some(&(_, mix)) = MIXES.iter().find(|(name, _)| *name == direction) else {
        return Err(Fault::new(format!("`{word}` is not a direction")).remedy(format!("write one of {RW}")));
    };
    let (mut run_length, mut skip_bytes) = (1, 0);
    if let Some(suffix) = suffix {
        let n = value::number(suffix, draft.kb_base)?;
        if !random {
            skip_bytes = n;
        } else if let Ok(n @ 1..) = u32::try_from(n) {
            run_length = n;
        } else {
            return Err(
                Fault::new(format!("{n} I/Os for each random offset are not possible"))
                    .remedy("write at least 1"),
            );
        }
    }
    let pattern = &mut draft.job.pattern;
    (pattern.mix, pattern.random) = (mix, random);
    (pattern.run_length, pattern.skip_bytes) = (run_length, skip_bytes);
    Ok(())
}

fn show_rw(draft: &Draft) -> Option<String> {
    let pattern = &draft.job.pattern;
    let (word, _) = MIXES
        .iter()
        .find(|(_, mix)| discriminant(mix) == discriminant(&pattern.mix))?;
    let word = format!("{}{word}", if pattern.random { "rand" } else { "" });
    let sign = if pattern.skip_bytes < 0 { "-" } else { "" };
    Some(match (pattern.random, pattern.run_length, pattern.skip_bytes) {
        (true, 0..=1, _) | (false, _, 0) => word,
        (true, run, _) => format!("{word}:{run}"),
        (false, _, skip) => format!("{word}:{sign}{}", value::show_size(skip.unsigned_abs())),
    })
}

/// The most blocks of a sequence, as in fio.
const SEQUENCE_MAX: usize = 64;

/// `sequence:2,0,1`.
fn sequence(blocks: &str) -> Result<Distribution, Fault> {
    let blocks: Vec<u64> = blocks
        .split(',')
        .map(|block| {
            block.trim().parse().map_err(|_| {
                Fault::new(format!("`{}` is no number of a block", block.trim()))
                    .remedy("write such as sequence:2,0,1")
            })
        })
        .collect::<Result<_, _>>()?;
    if blocks.len() > SEQUENCE_MAX {
        return Err(Fault::new(format!("a sequence of {} blocks", blocks.len()))
            .remedy(format!("at most {SEQUENCE_MAX} are possible")));
    }
    Ok(Distribution::Sequence {
        blocks,
        strides: false,
    })
}

fn set_distribution(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    // Its commas do not tell directions apart.
    if let Some(blocks) = text.trim().strip_prefix("sequence:") {
        let sequence = sequence(blocks)?;
        draft.job.pattern.distribution = [sequence.clone(), sequence.clone(), sequence];
        return Ok(());
    }
    // Zones of further directions may do without the word: a zone begins with a number.
    let first = zone_unit(text, draft.kb_base);
    let read = |field: &str| match first {
        Some((_, unit)) if field.starts_with(|c: char| c.is_ascii_digit()) => {
            value::zones(field, unit).map(Distribution::Zones)
        }
        _ => distribution(field, draft.kb_base),
    };
    merge(
        &mut draft.job.pattern.distribution,
        value::per_direction(text, read)?,
    );
    Ok(())
}

fn show_distribution(draft: &Draft) -> Option<String> {
    if let [Distribution::Sequence { blocks, .. }, ..] = &draft.job.pattern.distribution {
        let blocks: Vec<String> = blocks.iter().map(u64::to_string).collect();
        return Some(format!("sequence:{}", blocks.join(",")));
    }
    value::show_per_direction(draft.job.pattern.distribution.each_ref().map(|distribution| {
        let (word, center) = match distribution {
            Distribution::Uniform => return Some(String::from("random")),
            Distribution::Zipf { theta, center } => (format!("zipf:{theta}"), center),
            Distribution::Pareto { h, center } => (format!("pareto:{h}"), center),
            Distribution::Normal {
                deviation_percent,
                center,
            } => (format!("normal:{deviation_percent}"), center),
            Distribution::Zones(zones) => return Some(value::show_zones(zones)),
            // All directions have one, which is shown above.
            Distribution::Sequence { .. } => return None,
        };
        Some(match center {
            Some(center) => format!("{word}:{center}"),
            None => word,
        })
    }))
}

/// The zones of `zoned:…` and `zoned_abs:…`, and what their sizes are.
fn zone_unit(text: &str, kb_base: u64) -> Option<(&str, ZoneUnit)> {
    match text.split_once(':')? {
        ("zoned", zones) => Some((zones, ZoneUnit::Percent)),
        ("zoned_abs", zones) => Some((zones, ZoneUnit::Bytes(kb_base))),
        _ => None,
    }
}

/// `random`, `zipf:theta[:center]`, `pareto:h[:center]`, `normal:deviation[:center]`, zones.
fn distribution(text: &str, kb_base: u64) -> Result<Distribution, Fault> {
    if let Some((zones, unit)) = zone_unit(text, kb_base) {
        return value::zones(zones, unit).map(Distribution::Zones);
    }
    let mut parts = text.split(':');
    let word = parts.next().unwrap_or_default();
    if matches!(word, "zoned" | "zoned_abs") {
        return Err(Fault::new("the zones are missing").remedy("write such as zoned:60/10:40/90"));
    }
    let number = parts.next().map(value::float).transpose()?;
    let center = parts.next().map(value::float).transpose()?;
    if parts.next().is_some() {
        return Err(Fault::new(format!("`{text}` has too many parts")).remedy("write such as zipf:1.2:0.5"));
    }
    if center.is_some_and(|center| !(0.0..=1.0).contains(&center)) {
        return Err(Fault::new("the center is not between 0 and 1"));
    }
    let out_of_range =
        |name: &str, bounds: &str| Err(Fault::new(format!("the {name} of `{text}` is not {bounds}")));
    match word {
        "random" if number.is_none() => Ok(Distribution::Uniform),
        "random" => Err(Fault::new("a uniform distribution has no parameter").remedy("write random")),
        "zipf" => match number.unwrap_or(DEFAULT_ZIPF) {
            theta if theta > 0.0 && (theta - 1.0).abs() > f64::EPSILON => {
                Ok(Distribution::Zipf { theta, center })
            }
            _ => out_of_range("theta", "a number above 0 other than 1"),
        },
        "pareto" => match number.unwrap_or(DEFAULT_PARETO) {
            h if h > 0.0 && h < 1.0 => Ok(Distribution::Pareto { h, center }),
            _ => out_of_range("parameter", "between 0 and 1"),
        },
        "normal" => match number {
            Some(d) if (0.0..100.0).contains(&d) => Ok(Distribution::Normal {
                deviation_percent: d,
                center,
            }),
            Some(_) => out_of_range("deviation", "at least 0 and below 100"),
            None => Err(Fault::new("the deviation is missing").remedy("write such as normal:10 (percent)")),
        },
        _ => Err(Fault::new(format!("`{word}` is not a distribution"))
            .remedy("write random, zipf:theta, pareto:h, normal:deviation or zoned:share/size:…")),
    }
}

pub(super) static ROWS: &[&[Row]] = &[
    &[
        Row::new(
        "rw",
        Rule::SizeText(RW, set_rw, show_rw),
        "Directions and order of the I/Os",
    )
    .aliases(&["readwrite"])
    .default("read")
    .example("randread")
    .always_shown(),
        Row::new(
        "rw_sequencer",
        Rule::Choice(&[
            Choice::new("sequential", |d| d.job.pattern.repeats_offset = false),
            Choice::new("identical", |d| d.job.pattern.repeats_offset = true),
        ]),
        "What the :N of rw repeats",
    )
    .example("sequential"),
        Row::new(
        "rwmixread",
        Rule::Number(0, 100, field!(read_percent as u8)),
        "Share of reads in a mix, in percent",
    )
    .example("70"),
        Row::new(
        "rwmixwrite",
        Rule::Number(0, 100, Field::only(|d, percent| d.read_percent = 100 - percent as u8)),
        "Share of writes in a mix, in percent; of it and rwmixread the later one counts",
    )
    .default("50")
    .example("30"),
        Row::new(
            "random_sequence_stride",
            Rule::Bool(field!(sequence_strides)),
            "Each time round, random_distribution=sequence begins behind the last one",
        ),
        Row::new(
        "percentage_random",
        Rule::Percents(Field {
            set: |d, percents| {
                for (old, new) in d.job.pattern.random_percent.iter_mut().zip(percents) {
                    *old = new.map_or(*old, |percent| percent as u8);
                }
            },
            get: |d| Some(d.job.pattern.random_percent.map(|percent| Some(percent.into()))),
        }),
        "Share of the I/Os of a random job that are random; the others go on in sequence",
    )
    .default("100")
    .example("80,50"),
        Row::new(
        "random_distribution",
        Rule::SizeText(
            "random|zipf:theta[:center]|pareto:h[:center]|normal:deviation[:center]|zoned:share/size:…|zoned_abs:share/bytes:…",
            set_distribution,
            show_distribution,
        ),
        "How random offsets are spread; all but random switch the random map off",
    )
    .default("random")
    .example("zipf:1.2"),
        Row::new(
        "norandommap",
        Rule::Flag(field!(no_random_map)),
        "Draw offsets without memory, so that a block may come again before all have come",
    ),
        Row::new(
        "random_map",
        Rule::Choice(&[
            Choice::new("permutation", |d| d.next_free = false),
            Choice::new("next_free", |d| d.next_free = true),
        ]),
        "In which order each block comes once (no option of fio's): permuted, or as in fio, where a block that is drawn again \
         gives its turn to the next free one",
    )
    .example("next_free"),
    ],
    not_carried_out! {
        "softrandommap", BOOL, "0", "1", "Go on without a random map if memory for it is lacking"
            => NoEffect("the random map is never given up");
    },
    &[
        Row::new(
            "random_generator",
            Rule::Choice(&[
                Choice::new("tausworthe|tausworthe64", |d| d.visits_all = false),
                Choice::new("lfsr", |d| d.visits_all = true),
            ]),
            "Whether blocks of one size all come once even without a random map (lfsr)",
        )
        .example("lfsr"),
        Row::new(
        "randrepeat",
        Rule::Bool(field!(repeat)),
        "Make the same random decisions on each run",
    ),
        Row::new(
        "allrandrepeat",
        Rule::Bool(Field::only(|d, on| d.repeat = on)),
        "Another name for randrepeat: contents and sizes repeat with offsets",
    )
    .default("1"),
        Row::new(
        "randseed",
        Rule::Text("number", reads!(seed, |text| value::seed(text).map(Some)), |d| {
            d.seed.map(|seed| seed.to_string())
        }),
        "The seed of all random decisions",
    )
    .example("42"),
    ],
];
