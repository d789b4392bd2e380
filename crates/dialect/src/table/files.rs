//! Options: which files, how they are made, what happens to them before and after.

use super::not_carried_out::{BOOL, not_carried_out};
use super::row::OptionRow as Row;
use super::row::Support::LeftOut;
use super::rule::{Choice, Field, MAX_COUNT, Rule, field, reads};
use crate::diagnostic::Fault;
use crate::draft::Draft;
use crate::value;
use fathom_core::workload::{Advised, Fallocate, FileChoice, FileLocks};
use std::path::PathBuf;

/// What fio takes where a word stands alone: its own defaults for skewed choices.
const DEFAULT_ZIPF: f64 = 1.1;
const DEFAULT_PARETO: f64 = 0.2;
const DEFAULT_NORMAL: f64 = 50.0;

/// `random`, `roundrobin`, `sequential`, `zipf:theta`, `pareto:h`, `normal:deviation`; a count behind them is how many I/Os go
/// to a file before the next.
fn set_choice(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    let mut parts = text.split(':').map(str::trim);
    let word = parts.next().unwrap_or_default();
    let mut parameter = |default: f64| parts.next().map_or(Ok(default), value::float);
    let choice = match word {
        "roundrobin" => FileChoice::RoundRobin,
        "random" => FileChoice::Random,
        "sequential" => FileChoice::Sequential,
        "zipf" => FileChoice::Zipf {
            theta: parameter(DEFAULT_ZIPF)?,
        },
        "pareto" => FileChoice::Pareto {
            h: parameter(DEFAULT_PARETO)?,
        },
        "normal" | "gauss" => FileChoice::Normal {
            deviation_percent: parameter(DEFAULT_NORMAL)?,
        },
        _ => {
            return Err(Fault::new(format!("`{word}` is not a way to choose files"))
                .remedy("write roundrobin, random, sequential, zipf, pareto or normal"));
        }
    };
    let in_range = match choice {
        FileChoice::Zipf { theta } => theta > 0.0 && (theta - 1.0).abs() > f64::EPSILON,
        FileChoice::Pareto { h } => h > 0.0 && h < 1.0,
        FileChoice::Normal { deviation_percent } => (0.0..100.0).contains(&deviation_percent),
        FileChoice::RoundRobin | FileChoice::Random | FileChoice::Sequential => true,
    };
    if !in_range {
        return Err(Fault::new(format!("the parameter of `{text}` is out of range"))
            .remedy("write such as zipf:1.2, pareto:0.2 or normal:20"));
    }
    let stay = match parts.next() {
        None => 0,
        Some(count) => count.parse().ok().filter(|&n: &u32| n > 0).ok_or_else(|| {
            Fault::new(format!("`{count}` is no number of I/Os")).remedy("write such as roundrobin:8")
        })?,
    };
    draft.job.files.choice = choice;
    draft.job.files.stay_ios = if stay == 1 { 0 } else { stay };
    Ok(())
}

fn show_choice(draft: &Draft) -> String {
    let word = match draft.job.files.choice {
        FileChoice::RoundRobin => String::from("roundrobin"),
        FileChoice::Random => String::from("random"),
        FileChoice::Sequential => String::from("sequential"),
        FileChoice::Zipf { theta } => format!("zipf:{theta}"),
        FileChoice::Pareto { h } => format!("pareto:{h}"),
        FileChoice::Normal { deviation_percent } => format!("normal:{deviation_percent}"),
    };
    match draft.job.files.stay_ios {
        0 => word,
        stay => format!("{word}:{stay}"),
    }
}

