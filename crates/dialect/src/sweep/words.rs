//! The words that sweeps have beside the options of jobs: one table for the file, the flags and their help.

use super::{Draft, block_size, direction, list, order, positive_time, steady, switch, time, whole};
use crate::diagnostic::Fault;
use crate::table::reads;
use crate::value;

/// Reads the value of a word.
type Read = fn(&mut Draft, &str) -> Result<(), Fault>;

#[derive(Debug, Clone, Copy)]
pub struct SweepWord {
    /// Its name, with underscores; flags have dashes.
    pub name: &'static str,
    /// The name of a job's option that means the same here, and so is this word; empty: none.
    pub option: &'static str,
    /// What the help calls its value.
    pub value_name: &'static str,
    /// What it does.
    pub help: &'static str,
    /// What holds where it is not given; empty: nothing.
    pub default: &'static str,
    /// The value of a bare name, where that means something.
    pub bare: Option<&'static str>,
    /// How it is written.
    pub example: &'static str,
    pub(super) read: Read,
}

/// All words, in the order of the help.
pub fn words() -> &'static [SweepWord] {
    WORDS
}

const fn word(
    name: &'static str,
    value_name: &'static str,
    (default, example): (&'static str, &'static str),
    help: &'static str,
    read: Read,
) -> SweepWord {
    SweepWord {
        name,
        option: "",
        value_name,
        help,
        default,
        bare: None,
        example,
        read,
    }
}

impl SweepWord {
    /// Whether `text` is a value of it.
    ///
    /// # Errors
    /// Why it is none, in words.
    pub fn check(&self, text: &str) -> Result<(), String> {
        (self.read)(&mut Draft::new(), text).map_err(|fault| {
            let remedy = fault.remedy.map(|remedy| format!("; {remedy}"));
            format!("{}{}", fault.message, remedy.unwrap_or_default())
        })
    }

    const fn option(mut self, name: &'static str) -> Self {
        self.option = name;
        self
    }
    const fn bare(mut self, value: &'static str) -> Self {
        self.bare = Some(value);
        self
    }
}

static WORDS: &[SweepWord] = &[
    word(
        "rw",
        "WORD,…",
        ("randread", "rw=randread,read"),
        "Orders of access, and mixes where --mix gives none",
        reads!(rw, |text| list(text, direction)),
    )
    .option("rw"),
    word(
        "mix",
        "%,…",
        ("as rw says", "mix=0,50,100"),
        "Shares of reads, in percent",
        reads!(mix, |text| list(text, |t| whole(t, 0, 100).map(|n| n as u8))),
    )
    .option("rwmixread"),
    word(
        "bs",
        "SIZE,…",
        ("4k", "bs=4k,64k,1m"),
        "Block sizes",
        reads!(spec.axes.block_size_bytes, |text| list(text, block_size)),
    )
    .option("blocksize"),
    word(
        "iodepth",
        "N,…",
        ("1", "iodepth=1,2,16,32"),
        "I/Os in flight, each thread",
        reads!(spec.axes.iodepth, |text| list(text, |t| whole(t, 1, 65_536))),
    )
    .option("iodepth"),
    word(
        "threads",
        "N,…",
        ("1", "threads=2"),
        "Threads that share the target",
        reads!(spec.axes.threads, |text| list(text, |t| whole(t, 1, 4_096))),
    )
    .option("numjobs"),
    word(
        "idle",
        "TIME",
        ("0", "idle=60s"),
        "Before each point, nothing is done for so long",
        reads!(spec.timing.idle_ns, time),
    ),
    word(
        "warmup",
        "TIME",
        ("5s", "warmup=60s"),
        "Then the load is on and not counted",
        reads!(spec.timing.warmup_ns, time),
    )
    .option("ramp_time"),
    word(
        "duration",
        "TIME",
        ("30s", "duration=300s"),
        "Then it is counted",
        reads!(spec.timing.duration_ns, positive_time),
    )
    .option("runtime"),
    word(
        "cooldown",
        "TIME",
        ("0", "cooldown=60s"),
        "Then it goes on and is not counted",
        reads!(spec.timing.cooldown_ns, time),
    ),
    word(
        "repeat",
        "N",
        ("1", "repeat=3"),
        "Measure each point so often, pass after pass",
        reads!(spec.repeats, |text| whole(text, 1, 10_000)),
    ),
    word(
        "order",
        "WORD",
        ("as-given", "order=shuffled"),
        "as-given or shuffled (against drift); targets of several --on are measured in turns: interleaved",
        reads!(spec.order, order),
    ),
    word(
        "seed",
        "N",
        ("0", "seed=1"),
        "Seed of the shuffled order and of each point",
        reads!(spec.seed, value::seed),
    )
    .option("randseed"),
    word(
        "precondition",
        "0|1",
        ("0", "precondition=1"),
        "Write the whole region twice before the first point",
        reads!(spec.precondition, switch),
    )
    .bare("1"),
    word(
        "stop_when_steady",
        "%",
        ("0", "stop_when_steady=2%"),
        "End a point once the 95 % interval of its mean IOPS is within so much of it [bare: 2%]",
        reads!(steady, steady),
    )
    .bare("1"),
    word(
        "adaptive",
        "0|1",
        ("0", "adaptive=1"),
        "Skip points that follow from limits already established",
        reads!(spec.adaptive, switch),
    )
    .bare("1"),
    word(
        "about",
        "TEXT",
        ("", "about=\"nightly\""),
        "What the sweep is for",
        |draft, text| {
            text.clone_into(&mut draft.spec.about);
            Ok(())
        },
    ),
    word(
        "on",
        "TARGET",
        ("", "on=\"model:azure/P15\""),
        "What to measure (a TOML file may name it)",
        |draft, text| {
            draft.spec.target = Some(text.to_owned());
            Ok(())
        },
    ),
];

/// The word of this name, whether with dashes or underscores, or of a job option that means the same.
pub(super) fn find(name: &str) -> Option<&'static SweepWord> {
    let name = name.replace('-', "_");
    let own = WORDS.iter().find(|word| word.name == name);
    own.or_else(|| {
        let row = crate::table::find_exact(&name)?;
        WORDS
            .iter()
            .find(|word| !word.option.is_empty() && row.answers_to(word.option))
    })
}

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    WORDS.iter().map(|word| word.name)
}

/// For options that a sweep decides itself: what to write in their place.
pub(super) fn instead_of(option: &str) -> Option<&'static str> {
    Some(match option {
        "time_based" | "loops" | "io_size" | "number_ios" => "leave it out: every point lasts its duration",
        "group_reporting" | "stonewall" | "new_group" | "name" | "description" | "wait_for" => {
            "leave it out: every point is a run of its own"
        }
        "startdelay" => "use idle",
        "rwmixwrite" => "use mix, the share of reads",
        "bssplit" | "bsrange" | "bs_unaligned" => "use bs, a list of sizes",
        "filename" | "directory" => "give the target as the last argument or with --on",
        "verify" => "leave it out: verification reads what it wrote, and a point has no end for that",
        _ => return None,
    })
}
