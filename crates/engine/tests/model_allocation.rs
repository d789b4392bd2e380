//! In virtual time nothing is allocated on an I/O's way through the modelled machine, once it is warm.

use fathom_core::backend::{Op, Request};
use fathom_core::rng::Rng;
use fathom_core::units::MonoTime;
use fathom_core::virtual_disk::{Submitter, VirtualDisk};
use fathom_model::Machine;
use fathom_model::spec::{
    BurstSpec, CrowdingSpec, DiskSpec, GuestSpec, KIB, Limit, OutageSpec, PageCacheSpec, PathLimits,
    SeekSpec, ServiceSpec, SliceSpec, Spec, VmSpec,
};
use fathom_sys::counting_allocator::{self, CountingAllocator};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const MS: u64 = 1_000_000;

fn service() -> ServiceSpec {
    ServiceSpec {
        quantiles_us: vec![(0.0, 500.0), (99.0, 3000.0), (100.0, 90_000.0)],
        reference_bytes: 4096,
        ns_per_kib: 20_000,
        origin: String::new(),
    }
}

/// Everything that direct I/O meets.
fn spec() -> Spec {
    let limits = PathLimits {
        iops: Limit::At(4000),
        bytes_per_second: Limit::At(200_000_000),
        burst: Some(BurstSpec {
            iops_credit: None,
            bytes_credit: None,
            iops: Limit::At(20_000),
            bytes_per_second: Limit::At(500_000_000),
            full_seconds: 3,
            level_percent: 100,
        }),
    };
    let disk = DiskSpec {
        handling: None,
        merged_streams: 0,
        whole_units: false,
        burst_bytes_need_io_credit: false,
        released: None,
        name: String::from("disk"),
        size_bytes: 1 << 30,
        io_unit_bytes: 256 * KIB,
        limits: limits.clone(),
        write_bytes_per_second: Limit::At(100_000_000),
        read: service(),
        write: service(),
        seek: Some(SeekSpec {
            read_min_ns: 0,
            read_max_ns: MS,
            write_min_ns: 0,
            write_max_ns: MS,
            write_cost_bytes: 100,
            streams: 8,
        }),
        crowding: Some(CrowdingSpec {
            ns_per_io: 1000,
            most: 16,
        }),
        outages: vec![OutageSpec::Every {
            period_ns: 1000 * MS,
            first_ns: 0,
            duration_ns: 20 * MS,
        }],
    };
    Spec {
        shared: Vec::new(),
        assumed: Vec::new(),
        name: String::from("test"),
        seed: 1,
        disks: vec![disk; 2],
        stripe_chunk_bytes: 64 * KIB,
        slices: SliceSpec {
            slice_ns: 50 * MS,
            factor_permille: 1020,
        },
        vm: Some(VmSpec {
            cards: 1,
            name: String::from("vm"),
            vcpus: None,
            uncached: limits,
            cached: PathLimits::default(),
        }),
        host_cache: None,
        guest: GuestSpec {
            submit_ns: 0,
            page_cache: PageCacheSpec {
                capacity_bytes: 64 << 20,
                background_bytes: 4 << 20,
                throttle_bytes: 8 << 20,
                expire_ns: 30_000 * MS,
                wake_ns: 5000 * MS,
                merge_bytes: 512 * KIB,
                in_flight: 4,
                call_ns: 1000,
                copy_ns_per_kib: 250,
            },
        },
    }
}

/// 32 at a time, each anew when it has ended.
fn drive(machine: &mut Machine, ends: &mut [u64; 32], rng: &mut Rng, ios: u32) {
    for _ in 0..ios {
        let slot = (0..32).min_by_key(|&slot| ends[slot]).unwrap_or(0);
        let request = Request {
            slot: slot as u32,
            op: [Op::Read, Op::Write, Op::Sync][rng.below(3) as usize],
            file: 0,
            offset: rng.below(200_000) * 4096,
            len: 4096 << rng.below(6),
        };
        let accepted = machine.submit(0, slot as u32, &request, MonoTime(ends[slot]));
        ends[slot] = accepted.completed.0;
    }
}

#[test]
fn a_warm_machine_allocates_nothing() {
    let spec = spec();
    spec.validate().expect("a valid spec");
    let mut machine = Machine::new(&spec);
    machine.attach(Submitter {
        direct: true,
        sync_writes: false,
        file_base_bytes: vec![0],
    });
    let (mut ends, mut rng) = ([0; 32], Rng::new(1));
    drive(&mut machine, &mut ends, &mut rng, 100_000);
    counting_allocator::start();
    drive(&mut machine, &mut ends, &mut rng, 200_000);
    let counts = counting_allocator::stop();
    assert_eq!((counts.allocations, counts.frees), (0, 0));
    // The counter counts.
    counting_allocator::start();
    drop(std::hint::black_box(Box::new([0u8; 64])));
    assert_eq!(counting_allocator::stop().allocations, 1);
}
