//! Measurements as workloads on this machine.
//!
//! Data in: the target, a measurement. Data out: a request. It must not know what the measurement is for.

use crate::args::identify::IdentifyArgs;
use crate::request;
use crate::target::{self, Target};
use anyhow::bail;
use fathom_core::run::Environment;
use fathom_dialect::Override;
use fathom_identify::{Mix, Pattern, Probe};
use fathom_session::{Machine, Request};
use std::path::PathBuf;

/// The file that fathom makes in a directory.
const DATA_FILE: &str = "fathom-identify.data";

/// Makes workloads on one target.
pub(super) struct Loads<'a> {
    args: &'a IdentifyArgs,
    target: &'a Target,
    environment: Environment,
}

impl<'a> Loads<'a> {
    /// # Errors
    /// A file that is not there has no size.
    pub(super) fn new(args: &'a IdentifyArgs, target: &'a Target) -> anyhow::Result<Self> {
        let there = match target {
            Target::File(path) => path.exists(),
            Target::Directory(dir) => dir.join(DATA_FILE).exists(),
            Target::Null | Target::Model(_) => true,
        };
        if !there && args.size.is_none() {
            bail!(
                "{}: there is no file yet: say with --size how large fathom is to make it, as in --size 8g",
                args.target.display()
            );
        }
        Ok(Self {
            args,
            target,
            environment: request::machine(),
        })
    }

    /// All that is read and written, for permission and layout.
    pub(super) fn whole(&self) -> anyhow::Result<Request> {
        let rw = if self.args.readonly { "randread" } else { "randrw" };
        self.resolve(vec![Override::new("rw", rw), Override::new("bs", "4k")], 0)
    }

    /// The workload of a measurement.
    pub(super) fn of(&self, probe: &Probe) -> anyhow::Result<Request> {
        let rw = match (probe.pattern, probe.mix) {
            (Pattern::Random, Mix::Read) => "randread",
            (Pattern::Random, Mix::Write) => "randwrite",
            (Pattern::Random, Mix::Both) => "randrw",
            (Pattern::Sequential, Mix::Read) => "read",
            (Pattern::Sequential, Mix::Write) => "write",
            (Pattern::Sequential, Mix::Both) => "rw",
        };
        let milliseconds = (probe.duration_ns_max / 1_000_000).max(1);
        let mut options = vec![
            Override::new("rw", rw),
            Override::new("bs", probe.block_bytes.to_string()),
            Override::new("iodepth", probe.depth.to_string()),
            Override::new("runtime", format!("{milliseconds}ms")),
            Override::new("time_based", "1"),
            Override::new("norandommap", "1"),
        ];
        if let Some(pace) = probe.pace_per_second {
            options.push(Override::new("rate_iops", format!("{}", pace.ceil() as u64)));
        }
        self.resolve(options, probe.span_bytes)
    }

    /// `span_bytes`: 0 for all of the file.
    fn resolve(&self, mut options: Vec<Override>, span_bytes: u64) -> anyhow::Result<Request> {
        options.extend([
            Override::new("name", "identify"),
            Override::new("ioengine", "io_uring"),
            Override::new("direct", "1"),
        ]);
        if span_bytes > 0 {
            options.push(Override::new("size", span_bytes.to_string()));
        } else if let Some(size) = &self.args.size {
            options.push(Override::new("size", size));
        }
        let parsed = request::with_context(&self.environment, &[], |context| {
            fathom_dialect::parse(&[], &options, context)
        });
        let Some(mut request) = request::accept(parsed, self.environment.clone(), true) else {
            bail!(
                "--size {}: a size goes here, as in 8g",
                self.args.size.as_deref().unwrap_or_default()
            );
        };
        request.machine = Machine::This;
        target::aim(&mut request.workload, self.target);
        if matches!(self.target, Target::Directory(_)) {
            for job in &mut request.workload.jobs {
                job.files.names = vec![PathBuf::from(DATA_FILE)];
            }
        }
        Ok(request)
    }
}
