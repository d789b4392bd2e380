//! From a target's parts to a specification, by the catalogue.
//!
//! Data in: parts, the catalogue. Data out: the whole of a [`Spec`]. It must not know how the parts were written.

use super::disk;
use super::error::TargetError;
use super::host;
use super::words::Words;
use crate::catalog::{Added, AlsoTogether, Catalog, Directions, Family, Scope, Services, Vm, VmLimit};
use crate::defaults;
use crate::spec::{Counts, DiskSpec, Limit, PathLimits, ReleasedSpec, ServiceSpec, SharedSpec, Spec};

/// The specification of `words`, to be called `name`.
pub(super) fn spec(name: &str, words: &Words, catalog: &Catalog) -> Result<Spec, TargetError> {
    let chosen = disk::choose(words, catalog)?;
    let vm = host::find(words, catalog)?;
    if let Some(vm) = vm {
        host::takes(vm, &chosen, words.count, catalog)?;
    }
    let (limits, of_writes) = disk::limits(&chosen, vm, words.burst, catalog)?;
    let host_cache = host::cache(words, vm, &chosen, catalog)?;
    let ram_bytes = words
        .ram_bytes
        .or_else(|| vm.and_then(|vm| vm.memory_bytes))
        .unwrap_or(defaults::RAM_BYTES);
    let services = services(chosen.family, words.service)?;
    let added = added(chosen.family, words)?;
    let mut shared = Vec::new();
    let own = match (chosen.family.scope(), chosen.family.directions()) {
        (Scope::Disk, Directions::Together) => limits,
        (_, directions) => {
            let also = chosen.family.also_together();
            shared.extend(in_front(
                &chosen.name,
                false,
                (directions, also),
                (limits, of_writes),
            ));
            off()
        }
    };
    if let Some(vm) = vm {
        shared.extend(of_machine(vm, chosen.family, catalog));
    }
    let notes = catalog.about().notes.iter().chain(chosen.family.notes());
    let mut assumed: Vec<String> = notes.cloned().collect();
    if let Some(row) = vm
        .and_then(|vm| catalog.vm_limit(vm, chosen.family))
        .filter(|row| !row.note.is_empty())
    {
        assumed.push(format!("limits of this machine on {}: {}", chosen.name, row.note));
    }
    if let Some(vm) = vm {
        assumed.extend(vm.notes().map(|note| format!("{}: {note}", vm.name)));
    }
    assumed.extend(chosen.family.notes_below(chosen.counted_bytes).map(str::to_owned));
    let counting = chosen.family.counting();
    let one = DiskSpec {
        name: chosen.name,
        size_bytes: chosen.size_bytes,
        io_unit_bytes: chosen.io_unit_bytes,
        limits: own,
        write_bytes_per_second: Limit::Off,
        read: later(&services.read, added.read_us),
        write: later(&services.write, added.write_us),
        seek: services.seek,
        crowding: services.crowding,
        outages: Vec::new(),
        handling: None,
        merged_streams: counting.merged_streams,
        whole_units: counting.whole_units,
        burst_bytes_need_io_credit: counting.burst_mbps_need_io_credit,
        released: (!services.released.is_all()).then_some(ReleasedSpec {
            iops_permille: services.released.iops_permille,
            bytes_permille: services.released.bytes_permille,
        }),
    };
    Ok(Spec {
        name: name.to_owned(),
        seed: words.seed.unwrap_or(defaults::SEED),
        disks: vec![one; words.count],
        stripe_chunk_bytes: words.chunk_bytes.unwrap_or(defaults::CHUNK_BYTES),
        slices: catalog.about().release,
        vm: vm.map(|vm| host::spec(vm, words.burst, catalog)),
        shared,
        assumed,
        host_cache,
        guest: defaults::guest(ram_bytes),
    })
}

/// How long disks of the family take, as of a year, or by the newest measurements.
fn services(family: Family, year: Option<u16>) -> Result<&'static Services, TargetError> {
    let Some(year) = year else {
        return Ok(family.newest());
    };
    let mut known = family.services().iter();
    known.find(|services| services.year == year).ok_or_else(|| {
        let years = family.services().iter().map(|services| services.year.to_string());
        TargetError::NoService {
            year,
            family: family.name(),
            known: years.collect::<Vec<_>>().join(", "),
        }
    })
}

