//! Whose kernel stack is recorded when it leaves a CPU.
//!
//! Duty: the condition under which the kernel writes a stack after a switch. Data in: the load, and the numbers of its
//! threads that have no name to be known by. Data out: a filter in the kernel's language. It must not know what stacks say.

use super::Load;
use std::fmt::Write;

/// So many threads are asked for by number: what the kernel compares at each switch costs as much as the stacks of all
/// beyond about that.
const NUMBERS_MAX: usize = 24;
/// All that left for something: asleep (1), asleep without signals (2), stopped (4), kept off in the kernel (256), which is
/// what a quota does. A kernel thread that idles (128) does not.
const FOR_SOMETHING: &str = "prev_state&263";

/// The condition.
pub(super) fn condition(load: &Load, unnamed: &[u32]) -> String {
    let names = load.plain_prefixes();
    if unnamed.len() > NUMBERS_MAX || names.len() > NUMBERS_MAX {
        return FOR_SOMETHING.to_owned();
    }
    let mut who = String::new();
    let mut or = |part: std::fmt::Arguments<'_>| {
        if !who.is_empty() {
            who.push_str("||");
        }
        // Writing to a text does not fail.
        let _ = who.write_fmt(part);
    };
    for name in names {
        or(format_args!("prev_comm~\"{name}*\""));
    }
    for tid in unnamed {
        or(format_args!("prev_pid=={tid}"));
    }
    match (load.is_empty(), who.is_empty()) {
        (false, false) => format!("({who})&&({FOR_SOMETHING})"),
        (false, true) => String::from("prev_pid==0&&prev_state!=0"),
        // Nobody in particular: those who wait for a disk or the like, whoever they are.
        (true, true) => String::from("prev_state&258"),
        (true, false) => format!("prev_state&258||({who})&&({FOR_SOMETHING})"),
    }
}
