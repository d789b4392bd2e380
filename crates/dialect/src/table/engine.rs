//! Options: the system interface that carries I/O out, and how many I/Os are in flight.

use super::not_carried_out::{FLAG, not_carried_out, number, words};
use super::row::OptionRow as Row;
use super::row::Support::{self, Approximate, NoEffect, NotYet};
use super::rule::{Choice, Field, MAX_COUNT, Rule, field};
use crate::diagnostic::Fault;
use crate::draft::{Draft, merge};
use crate::value;
use fathom_core::workload::{EngineKind, IoPriority, SizePriority};
use std::ops::RangeInclusive;

const RING: &[&str] = &["io_uring", "io_uring_cmd"];
const POLLING: &[&str] = &["io_uring", "io_uring_cmd", "pvsync2", "sg"];
const SG: &[&str] = &["sg"];
const PRIORITY: &[&str] = &["io_uring", "libaio"];
/// The kernel's own limit of a completion queue leaves no use for more.
const MAX_DEPTH: i64 = 65_536;

/// `1` or `1,2`: of reads, of writes.
fn set_priorities(
    draft: &mut Draft,
    text: &str,
    range: RangeInclusive<u8>,
    set: fn(&mut IoPriority, u8),
) -> Result<(), Fault> {
    let number = |field: &str| {
        let number: Option<u8> = field.trim().parse().ok();
        number.filter(|number| range.contains(number)).ok_or_else(|| {
            Fault::new(format!(
                "`{}` is not between {} and {}",
                field.trim(),
                range.start(),
                range.end()
            ))
        })
    };
    let given = value::per_direction(text, number)?;
    for (priority, number) in draft.job.command_priorities.priority.iter_mut().zip(given) {
        if let Some(number) = number {
            set(priority, number);
        }
    }
    Ok(())
}

fn show_priorities(draft: &Draft, get: fn(&IoPriority) -> u8) -> Option<String> {
    let priorities = &draft.job.command_priorities.priority;
    value::show_per_direction(
        priorities
            .each_ref()
            .map(|priority| Some(get(priority).to_string())),
    )
}

/// `4k/50:8k/10/1/3`, and the same of writes behind a comma.
fn set_size_priorities(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    let kb_base = draft.kb_base;
    let wrong = |entry: &str| {
        Fault::new(format!("`{entry}` is no share of a size")).remedy("write such as 4k/50 or 4k/50/1/0")
    };
    let entry = |entry: &str| {
        let mut parts = entry.split('/').map(str::trim);
        let mut part = || parts.next().filter(|part| !part.is_empty());
        let bytes = value::size(part().ok_or_else(|| wrong(entry))?, kb_base)?;
        let mut number = |most: u8| match part() {
            None => Ok(None),
            Some(text) => match text.parse() {
                Ok(number) if number <= most => Ok(Some(number)),
                _ => Err(wrong(entry)),
            },
        };
        let percent = number(100)?.ok_or_else(|| wrong(entry))?;
        let priority = match (number(3)?, number(7)?) {
            (None, None) => None,
            (Some(class), Some(level)) => Some(IoPriority { class, level }),
            _ => return Err(wrong(entry)),
        };
        Ok(SizePriority {
            bytes,
            percent,
            priority,
        })
    };
    let all = |field: &str| {
        let shares: Vec<SizePriority> = field.split(':').map(entry).collect::<Result<_, Fault>>()?;
        for share in &shares {
            let same = shares.iter().filter(|other| other.bytes == share.bytes);
            if same.map(|other| u32::from(other.percent)).sum::<u32>() > 100 {
                return Err(Fault::new(format!(
                    "the shares of {} bytes exceed 100 %",
                    share.bytes
                )));
            }
        }
        Ok(shares)
    };
    merge(
        &mut draft.job.command_priorities.by_size,
        value::per_direction(text, all)?,
    );
    Ok(())
}

fn show_size_priorities(draft: &Draft) -> Option<String> {
    let by_size = &draft.job.command_priorities.by_size;
    if by_size.iter().all(Vec::is_empty) {
        return None;
    }
    let entry = |share: &SizePriority| {
        let own = share.priority.map_or_else(String::new, |priority| {
            format!("/{}/{}", priority.class, priority.level)
        });
        format!("{}/{}{own}", value::show_size(share.bytes), share.percent)
    };
    value::show_per_direction(
        by_size.each_ref().map(|shares| {
            (!shares.is_empty()).then(|| shares.iter().map(entry).collect::<Vec<_>>().join(":"))
        }),
    )
}

