//! What rates are divided by: the time that was measured, and limits.
//!
//! Data in: who takes a metric, of a dashboard or of all instances. Data out: expressions. A load on a modelled disk goes on in virtual time,
//! hundreds of seconds of it between two scrapes: what it does a second is its growth by the growth of that time. Of disks that are served
//! live each has limits of its own, so that the rate of all of them is held against none.

use super::expr::{Expr, Of};
use crate::metric::{self, Metric};

/// A metric on a dashboard ([`of`](super::expr::of)), or in a rule ([`all`](super::expr::all)).
pub(super) type Take = fn(&'static Metric) -> Of<'static>;

/// What a limit is on.
#[derive(Debug, Clone, Copy)]
pub(super) enum On {
    Ios,
    Bytes,
}

impl On {
    const fn sum(self) -> &'static Metric {
        match self {
            Self::Ios => metric::LOAD_IOS,
            Self::Bytes => metric::LOAD_BYTES,
        }
    }

    const fn limit(self) -> &'static Metric {
        match self {
            Self::Ios => metric::LIMIT_IOPS,
            Self::Bytes => metric::LIMIT_BYTES,
        }
    }

    const fn unit(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Ios => &[("unit", "ios")],
            Self::Bytes => &[("unit", "bytes")],
        }
    }
}

const DATA: &[(&str, &str)] = &[("!op", "sync")];

/// Measured seconds a second; nothing where none went by.
fn pace(take: Take, window: Option<&'static str>) -> Expr {
    within(take(metric::MEASURED), window)
        .rate()
        .max_by("instance")
        .is("> 0")
}

fn within(of: Of<'static>, window: Option<&'static str>) -> Of<'static> {
    match window {
        Some(window) => of.over(window),
        None => of,
    }
}

/// A rate, of the measured second.
pub(super) fn measured(rate: Expr, take: Take) -> Expr {
    rate.over_one("instance", pace(take, None))
}

/// What a load does a second, syncs aside, by labels of which one is `instance`.
pub(super) fn load(take: Take, on: On, by: &str) -> Expr {
    measured(take(on.sum()).with(DATA).rate().sum_by(by), take)
}

/// The same of the whole load, where none of it was measured of late: one that has ended.
pub(super) fn load_or_mean(take: Take, on: On) -> Expr {
    let whole = take(on.sum()).with(DATA).now().sum_by("instance");
    let mean = whole.over_one(
        "instance",
        take(metric::MEASURED).now().max_by("instance").is("> 0"),
    );
    load(take, on, "instance").or(mean)
}

/// What a limit of a disk that is served live, or of the machine of several, let through of its rate.
pub(super) fn served(take: Take, on: On, window: Option<&'static str>) -> Expr {
    let used = within(take(metric::SERVED_TAKEN).with(on.unit()), window).rate();
    used.over_on(
        "instance, disk, limit, unit",
        take(metric::SERVED_LIMIT).with(on.unit()).now(),
    )
}

/// What a load has of the lowest limit of its disk and machine; of instances that serve disks live, whose limits are counted, nothing.
fn of_lowest(load: Expr, take: Take, on: On) -> Expr {
    let lowest = take(on.limit()).now().min_by("instance");
    load.grouped()
        .over_one("instance", lowest)
        .unless_on("instance", take(metric::SERVED_LIMIT).now())
}

/// The share of the nearest limit by labels of which one is `instance`, of loads and of disks that are served live.
pub(super) fn nearest(take: Take, on: On, by: &str) -> Expr {
    let of_load = of_lowest(load(take, on, by), take, on);
    served(take, on, None).max_by(by).or(of_load)
}

/// The same; of a load that has ended, that of the whole.
pub(super) fn nearest_or_mean(take: Take, on: On) -> Expr {
    let of_load = of_lowest(load_or_mean(take, on), take, on);
    served(take, on, None).max_by("instance").or(of_load)
}

/// Where a limit was reached over `window`: of a load its rate, of a disk that is served live a limit that also held I/Os (one with
/// credit left is exceeded and holds none).
pub(super) fn at_limit(take: Take, on: On, window: &'static str) -> Expr {
    let rate = take(on.sum()).with(DATA).over(window).rate();
    let rate = rate
        .sum_by("instance")
        .over_one("instance", pace(take, Some(window)));
    let held = take(metric::SERVED_HELD).over(window).rate().is("> 0");
    let served = served(take, on, Some(window))
        .is("> 0.95")
        .and_on("instance, disk, limit", held);
    served
        .grouped()
        .or(of_lowest(rate, take, on).grouped().is("> 0.95"))
}

/// What will be left of burst credit in an hour of measured time, if it goes on like in the last `window`.
pub(super) fn credit_in_an_hour(take: Take, window: &'static str) -> Expr {
    let left = || take(metric::CREDIT_LEFT_AMOUNT);
    let slope = left().over(window).slope();
    let slope = slope.over_one("instance", pace(take, Some(window)));
    left().now().plus(slope.times(3600.0))
}

/// The change of burst credit in a measured second.
pub(super) fn credit_slope(take: Take, window: &'static str) -> Expr {
    let slope = take(metric::CREDIT_LEFT_AMOUNT).over(window).slope();
    slope.over_one("instance", pace(take, Some(window)))
}
