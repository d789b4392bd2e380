//! Texts that differ in nothing but their numbers, as one text with ranges.
//!
//! Data in: texts as they are told of each section. Data out: one text. It must not know what they say.

use crate::words::joined;

/// Units that belong to the number before them: those that stand for one another, and what each is of the first.
const UNITS: [(&str, usize, f64); 20] = [
    ("ns", 1, 1.0),
    ("µs", 1, 1e3),
    ("ms", 1, 1e6),
    ("s", 1, 1e9),
    ("B", 2, 1.0),
    ("KiB", 2, 1024.0),
    ("MiB", 2, 1_048_576.0),
    ("GiB", 2, 1_073_741_824.0),
    ("TiB", 2, 1_099_511_627_776.0),
    ("PiB", 2, 1_125_899_906_842_624.0),
    ("B/s", 3, 1.0),
    ("KiB/s", 3, 1024.0),
    ("MiB/s", 3, 1_048_576.0),
    ("GiB/s", 3, 1_073_741_824.0),
    ("TiB/s", 3, 1_099_511_627_776.0),
    ("kB/s", 3, 1e3),
    ("MB/s", 3, 1e6),
    ("GB/s", 3, 1e9),
    ("TB/s", 3, 1e12),
    ("%", 4, 1.0),
];

/// A part of a text.
#[derive(Debug, Clone, PartialEq)]
enum Part<'t> {
    Word(&'t str),
    Quantity(Quantity<'t>),
}

/// A number with its unit, if it has one, and what clings to it.
#[derive(Debug, Clone, PartialEq)]
struct Quantity<'t> {
    before: &'t str,
    number: &'t str,
    unit: &'t str,
    after: &'t str,
    /// Those of one family can be compared.
    family: usize,
    value: f64,
}

/// The word without brackets and punctuation, and those.
fn bare(word: &str) -> (&str, &str, &str) {
    let start = word.trim_start_matches('(');
    let core = start.trim_end_matches([',', ';', ':', '.', ')']);
    let before = &word[..word.len() - start.len()];
    (before, core, &start[core.len()..])
}

/// `12`, `0.05`, `76.5k`: as reports print numbers.
fn value(number: &str) -> Option<f64> {
    let (digits, factor) = match number.as_bytes().last()? {
        b'k' => (&number[..number.len() - 1], 1e3),
        b'M' => (&number[..number.len() - 1], 1e6),
        b'G' => (&number[..number.len() - 1], 1e9),
        _ => (number, 1.0),
    };
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value = digits.parse::<f64>().ok().filter(|_| is_number)?;
    Some(value * factor)
}

fn parts(text: &str) -> Vec<Part<'_>> {
    let mut words = text.split(' ').peekable();
    let mut parts = Vec::new();
    while let Some(word) = words.next() {
        let (before, number, after) = bare(word);
        let Some(plain) = value(number) else {
            parts.push(Part::Word(word));
            continue;
        };
        let mut quantity = Quantity {
            before,
            number,
            unit: "",
            after,
            family: 0,
            value: plain,
        };
        // What ends a clause is not followed by its unit.
        let next = words.peek().filter(|_| after.is_empty());
        let next = next.and_then(|next| {
            let (opened, unit, after) = bare(next);
            let known = UNITS.iter().find(|(name, ..)| *name == unit)?;
            opened.is_empty().then_some((known, after))
        });
        if let Some(((unit, family, factor), after)) = next {
            quantity = Quantity {
                unit,
                after,
                family: *family,
                value: plain * factor,
                ..quantity
            };
            words.next();
        }
        parts.push(Part::Quantity(quantity));
    }
    parts
}

/// The text without its numbers: those of one shape can be told as one.
pub(crate) fn shape(text: &str) -> String {
    let each = parts(text).into_iter().map(|part| match part {
        Part::Word(word) => word.to_owned(),
        Part::Quantity(quantity) => format!("{}#{}{}", quantity.before, quantity.family, quantity.after),
    });
    joined(each, " ")
}

/// Texts of one [`shape`] as one, with the lowest and the highest of numbers that differ; of others, the first.
pub(crate) fn merged<T: AsRef<str>>(texts: &[T]) -> String {
    let all: Vec<Vec<Part<'_>>> = texts.iter().map(|text| parts(text.as_ref())).collect();
    let Some(first) = all.first() else {
        return String::new();
    };
    let each = first.iter().enumerate().map(|(index, part)| match part {
        Part::Word(word) => (*word).to_owned(),
        Part::Quantity(quantity) => {
            let others = all.iter().filter_map(|parts| match parts.get(index) {
                Some(Part::Quantity(other)) if other.family == quantity.family => Some(other),
                _ => None,
            });
            range(quantity, others)
        }
    });
    joined(each, " ")
}

/// `119 to 120 IOPS`, `950 µs to 1.20 ms`.
fn range<'q, 't: 'q>(first: &Quantity<'t>, all: impl Iterator<Item = &'q Quantity<'t>>) -> String {
    let (mut low, mut high) = (first, first);
    for quantity in all {
        if quantity.value < low.value {
            low = quantity;
        }
        if quantity.value > high.value {
            high = quantity;
        }
    }
    let with_unit = |quantity: &Quantity<'_>| format!("{} {}", quantity.number, quantity.unit);
    let text = if low.value >= high.value {
        with_unit(first)
    } else if low.unit == high.unit {
        format!("{} to {}", low.number, with_unit(high))
    } else {
        format!("{} to {}", with_unit(low), with_unit(high))
    };
    format!("{}{}{}", first.before, text.trim_end(), first.after)
}

#[cfg(test)]
mod tests;