pub(super) static ROWS: &[&[Row]] = &[
    &[
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
                Choice::but(
                    "posixaio",
                    Support::Approximate(
                        "threads of the kernel carry the I/Os out, not those of the C library",
                    ),
                    |d| d.job.engine.kind = EngineKind::Posixaio,
                ),
                Choice::new("splice", |d| d.job.engine.kind = EngineKind::Splice),
                Choice::new("falloc", |d| d.job.engine.kind = EngineKind::Falloc),
                Choice::new("ftruncate", |d| d.job.engine.kind = EngineKind::Ftruncate),
                Choice::new("filecreate", |d| d.job.engine.kind = EngineKind::FileCreate),
                Choice::new("filestat", |d| d.job.engine.kind = EngineKind::FileStat),
                Choice::new("filedelete", |d| d.job.engine.kind = EngineKind::FileDelete),
                Choice::new("dircreate", |d| d.job.engine.kind = EngineKind::DirCreate),
                Choice::new("dirstat", |d| d.job.engine.kind = EngineKind::DirStat),
                Choice::new("dirdelete", |d| d.job.engine.kind = EngineKind::DirDelete),
                Choice::but(
                    "exec",
                    Approximate("looks at the program are not counted as I/Os, and a job without time_based ends with it"),
                    |d| d.job.engine.kind = EngineKind::Exec,
                ),
                Choice::new("nbd", |d| d.job.engine.kind = EngineKind::Nbd),
                Choice::new("http", |d| d.job.engine.kind = EngineKind::Http),
                Choice::new("net", |d| d.job.engine.kind = EngineKind::Net),
                Choice::new("io_uring_cmd", |d| d.job.engine.kind = EngineKind::IoUringCmd),
                Choice::new("sg", |d| d.job.engine.kind = EngineKind::Sg),
                Choice::nothing(
                    "xnvme|libblkio",
                    Support::NotYet(
                        "use io_uring_cmd on /dev/ng0n1, or io_uring on the block device",
                    ),
                ),
                Choice::nothing(
                    "rbd",
                    Support::NotYet("map it with rbd(8), and use io_uring on /dev/rbd0"),
                ),
                Choice::nothing(
                    "libiscsi",
                    Support::NotYet("log in with iscsiadm(8), and use io_uring on the block device"),
                ),
                Choice::nothing(
                    "gfapi|gfapi_async|libhdfs|nfs|dfs|ime_psync|ime_psyncv|ime_aio",
                    Support::NotYet("mount the file system, and use io_uring or psync on files there"),
                ),
                Choice::nothing("rados", Support::NotYet("use rados bench")),
                Choice::nothing("dev-dax|libpmem|pmemblk", Support::NotYet("use mmap")),
                Choice::nothing(
                    "librpma_apm_client|librpma_apm_server|librpma_gpspm_client|librpma_gpspm_server",
                    Support::NotYet("use mmap on the machine that has the memory"),
                ),
                Choice::nothing("mtd", Support::NotYet("use io_uring on /dev/mtdblock0")),
                Choice::nothing(
                    "libzbc",
                    Support::NotYet("use io_uring with zonemode=zbd: the kernel reads the zones"),
                ),
                Choice::nothing(
                    "libcufile",
                    Support::NotYet("memory of GPUs is not known: use io_uring"),
                ),
                Choice::nothing(
                    "cpp_null|guasi|windowsaio|solarisaio|binject|external",
                    Support::NotYet("use null, libaio or io_uring"),
                ),
                Choice::nothing("e4defrag", Support::Never("use e4defrag(8)")),
                Choice::nothing("cpuio", Support::Never("it loads processors: use stress-ng(1)")),
                Choice::nothing(
                    "netsplice",
                    Support::Never("use net, which sends and receives the same blocks"),
                ),
                Choice::nothing(
                    "rdma",
                    Support::Never("it measures a network: use ib_write_bw(1)"),
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
    ],
    not_carried_out! {
        "io_submit_mode", words!("inline|offload"), "inline", "offload",
            "Whether the worker submits by itself"
            => NoEffect("the worker submits by itself: with a rate, arrivals keep their schedule anyway");
    },
    &[
        Row::new(
            "serialize_overlap",
            Rule::Bool(field!(job.serialize_overlap)),
            "Keep I/Os on the same bytes from being in flight together, where one of them writes",
        ),
        Row::new(
            "hipri",
            Rule::Flag(field!(job.engine.poll)),
            "Poll for completions",
        )
        .only_for(POLLING),
    ],
    not_carried_out! {
        "hipri_percentage" for &["pvsync2"], number(0, 100), "100", "50",
            "Share of the I/Os that are polled for" => Approximate("all are polled for, or with hipri=0 none");
    },
    &[
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
    ],
    not_carried_out! {
        "uncached" for &["io_uring", "pvsync2"], FLAG, "0", "", "Buffered I/O that leaves nothing in the page cache"
            => NotYet("use direct=1");
    },
    &[
        Row::new(
            "nowait",
            Rule::Flag(field!(job.engine.nowait)),
            "Fail rather than wait within the kernel",
        )
        .only_for(&["pvsync2", "io_uring", "libaio"]),
        Row::new(
            "force_async",
            Rule::Number(0, MAX_COUNT, field!(job.engine.kernel_threads_every as u32)),
            "Every so many I/Os are carried out by threads of the kernel",
        )
        .example("4")
        .only_for(RING),
    ],
    &[
        Row::new(
            "thp",
            Rule::Flag(field!(job.engine.huge_mappings)),
            "Ask for huge pages for the mappings",
        )
        .only_for(&["mmap"]),
        Row::new(
            "cmdprio_percentage",
            Rule::Percents(Field {
                set: |d, given| {
                    merge(
                        &mut d.job.command_priorities.percent,
                        given.map(|percent| percent.map(|percent| percent as u8)),
                    );
                },
                get: |d| {
                    let percent = d.job.command_priorities.percent;
                    Some(percent.map(|percent| Some(percent.into())))
                },
            }),
            "Share of the I/Os that have a priority of their own",
        )
        .default("0")
        .example("20")
        .only_for(PRIORITY),
        Row::new(
            "cmdprio_class",
            Rule::Text(
                "number[,number]",
                |d, text| set_priorities(d, text, 1..=3, |priority, class| priority.class = class),
                |d| show_priorities(d, |priority| priority.class),
            ),
            "Their class: 1 real time, 2 best effort, 3 idle",
        )
        .default("1")
        .example("2")
        .only_for(PRIORITY),
        Row::new(
            "cmdprio",
            Rule::Text(
                "number[,number]",
                |d, text| set_priorities(d, text, 0..=7, |priority, level| priority.level = level),
                |d| show_priorities(d, |priority| priority.level),
            ),
            "Their level within the class, 0 first",
        )
        .default("0")
        .example("1")
        .only_for(PRIORITY),
        Row::new(
            "cmdprio_bssplit",
            Rule::SizeText(
                "size/percent[/class/level][:…]",
                set_size_priorities,
                show_size_priorities,
            ),
            "Share of the I/Os of each size that have a priority of their own",
        )
        .example("4k/50")
        .only_for(PRIORITY),
    ],
    &[
        Row::new(
            "cmd_type",
            Rule::Choice(&[Choice::new("nvme", |_| {})]),
            "Kind of the commands that are passed through",
        )
        .default("nvme")
        .example("nvme")
        .only_for(&["io_uring_cmd"]),
        Row::new(
            "readfua",
            Rule::Bool(field!(job.engine.reads_medium)),
            "Read from the medium, not from the disk's cache",
        )
        .only_for(SG),
        Row::new(
            "writefua",
            Rule::Bool(field!(job.engine.writes_medium)),
            "Have each write on the medium before it is done",
        )
        .only_for(SG),
        Row::new(
            "sg_write_mode",
            Rule::Choice(&[
                Choice::new("write", |_| {}),
                Choice::nothing(
                    "write_and_verify|verify|write_same|same|write_same_ndob|verify_bytchk_00|verify_bytchk_01|verify_bytchk_11|write_stream",
                    NotYet("use sg_write_mode=write, and verify= to have what was written compared"),
                ),
            ]),
            "The SCSI command that writes",
        )
        .default("write")
        .example("write")
        .only_for(SG),
    ],
    not_carried_out! {
        "stream_id" for SG, number(0, 255), "0", "1", "Stream of WRITE STREAM(16)"
            => NotYet("leave it out: it belongs to sg_write_mode=write_stream");
        "userspace_reap" for &["libaio"], FLAG, "0", "", "Take completions without a system call"
            => NoEffect("completions are taken with io_getevents(2)");
    },
];
