//! What the tests share: targets, a closed loop on a modelled machine, a seed.

use fathom_core::backend::{Op, Request};
use fathom_core::units::MonoTime;
use fathom_core::virtual_disk::{Submitter, VirtualDisk};
use fathom_model::{Catalog, Machine, Spec, target};
use std::hash::BuildHasher;

pub(crate) const SECOND: u64 = 1_000_000_000;
pub(crate) const GIB: u64 = 1 << 30;
pub(crate) const MIB: u64 = 1 << 20;
pub(crate) const KIB: u32 = 1 << 10;

pub(crate) fn spec(text: &str) -> Spec {
    target::parse(text, Catalog::azure()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub(crate) fn refused(text: &str) -> String {
    let parsed = target::parse(text, Catalog::azure());
    parsed.expect_err(text).to_string()
}

pub(crate) fn catalog(cloud: &str) -> &'static Catalog {
    Catalog::named(cloud).expect(cloud)
}

/// A seed for this run, printed so that a failure can be repeated (`FATHOM_TEST_SEED`).
pub(crate) fn seed() -> u64 {
    let given = std::env::var("FATHOM_TEST_SEED").ok();
    let given = given.and_then(|text| text.parse().ok());
    let seed = given.unwrap_or_else(|| std::hash::RandomState::new().hash_one(0));
    println!("FATHOM_TEST_SEED={seed}");
    seed
}

/// So many I/Os in flight, each followed by the next, on a machine that keeps its state from load to load.
pub(crate) struct Rig {
    machine: Machine,
    size_bytes: u64,
    count: u64,
    now_ns: u64,
}

/// What a load left.
pub(crate) struct Done {
    pub(crate) ios: u64,
    /// Of each I/O, in the order of their ends.
    pub(crate) latencies_ns: Vec<u64>,
}

impl Rig {
    pub(crate) fn new(target: &str) -> Self {
        let spec = spec(target);
        let mut machine = Machine::new(&spec);
        machine.attach(Submitter {
            direct: true,
            sync_writes: false,
            file_base_bytes: vec![0],
        });
        Self {
            size_bytes: spec.volume_bytes(),
            machine,
            count: 0,
            now_ns: 0,
        }
    }

    /// Nothing happens for so long.
    pub(crate) fn rests(&mut self, seconds: u64) {
        self.now_ns += seconds * SECOND;
    }

    /// For `seconds`, `depth` I/Os of `op` in flight, of `len` bytes, one behind the other or all over the volume.
    pub(crate) fn load(&mut self, op: Op, len: u32, depth: usize, sequential: bool, seconds: u64) -> Done {
        let end = self.now_ns + seconds * SECOND;
        let mut free = std::collections::BinaryHeap::new();
        for slot in 0..depth {
            free.push(std::cmp::Reverse((self.now_ns, slot)));
        }
        let mut done = Done {
            ios: 0,
            latencies_ns: Vec::new(),
        };
        while let Some(std::cmp::Reverse((now, slot))) = free.pop() {
            if now >= end {
                break;
            }
            let request = Request {
                slot: slot as u32,
                op,
                file: 0,
                offset: self.place(len, sequential),
                len,
            };
            let accepted = self.machine.submit(0, slot as u32, &request, MonoTime(now));
            let completed = accepted.completed.0;
            if completed < end {
                done.ios += 1;
                done.latencies_ns.push(completed - now);
            }
            free.push(std::cmp::Reverse((completed, slot)));
        }
        self.now_ns = end;
        done
    }

    fn place(&mut self, len: u32, sequential: bool) -> u64 {
        self.count += 1;
        let places = self.size_bytes / u64::from(len);
        let at = if sequential {
            self.count
        } else {
            // Far from the one before, and never its neighbour.
            self.count.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
        };
        at % places * u64::from(len)
    }
}

impl Done {
    pub(crate) fn bytes(&self, len: u32) -> f64 {
        self.ios as f64 * f64::from(len)
    }

    pub(crate) fn mean_ms(&self) -> f64 {
        self.latencies_ns.iter().sum::<u64>() as f64 / self.latencies_ns.len() as f64 / 1e6
    }

    pub(crate) fn percentile_ms(&self, percent: usize) -> f64 {
        let mut sorted = self.latencies_ns.clone();
        sorted.sort_unstable();
        sorted[sorted.len() * percent / 100] as f64 / 1e6
    }
}

pub(crate) fn near(found: f64, wanted: f64, percent: f64, what: &str) {
    let off = (found - wanted).abs() / wanted * 100.0;
    assert!(off <= percent, "{what}: {found}, not {wanted}");
}
