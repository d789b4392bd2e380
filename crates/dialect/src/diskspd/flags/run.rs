//! Flags about the run: times, processors, seed, results, and what only Windows has.

use super::super::draft::Draft;
use super::super::profile::{LinuxEngine, ResultFormat};
use super::super::value::{affinity, cpu_set, number, number_or};
use super::{FlagRow, count, perhaps_count, reads, switches};
use crate::diagnostic::Fault;
use crate::table::Support;

/// Why no event tracing, and what instead.
pub(crate) const NO_ETW: &str = "event tracing is part of Windows; `fathom record` keeps each I/O, the kernel's trace of \
    requests and the machine's counters";
/// Why no events, and what instead.
const NO_EVENTS: &str = "named events are part of Windows; start and stop the runs from a script, an interrupt ends a run \
    with its results";

pub(super) const ROWS: &[FlagRow] = &[
    FlagRow::new("?", "", switches!(help), "Help")
        .example("-?")
        .test("help_wins"),
    FlagRow::number(
        ":",
        "<bits>",
        experiments,
        "Experimental behaviour, a mask; 1: sleep when throttled",
    )
    .default("0")
    .support(Support::NoEffect(
        "limits are kept by a schedule that sleeps as long as there is nothing due",
    ))
    .not_in_linux()
    .example("-:1")
    .test("left_out_flags_say_so"),
    FlagRow::new(
        "a",
        "[g<group>,]<cpu>,…",
        processors,
        "Put threads on these processors in turn; -ag: on all",
    )
    .default("all, in turn")
    .support(Support::Approximate(
        "Linux has no processor groups: a group other than 0 is refused",
    ))
    .linux("ranges may be written: -a0-3,7")
    .example("-a0,1")
    .test("processors")
    .fits(|text| text.chars().all(|c| c.is_ascii_digit() || "g,-".contains(c))),
    FlagRow::number(
        "C",
        "<s>",
        reads!(times.cooldown_s, |text| perhaps_count(text).map(Some)),
        "Go on so long after the measurement, in seconds",
    )
    .default("0")
    .not_in_linux()
    .beside_profile()
    .example("-C5")
    .test("times"),
    FlagRow::number(
        "d",
        "<s>",
        reads!(times.duration_s, |text| count(text).map(Some)),
        "How long is measured, in seconds",
    )
    .default("10")
    .beside_profile()
    .example("-d86400")
    .test("times"),
    FlagRow::number(
        "D",
        "[<ms>]",
        deviation,
        "Standard deviation of IOPS over intervals of so many milliseconds",
    )
    .default("not; 1000")
    .support(Support::Approximate(
        "at least 10 ms; above a minute whole seconds",
    ))
    .example("-D")
    .test("intervals_have_bounds"),
    FlagRow::new("e", "<what>", |_, _| Ok(()), "Event tracing for Windows")
        .support(Support::Never(NO_ETW))
        .not_in_linux()
        .example("-eDISK_IO")
        .test("windows_alone_is_refused")
        .fits(|_| true),
    FlagRow::new("h", "", |draft, _| draft.bypass_caches(), "As -Sh")
        .not_in_linux()
        .example("-h")
        .test("cache_letters_combine"),
    FlagRow::new("L", "", switches!(span.measure_latency), "Report latencies")
        .example("-L")
        .test("latency_is_asked_for"),
    FlagRow::new(
        "n",
        "",
        switches!(span.disable_affinity),
        "Leave threads to the scheduler",
    )
    .example("-n")
    .test("processors"),
    FlagRow::number(
        "P",
        "[<count>]",
        |draft, text| {
            draft.profile.progress = match perhaps_count(text)? {
                0 => 65_536,
                count => count,
            };
            Ok(())
        },
        "A dot after every so many I/Os",
    )
    .default("not; 65536")
    .support(Support::NoEffect("a live line shows how far the run is"))
    .not_in_linux()
    .example("-P")
    .test("left_out_flags_say_so"),
    FlagRow::new(
        "R",
        "[p]text | [p]xml",
        format,
        "How results are written; with p, only the profile is, and nothing is run",
    )
    .default("text")
    .not_in_linux()
    .beside_profile()
    .example("-Rxml")
    .test("result_formats")
    .fits(|text| matches!(text.strip_prefix('p').unwrap_or(text), "" | "text" | "xml")),
    FlagRow::new("v", "", switches!(profile.verbose), "Say what is done")
        .beside_profile()
        .example("-v")
        .test("verbosity"),
    FlagRow::new(
        "vs",
        "",
        switches!(profile.verbose_stats),
        "Wait statistics in the results",
    )
    .support(Support::Approximate(
        "diskspd's loop waits in places that this one does not have: the table says N/A",
    ))
    .not_in_linux()
    .beside_profile()
    .example("-vs")
    .test("verbosity"),
    FlagRow::number(
        "W",
        "<s>",
        reads!(times.warmup_s, |text| perhaps_count(text).map(Some)),
        "Run so long before the measurement, in seconds; bare: 0",
    )
    .default("5")
    .beside_profile()
    .example("-W60")
    .test("times"),
    FlagRow::new(
        "x",
        "",
        interface,
        "Completion routines in place of completion ports",
    )
    .support(Support::NoEffect(
        "both are interfaces of Windows; the I/O is the same",
    ))
    .linux("-xk takes the kernel's asynchronous I/O, -xp the C library's")
    .example("-x")
    .test("interfaces")
    .fits(|text| matches!(text, "" | "k" | "p")),
    FlagRow::new(
        "X",
        "<file>",
        |_, _| Ok(()),
        "Take the load from an XML profile; targets fill its slots *1, *2 …",
    )
    .not_in_linux()
    .beside_profile()
    .example("-Xprofile.xml")
    .test("profiles_take_few_flags")
    .fits(|text| !text.is_empty() && !text.contains('/')),
    FlagRow::new(
        "y",
        "<kind><event>",
        |_, _| Ok(()),
        "Named events that start, stop or announce",
    )
    .support(Support::Never(NO_EVENTS))
    .not_in_linux()
    .example("-ysgo")
    .test("windows_alone_is_refused")
    .fits(|_| true),
    FlagRow::number(
        "z",
        "[<seed>]",
        seed,
        "Seed of all random decisions; bare: another one each time",
    )
    .default("0")
    .beside_profile()
    .example("-z42")
    .test("seeds"),
];

