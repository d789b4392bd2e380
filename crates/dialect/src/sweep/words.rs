//! The words that sweeps have beside the options of jobs: one table for the file, the flags and their help.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
}

/// All words, in the order of the help.
pub fn words() -> &'static [SweepWord] {
    WORDS
}

const fn word(
    name: &'static str,
    value_name: &'static str,
    help: &'static str,
    default: &'static str,
    example: &'static str,
) -> SweepWord {
    SweepWord {
        name,
        option: "",
        value_name,
        help,
        default,
        bare: None,
        example,
    }
}

impl SweepWord {
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
        "Orders of access, and mixes where --mix gives none",
        "randread",
        "rw=randread,read",
    )
    .option("rw"),
    word(
        "mix",
        "%,…",
        "Shares of reads, in percent",
        "as rw says",
        "mix=0,50,100",
    )
    .option("rwmixread"),
    word("bs", "SIZE,…", "Block sizes", "4k", "bs=4k,64k,1m").option("blocksize"),
    word(
        "iodepth",
        "N,…",
        "I/Os in flight, each thread",
        "1",
        "iodepth=1,2,16,32",
    )
    .option("iodepth"),
    word(
        "threads",
        "N,…",
        "Threads that share the target",
        "1",
        "threads=2",
    )
    .option("numjobs"),
    word(
        "idle",
        "TIME",
        "Before each point, nothing is done for so long",
        "0",
        "idle=60s",
    ),
    word(
        "warmup",
        "TIME",
        "Then the load is on and not counted",
        "5s",
        "warmup=60s",
    )
    .option("ramp_time"),
    word("duration", "TIME", "Then it is counted", "30s", "duration=300s").option("runtime"),
    word(
        "cooldown",
        "TIME",
        "Then it goes on and is not counted",
        "0",
        "cooldown=60s",
    ),
    word(
        "repeat",
        "N",
        "Measure each point so often, pass after pass",
        "1",
        "repeat=3",
    ),
    word(
        "order",
        "WORD",
        "as-given or shuffled (against drift)",
        "as-given",
        "order=shuffled",
    ),
    word(
        "seed",
        "N",
        "Seed of the shuffled order and of each point",
        "0",
        "seed=1",
    )
    .option("randseed"),
    word(
        "precondition",
        "0|1",
        "Write the whole region twice before the first point",
        "0",
        "precondition=1",
    )
    .bare("1"),
    word(
        "stop_when_steady",
        "%",
        "End a point once the 95 % interval of its mean IOPS is within so much of it [bare: 2%]",
        "0",
        "stop_when_steady=2%",
    )
    .bare("1"),
    word(
        "adaptive",
        "0|1",
        "Skip points that follow from limits already established",
        "0",
        "adaptive=1",
    )
    .bare("1"),
    word("about", "TEXT", "What the sweep is for", "", "about=\"nightly\""),
    word(
        "on",
        "TARGET",
        "What to measure (a TOML file may name it)",
        "",
        "on=\"model:azure/P15\"",
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
