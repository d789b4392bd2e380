use super::{Field, Grade, conditions, twins};
use crate::fixtures;
use fathom_core::run::TargetKind;
use fathom_core::run::{ModelSummary, Run};
use fathom_core::workload::{Amount, BlockSize};

fn fields(a: &Run, b: &Run) -> Vec<Field> {
    conditions(&[a], &[b]).into_iter().map(|one| one.field).collect()
}

#[test]
fn a_load_that_asks_something_else_is_refused_and_a_machine_named() {
    let run = fixtures::quiet();
    assert!(fields(&run, &run).is_empty());
    let mut larger = run.clone();
    for job in &mut larger.workload.jobs {
        job.block_size = [const { BlockSize::Fixed(65_536) }; 3];
    }
    assert_eq!(fields(&run, &larger), [Field::BlockSize]);
    let mut buffered = run.clone();
    for job in &mut buffered.workload.jobs {
        job.direct = !job.direct;
    }
    let found = conditions(&[&run], &[&buffered]);
    assert_eq!(found[0].field, Field::PageCache);
    assert_eq!(found[0].grade(), Grade::Refused);
    let mut elsewhere = run.clone();
    elsewhere.environment.kernel = String::from("6.99");
    let found = conditions(&[&run, &run], &[&elsewhere]);
    assert_eq!((found.len(), found[0].grade()), (1, Grade::Named));
    assert_eq!(found[0].sides[1], ["6.99"]);
    let within = conditions(&[&run, &elsewhere], &[&run]);
    assert!(within[0].within_a_side());
}

/// A file that is a hundred times as large as another is another question; a larger device may be what the comparison is about.
#[test]
fn another_span_is_refused_and_a_larger_device_named() {
    let mut run = fixtures::quiet();
    run.workload.jobs[0].region.size = Some(Amount::Bytes(1 << 30));
    run.summary.target.files[0].size_bytes = 1 << 30;
    let mut larger = run.clone();
    larger.workload.jobs[0].region.size = Some(Amount::Bytes(100 << 30));
    let found = conditions(&[&run], &[&larger]);
    assert_eq!((found[0].field, found[0].grade()), (Field::Size, Grade::Refused));
    assert_eq!(
        found[0].sides,
        [vec![String::from("1 GiB")], vec![String::from("100 GiB")]]
    );
    let mut elsewhere = run.clone();
    elsewhere.workload.jobs[0].region.offset = Some(Amount::Percent(50));
    assert_eq!(fields(&run, &elsewhere), [Field::Size]);
    // The same part of a larger file.
    let mut of_more = run.clone();
    of_more.summary.target.files[0].size_bytes = 100 << 30;
    let found = conditions(&[&run], &[&of_more]);
    assert_eq!(
        (found[0].field, found[0].grade()),
        (Field::Capacity, Grade::Named)
    );
    // All that there is: of a file somebody chose it, of a device it is the device's own.
    let whole = |kind: TargetKind, size_bytes: u64| {
        let mut run = run.clone();
        run.workload.jobs[0].region.size = None;
        run.summary.target.files[0].kind = kind;
        run.summary.target.files[0].size_bytes = size_bytes;
        run
    };
    let of = |kind| fields(&whole(kind, 1 << 30), &whole(kind, 100 << 30));
    assert_eq!(of(TargetKind::File), [Field::Size, Field::Capacity]);
    assert_eq!(of(TargetKind::BlockDevice), [Field::Capacity]);
}

#[test]
fn another_number_of_jobs_is_told_once() {
    let run = fixtures::quiet();
    let mut more = run.clone();
    let mut other = more.workload.jobs[0].clone();
    other.numjobs = 7;
    more.workload.jobs.push(other);
    assert_eq!(fields(&run, &more), [Field::Jobs]);
}

#[test]
fn a_host_cache_on_one_side_only_is_seen_and_so_are_twins() {
    let run = fixtures::quiet();
    let modelled = |seed: u64, hits: u64| {
        let mut run = run.clone();
        run.summary.model = Some(ModelSummary {
            seed,
            host_cache_hits: hits,
            ..ModelSummary::default()
        });
        run
    };
    let (one, other, cached) = (modelled(1, 0), modelled(2, 0), modelled(3, 9));
    assert!(fields(&one, &cached).contains(&Field::HostCache));
    assert_eq!(twins(&[&one, &other, &one]), Some((0, 2)));
    assert_eq!(twins(&[&one, &other]), None);
    assert_eq!(twins(&[&run, &run]), None, "real runs are chance");
}

#[test]
fn each_condition_has_a_name_of_its_own() {
    for field in Field::ALL {
        assert_eq!(Field::from_name(field.name()), Some(field));
    }
}
