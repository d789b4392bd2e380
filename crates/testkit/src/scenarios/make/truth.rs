//! How much was done by whom, in nanoseconds.

use super::super::load::Numbered;
use super::super::{Cause, Harm, Window};
use super::{Making, Plan};
use std::collections::HashMap;

/// From this part of what its like take on, an I/O was clearly held up.
const CLEARLY: f64 = 0.5;

/// One I/O of a run.
#[derive(Debug, Clone, Copy)]
struct Io {
    due_ns: u64,
    completed_ns: u64,
    len_bytes: u32,
}

impl Io {
    fn response_ns(&self) -> u64 {
        self.completed_ns - self.due_ns
    }

    fn meets(&self, windows: &[Window]) -> bool {
        let mut windows = windows.iter();
        windows.any(|window| self.due_ns <= window.end_ns && window.start_ns <= self.completed_ns)
    }
}

type Ios = HashMap<Numbered, Io>;

impl Plan {
    /// By how much the load's I/Os took longer for each cause that was done, in the order in which they were.
    ///
    /// The machine is run again without it. All draws are of the thing that they are for, so that the same I/O has the same
    /// luck in both runs: what an I/O took longer is what was done to it, whether it was met itself or waited for one that
    /// was. I/Os are the same that are the same worker's n-th; where more were due with the cause than without, those beyond
    /// count from what the others take without it. Counted are those that were due while it was done, or while another one
    /// that it clearly held up was under way: later ones of a closed loop come at another time than without, and meet another
    /// neighbour's I/O for that. Left out are I/Os that are of another size for the cause.
    ///
    /// Of several causes at a time each is between what it does alone and what the last of them adds to the others: two that
    /// hold up the same time have, in truth, both held up all of it.
    pub fn truth(&self) -> Vec<Harm> {
        let all = self.run(0);
        let mut causes: Vec<(Cause, Option<String>)> = Vec::new();
        for injected in &all.injected {
            let known = (injected.cause, injected.process.clone());
            if !causes.contains(&known) {
                causes.push(known);
            }
        }
        let windows: Vec<Window> = all.injected.iter().map(|injected| injected.window).collect();
        let number = all.causes;
        debug_assert_eq!(causes.len(), number as usize, "each cause is one of its own");
        let everything = ios(&all);
        let every: u32 = (1 << number) - 1;
        let nothing = ios(&self.run(every));
        let harm = |(bit, (cause, process)): (usize, (Cause, Option<String>))| {
            let (alone, last) = match number {
                1 => {
                    let longer = longer_ns(&everything, &nothing, &windows, false);
                    (longer, longer)
                }
                _ => (
                    longer_ns(&ios(&self.run(every & !(1 << bit))), &nothing, &windows, false),
                    longer_ns(&everything, &ios(&self.run(1 << bit)), &windows, true),
                ),
            };
            Harm {
                cause,
                process,
                least_ns: alone.min(last),
                most_ns: alone.max(last),
            }
        };
        causes.into_iter().enumerate().map(harm).collect()
    }
}

fn ios(making: &Making) -> Ios {
    let machine = &making.machine;
    let each = machine.io_numbers.iter().zip(&machine.ios);
    each.map(|(number, io)| {
        let io = Io {
            due_ns: io.intended_ns.min(io.created_ns),
            completed_ns: io.completed_ns,
            len_bytes: io.len_bytes,
        };
        (*number, io)
    })
    .collect()
}

/// How much longer the I/Os of `with` took than those of `without`; `others`: in which other causes are.
fn longer_ns(with: &Ios, without: &Ios, windows: &[Window], others: bool) -> u64 {
    let mut means: HashMap<usize, (u64, u64)> = HashMap::new();
    for ((worker, _), io) in without {
        let (sum, n) = means.entry(*worker).or_default();
        *sum += io.response_ns();
        *n += 1;
    }
    let mut order: Vec<(&Numbered, &Io)> = with.iter().collect();
    order.sort_unstable_by_key(|(number, io)| (io.due_ns, **number));
    let mut longer = 0i128;
    // Until when what was done goes on.
    let mut goes_on_ns = 0;
    for (number, io) in order {
        let Some(mean) = means.get(&number.0).map(|(sum, n)| sum / n) else {
            continue;
        };
        let same = without.get(number);
        // Another cause may have held up one I/O in the one run and its neighbour in the other.
        let other = same.filter(|same| others && same.response_ns() as f64 >= mean as f64 * (1.0 + CLEARLY));
        let met =
            io.due_ns <= goes_on_ns || io.meets(windows) || other.is_some_and(|other| other.meets(windows));
        if !met || same.is_some_and(|same| same.len_bytes != io.len_bytes) {
            continue;
        }
        let before = same.map_or(mean, Io::response_ns);
        longer += i128::from(io.response_ns()) - i128::from(before);
        if io.response_ns() as f64 >= before as f64 + mean as f64 * CLEARLY {
            goes_on_ns = goes_on_ns.max(io.completed_ns);
        }
    }
    u64::try_from(longer.max(0)).unwrap_or(u64::MAX)
}
