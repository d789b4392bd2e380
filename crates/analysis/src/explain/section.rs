//! The sections that are explained: the job sections of a load, or, without one, the devices.
//!
//! Data in: what the first pass found. Data out: each section with its sums and its devices.

use super::block_scan::DeviceScan;
use super::counter_scan::DiskSecond;
use super::io_scan::JobScan;
use super::timeline::Timeline;
use super::{CounterScanned, Facts, Scanned};
use fathom_core::run::JobSummary;
use fathom_core::workload::Job;
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
pub(super) struct Section<'a> {
    pub name: String,
    /// Its number among the sections.
    pub index: usize,
    pub load: Option<Load<'a>>,
    /// The devices that its I/O went to.
    pub devices: Vec<&'a DeviceScan>,
    /// What their counters said, by kernel name.
    pub disks: Vec<&'a BTreeMap<u64, DiskSecond>>,
    /// Its I/Os; without a load, the device's requests.
    pub timeline: &'a Timeline,
}

/// What a section of a load has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load<'a> {
    pub job: &'a Job,
    pub scan: &'a JobScan,
    pub summary: Option<&'a JobSummary>,
}

/// All sections in which anything happened.
pub(super) fn of<'a>(facts: &Facts<'a>, scanned: &'a Scanned) -> Vec<Section<'a>> {
    match &scanned.io {
        Some(io) if !facts.jobs().is_empty() => {
            let jobs = facts.jobs().iter().zip(&io.jobs).enumerate();
            jobs.filter(|(_, (_, scan))| !scan.data.is_empty())
                .map(|(index, (job, scan))| of_job(facts, scanned, index, job, scan))
                .collect()
        }
        _ => {
            let devices = scanned.block.iter().flat_map(|block| &block.devices).enumerate();
            devices
                .filter(|(_, device)| !device.requests.is_empty())
                .map(|(index, device)| of_device(facts, scanned, index, device))
                .collect()
        }
    }
}

fn of_job<'a>(
    facts: &Facts<'a>,
    scanned: &'a Scanned,
    index: usize,
    job: &'a Job,
    scan: &'a JobScan,
) -> Section<'a> {
    let known = target_devices(facts);
    let requests = scanned.block.iter().flat_map(|block| &block.devices);
    // Where the device below a file is not known, all that were traced may be.
    let is_below = |scan: &&DeviceScan| {
        let is_known = known.iter().any(|(_, number)| *number == scan.device);
        facts.modelled() || known.is_empty() || is_known
    };
    let mut devices: Vec<&DeviceScan> = requests.clone().filter(is_below).collect();
    if devices.is_empty() {
        devices = requests.collect();
    }
    let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
    Section {
        name: job.name.clone(),
        index,
        load: Some(Load {
            job,
            scan,
            summary: facts.run.summary.jobs.get(index),
        }),
        devices,
        disks: disks(scanned.counters.as_ref(), &names),
        timeline: &scan.data,
    }
}

fn of_device<'a>(
    facts: &Facts<'a>,
    scanned: &'a Scanned,
    index: usize,
    device: &'a DeviceScan,
) -> Section<'a> {
    let mut known = target_devices(facts).into_iter().chain(devices_below(facts));
    let name = known.find(|(_, number)| *number == device.device);
    let name = name.map_or_else(
        || format!("device {}:{}", device.device >> 20, device.device & 0xf_ffff),
        |(name, _)| name,
    );
    let names = [name.as_str()];
    Section {
        disks: disks(scanned.counters.as_ref(), &names),
        index,
        load: None,
        devices: vec![device],
        timeline: &device.requests,
        name,
    }
}

/// The counters of the named disks; of all that were recorded where none of those was.
fn disks<'a>(counters: Option<&'a CounterScanned>, names: &[&str]) -> Vec<&'a BTreeMap<u64, DiskSecond>> {
    let Some(counters) = counters else {
        return Vec::new();
    };
    let named: Vec<_> = names
        .iter()
        .filter_map(|&name| counters.disks.get(name))
        .collect();
    if named.is_empty() {
        counters.disks.values().collect()
    } else {
        named
    }
}

/// Names and numbers of the devices below the targets.
fn target_devices(facts: &Facts<'_>) -> Vec<(String, u32)> {
    let files = facts.run.summary.target.files.iter();
    let mut devices: Vec<(String, u32)> = files
        .filter_map(|file| file.device.as_ref())
        .map(|device| (device.name.clone(), device.id.number()))
        .collect();
    devices.sort();
    devices.dedup();
    devices
}

/// The devices that those lie on.
fn devices_below<'a>(facts: &Facts<'a>) -> impl Iterator<Item = (String, u32)> + use<'a> {
    let files = facts.run.summary.target.files.iter();
    let devices = files.filter_map(|file| file.device.as_ref());
    let named = devices.flat_map(|device| device.slaves.iter().zip(&device.slave_ids));
    named.map(|(name, id)| (name.clone(), id.number()))
}
