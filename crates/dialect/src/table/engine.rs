//! Options: the system interface that carries I/O out, and how many I/Os are in flight.

use super::row::{OptionRow as Row, Support};
use super::rule::{Choice, Field, Rule, field};
use fathom_core::workload::EngineKind;

const RING: &[&str] = &["io_uring"];
const POLLING: &[&str] = &["io_uring", "pvsync2"];
const PRIORITY: &[&str] = &["io_uring", "libaio"];
/// The kernel's own limit of a completion queue leaves no use for more.
const MAX_DEPTH: i64 = 65_536;

const NEAREST_AIO: Support = Support::NotYet("use io_uring or libaio");
const NO_DISK: Support = Support::Never("it measures something else than a disk");
const NOT_BUILT: Support = Support::NotYet("use io_uring on the block device");

pub(super) static ROWS: &[Row] = &[
    Row::new(
        "ioengine",
        Rule::Choice(&[
            Choice::new("sync", |d| d.job.engine.kind = EngineKind::Sync),
            Choice::new("psync", |d| d.job.engine.kind = EngineKind::Psync),
            Choice::new("pvsync", |d| d.job.engine.kind = EngineKind::Pvsync),
            Choice::new("pvsync2", |d| d.job.engine.kind = EngineKind::Pvsync2),
            Choice::new("mmap", |d| d.job.engine.kind = EngineKind::Mmap),
            Choice::new("libaio", |d| d.job.engine.kind = EngineKind::Libaio),
            Choice::new("io_uring", |d| d.job.engine.kind = EngineKind::IoUring),
            Choice::new("null", |d| d.job.engine.kind = EngineKind::Null),
            Choice::but(
                "vsync",
                Support::Approximate("adjacent I/Os are not coalesced: it runs as pvsync"),
                |d| d.job.engine.kind = EngineKind::Pvsync,
            ),
            Choice::nothing("posixaio", NEAREST_AIO),
            Choice::nothing("splice", Support::NotYet("use psync")),
            Choice::nothing(
                "sg|io_uring_cmd|rbd|rados|nbd|libblkio|xnvme|gfapi|gfapi_async|http|libhdfs",
                NOT_BUILT,
            ),
            Choice::nothing("dev-dax|libpmem|pmemblk", Support::NotYet("use mmap")),
            Choice::nothing("mtd", NOT_BUILT),
            Choice::nothing(
                "e4defrag|falloc|ftruncate|filecreate|filestat|filedelete|cpuio|exec|net|netsplice|rdma",
                NO_DISK,
            ),
        ]),
        "The system interface that carries I/O out",
    )
    .example("io_uring")
    .always_shown(),
    Row::new(
        "iodepth",
        Rule::Number(1, MAX_DEPTH, field!(job.depth.iodepth as u32)),
        "How many I/Os each worker keeps in flight; synchronous interfaces keep one",
    )
    .example("32")
    .shown_behind("nowait"),
    Row::new(
        "iodepth_batch",
        Rule::Number(0, MAX_DEPTH, field!(job.depth.batch_submit as u32)),
        "How many I/Os are submitted at a time at most; 0: all that there is room for",
    )
    .aliases(&["iodepth_batch_submit"])
    .example("8")
    .shown_behind("iodepth"),
    Row::new(
        "iodepth_batch_complete_min",
        Rule::Number(0, MAX_DEPTH, field!(job.depth.batch_complete_min as u32)),
        "How many completions are waited for at a time at least; 0: none while there is room to send",
    )
    .aliases(&["iodepth_batch_complete"])
    .example("4")
    .shown_behind("iodepth_batch"),
    Row::new(
        "iodepth_batch_complete_max",
        Rule::Number(0, MAX_DEPTH, field!(job.depth.batch_complete_max as u32)),
        "How many completions are taken at a time at most; 0: all that are there",
    )
    .example("16")
    .shown_behind("iodepth_batch_complete_min"),
    Row::new(
        "iodepth_low",
        Rule::Number(0, MAX_DEPTH, field!(iodepth_low as u32)),
        "Once full, refill only when no more than this are in flight; 0: at once",
    )
    .example("16")
    .shown_behind("iodepth_batch_complete_max"),
    Row::new(
        "serialize_overlap",
        Rule::ignored_bool(),
        "Keep I/Os on the same blocks from being in flight together",
    )
    .default("0")
    .support(Support::NotYet("use iodepth=1, or keep the random map")),
    Row::new(
        "io_submit_mode",
        Rule::Choice(&[Choice::nothing("inline|offload", Support::Exact)]),
        "Whether the worker submits by itself",
    )
    .default("inline")
    .example("offload")
    .support(Support::NotYet(
        "leave it out: with rate, arrivals keep their schedule anyway",
    )),
    Row::new(
        "hipri",
        Rule::Flag(field!(job.engine.poll)),
        "Poll for completions",
    )
    .only_for(POLLING),
    Row::new(
        "hipri_percentage",
        Rule::Number(0, 100, Field::ignored()),
        "Share of the I/Os that are polled for",
    )
    .default("100")
    .example("50")
    .only_for(&["pvsync2"])
    .support(Support::NotYet("use hipri")),
    Row::new(
        "fixedbufs",
        Rule::Flag(field!(job.engine.fixed_buffers)),
        "Register the buffers with the ring",
    )
    .only_for(RING),
    Row::new(
        "registerfiles",
        Rule::Flag(field!(job.engine.registered_files)),
        "Register the files with the ring",
    )
    .only_for(RING),
    Row::new(
        "sqthread_poll",
        Rule::Flag(field!(job.engine.submission_thread)),
        "Let a kernel thread take submissions",
    )
    .only_for(RING),
    Row::new(
        "sqthread_poll_cpu",
        Rule::Number(
            0,
            8191,
            Field {
                set: |d, cpu| d.job.engine.submission_thread_cpu = Some(cpu as u32),
                get: |d| d.job.engine.submission_thread_cpu.map(i64::from),
            },
        ),
        "The CPU of that thread",
    )
    .example("1")
    .only_for(RING),
    Row::new(
        "nonvectored",
        Rule::Number(
            -1,
            1,
            Field {
                set: |d, n| d.job.engine.vectored = n == 0,
                get: |d| Some(if d.job.engine.vectored { 0 } else { -1 }),
            },
        ),
        "Use plain reads and writes of the ring (1, or -1 where there are any) or vectored ones (0)",
    )
    .example("0")
    .only_for(RING),
    Row::new(
        "uncached",
        Rule::Flag(Field::ignored()),
        "Buffered I/O that leaves nothing in the page cache",
    )
    .default("0")
    .only_for(POLLING)
    .support(Support::NotYet("use direct=1")),
    Row::new(
        "nowait",
        Rule::Flag(field!(job.engine.nowait)),
        "Fail rather than wait within the kernel",
    )
    .only_for(&["pvsync2", "io_uring", "libaio"]),
    Row::new(
        "force_async",
        Rule::ignored_number(),
        "Have every so many I/Os done by kernel workers",
    )
    .default("0")
    .example("1")
    .only_for(RING)
    .support(Support::NotYet("leave it out")),
    Row::new(
        "cmd_type",
        Rule::ignored_text("nvme"),
        "Kind of pass-through commands",
    )
    .example("nvme")
    .only_for(&["io_uring_cmd"])
    .support(Support::NotYet("use io_uring on the block device")),
    Row::new(
        "userspace_reap",
        Rule::Flag(Field::ignored()),
        "Take completions without a system call",
    )
    .default("0")
    .only_for(&["libaio"])
    .support(Support::NoEffect("completions are taken with io_getevents(2)")),
    Row::new(
        "cmdprio_percentage",
        Rule::Percents(Field::ignored()),
        "Share of the I/Os that have priority",
    )
    .default("0")
    .example("20")
    .only_for(PRIORITY)
    .support(Support::NotYet("make a second job for the I/Os with priority")),
    Row::new(
        "cmdprio_class",
        Rule::Number(0, 3, Field::ignored()),
        "Class of I/Os with priority",
    )
    .example("1")
    .only_for(PRIORITY)
    .support(Support::NoEffect("it belongs to cmdprio_percentage")),
    Row::new(
        "cmdprio",
        Rule::Number(0, 7, Field::ignored()),
        "Level of I/Os with priority",
    )
    .example("1")
    .only_for(PRIORITY)
    .support(Support::NoEffect("it belongs to cmdprio_percentage")),
    Row::new(
        "cmdprio_bssplit",
        Rule::ignored_text("size/percent[:…]"),
        "Share of I/Os with priority, by size",
    )
    .example("4k/50")
    .only_for(PRIORITY)
    .support(Support::NotYet("make a second job for the I/Os with priority")),
    Row::new(
        "thp",
        Rule::Flag(Field::ignored()),
        "Use transparent huge pages for the mapping",
    )
    .default("0")
    .only_for(&["mmap"])
    .support(Support::LeftOut("the kernel's own setting holds")),
];