pub(super) static ROWS: &[&[Row]] = &[
    &[
        Row::new(
            "filename",
            Rule::Text("name[:name…]", reads!(job.files.names, value::paths), |d| {
                value::show_paths(&d.job.files.names)
            }),
            "Files or devices, shared by all workers of the job",
        )
        .example("/data/a:/data/b"),
        Row::new(
            "directory",
            Rule::Text(
                "path[:path…]",
                reads!(job.files.directories, value::paths),
                |d| value::show_paths(&d.job.files.directories),
            ),
            "Where files are made; workers take turns",
        )
        .example("/data"),
        Row::new(
            "filename_format",
            Rule::Text(
                "text",
                |d, text| {
                    text.trim().clone_into(&mut d.job.files.name_format);
                    Ok(())
                },
                |d| Some(d.job.files.name_format.clone()),
            ),
            "How made names look: $jobname, $jobnum and $filenum are replaced",
        )
        .default("$jobname.$jobnum.$filenum")
        .example("$jobname.$filenum")
        .shown_behind("nrfiles"),
    ],
    &[
        Row::new(
            "unique_filename",
            Rule::Bool(Field {
                set: |d, on| d.job.files.not_unique = !on,
                get: |d| Some(!d.job.files.not_unique),
            }),
            "Begin made names with where the client is",
        ),
        Row::new(
            "nrfiles",
            Rule::Number(1, 1 << 20, field!(job.files.nrfiles as u32)),
            "How many files each worker has, where names are made",
        )
        .aliases(&["nr_files"])
        .example("4"),
        Row::new(
            "file_service_type",
            Rule::Text(
                "roundrobin|random|sequential[:N], zipf[:theta[:N]], pareto[:h[:N]], normal[:deviation[:N]]",
                set_choice,
                |d| Some(show_choice(d)),
            ),
            "Which of several files the next I/O goes to, and for how many I/Os",
        )
        .default("roundrobin")
        .example("random"),
        Row::new(
            "openfiles",
            Rule::Number(0, MAX_COUNT, field!(job.files.used_at_once as u32)),
            "How many files are used at a time; the next comes when one is through. All stay open",
        )
        .default("")
        .example("1"),
        Row::new(
            "opendir",
            Rule::Text(
                "path",
                |d, text| {
                    d.job.files.all_below = Some(PathBuf::from(text.trim()));
                    Ok(())
                },
                |d| Some(d.job.files.all_below.as_ref()?.to_str()?.to_owned()),
            ),
            "Use every file below a directory",
        )
        .example("/data"),
        Row::new(
            "file_append",
            Rule::Bool(field!(job.files.append)),
            "Begin behind what the files hold",
        ),
        Row::new(
            "create_only",
            Rule::Bool(field!(job.files.create_only)),
            "Lay the files out, and do no I/O",
        ),
        Row::new(
            "lockfile",
            Rule::Choice(&[
                Choice::new("none", |d| d.job.files.locks = FileLocks::None),
                Choice::new("exclusive", |d| d.job.files.locks = FileLocks::Exclusive),
                Choice::new("readwrite", |d| d.job.files.locks = FileLocks::ReadWrite),
            ]),
            "Lock a file while I/O is done on it",
        )
        .example("exclusive"),
        Row::new(
            "fallocate",
            Rule::Choice(&[
                Choice::new("none", |d| d.job.files.fallocate = Fallocate::None),
                Choice::new("native", |d| d.job.files.fallocate = Fallocate::Native),
                Choice::new("posix", |d| d.job.files.fallocate = Fallocate::Posix),
                Choice::new("keep", |d| d.job.files.fallocate = Fallocate::Keep),
                Choice::new("truncate", |d| d.job.files.fallocate = Fallocate::Truncate),
                Choice::new("0", |d| d.job.files.fallocate = Fallocate::None),
                Choice::new("1", |d| d.job.files.fallocate = Fallocate::Posix),
            ]),
            "How space is reserved when a file is made",
        )
        .example("none"),
        Row::new(
            "fadvise_hint",
            Rule::Choice(&[
                Choice::new("0", |d| {
                    (d.job.files.advise, d.job.files.advised) = (false, Advised::AsIs);
                }),
                Choice::new("1", |d| {
                    (d.job.files.advise, d.job.files.advised) = (true, Advised::AsIs);
                }),
                Choice::new("random", |d| {
                    (d.job.files.advise, d.job.files.advised) = (true, Advised::Random);
                }),
                Choice::new("sequential", |d| {
                    (d.job.files.advise, d.job.files.advised) = (true, Advised::Sequential);
                }),
            ]),
            "Tell the kernel whether access will be random or sequential",
        )
        .example("0"),
        Row::new(
            "allow_file_create",
            Rule::Bool(field!(job.files.may_create)),
            "Whether missing files may be made",
        ),
        Row::new(
            "create_on_open",
            Rule::Bool(field!(job.files.begins_empty)),
            "Lay nothing out: missing files begin empty",
        ),
        Row::new(
            "create_serialize",
            Rule::Bool(Field {
                set: |d, on| d.job.files.laid_out_at_once = !on,
                get: |d| Some(!d.job.files.laid_out_at_once),
            }),
            "Make the files of different jobs one after the other",
        ),
        Row::new(
            "create_fsync",
            Rule::Bool(field!(job.files.create_fsync)),
            "fsync files once they are made",
        ),
    ],
    not_carried_out! {
        "allow_mounted_write", BOOL, "0", "1", "Write to a device that is mounted"
            => LeftOut("a job file cannot allow it: fathom asks for --allow-overwrite DEVICE, and refuses devices in use");
    },
    &[
        Row::new(
            "overwrite",
            Rule::Bool(field!(job.files.overwrite)),
            "Write files in full before overwriting them",
        ),
        Row::new(
            "invalidate",
            Rule::Bool(field!(job.files.invalidate)),
            "Drop the page cache of files first",
        ),
        Row::new(
            "pre_read",
            Rule::Bool(field!(job.files.pre_read)),
            "Read files in full first",
        ),
        Row::new(
            "unlink",
            Rule::Bool(field!(job.files.unlink)),
            "Remove the files after the job",
        ),
        Row::new(
            "unlink_each_loop",
            Rule::Bool(field!(job.files.new_each_loop)),
            "Remove the files after each loop, and begin the next with new ones",
        ),
        Row::new(
            "ioscheduler",
            Rule::Text(
                "name",
                |d, text| {
                    d.job.files.scheduler = Some(text.trim().to_owned()).filter(|name| !name.is_empty());
                    Ok(())
                },
                |d| d.job.files.scheduler.clone(),
            ),
            "Switch the device of the files to this I/O scheduler",
        )
        .example("none"),
    ],
];
