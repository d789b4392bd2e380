//! Options: which files, how they are made, what happens to them before and after.

use super::not_carried_out::{BOOL, NUMBER, not_carried_out, text, words};
use super::row::OptionRow as Row;
use super::row::Support::{self, LeftOut, Never, NoEffect, NotYet};
use super::rule::{Choice, Rule, field, reads};
use crate::diagnostic::Fault;
use crate::draft::Draft;
use crate::value;
use fathom_core::workload::{Fallocate, FileChoice};

const CHOICES: [(&str, FileChoice); 3] = [
    ("roundrobin", FileChoice::RoundRobin),
    ("random", FileChoice::Random),
    ("sequential", FileChoice::Sequential),
];

/// `random`, `roundrobin`, `sequential`; a count after a colon is how many I/Os go to a file before the next.
fn set_choice(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    let (word, suffix) = text
        .split_once(':')
        .map_or((text, None), |(word, suffix)| (word, Some(suffix)));
    let word = word.trim();
    draft.job.files.choice = match CHOICES.iter().find(|(name, _)| *name == word) {
        Some((_, choice)) => *choice,
        None if matches!(word, "zipf" | "pareto" | "normal" | "gauss") => {
            return Err(Fault::new(format!("`{text}` is not supported yet"))
                .remedy("use random, or one file with random_distribution"));
        }
        None => {
            return Err(Fault::new(format!("`{word}` is not a way to choose files"))
                .remedy("write roundrobin, random or sequential"));
        }
    };
    match suffix.map(str::trim) {
        None | Some("1") => Ok(()),
        Some(count) => Err(Fault::new(format!(
            "staying with a file for `{count}` I/Os is not supported yet"
        ))
        .remedy("leave the count out: the file may change after each I/O")),
    }
}

fn show_choice(draft: &Draft) -> Option<String> {
    let chosen = CHOICES
        .iter()
        .find(|(_, choice)| *choice == draft.job.files.choice);
    chosen.map(|(name, _)| String::from(*name))
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
    not_carried_out! {
        "unique_filename", BOOL, "1", "0", "Make names unique between clients"
            => NoEffect("there are no clients whose names could clash");
    },
    &[
        Row::new(
            "nrfiles",
            Rule::Number(1, 1 << 20, field!(job.files.nrfiles as u32)),
            "How many files each worker has, where names are made",
        )
        .aliases(&["nr_files"])
        .example("4"),
        Row::new(
            "file_service_type",
            Rule::Text("roundrobin|random|sequential", set_choice, show_choice),
            "Which of several files the next I/O goes to",
        )
        .default("roundrobin")
        .example("random"),
    ],
    not_carried_out! {
        "openfiles", NUMBER, "", "1", "How many files are open at once"
            => LeftOut("all files of a worker stay open");
        "lockfile", words!("none|exclusive|readwrite"), "none", "exclusive",
            "Lock a file while I/O is done on it"
            => NotYet("run the jobs one after the other with stonewall");
        "opendir", text("path"), "", "/data", "Use every file below a directory"
            => NotYet("name the files with filename=a:b");
        "file_append", BOOL, "0", "1", "Write behind the end of files"
            => NotYet("begin behind the data with offset");
    },
    &[
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
                Choice::new("0", |d| d.job.files.advise = false),
                Choice::new("1", |d| d.job.files.advise = true),
                Choice::but(
                    "random|sequential",
                    Support::LeftOut("the hint follows the pattern of the job, or is not given (0)"),
                    |d| d.job.files.advise = true,
                ),
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
            "create_fsync",
            Rule::Bool(field!(job.files.create_fsync)),
            "fsync files once they are made",
        ),
    ],
    not_carried_out! {
        "create_serialize", BOOL, "1", "0", "Make the files of different jobs one after the other"
            => NoEffect("files are laid out before the job begins");
        "create_on_open", BOOL, "0", "1", "Make a file only when its first I/O comes"
            => LeftOut("files are laid out before the job begins");
        "create_only", BOOL, "0", "1", "Make the files and stop"
            => NotYet("use number_ios=1 to lay the files out with hardly any I/O");
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
    ],
    not_carried_out! {
        "unlink_each_loop", BOOL, "0", "1", "Remove the files after each loop"
            => NotYet("use unlink with loops=1");
        "ioscheduler", text("name"), "", "none", "Switch the device to this I/O scheduler"
            => Never("a job file changes no devices; write to /sys/block/DEVICE/queue/scheduler first");
    },
];
