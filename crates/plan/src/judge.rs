//! How a layout carries a load: which limit binds, what is left, what it bursts to.
//!
//! Data in: a layout, a need. Data out: [`Judged`]. It must not know prices.

use crate::layout::Layout;
use crate::need::{Load, MILLION, Need};
use crate::rules::{self, Limit, Use};
use crate::setup::{Lasts, Rate, Setup};
use fathom_model::catalog::Family;
use fathom_model::defaults;
use fathom_model::spec::ServiceSpec;

/// What binds first as the load grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    Limit(Limit),
    /// The burst credit above a limit, which this load lives on.
    Credit(Limit),
    /// What the disks hold.
    Size,
}

/// Something that a layout has so much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    pub of: Binding,
    /// What is needed of it, a second or in all.
    pub used: u64,
    /// What there is; `None`: no source states it.
    pub allows: Option<u64>,
}

impl Share {
    /// What is used of it; `None`: not known.
    pub fn part(&self) -> Option<f64> {
        let allows = self.allows?;
        Some(if allows == u64::MAX {
            0.0
        } else {
            self.used as f64 / allows.max(1) as f64
        })
    }
}

/// What a layout lets through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// I/Os a second, as far as IOPS limit them; `None`: no source states a limit on their way.
    pub iops: Option<u64>,
    /// As far as MB/s limit them.
    pub bytes_per_second: Option<u64>,
}

/// What it bursts to on credit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Burst {
    pub rates: Rates,
    /// How long this kind of load lasts at its most, from full credit; `None`: it meets a limit without credit before.
    pub full_seconds: Option<u64>,
}

/// How a layout carries a load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// All that is used, the scarcest first.
    pub shares: Vec<Share>,
    /// Without end.
    pub sustained: Rates,
    /// `None`: it does not burst on credit.
    pub burst: Option<Burst>,
    /// How long the load lasts, from full credit; `None`: for ever.
    pub lasts_seconds: Option<u64>,
    /// I/Os that the load must keep in flight to get there, at the family's usual latency.
    pub in_flight: u64,
}

impl Judged {
    /// What binds first, if the load needs anything.
    pub fn binding(&self) -> Option<&Share> {
        self.shares.first().filter(|share| share.used > 0)
    }

    /// By how much the load can grow before anything binds: 0.25 is a quarter more. `None`: nothing that is known limits it.
    pub fn headroom(&self) -> Option<f64> {
        let part = self.binding()?.part()?;
        (part > 0.0).then(|| 1.0 / part - 1.0)
    }
}

/// Judges `layout` for what is needed.
pub fn judge(layout: &Layout<'_>, need: &Need) -> Judged {
    let setup = Setup::of(layout);
    let load = &need.load;
    let mut shares: Vec<Share> = rules::uses(&setup, load).map(|one| share(&one, load)).collect();
    shares.push(Share {
        of: Binding::Size,
        used: need.size_bytes,
        allows: Some(layout.size_bytes()),
    });
    // What is not known stands last: nothing can be said of it.
    let part = |share: &Share| share.part().unwrap_or(-1.0);
    shares.retain(|share| share.allows != Some(u64::MAX));
    shares.sort_by(|one, other| part(other).total_cmp(&part(one)));
    let lasting = rules::uses(&setup, load).filter_map(|one| one.rate.lasts_seconds(one.used));
    Judged {
        shares,
        sustained: rates(&setup, load, |rate| rate.base),
        burst: burst(&setup, load),
        lasts_seconds: lasting.min(),
        in_flight: in_flight(layout, load),
    }
}

fn share(one: &Use, load: &Load) -> Share {
    let lives_on_credit = one.rate.base.is_some_and(|base| one.used > base) && load.lasts != Lasts::Always;
    Share {
        of: if lives_on_credit {
            Binding::Credit(one.limit)
        } else {
            Binding::Limit(one.limit)
        },
        used: one.used,
        allows: one.rate.held(&load.lasts, one.limit.counts_bytes()),
    }
}

