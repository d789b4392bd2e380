//! Made-up rows for the tests.

use super::StreamRow;
use crate::RunWriter;
use fathom_core::backend::Op;
use fathom_core::record::{
    BlockFlags, BlockOp, BlockRequest, BlockedOn, Comm, CounterRow, CpuShare, IoRecord, KernelSpan,
    ProcessRow, SchedSlice, SpanKind, TaskState,
};
use fathom_core::rng::Rng;
use fathom_testkit::make;
use proptest::prelude::*;
use std::path::Path;

/// Numbers of any size, the extremes often.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), Just(0), Just(u64::MAX), Just(1 << 63), 0u64..1000]
}

fn comm() -> impl Strategy<Value = Comm> {
    let bytes = prop::collection::vec(any::<u8>(), 0..20).prop_map(|bytes| Comm::new(&bytes));
    let text = r"[a-z\\x0-9é]{0,15}".prop_map(|text: String| Comm::from(text));
    prop_oneof![bytes, text, Just(Comm::from(r"\x41\\"))]
}

pub(crate) trait AnyRow: StreamRow + PartialEq + std::fmt::Debug {
    fn any() -> BoxedStrategy<Self>;
}

impl AnyRow for IoRecord {
    fn any() -> BoxedStrategy<Self> {
        let op = prop::sample::select(vec![Op::Read, Op::Write, Op::Trim, Op::Sync, Op::DataSync]);
        let stamps = [number(), number(), number(), number(), number()];
        (stamps, any::<[u32; 5]>(), any::<u16>(), op)
            .prop_map(|(wide, narrow, errno, op)| Self {
                intended_ns: wide[0],
                created_ns: wide[1],
                submitted_ns: wide[2],
                completed_ns: wide[3],
                offset_bytes: wide[4],
                len_bytes: narrow[0],
                file: narrow[1],
                job: narrow[2],
                worker: narrow[3],
                depth: narrow[4],
                errno,
                op,
                priority: 0,
            })
            .boxed()
    }
}

impl AnyRow for BlockRequest {
    fn any() -> BoxedStrategy<Self> {
        let step = || prop::option::of(number());
        let times = (step(), step(), step(), step(), number());
        let op = prop::sample::select(BlockOp::ALL.to_vec());
        let counts = (any::<[u32; 4]>(), any::<[u16; 3]>(), any::<u8>());
        (times, number(), counts, op, (comm(), comm()))
            .prop_map(
                |(times, sector, (wide, narrow, flags), op, (comm, owner_comm))| Self {
                    device: wide[0],
                    queued_ns: times.0,
                    allocated_ns: times.1,
                    inserted_ns: times.2,
                    issued_ns: times.3,
                    completed_ns: times.4,
                    sector,
                    len_bytes: wide[1],
                    op,
                    flags: BlockFlags(flags),
                    requeues: narrow[0],
                    merges: narrow[1],
                    errno: narrow[2],
                    pid: wide[2],
                    comm,
                    owner_pid: wide[3],
                    owner_comm,
                },
            )
            .boxed()
    }
}

impl AnyRow for CounterRow {
    fn any() -> BoxedStrategy<Self> {
        let value = prop_oneof![
            any::<f64>(),
            prop::sample::select(vec![
                f64::INFINITY,
                f64::NEG_INFINITY,
                f64::MIN_POSITIVE,
                f64::MAX,
                -0.0
            ])
        ];
        (number(), ".{0,12}", ".{0,12}", value)
            .prop_map(|(at_ns, metric, labels, value)| Self {
                at_ns,
                metric: metric.into(),
                labels: labels.into(),
                value,
            })
            .boxed()
    }
}

impl AnyRow for ProcessRow {
    fn any() -> BoxedStrategy<Self> {
        let numbers = [number(), number(), number(), number(), number(), number()];
        (numbers, any::<u32>(), comm())
            .prop_map(|(numbers, pid, comm)| Self {
                at_ns: numbers[0],
                duration_ns: numbers[1],
                pid,
                comm,
                cpu_ns: numbers[2],
                run_delay_ns: numbers[3],
                read_bytes: numbers[4],
                written_bytes: numbers[5],
            })
            .boxed()
    }
}

impl AnyRow for SchedSlice {
    fn any() -> BoxedStrategy<Self> {
        let state = prop::sample::select(TaskState::ALL.to_vec());
        let blocked_on = prop::sample::select(BlockedOn::ALL.to_vec());
        (
            prop::option::of(number()),
            [number(), number()],
            any::<[u32; 3]>(),
            (comm(), comm()),
            (state, blocked_on),
        )
            .prop_map(
                |(
                    ready_ns,
                    [start_ns, end_ns],
                    [cpu, tid, waker_tid],
                    (comm, waker_comm),
                    (state, blocked_on),
                )| Self {
                    cpu,
                    tid,
                    comm,
                    ready_ns,
                    start_ns,
                    end_ns,
                    state,
                    blocked_on,
                    waker_tid,
                    waker_comm,
                },
            )
            .boxed()
    }
}

/// I/Os of three workers, each in order of time, in turns of up to a second.
pub(crate) fn ios(seed: u64, count: usize) -> Vec<IoRecord> {
    let mut rng = Rng::new(seed);
    let mut clocks = [5_000_000_000u64; 3];
    let (mut worker, mut turn) = (0, 0);
    (0..count)
        .map(|_| {
            if turn == 0 {
                worker = (worker + 1) % 3;
                turn = 1 + rng.below(100);
            }
            turn -= 1;
            let created = clocks[worker];
            clocks[worker] += 10_000 + rng.below(20_000_000);
            IoRecord {
                intended_ns: created - rng.below(1000),
                submitted_ns: created + 900,
                offset_bytes: rng.below(1 << 18) << 12,
                worker: worker as u32,
                errno: u16::from(rng.below(50) == 0) * 5,
                op: if rng.below(4) == 0 { Op::Write } else { Op::Read },
                ..make::io(created, clocks[worker])
            }
        })
        .collect()
}

/// A run directory under way.
pub(crate) fn directory(dir: &Path) -> RunWriter {
    RunWriter::create(dir, &crate::fixtures::run()).expect("created")
}

/// All rows of a stream, and whether it has its end.
pub(crate) fn read<R: StreamRow>(dir: &Path) -> Result<(Vec<R>, bool), crate::StoreError> {
    let mut reader = crate::RecordReader::<R>::open(dir)?;
    let mut rows = Vec::new();
    reader.for_each_batch(|some| rows.extend_from_slice(some))?;
    Ok((rows, reader.complete()))
}

impl AnyRow for CpuShare {
    fn any() -> BoxedStrategy<Self> {
        ([number(), number(), number()], any::<[u32; 2]>(), comm())
            .prop_map(|([end_ns, duration_ns, ran_ns], [cpu, tid], comm)| Self {
                end_ns,
                duration_ns,
                cpu,
                tid,
                comm,
                ran_ns,
            })
            .boxed()
    }
}

impl AnyRow for KernelSpan {
    fn any() -> BoxedStrategy<Self> {
        let kind = prop::sample::select(SpanKind::ALL.to_vec());
        (
            [number(), number(), number()],
            any::<[u32; 3]>(),
            [comm(), comm()],
            kind,
        )
            .prop_map(
                |([start_ns, end_ns, about], [device, tid, by_tid], [comm, by_comm], kind)| Self {
                    kind,
                    start_ns,
                    end_ns,
                    device,
                    tid,
                    comm,
                    about,
                    by_tid,
                    by_comm,
                },
            )
            .boxed()
    }
}
