use super::{AttachError, Attached, VolumeIo};
use crate::Machine;
use crate::catalog::Catalog;
use crate::spec::{CacheMode, Limit, PathLimits, Spec, VmSpec};
use crate::target;
use crate::testing::{MS, SECOND, host_cache, limits, seed, spec};
use fathom_core::backend::{Op, Request};
use fathom_core::rng::Rng;
use fathom_core::units::MonoTime;
use fathom_core::virtual_disk::{Submitter, VirtualDisk};

fn on_machine(iops: u64) -> Spec {
    Spec {
        vm: Some(VmSpec {
            name: String::from("vm"),
            vcpus: None,
            uncached: limits(iops, 1 << 40),
            cached: PathLimits::default(),
            cards: 1,
        }),
        ..spec(1)
    }
}

fn write(volume: usize, ticket: u32, offset_bytes: u64, len_bytes: u32) -> VolumeIo {
    VolumeIo {
        volume,
        ticket,
        op: Op::Write,
        offset_bytes,
        len_bytes,
    }
}

#[test]
fn one_volume_answers_as_the_virtual_machine_does() {
    let seed = seed();
    let mut rng = Rng::new(seed);
    let words = "azure/2xP15,vm=Standard_DS3_v2,cache=rw";
    let spec = target::parse(words, Catalog::azure()).expect(words);
    let mut bare = spec.clone();
    bare.guest.submit_ns = 0;
    let mut machine = Machine::new(&bare);
    machine.attach(Submitter {
        direct: true,
        sync_writes: false,
        file_base_bytes: vec![0],
    });
    let mut attached = Attached::new(&[spec]).expect("one");
    let (mut now, mut said, mut expected) = (0, Vec::new(), Vec::new());
    for ticket in 0..20_000 {
        now += rng.below(MS);
        attached.advance(now, &mut |_, ticket, at| said.push((ticket, at)));
        machine.advance(MonoTime(now), &mut |ticket, at| expected.push((ticket, at.0)));
        let op = [Op::Read, Op::Write, Op::Trim, Op::Sync][rng.below(4) as usize];
        let (offset, len) = (rng.below(1 << 20) * 4096, 4096 << rng.below(8));
        let len = if op == Op::Sync { 0 } else { len as u32 };
        let io = VolumeIo {
            op,
            ..write(0, ticket, offset, len)
        };
        let request = Request {
            slot: 0,
            op,
            file: 0,
            offset,
            len,
        };
        let due = machine.submit(0, ticket, &request, MonoTime(now)).completed;
        let due = (due != MonoTime::NEVER).then_some(due.0);
        assert_eq!(attached.admit(now, io), due, "I/O {ticket} at {now}");
    }
    assert_eq!(said, expected);
    assert!(!said.is_empty(), "a full cache makes writers wait");
}

#[test]
fn volumes_share_the_machine_and_nothing_else() {
    let mut alone = on_machine(1000);
    alone.disks[0].limits = limits(800, 1 << 40);
    let mut both = Attached::new(&[alone.clone(), alone.clone()]).expect("of one machine");
    let mut one = Attached::new(&[alone]).expect("one");
    // At once, 1 s of I/Os for either: alone each may do 800, together 1000.
    let last = |attached: &mut Attached, volumes: u64, ios: u64| {
        let due = (0..ios).map(|n| attached.admit(0, write((n % volumes) as usize, n as u32, n << 12, 4096)));
        due.flatten().max().expect("all known")
    };
    let (alone, shared) = (last(&mut one, 1, 800), last(&mut both, 2, 1600));
    assert!(alone < SECOND, "{alone}");
    assert!((3 * SECOND / 2..17 * SECOND / 10).contains(&shared), "{shared}");
    let vm = both.shared_limits(2 * SECOND);
    let vm: Vec<_> = vm.iter().map(|limit| (limit.name, limit.taken)).collect();
    assert_eq!(vm[0], ("VM uncached IOPS", 1600));
    let own = both.limits(1, 2 * SECOND);
    assert_eq!((own.len(), own[0].name, own[0].taken), (2, "disk IOPS", 800));
}

#[test]
fn disks_of_several_machines_are_refused() {
    let mut other = on_machine(1000);
    other.vm.as_mut().expect("a machine").name = String::from("another");
    let error = Attached::new(&[on_machine(1000), other]).expect_err("two machines");
    assert!(matches!(error, AttachError::Machines { .. }), "{error}");
    assert_eq!(Attached::new(&[]).expect_err("nothing"), AttachError::None);
}

#[test]
fn credit_is_told_as_it_is_spent_and_saved() {
    let words = "azure/P4";
    let mut spec = target::parse(words, Catalog::azure()).expect(words);
    spec.disks[0].limits.bytes_per_second = Limit::Off;
    let Limit::At(base) = spec.disks[0].limits.iops else {
        panic!("P4 has a limit");
    };
    for even in [false, true] {
        if even {
            spec.slices.slice_ns = 0;
        }
        let mut attached = Attached::new(std::slice::from_ref(&spec)).expect("one");
        let credit = |attached: &Attached, at| {
            let limits = attached.limits(0, at);
            let credit = limits.iter().find(|limit| limit.credit_full.is_some());
            let credit = credit.expect("a burst");
            (
                credit.credit_left.expect("a bucket"),
                credit.credit_full.expect("a bucket"),
            )
        };
        let (left, full) = credit(&attached, 0);
        assert!(left * 100 >= full * 99, "{left} of {full}");
        // A second of bursting at 1000 a second above the base.
        let rate = base + 1000;
        for n in 0..rate {
            attached.admit(n * SECOND / rate, write(0, n as u32, n << 12, 4096));
        }
        let (later, _) = credit(&attached, SECOND);
        let spent = left.saturating_sub(later);
        assert!((900..1100).contains(&spent), "even {even}: {spent}");
        let (saved, _) = credit(&attached, 3600 * SECOND);
        assert!(saved > later);
    }
}

#[test]
fn a_cached_volume_beside_another_uses_the_machines_cached_limits() {
    let mut cached = on_machine(100_000);
    cached.vm.as_mut().expect("a machine").cached = limits(100, 1 << 40);
    let direct = cached.clone();
    cached.host_cache = Some(host_cache(CacheMode::ReadOnly));
    let mut attached = Attached::new(&[cached, direct]).expect("of one machine");
    let mut read = |volume, ticket| {
        let io = VolumeIo {
            op: Op::Read,
            ..write(volume, ticket, 0, 4096)
        };
        attached.admit(0, io).expect("reads do not wait")
    };
    let through_cache = (0..50).map(|n| read(0, n)).max().expect("some");
    let past_it = (50..100).map(|n| read(1, n)).max().expect("some");
    assert!(through_cache > 400 * MS, "{through_cache}");
    assert!(past_it < 10 * MS, "{past_it}");
    let states = attached.shared_limits(SECOND);
    assert!(
        states
            .iter()
            .any(|limit| limit.name == "VM cached IOPS" && limit.taken == 50)
    );
}