/// The same kind of load, of a million I/Os.
fn like(load: &Load) -> Load {
    let block_bytes = match load.ios {
        0 => load.otherwise_block_bytes,
        _ => load.block_bytes(),
    };
    Load {
        ios: MILLION,
        bytes: MILLION * block_bytes,
        ..load.clone()
    }
}

/// Whether a limit holds the rate of I/Os, or that of their bytes. One on bytes that counts whole I/O units holds both: however
/// small an I/O is, it takes a unit.
fn holds(setup: &Setup, limit: Limit, bytes: bool) -> bool {
    let by_units = setup.whole_units && limit.is_of_disks();
    limit.counts_bytes() == bytes || by_units && !bytes
}

/// What passes of loads of this kind, where each limit lets `at` through.
fn rates(setup: &Setup, load: &Load, at: impl Fn(Rate) -> Option<u64>) -> Rates {
    let probe = like(load);
    let most = |bytes: bool, whole: u64| {
        let mut most = Some(u64::MAX);
        for one in rules::uses(setup, &probe) {
            if !holds(setup, one.limit, bytes) || one.used == 0 {
                continue;
            }
            let passes = at(one.rate).map(|allows| match allows {
                u64::MAX => u64::MAX,
                allows => (u128::from(allows) * u128::from(whole) / u128::from(one.used)) as u64,
            });
            most = most.zip(passes).map(|(most, passes)| most.min(passes));
        }
        most.filter(|&most| most != u64::MAX)
    };
    Rates {
        iops: most(false, probe.ios),
        bytes_per_second: most(true, probe.bytes),
    }
}

/// Which limit lets least through of loads of this kind: of those that hold bytes, or of those that hold I/Os.
pub(crate) fn binds(setup: &Setup, load: &Load, bytes: bool) -> Option<Limit> {
    let probe = like(load);
    let of_kind = rules::uses(setup, &probe).filter(|one| holds(setup, one.limit, bytes) && one.used > 0);
    let known = of_kind.filter_map(|one| Some((one, one.rate.base.filter(|&base| base != u64::MAX)?)));
    let passes = known.map(|(one, base)| (one.limit, base as f64 / one.used as f64));
    passes
        .min_by(|one, other| one.1.total_cmp(&other.1))
        .map(|(limit, _)| limit)
}

fn burst(setup: &Setup, load: &Load) -> Option<Burst> {
    let base = rates(setup, load, |rate| rate.base);
    let rates = rates(setup, load, Rate::peak);
    if rates == base {
        return None;
    }
    // The most of this load that passes on credit, and how long each bucket lasts for that.
    let probe = like(load);
    let scale = |one: &Use| one.rate.peak().map(|peak| peak as f64 / one.used.max(1) as f64);
    let scale = rules::uses(setup, &probe)
        .filter_map(|one| scale(&one))
        .fold(f64::INFINITY, f64::min);
    let lasting =
        rules::uses(setup, &probe).filter_map(|one| one.rate.lasts_seconds((one.used as f64 * scale) as u64));
    Some(Burst {
        rates,
        full_seconds: lasting.min(),
    })
}

/// How long one I/O takes, of the usual ones.
pub(crate) fn usual_ns(family: Family, load: &Load) -> u64 {
    let middle = |service: &ServiceSpec| {
        let at = service
            .quantiles_us
            .iter()
            .find(|(percentile, _)| *percentile >= 50.0);
        let base = at.map_or(0.0, |(_, us)| us * 1e3);
        let more = load.block_bytes().saturating_sub(service.reference_bytes) >> 10;
        base + (more * service.ns_per_kib) as f64
    };
    let reads = load.read_ppm as f64 / MILLION as f64;
    let both = middle(&defaults::read_service(family)) * reads
        + middle(&defaults::write_service(family)) * (1.0 - reads);
    both as u64
}

/// Documented: queue depth = IOPS x latency.
fn in_flight(layout: &Layout<'_>, load: &Load) -> u64 {
    let nanoseconds = u128::from(usual_ns(layout.disk.family(), load)) * u128::from(load.ios);
    u64::try_from(nanoseconds.div_ceil(1_000_000_000))
        .unwrap_or(u64::MAX)
        .max(1)
}

#[cfg(test)]
mod tests;
