//! Messages of the rest of the program in diskspd's own flags: they speak of the options of job files.
//!
//! Data in: a message. Data out: the same about `-b`, not `bs=`. It must not know when something is said.

/// What messages say, and what diskspd's users write; longer ones first.
const WORDS: &[(&str, &str)] = &[
    (
        "allow_file_create=0 forbids making it",
        "there is no -c to make it",
    ),
    (
        "end_fsync=1 to count the flush, or direct=1",
        "-Sw, which waits for the disk, or -Sh",
    ),
    (
        "(numjobs=, or fewer sections at once, with stonewall)",
        "(-t, -F)",
    ),
    (
        "overwrite=1, or a write job before this one",
        "-c on a new file, or a run with -w100 before this one",
    ),
    (
        "ioengine=io_uring, or ioengine=psync with more numjobs",
        "-xp (--dialect linux), or -o1 with more -t",
    ),
    ("raise iodepth; judge by response time, not by lat", "raise -o"),
    (
        "Use more workers or CPUs, or a cheaper engine (io_uring)",
        "Use more threads (-t) or CPUs",
    ),
    (
        "ioengine=libaio, which needs no permission",
        "-Su, whose interface needs no permission",
    ),
    ("give another directory= or filename=", "name another target"),
    (
        "change bs, offset or blockalign, or use direct=0",
        "change -b, -B or -r, or use -Sb",
    ),
    (
        "direct=0, which measures the page cache too",
        "-Sb, which measures the page cache too",
    ),
    (
        "bs and offset in multiples of the sector size, or direct=0",
        "-b and -B in multiples of the sector size, or -Sb",
    ),
    ("give size=, or filesize=", "give it with -c"),
    ("a smaller bs= or a larger size=", "a smaller -b or a larger -c"),
    ("give size= in bytes", "give it with -c"),
    (
        "a smaller size or offset, or more files (nrfiles)",
        "a smaller -c or -B, or more targets",
    ),
    (
        "fallocate=native reserves the space before the run, and so fails at its start",
        "-c makes the file before the run, and so fails at its start",
    ),
    ("a smaller size or make room", "a smaller -c or make room"),
    ("a smaller size=", "a smaller -c"),
    ("lower iodepth or numjobs", "lower -o or -t"),
    ("ioengine=io_uring", "-xp (--dialect linux)"),
    ("direct=0 knowingly", "-Sb knowingly"),
    ("use the usual ones", "leave -l out"),
    ("(cpus_allowed=; see lscpu)", "(-a; see lscpu)"),
    ("only read (rw=read)", "only read (-w0)"),
    ("leave nice= out", "leave -I out"),
    ("a smaller iodepth", "a smaller -o"),
    ("smaller blocks", "smaller blocks (-b)"),
    ("fewer workers", "fewer threads (-t, -F)"),
    ("(numjobs=)", "(-t, -F)"),
    ("size=", "-c"),
    ("bs=", "-b"),
    ("iodepth", "-o"),
    ("numjobs", "-t"),
    ("cpus_allowed", "-a"),
    ("direct=1", "-Su"),
    ("direct=0", "-Sb"),
];

/// A message as diskspd's users read it.
pub(super) fn in_flags(message: &str) -> String {
    let mut told = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(letter) = rest.chars().next() {
        // Within a word, such as a target's name, nothing is an option.
        let within = told.ends_with(|before: char| before.is_alphanumeric() || "_-./".contains(before));
        let found = WORDS.iter().filter(|_| !within).find(|(option, _)| {
            let behind = rest.strip_prefix(option).map(|behind| behind.chars().next());
            behind.is_some_and(|next| {
                option.ends_with('=') || !next.is_some_and(|next| next.is_alphanumeric() || next == '_')
            })
        });
        if let Some((option, flag)) = found {
            told.push_str(flag);
            rest = &rest[option.len()..];
        } else {
            told.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
    }
    told
}

#[cfg(test)]
mod tests;
