//! Columns of numbers as a side.
//!
//! Data in: files. Data out: one figure. It must not judge.

use super::inputs::ColumnFile;
use super::sides::{Read, ReadSide};
use crate::text_file::{self, Expected};
use anyhow::bail;
use fathom_analysis::compare::{Figure, Observed, Order, Quantity, Value, series};
use fathom_dialect::column::parse_column;
use fathom_report::compared::Kind;

const COLUMN_FILE: Expected = Expected {
    what: "file of numbers",
    mib_max: 64,
    remedy: "; give a number a line, or a table with commas",
};

/// Longer columns are taken for series whose neighbours may hang together.
const SERIES_FROM: usize = 60;

pub(super) fn read(sides: [&[ColumnFile]; 2]) -> anyhow::Result<Read> {
    let [(a, side_a), (b, side_b)] = [side(sides[0])?, side(sides[1])?];
    let observed = Observed {
        figure: Figure {
            load: String::new(),
            op: None,
            quantity: Quantity::Number,
        },
        sides: [a, b],
        order: Order::Unknown,
    };
    Ok(Read {
        kind: Kind::Columns,
        sides: [side_a, side_b],
        observed: vec![observed],
        conditions: Vec::new(),
    })
}

/// All files of a side one behind the other.
fn side(files: &[ColumnFile]) -> anyhow::Result<(Vec<Value>, ReadSide)> {
    let mut values: Vec<f64> = Vec::new();
    for file in files {
        let name = file.path.display();
        let text = text_file::read(&file.path, COLUMN_FILE)?;
        match parse_column(&text, file.column.as_deref()) {
            Ok(column) => values.extend(column.values),
            Err(error) if error.line == 0 => bail!("{name}: {error}"),
            Err(error) => bail!("{name}:{}: {error}", error.line),
        }
    }
    let mut side = ReadSide::default();
    let batches = (values.len() >= SERIES_FROM)
        .then(|| series::batches(&values))
        .flatten();
    if let Some(batches) = batches {
        side.notes.push(format!(
            "its {} numbers are taken for one series and averaged in {} batches that hardly hang together; of how much one \
             such series differs from the next it says nothing",
            values.len(),
            batches.len()
        ));
        values = batches;
    }
    Ok((values.into_iter().map(Value::plain).collect(), side))
}
