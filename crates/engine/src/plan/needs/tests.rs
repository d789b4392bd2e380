//! What plans need at once.

use super::super::Plan;
use super::WORKER_BYTES;
use fathom_core::workload::{Amount, BlockSize, EngineKind, Job, Workload, ZoneRules};

fn job(kind: EngineKind, workers: u32, stonewall: bool) -> Job {
    let mut job = Job {
        numjobs: workers,
        ..Job::default()
    };
    job.engine.kind = kind;
    job.start.stonewall = stonewall;
    job.region.size = Some(Amount::Bytes(1 << 20));
    job.depth.iodepth = 4;
    job
}

fn plan(jobs: Vec<Job>) -> Plan {
    Plan::modelled(&Workload { jobs }, 1 << 40).expect("a plan")
}

#[test]
fn jobs_behind_a_wall_are_not_there_at_the_same_time() {
    let plan = plan(vec![
        job(EngineKind::Null, 3, false),
        job(EngineKind::Null, 4, false),
        job(EngineKind::Null, 5, true),
    ]);
    let workers: Vec<u64> = plan.needs().iter().map(|needs| needs.workers).collect();
    assert_eq!(workers, [7, 5]);
}

#[test]
fn queues_are_counted_with_their_engine() {
    let needs = plan(vec![
        job(EngineKind::IoUring, 3, false),
        job(EngineKind::Libaio, 2, false),
        job(EngineKind::Psync, 1, false),
    ]);
    let needs = needs.needs()[0];
    assert_eq!((needs.rings, needs.aio_queues, needs.aio_requests), (3, 2, 8));
    // Parts of a modelled disk are not opened.
    assert_eq!((needs.opens, needs.mapped), (0, 0));
    assert_eq!(
        needs.memory_bytes(),
        6 * WORKER_BYTES + needs.buffer_bytes + needs.map_bytes
    );
}

#[test]
fn a_map_of_visited_blocks_counts_where_there_is_one() {
    let mut mixed = job(EngineKind::Psync, 2, false);
    mixed.pattern.random = true;
    assert_eq!(plan(vec![mixed.clone()]).needs()[0].map_bytes, 0);
    mixed.block_size = [0, 1, 2].map(|_| BlockSize::Range {
        min: 512,
        max: 4096,
        unaligned: false,
    });
    assert_eq!(plan(vec![mixed]).needs()[0].map_bytes, 2 * (1 << 20) / 512 / 8);
}

/// A table a file, however many jobs and workers share it, for the whole run.
#[test]
fn tables_of_zones_count_once_a_file() {
    let mut zoned = job(EngineKind::Psync, 2, false);
    zoned.region.size = Some(Amount::Bytes(1 << 30));
    zoned.files.names = vec![std::path::PathBuf::from("one")];
    zoned.pattern.zones = Some(ZoneRules {
        size_bytes: 1 << 16,
        ..ZoneRules::default()
    });
    let mut behind = zoned.clone();
    behind.start.stonewall = true;
    let needs = plan(vec![zoned, behind]).needs();
    assert_eq!(needs.len(), 2);
    let table_bytes = (1 << 14) * crate::zones::BYTES_A_ZONE;
    for needs in needs {
        assert_eq!(needs.zone_bytes, table_bytes);
        assert!(needs.memory_bytes() >= 2 * WORKER_BYTES + table_bytes);
    }
}
