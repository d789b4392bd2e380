//! Options: block sizes, the region of the files, the amount of I/O.

use super::row::OptionRow as Row;
use super::rule::{Field, MAX_U32, Rule, field};
use crate::diagnostic::Fault;
use crate::draft::{Draft, merge};
use crate::value;
use fathom_core::workload::Amount;

fn set_bsrange(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    let range = |field: &str| {
        let (min, max) = value::range(field, draft.kb_base)?;
        small_enough(max)?;
        Ok(Some((min, max)))
    };
    merge(&mut draft.blocks.range, value::per_direction(text, range)?);
    Ok(())
}

fn set_bssplit(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    let split = |field: &str| {
        let entries = value::split(field, draft.kb_base)?;
        entries.iter().try_for_each(|entry| small_enough(entry.bytes))?;
        Ok(Some(entries))
    };
    merge(&mut draft.blocks.split, value::per_direction(text, split)?);
    Ok(())
}

fn small_enough(bytes: u64) -> Result<(), Fault> {
    if bytes > MAX_U32 {
        Err(Fault::new(format!("a block of {bytes} bytes is more than 4 GiB")))
    } else {
        Ok(())
    }
}

/// A size, or two joined by a dash: from and to.
fn set_filesize(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    let kb_base = draft.kb_base;
    let (from, to) = if text.contains('-') && !text.starts_with('(') {
        value::range(text, kb_base)?
    } else {
        let bytes = value::positive_size(text, kb_base)?;
        (bytes, bytes)
    };
    draft.job.region.file_size = Some((from, to));
    Ok(())
}

pub(super) static ROWS: &[&[Row]] = &[
    &[
        Row::new(
            "bs",
            Rule::Sizes(
                1,
                Field {
                    set: |d, sizes| merge(&mut d.blocks.fixed, sizes.map(|size| size.map(Some))),
                    get: |d| Some(d.blocks.fixed),
                },
            ),
            "Block size of an I/O",
        )
        .aliases(&["blocksize"])
        .default("4096")
        .example("4k,16k"),
        Row::new(
            "bsrange",
            Rule::SizeText("min-max[,min-max[,min-max]]", set_bsrange, |d| {
                value::show_per_direction(d.blocks.range.map(|range| range.map(value::show_range)))
            }),
            "Block sizes between two",
        )
        .aliases(&["blocksize_range"])
        .example("4k-64k"),
        Row::new(
            "bssplit",
            Rule::SizeText("size/percent[:size/percent…][,…]", set_bssplit, |d| {
                let splits = d.blocks.split.each_ref();
                value::show_per_direction(splits.map(|split| split.as_deref().map(value::show_split)))
            }),
            "A few block sizes with the share of each",
        )
        .example("4k/60:64k/40"),
        Row::new(
            "bs_unaligned",
            Rule::Flag(field!(blocks.unaligned)),
            "Let bsrange draw any number of bytes",
        )
        .aliases(&["blocksize_unaligned"]),
    ],
    &[
        Row::new(
            "bs_is_seq_rand",
            Rule::Bool(Field {
                set: |d, on| d.sizes_by_order = on,
                // It is settled: the sizes are those of the order that the job has.
                get: |_| Some(false),
            }),
            "The first size is that of sequential I/Os, the second that of random ones",
        )
        .aliases(&["blocksize_is_seq_rand", "bs_seq_rand"]),
        Row::new(
            "ba",
            Rule::Sizes(
                1,
                Field {
                    set: |d, sizes| merge(&mut d.job.block_align, sizes),
                    get: |d| {
                        Some(
                            d.job
                                .block_align
                                .map(|bytes| Some(bytes).filter(|&bytes| bytes > 0)),
                        )
                    },
                },
            ),
            "Offsets are multiples of this; switches the random map off",
        )
        .aliases(&["blockalign"])
        .example("64k"),
        Row::new(
            "size",
            Rule::Amount(field!(some job.region.size)),
            "The region used, over all files of a worker, and the amount of I/O",
        )
        .example("1g"),
        Row::new(
            "io_size",
            Rule::Amount(Field {
                // 0 is none: the size says how much.
                set: |d, amount| {
                    let none = matches!(amount, Amount::Bytes(0));
                    d.job.region.io_size = Some(amount).filter(|_| !none);
                },
                get: |d| d.job.region.io_size,
            }),
            "The amount of I/O, where it differs from the region",
        )
        .aliases(&["io_limit"])
        .example("4g"),
        Row::new(
            "filesize",
            Rule::SizeText("size, or from-to", set_filesize, |d| {
                match d.job.region.file_size? {
                    (from, to) if from == to => Some(value::show_size(from)),
                    range => Some(value::show_range(range)),
                }
            }),
            "Size of each file",
        )
        .example("1g")
        .shown_behind("offset_increment"),
    ],
    &[
        Row::new(
            "fill_device",
            Rule::Bool(field!(job.region.fills_device)),
            "Write until there is no room left, and end then",
        )
        .aliases(&["fill_fs"]),
        Row::new(
            "offset",
            Rule::Amount(field!(some job.region.offset)),
            "Where in each file the region begins",
        )
        .aliases(&["fileoffset"])
        .default("0")
        .example("1g"),
        Row::new(
            "offset_increment",
            Rule::Amount(field!(some job.region.offset_increment)),
            "Worker k begins k times this further on",
        )
        .default("0")
        .example("1g"),
        Row::new(
            "offset_align",
            Rule::Size(0, MAX_U32, field!(job.region.offset_align_bytes)),
            "An offset in percent is rounded up to a multiple of this; 0: of the smallest block",
        )
        .default("0")
        .example("4k"),
    ],
    &[Row::new(
        "number_ios",
        Rule::Text(
            "number",
            |d, text| {
                let n = value::size(text, d.kb_base)?;
                d.job.region.number_ios = Some(n).filter(|&n| n > 0);
                Ok(())
            },
            |d| d.job.region.number_ios.map(|number| number.to_string()),
        ),
        "Stop after so many I/Os",
    )
    .default("0")
    .example("1000")],
];
