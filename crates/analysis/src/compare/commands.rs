//! Repeated commands compared: how long each took, and what it took of the machine.
//!
//! Data in: runs in which one command was recorded each. Data out: the figures that all of them have. It must not know where runs are
//! kept, nor whether they are repeats of one command: conditions say that.

use super::figure::{Figure, Observed, Quantity, Value};
use super::order::Order;
use fathom_core::run::{CommandSummary, Run};

/// The command of a recording; `None`: it watched a device, or several commands.
pub fn command_of(run: &Run) -> Option<&CommandSummary> {
    match run.summary.commands.as_slice() {
        [one] => Some(one),
        _ => None,
    }
}

/// The figures that the commands of all runs of both sides have; those that are 0 everywhere say nothing and are left out. Empty
/// where a run has no command.
pub fn observe_commands(sides: [&[&Run]; 2]) -> Vec<Observed> {
    let starts = sides
        .map(|side| -> Vec<Option<u64>> { side.iter().map(|run| Some(run.started_unix_ns.0)).collect() });
    let order = Order::of(&starts[0], &starts[1]);
    let figures = Quantity::OF_COMMANDS.into_iter().filter_map(|quantity| {
        let values = |side: &[&Run]| {
            let each = side.iter().map(|run| value(command_of(run)?, quantity));
            each.collect::<Option<Vec<Value>>>()
        };
        let (a, b) = (values(sides[0])?, values(sides[1])?);
        let counts = a.iter().chain(&b).any(|value| value.value > 0.0);
        counts.then(|| Observed {
            figure: Figure {
                load: String::new(),
                op: None,
                quantity,
            },
            sides: [a, b],
            order: order.clone(),
        })
    });
    figures.collect()
}

fn value(command: &CommandSummary, quantity: Quantity) -> Option<Value> {
    let io = command.io.as_ref();
    let known = match quantity {
        Quantity::Duration => command.duration_ns(),
        Quantity::IoWait => command.waits?.elapsed.disk_ns,
        Quantity::CpuTime if command.cpu.is_not_known() => return None,
        Quantity::CpuTime => command.cpu.user_ns + command.cpu.system_ns,
        Quantity::StorageRead => io?.read_bytes,
        Quantity::StorageWritten => io?.written_bytes,
        Quantity::Iops
        | Quantity::BytesPerSecond
        | Quantity::LatencyMean
        | Quantity::Latency(_)
        | Quantity::Number => return None,
    };
    Some(Value::plain(known as f64))
}

#[cfg(test)]
mod tests;
