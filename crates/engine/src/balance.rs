//! Balances between jobs: who takes part, and how many I/Os all have sent together.
//!
//! Data in: the flows of jobs that start. Data out: a [`Share`] a worker. It must not know what the I/Os are.

use fathom_core::units::Nanos;
use fathom_core::workload::Flow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// So much more is taken for sent by all: without a lead each would wait for each other after every I/O.
const LEAD_IOS: u64 = 64;

/// The balances of a run, by their ids.
#[derive(Debug, Default)]
pub(crate) struct Balances {
    all: BTreeMap<u32, Arc<Balance>>,
}

/// What those who take part have sent, and the sum of their weights.
#[derive(Debug, Default)]
struct Balance {
    ios: AtomicU64,
    weights: AtomicU64,
}

/// One worker's part. Dropped, it leaves, with all that it has sent.
#[derive(Debug)]
pub struct Share {
    balance: Arc<Balance>,
    weight: u64,
    sent: u64,
    /// How long to wait when ahead; zero: as long as it lasts.
    pub(crate) sleep: Nanos,
}

impl Balances {
    pub(crate) fn share(&mut self, flow: Flow) -> Share {
        let balance = Arc::clone(self.all.entry(flow.id).or_default());
        balance.weights.fetch_add(flow.weight.into(), Ordering::Relaxed);
        Share {
            balance,
            weight: flow.weight.into(),
            sent: 0,
            sleep: flow.sleep,
        }
    }
}

impl Share {
    /// Whether more was sent than the weight's share of all, and a lead.
    pub(crate) fn is_ahead(&self) -> bool {
        let all = self.balance.ios.load(Ordering::Relaxed).saturating_add(LEAD_IOS);
        let weights = self.balance.weights.load(Ordering::Relaxed);
        u128::from(self.sent) * u128::from(weights) > u128::from(all) * u128::from(self.weight)
    }
    pub(crate) fn take(&mut self) {
        self.sent += 1;
        self.balance.ios.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.balance.ios.fetch_sub(self.sent, Ordering::Relaxed);
        self.balance.weights.fetch_sub(self.weight, Ordering::Relaxed);
    }
}