fn experiments(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    draft.profile.experiment_flags = number(text, 0, u32::MAX)?;
    Ok(())
}

fn processors(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    let list = if draft.is_linux {
        cpu_set(text)?
    } else {
        affinity(text)?
    };
    draft.span.affinity.extend(list);
    Ok(())
}

fn deviation(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    draft.span.iops_std_dev = true;
    match perhaps_count(text)? {
        0 => {}
        ms => draft.span.io_bucket_ms = ms,
    }
    Ok(())
}

fn format(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    let (profile_only, name) = match text.strip_prefix('p') {
        Some(name) => (true, name),
        None => (false, text),
    };
    draft.result_format = match name {
        "text" => Some(ResultFormat::Text),
        "xml" => Some(ResultFormat::Xml),
        "" if profile_only => draft.result_format,
        _ => {
            return Err(
                Fault::new(format!("`{text}` is no format")).remedy("write -Rtext, -Rxml, -Rptext or -Rpxml")
            );
        }
    };
    draft.profile.profile_only |= profile_only;
    Ok(())
}

fn interface(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    match (text, draft.is_linux) {
        ("", false) => draft.span.completion_routines = true,
        ("k", true) => draft.profile.linux_engine = Some(LinuxEngine::Kernel),
        ("p", true) => draft.profile.linux_engine = Some(LinuxEngine::Posix),
        (_, true) => return Err(Fault::new(format!("`{text}` is no interface")).remedy("write -xk or -xp")),
        (_, false) => {
            let fault = Fault::new(format!("`{text}` is left over"));
            return Err(fault.remedy("write -x alone; -xk and -xp belong to the Linux port"));
        }
    }
    Ok(())
}

fn seed(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    draft.times.seed = Some(number_or(text, draft.clock_seed, 0, u32::MAX)?);
    Ok(())
}
