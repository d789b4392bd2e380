//! Options: names of jobs, workers, processors, and which job waits for which.

use super::not_carried_out::{not_carried_out, text};
use super::row::OptionRow as Row;
use super::row::Support::NotYet;
use super::rule::{Choice, Field, MAX_COUNT, Rule, field, reads};
use crate::diagnostic::Fault;
use crate::draft::Draft;
use crate::value::{self, TimeUnit};
use fathom_core::workload::{IoPriority, MemoryMode, MemoryPolicy};

/// More workers than any machine has room for: what fits is decided before the run.
const MAX_WORKERS: i64 = 1 << 20;

/// The kernel's number of the class that a thread has without one, and that fio takes for none.
const BEST_EFFORT: u8 = 2;

/// The I/O priority; asked for in part, it is the first level of the default class, as in fio.
fn io_priority(draft: &mut Draft) -> &mut IoPriority {
    draft.job.io_priority.get_or_insert(IoPriority {
        class: BEST_EFFORT,
        level: 0,
    })
}

fn set_memory_policy(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    let (word, nodes) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
    let known = MemoryMode::ALL.iter().find(|(name, _)| *name == word);
    let mode = known.map(|(_, mode)| *mode).ok_or_else(|| {
        Fault::new(format!("`{word}` is no way to take memory"))
            .remedy("write default, prefer:NODE, bind:NODES, interleave:NODES or local")
    })?;
    let nodes = if nodes.is_empty() {
        Vec::new()
    } else {
        value::cpu_list(nodes)?
    };
    let fits = match mode {
        MemoryMode::Default | MemoryMode::Local => nodes.is_empty(),
        MemoryMode::Prefer => nodes.len() == 1,
        MemoryMode::Bind | MemoryMode::Interleave => !nodes.is_empty(),
    };
    if !fits {
        return Err(
            Fault::new(format!("`{}` names the wrong number of nodes", text.trim()))
                .remedy("write prefer with one node, bind and interleave with some, the others with none"),
        );
    }
    draft.job.memory_policy = Some(MemoryPolicy { mode, nodes });
    Ok(())
}

fn show_memory_policy(draft: &Draft) -> Option<String> {
    let MemoryPolicy { mode, nodes } = draft.job.memory_policy.as_ref()?;
    let (word, _) = MemoryMode::ALL.iter().find(|(_, known)| known == mode)?;
    Some(match value::show_cpus(nodes) {
        Some(nodes) => format!("{word}:{nodes}"),
        None => (*word).to_owned(),
    })
}