/// What redundancy across zones adds to service times: that of the machine's zone, or the mean of those that were measured.
fn added(family: Family, words: &Words) -> Result<Added, TargetError> {
    let nothing = Added {
        read_us: 0,
        write_us: 0,
    };
    let zones = family.zone_redundant();
    match (words.zone_redundant, words.zone) {
        (false, None) => Ok(nothing),
        (false, Some(zone)) => Err(TargetError::Zone { zone, most: None }),
        (true, _) if zones.is_empty() => Err(TargetError::NotZoneRedundant(family.name())),
        (true, Some(zone)) => zones.get(zone - 1).copied().ok_or(TargetError::Zone {
            zone,
            most: Some(zones.len()),
        }),
        (true, None) => {
            let mean = |of: fn(&Added) -> u64| zones.iter().map(of).sum::<u64>() / zones.len() as u64;
            Ok(Added {
                read_us: mean(|added| added.read_us),
                write_us: mean(|added| added.write_us),
            })
        }
    }
}

/// The same, each time so much longer.
fn later(service: &ServiceSpec, added_us: u64) -> ServiceSpec {
    let mut service = service.clone();
    for (_, us) in &mut service.quantiles_us {
        *us += added_us as f64;
    }
    if added_us > 0 {
        service.origin = format!(
            "{}; {added_us} us more for redundancy across zones",
            service.origin
        );
    }
    service
}

const fn off() -> PathLimits {
    PathLimits {
        iops: Limit::Off,
        bytes_per_second: Limit::Off,
        burst: None,
    }
}

/// The larger of two limits; of what is not known nothing can be said.
fn larger(one: Limit, other: Limit) -> Limit {
    match (one, other) {
        (Limit::At(one), Limit::At(other)) => Limit::At(one.max(other)),
        (Limit::NotKnown, _) | (_, Limit::NotKnown) => Limit::NotKnown,
        (Limit::Off, _) | (_, Limit::Off) => Limit::Off,
    }
}

/// Limits in front of all disks: of all I/O, or of reads and of writes, and where these share something, of both.
fn in_front(
    owner: &str,
    of_vm: bool,
    (directions, also): (Directions, AlsoTogether),
    (limits, of_writes): (PathLimits, PathLimits),
) -> Vec<SharedSpec> {
    let shared = |counts, limits| SharedSpec {
        owner: owner.to_owned(),
        of_vm,
        counts,
        limits,
    };
    match directions {
        Directions::Together => vec![shared(Counts::All, limits)],
        Directions::Apart => {
            let both = PathLimits {
                iops: if also.iops {
                    larger(limits.iops, of_writes.iops)
                } else {
                    Limit::Off
                },
                bytes_per_second: if also.mbps {
                    larger(limits.bytes_per_second, of_writes.bytes_per_second)
                } else {
                    Limit::Off
                },
                burst: None,
            };
            let of_both = (also != AlsoTogether::default()).then(|| shared(Counts::All, both));
            let apart = [shared(Counts::Reads, limits), shared(Counts::Writes, of_writes)];
            of_both.into_iter().chain(apart).collect()
        }
    }
}

/// The machine's limits on disks of this family, where its cloud has such limits. A machine of which no source states them has
/// limits that are not known.
fn of_machine(vm: &Vm, family: Family, catalog: &Catalog) -> Vec<SharedSpec> {
    if catalog.vm_limits().is_empty() {
        return Vec::new();
    }
    let limit = |rate: Option<u64>| rate.map_or(Limit::NotKnown, Limit::At);
    let row = catalog.vm_limit(vm, family);
    let side = |iops: fn(&VmLimit) -> Option<u64>, bytes: fn(&VmLimit) -> Option<u64>| PathLimits {
        iops: limit(row.and_then(iops)),
        bytes_per_second: limit(row.and_then(bytes)),
        burst: None,
    };
    let reads = side(|row| row.read_iops, |row| row.read_bytes_per_second);
    let writes = side(|row| row.write_iops, |row| row.write_bytes_per_second);
    let together = row.map_or(family.directions() == Directions::Together, |row| row.together);
    let directions = if together {
        Directions::Together
    } else {
        Directions::Apart
    };
    in_front(
        &vm.name,
        true,
        (directions, family.also_together()),
        (reads, writes),
    )
}
