//! Readers of single values (numbers, sizes, times, lists, patterns), and beside each what shows it again.
//!
//! Data in: the text after the equals sign. Data out: a number with its unit settled, or a fault that names
//! the text and what would be right. It must not know which option it reads.
//!
//! Sizes are read as fio reads them, which stops at the first character that it does not understand (`4.5k` is 4 bytes); who
//! asks is told ([`read_in_part`]). Everything else is read whole, or is an error.

mod expression;
mod list;
mod pattern;
mod size;
mod time;
mod zones;

pub(crate) use expression::plain_sum;
pub(crate) use list::{
    ascending_floats, cpu_list, cpu_mask, float, paths, per_direction, range, show_cpus, show_floats,
    show_paths, show_per_direction, show_range, show_split, split,
};
pub(crate) use pattern::{Pattern, show_verify_pattern, verify_pattern};
pub(crate) use size::{
    amount, inverted_unit, number, positive_size, read_in_part, seed, show_amount, show_size, size,
};
pub use time::duration;
pub(crate) use time::{TimeUnit, show_time, show_time_range, time, time_range};
pub(crate) use zones::{ZoneUnit, show_zones, zones};
