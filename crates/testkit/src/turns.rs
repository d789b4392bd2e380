//! Tests of one program run side by side; one that failed is repeated alone.
//!
//! What other tests of the same program use is not noise that can be waited for: it is this program's own. So a test that
//! needs the machine asks for it, those at work finish, and those that would begin wait.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// How long anybody waits: longer than a test takes, and no reason to hang where one does.
const PATIENCE: Duration = Duration::from_secs(90);

struct Turns {
    /// The thread of each turn.
    at_work: Vec<ThreadId>,
    /// The thread that has or waits for the machine alone.
    alone: Option<ThreadId>,
}

static TURNS: Mutex<Turns> = Mutex::new(Turns {
    at_work: Vec::new(),
    alone: None,
});
static CHANGED: Condvar = Condvar::new();

/// A share in the machine, until it is dropped.
#[derive(Debug)]
#[must_use]
pub struct Turn {
    thread: ThreadId,
    /// Whether it ends the time alone.
    alone: bool,
}

/// Begins work beside other tests; waits while one is alone.
pub fn beside_others() -> Turn {
    let thread = std::thread::current().id();
    let may = |turns: &Turns| turns.at_work.contains(&thread) || turns.alone.is_none_or(|who| who == thread);
    let mut turns = wait_until(turns(), may);
    turns.at_work.push(thread);
    Turn { thread, alone: false }
}

/// Waits until no other test is at work and lets none begin.
///
/// # Errors
/// What is still at work, when patience is at its end.
pub(crate) fn alone() -> Result<Turn, String> {
    let thread = std::thread::current().id();
    let mut turns = wait_until(turns(), |turns| turns.alone.is_none());
    turns.alone = Some(thread);
    let turn = Turn { thread, alone: true };
    let others = |turns: &Turns| turns.at_work.iter().filter(|who| **who != thread).count();
    let turns = wait_until(turns, |turns| others(turns) == 0);
    match others(&turns) {
        0 => Ok(turn),
        left => {
            // Its own drop takes the lock.
            drop(turns);
            Err(format!("{left} others of this program at work"))
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut turns = turns();
        if self.alone {
            turns.alone = None;
        } else if let Some(at) = turns.at_work.iter().position(|who| *who == self.thread) {
            turns.at_work.swap_remove(at);
        }
        CHANGED.notify_all();
    }
}

/// A failed test poisons nothing: what is held is counted by drops, which happen all the same.
fn turns() -> MutexGuard<'static, Turns> {
    TURNS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait_until(
    mut turns: MutexGuard<'static, Turns>,
    met: impl Fn(&Turns) -> bool,
) -> MutexGuard<'static, Turns> {
    let end = Instant::now() + PATIENCE;
    while !met(&turns) {
        let Some(left) = end.checked_duration_since(Instant::now()) else {
            break;
        };
        (turns, _) = CHANGED
            .wait_timeout(turns, left)
            .unwrap_or_else(PoisonError::into_inner);
    }
    turns
}

#[cfg(test)]
mod tests;
