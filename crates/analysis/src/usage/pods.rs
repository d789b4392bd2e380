//! Whose I/O it was: pods, as cAdvisor counts the I/O of their containers at each disk.
//!
//! Data in: counters by pod and device, the disks' own. Data out: the pods with most of it, and their share of what the disk did. What
//! no pod was counted for is told as a rest. It must not judge.

use super::Resource;
use super::scan::{Quantity, Track, Tracks};
use crate::explain::label;
use crate::growth::Growth;
use fathom_core::record::CounterRow;
use serde::Serialize;
use std::collections::BTreeMap;

/// Pods that are followed, and that are told.
const PODS_MAX: usize = 4096;
const TOLD_MAX: usize = 10;

/// A pod's I/O at a disk.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PodUse {
    /// `namespace/pod`.
    pub pod: String,
    /// The disk, as the kernel names it; empty where cAdvisor does not say.
    pub device: String,
    pub ios_per_second_mean: f64,
    pub ios_per_second_peak: f64,
    pub bytes_per_second_mean: f64,
    /// Of the I/Os that the disk's own counters have; `None`: they were not read.
    pub share: Option<f64>,
}

/// Takes counters of pods in.
#[derive(Debug)]
pub(super) struct Pods {
    growth: Growth,
    /// I/Os and bytes a second, by pod and disk.
    tracks: BTreeMap<(String, String), [Track; 2]>,
}

impl Default for Pods {
    fn default() -> Self {
        Self {
            growth: Growth::of(PODS_MAX),
            tracks: BTreeMap::new(),
        }
    }
}

impl Pods {
    /// Takes a row in, in the order of time; one that is none of a pod's I/O says nothing here.
    pub(super) fn row(&mut self, row: &CounterRow) {
        let which = match &*row.metric {
            "container_fs_reads_total" | "container_fs_writes_total" => 0,
            "container_fs_reads_bytes_total" | "container_fs_writes_bytes_total" => 1,
            _ => return,
        };
        let (Some(namespace), Some(pod)) = (label(&row.labels, "namespace"), label(&row.labels, "pod"))
        else {
            return;
        };
        let device = label(&row.labels, "device").unwrap_or_default();
        let device = device.strip_prefix("/dev/").unwrap_or(device);
        let Some((grown, seconds)) = self.growth.since_last(row) else {
            return;
        };
        let key = (format!("{namespace}/{pod}"), device.to_owned());
        if self.tracks.len() < PODS_MAX || self.tracks.contains_key(&key) {
            self.tracks.entry(key).or_default()[which].add(row.at_ns, grown / seconds);
        }
    }

    /// Those with most I/O, of each disk the largest first.
    pub(super) fn finish(mut self, disks: &Tracks) -> Vec<PodUse> {
        let of_disk = |device: &str| {
            let track = disks.get(&(Resource::Disk(device.to_owned()), Quantity::DiskIos));
            track.and_then(Track::mean).filter(|&mean| mean > 0.0)
        };
        let mut all = Vec::new();
        for ((pod, device), tracks) in &mut self.tracks {
            tracks.iter_mut().for_each(Track::close);
            let [ios, bytes] = tracks;
            let ios_per_second_mean = ios.mean().unwrap_or(0.0);
            all.push(PodUse {
                pod: pod.clone(),
                share: of_disk(device).map(|disk| (ios_per_second_mean / disk).min(1.0)),
                device: device.clone(),
                ios_per_second_mean,
                ios_per_second_peak: ios.peak().unwrap_or(0.0),
                bytes_per_second_mean: bytes.mean().unwrap_or(0.0),
            });
        }
        all.retain(|one| one.ios_per_second_peak > 0.0 || one.bytes_per_second_mean > 0.0);
        all.sort_by(|a, b| {
            let most = b.ios_per_second_mean.total_cmp(&a.ios_per_second_mean);
            most.then_with(|| b.bytes_per_second_mean.total_cmp(&a.bytes_per_second_mean))
        });
        all.truncate(TOLD_MAX);
        all
    }
}
