use super::{Field, Grade, conditions, twins};
use crate::fixtures;
use fathom_core::run::{ModelSummary, Run};
use fathom_core::workload::BlockSize;

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