pub(super) static ROWS: &[&[Row]] = &[
    &[
        Row::new(
            "name",
            Rule::Text(
                "text",
                |d, text| {
                    d.name = Some(text.trim().to_owned());
                    Ok(())
                },
                |d| d.name.clone(),
            ),
            "Name of the job, in place of its section's",
        )
        .example("seqread"),
        Row::new(
            "description",
            Rule::Text(
                "text",
                |d, text| {
                    text.trim().clone_into(&mut d.job.description);
                    Ok(())
                },
                |d| Some(d.job.description.clone()).filter(|text| !text.is_empty()),
            ),
            "Free text that is kept with the job",
        )
        .example("first day of the migration"),
        Row::new(
            "numjobs",
            Rule::Number(1, MAX_WORKERS, field!(job.numjobs as u32)),
            "How many equal workers run this job at once",
        )
        .example("4")
        .shown_behind("new_group"),
        Row::new(
            "thread",
            Rule::Flag(Field::ignored()),
            "Run workers as threads; fathom's always are",
        )
        .aliases(&["threads"])
        .default("0"),
        Row::new(
            "stonewall",
            Rule::Flag(field!(job.start.stonewall)),
            "Wait until all earlier jobs have ended, and start a new reporting group",
        )
        .aliases(&["wait_for_previous"]),
        Row::new(
            "wait_for",
            Rule::Text(
                "name of a job",
                |d, text| {
                    d.job.start.wait_for = Some(text.trim().to_owned());
                    Ok(())
                },
                |d| d.job.start.wait_for.clone(),
            ),
            "Wait until all workers of that job have ended",
        )
        .example("job")
        .shown_behind("new_group"),
        Row::new(
            "new_group",
            Rule::Flag(field!(new_group)),
            "Start a new reporting group with this job",
        ),
        Row::new(
            "group_reporting",
            Rule::Flag(field!(job.group_reporting)),
            "Report the jobs of a group together",
        ),
        Row::new(
            "cpus_allowed",
            Rule::Text("list of CPUs", reads!(job.cpus_allowed, value::cpu_list), |d| {
                value::show_cpus(&d.job.cpus_allowed)
            }),
            "The CPUs that the workers may use",
        )
        .example("0,2-4"),
        Row::new(
            "cpumask",
            Rule::Text(
                "bit mask of CPUs",
                reads!(job.cpus_allowed, value::cpu_mask),
                |_| None,
            ),
            "The CPUs that the workers may use, as a mask",
        )
        .example("0x3"),
        Row::new(
            "cpus_allowed_policy",
            Rule::Choice(&[
                Choice::new("shared", |d| d.job.cpus_split = false),
                Choice::new("split", |d| d.job.cpus_split = true),
            ]),
            "Whether the workers share the CPUs allowed or get one each in turn",
        )
        .example("split"),
        Row::new(
            "nice",
            Rule::Number(-20, 19, field!(job.nice as i8)),
            "Nice value of the workers",
        )
        .example("-5"),
        Row::new(
            "prio",
            Rule::Number(
                0,
                7,
                Field {
                    set: |d, level| io_priority(d).level = level as u8,
                    get: |d| Some(d.job.io_priority?.level.into()),
                },
            ),
            "I/O priority of the workers within their class, 0 first",
        )
        .example("0")
        .shown_behind("prioclass"),
        Row::new(
            "prioclass",
            Rule::Number(
                0,
                3,
                Field {
                    set: |d, class| io_priority(d).class = if class == 0 { BEST_EFFORT } else { class as u8 },
                    get: |d| Some(d.job.io_priority?.class.into()),
                },
            ),
            "I/O priority class of the workers: 1 real time, 2 best effort (as 0), 3 idle",
        )
        .example("2"),
    ],
    &[
        Row::new(
            "cgroup",
            Rule::Text(
                "name",
                |d, text| {
                    text.trim().clone_into(&mut d.job.control_group.name);
                    Ok(())
                },
                |d| Some(d.job.control_group.name.clone()).filter(|name| !name.is_empty()),
            ),
            "Control group (of the first version, with blkio) that the job runs in",
        )
        .example("bench"),
        Row::new(
            "cgroup_weight",
            Rule::Number(
                100,
                1000,
                Field {
                    set: |d, weight| d.job.control_group.weight = Some(weight as u16),
                    get: |d| d.job.control_group.weight.map(i64::from),
                },
            ),
            "Weight of the control group; the kernel must have one (blkio.weight)",
        )
        .example("500"),
        Row::new(
            "cgroup_nodelete",
            Rule::Bool(field!(job.control_group.stays)),
            "Keep the control group afterwards",
        ),
    ],
    not_carried_out! {
        "profile", text("name"), "", "tiobench", "A built-in workload" => NotYet("write the jobs out");
    },
    &[
        Row::new(
            "numa_mem_policy",
            Rule::Text(
                "default|prefer|bind|interleave|local[:nodes]",
                set_memory_policy,
                show_memory_policy,
            ),
            "NUMA nodes of the workers' memory",
        )
        .example("bind:0"),
        Row::new(
            "lockmem",
            Rule::Size(0, u64::MAX, field!(job.lock_bytes)),
            "Lock so much memory for each worker, to leave less for caches",
        )
        .default("0")
        .example("1g"),
        Row::new(
            "numa_cpu_nodes",
            Rule::Text("list of nodes", reads!(job.numa_cpu_nodes, value::cpu_list), |d| {
                value::show_cpus(&d.job.numa_cpu_nodes)
            }),
            "NUMA nodes whose CPUs the workers may use",
        )
        .example("0"),
        Row::new(
            "uid",
            Rule::Number(
                0,
                MAX_COUNT,
                Field {
                    set: |d, id| d.job.runs_as.user = Some(id as u32),
                    get: |d| d.job.runs_as.user.map(i64::from),
                },
            ),
            "User that the workers are; root alone may choose",
        )
        .example("1000"),
        Row::new(
            "gid",
            Rule::Number(
                0,
                MAX_COUNT,
                Field {
                    set: |d, id| d.job.runs_as.group = Some(id as u32),
                    get: |d| d.job.runs_as.group.map(i64::from),
                },
            ),
            "Group that the workers are; root alone may choose",
        )
        .example("1000"),
        Row::new(
            "flow",
            // As in fio, the sign, which once said who waits for whom, says nothing.
            Rule::Number(
                -1000,
                1000,
                Field {
                    set: |d, weight| d.flow.weight = weight.unsigned_abs() as u32,
                    get: |d| Some(d.flow.weight.into()),
                },
            ),
            "Weight in a balance between jobs: of all with the same flow_id none gets ahead of its share of the I/Os",
        )
        .example("8"),
        Row::new(
            "flow_id",
            Rule::Number(0, MAX_COUNT, field!(flow.id as u32)),
            "Which balance the job takes part in",
        )
        .example("1"),
        Row::new(
            "flow_sleep",
            Rule::Time(TimeUnit::Microseconds, field!(flow.sleep)),
            "How long a worker waits that is ahead of its balance",
        )
        .default("0")
        .example("100"),
        Row::new(
            "exec_prerun",
            Rule::Text(
                "command",
                |d, text| {
                    d.job.commands.before = Some(text.trim().to_owned());
                    Ok(())
                },
                |d| d.job.commands.before.clone(),
            ),
            "Command of a shell to run before the job; only with --allow-exec",
        )
        .example("sync"),
        Row::new(
            "exec_postrun",
            Rule::Text(
                "command",
                |d, text| {
                    d.job.commands.after = Some(text.trim().to_owned());
                    Ok(())
                },
                |d| d.job.commands.after.clone(),
            ),
            "Command of a shell to run after the job; only with --allow-exec",
        )
        .example("sync"),
        Row::new(
        "kb_base",
        Rule::Choice(&[
            Choice::new("1024", |d| d.kb_base = 1024),
            Choice::new("1000", |d| d.kb_base = 1000),
        ]),
        "What k means in the sizes after it: 1024 (then KiB is 1000) or 1000 (then KiB is 1024)",
    )
    .example("1000")
    .shown(|d| Some(d.job.reporting.kb_base.to_string()))
    .shown_behind("zone_reset_frequency")],
];
