//! The command line of `fathom k8s`.
//!
//! Data in: what clap matched. Data out: what was typed. It must not know Kubernetes' objects.

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use fathom_core::units::Nanos;
use std::path::PathBuf;

const ABOUT: &str = "\
Runs loads and commands on volumes of a Kubernetes cluster: makes claims and pods, waits for them and says what they wait for, \
brings what came of them back, removes everything, and compares storage classes, with the times that attaching took. \
The cluster is that of KUBECONFIG or ~/.kube/config, or the one that this runs in.";

const EXAMPLES: &str = "\
Examples:
  two storage classes, five repeats each, in turns
    fathom k8s run jobs.fio --class managed-csi-premium \\
      --class acstor-azuredisk --size 8Gi --repeat 5 -o classes
  a restore instead, in an image of one's own; the volume is its directory
    fathom k8s run --class fast --class slow --size 50Gi --repeat 5 \\
      --command-image postgres:15 --command 'pg_restore …' -o restores
  on every node at once, begun at one moment: is the limit a volume's, or one that all share?
    fathom k8s run jobs.fio --class pool --nodes all --repeat 1 -o fleet
  what a database in production does to its volume
    fathom k8s record pgdata-0 --duration 1h --privileged -o production
    fathom explain production/pgdata-0/1/record
  the records in object storage, where DuckDB and Spark read them as one table
    fathom k8s run jobs.fio --class pool --nodes all --records s3://bench/fleet
    fathom explain s3://bench/fleet
  what would be made
    fathom k8s manifest jobs.fio --class fast | kubectl apply -f -
  an experiment of several runs, in one file
    fathom k8s run experiments/acs-2024/cluster.toml -o acs
  go on after an interruption; remove what a killed run left
    fathom k8s run --resume classes
    fathom k8s cleanup";

/// What a run is begun with: one that goes on has it already. The context may be called otherwise by then.
const BEGUN_WITH: [&str; 33] = [
    "jobs",
    "class",
    "claim",
    "size",
    "block",
    "access",
    "repeat",
    "together",
    "spread",
    "parallel",
    "nodes",
    "alone",
    "command",
    "command_image",
    "prepare",
    "cleanup",
    "image",
    "pull",
    "node_selector",
    "user",
    "privileged",
    "cpu",
    "memory",
    "namespace",
    "start_timeout",
    "hindered_timeout",
    "work_timeout",
    "removal_timeout",
    "option",
    "output",
    "records",
    "cluster_name",
    "dry_run",
];

/// Run loads on volumes of a Kubernetes cluster, and compare storage classes
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = "Examples: fathom k8s --help", after_long_help = EXAMPLES)]
pub(crate) struct K8sArgs {
    #[command(subcommand)]
    pub command: K8sCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum K8sCommand {
    Run(Box<K8sRunArgs>),
    Record(Box<K8sRecordArgs>),
    Store(StoreArgs),
    Manifest(Box<ManifestArgs>),
    Rbac(RbacArgs),
    Cleanup(CleanupArgs),
    #[command(hide = true)]
    Agent(AgentArgs),
}

/// Measure storage classes or claims: claims, pods, load, results, comparison, clean-up
#[derive(Debug, Args)]
#[command(after_help = "Examples: fathom k8s --help")]
pub(crate) struct K8sRunArgs {
    #[command(flatten)]
    pub what: WhatArgs,
    /// Keep what comes of it here [default: fathom-runs/TIME-k8s]
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub records: RecordsArgs,
    /// Go on with a run that was interrupted, as it was begun and on its cluster
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    #[arg(conflicts_with_all = BEGUN_WITH)]
    pub resume: Option<PathBuf>,
    /// Print what would be made, and make nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print the results as one JSON document
    #[arg(long)]
    pub json: bool,
    /// No progress and no notes on stderr
    #[arg(short, long)]
    pub quiet: bool,
}

/// Watch volumes that are in use, from their nodes: every request, counters, who ran
#[derive(Debug, Args)]
#[command(after_help = PRIVILEGES)]
pub(crate) struct K8sRecordArgs {
    /// Claims that pods use
    #[arg(value_name = "CLAIM", required = true)]
    pub claims: Vec<String>,
    /// How long, as 90s, 15m, 24h [default: until Ctrl-C]
    #[arg(long, value_name = "TIME", value_parser = fathom_dialect::duration)]
    pub duration: Option<Nanos>,
    /// Let the recorder have what it needs on the node: root, all privileges, the node's processes
    #[arg(long)]
    pub privileged: bool,
    /// Keep what comes of it here [default: fathom-runs/TIME-k8s]
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub records: RecordsArgs,
    #[command(flatten)]
    pub program: ImageArgs,
    #[command(flatten)]
    pub at: WhereArgs,
    /// One more option for the command line in the pod, as --option=--record=counters (repeatable)
    #[arg(long, value_name = "WORD", allow_hyphen_values = true)]
    pub option: Vec<String>,
    /// Print the results as one JSON document
    #[arg(long)]
    pub json: bool,
    /// No progress and no notes on stderr
    #[arg(short, long)]
    pub quiet: bool,
}

const PRIVILEGES: &str = "\
The recorder is a pod on the node of each claim. It needs to be root with all privileges (the kernel's trace) and to see the \
node's processes (hostPID: whose mounts and whose I/O); it writes nothing but its record, in its own empty directory. Pod \
Security must be `privileged` in its namespace. fathom k8s rbac prints the rights that you need.

Examples:
  fathom k8s record pgdata-0 --duration 1h --privileged -o production
  fathom explain production/pgdata-0/1/record";

/// Print the roles that fathom's users need, as YAML
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  fathom k8s rbac -n bench --user jane | kubectl apply -f -")]
pub(crate) struct RbacArgs {
    /// The namespace
    #[arg(short, long, value_name = "NAME", default_value = "default")]
    pub namespace: String,
    /// Who gets them: a user [default: only the roles]
    #[arg(long, value_name = "NAME", conflicts_with = "service_account")]
    pub user: Option<String>,
    /// Who gets them: a service account of the namespace
    #[arg(long, value_name = "NAME")]
    pub service_account: Option<String>,
}

/// Print the objects of one test, as YAML
#[derive(Debug, Args)]
pub(crate) struct ManifestArgs {
    #[command(flatten)]
    pub what: WhatArgs,
}

/// What is run where.
#[derive(Debug, Args)]
pub(crate) struct WhatArgs {
    /// Job files, carried out one after the other in each pod; for run: or one FILE.toml whose keys are these flags, for an
    /// experiment of several runs (`[[run]]`)
    #[arg(value_name = "JOBS", value_hint = ValueHint::FilePath)]
    pub jobs: Vec<PathBuf>,
    /// A storage class to be measured (repeatable: compared with the first)
    #[arg(long, value_name = "NAME")]
    pub class: Vec<String>,
    /// A claim that is there, to be measured as it is; it stays (repeatable)
    #[arg(long, value_name = "NAME")]
    pub claim: Vec<String>,
    /// How large claims are [default: 8Gi]
    #[arg(
        long,
        value_name = "QUANTITY",
        default_value = "8Gi",
        hide_default_value = true
    )]
    pub size: String,
    /// Claims of devices, without a file system
    #[arg(long)]
    pub block: bool,
    /// Who may use a claim at once [default: once]
    #[arg(long, value_name = "MODE", default_value = "once", hide_default_value = true)]
    pub access: AccessWord,
    /// Measure each so often, in turns [default: 5]
    #[arg(long, value_name = "N", default_value_t = 5, hide_default_value = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub repeat: u32,
    /// All sides of a repeat at once, each in a pod of its own
    #[arg(long)]
    pub together: bool,
    /// Pods of a repeat on nodes of their own
    #[arg(long, requires = "together")]
    pub spread: bool,
    /// So many pods of a side do the same at once, begun at one moment, each on a claim of its own
    #[arg(long, value_name = "N", conflicts_with_all = ["nodes", "together"])]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pub parallel: Option<u32>,
    /// The same with a pod on each of these nodes: all, or their names
    #[arg(
        long,
        value_name = "all|NODE,…",
        value_delimiter = ',',
        conflicts_with = "together"
    )]
    pub nodes: Vec<String>,
    /// Measure one of them by itself before all of them: tells whose limit it is
    #[arg(long)]
    pub alone: bool,
    /// A line for /bin/sh in place of job files, timed and recorded as `fathom record -- COMMAND` does
    #[arg(
        long,
        value_name = "LINE",
        conflicts_with = "jobs",
        requires = "command_image"
    )]
    pub command: Option<String>,
    /// The image that the command runs in
    #[arg(long, value_name = "IMAGE", requires = "command")]
    pub command_image: Option<String>,
    /// A line for /bin/sh before the command, not timed
    #[arg(long, value_name = "LINE", requires = "command")]
    pub prepare: Option<String>,
    /// A line for /bin/sh after the command, not timed
    #[arg(long, value_name = "LINE", requires = "command")]
    pub cleanup: Option<String>,
    #[command(flatten)]
    pub program: ImageArgs,
    /// Only nodes with this label (repeatable)
    #[arg(long, value_name = "KEY=VALUE", value_parser = label)]
    pub node_selector: Vec<(String, String)>,
    /// The user that pods run as [default: 65532 for job files, that of the image for commands]
    #[arg(long, value_name = "UID", value_parser = clap::value_parser!(i64).range(1..=i64::from(u32::MAX)))]
    pub user: Option<i64>,
    /// Pods with all privileges: what the kernel's trace needs
    #[arg(long, conflicts_with = "user")]
    pub privileged: bool,
    /// CPUs that a pod asks for
    #[arg(long, value_name = "QUANTITY")]
    pub cpu: Option<String>,
    /// Memory that a pod asks for
    #[arg(long, value_name = "QUANTITY")]
    pub memory: Option<String>,
    #[command(flatten)]
    pub at: WhereArgs,
    /// How long a pod may take to start [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = fathom_dialect::duration)]
    pub start_timeout: Option<Nanos>,
    /// How long what stands in its way is waited for, as an image that cannot be had [default: 1m]
    #[arg(long, value_name = "TIME", value_parser = fathom_dialect::duration)]
    pub hindered_timeout: Option<Nanos>,
    /// How long its work may take [default: 24h]
    #[arg(long, value_name = "TIME", value_parser = fathom_dialect::duration)]
    pub work_timeout: Option<Nanos>,
    /// How long is waited for what was made to be gone [default: 2m]
    #[arg(long, value_name = "TIME", value_parser = fathom_dialect::duration)]
    pub removal_timeout: Option<Nanos>,
    /// One more option for the command line in the pod, as --option=--runtime=10s (repeatable)
    #[arg(long, value_name = "WORD", allow_hyphen_values = true)]
    pub option: Vec<String>,
}

/// Where all records are put together.
#[derive(Debug, Args)]
pub(crate) struct RecordsArgs {
    /// Put each run there, too: `s3://BUCKET/PATH`, `az://CONTAINER/PATH`, `gs://BUCKET/PATH` or a directory, laid out by cluster, class,
    /// node and run
    #[arg(long, value_name = "PREFIX")]
    pub records: Option<String>,
    /// What the cluster is called there [default: as in the kubeconfig]
    #[arg(long, value_name = "NAME", requires = "records")]
    pub cluster_name: Option<String>,
}

const STORE_ABOUT: &str = "\
Puts run directories where the records of many runs are: object storage or a directory, laid out by cluster, class, node and run, \
so that DuckDB, Spark, Trino and Polars read them as one table, and explain, compare and plan all of them together. fathom k8s run \
--records does the same for each run as it comes; this is for those that are there, from machines without Kubernetes, too. \
Credentials are those of the environment: AWS_ACCESS_KEY_ID and so on, AZURE_STORAGE_ACCOUNT_NAME and so on, \
GOOGLE_APPLICATION_CREDENTIALS.";

const STORE_EXAMPLES: &str = "\
Examples:
  fathom k8s store runs/first --to s3://bench/fleet --class gp3 --node web-1
  fathom explain s3://bench/fleet
  fathom compare s3://bench/fleet/class=gp3 --with s3://bench/fleet/class=io2";

/// Put runs that are there where the records of many are
#[derive(Debug, Args)]
#[command(long_about = STORE_ABOUT, after_help = STORE_EXAMPLES)]
pub(crate) struct StoreArgs {
    /// Run directories
    #[arg(value_name = "RUN", required = true, value_hint = ValueHint::DirPath)]
    pub runs: Vec<PathBuf>,
    /// Where to: `s3://BUCKET/PATH`, `az://CONTAINER/PATH`, `gs://BUCKET/PATH` or a directory
    #[arg(long, value_name = "PREFIX")]
    pub to: String,
    /// The cluster that they are of [default: none]
    #[arg(long, value_name = "NAME", default_value = "none", hide_default_value = true)]
    pub cluster: String,
    /// The class of their disk [default: none]
    #[arg(long, value_name = "NAME", default_value = "none", hide_default_value = true)]
    pub class: String,
    /// The machine that they ran on [default: as they say themselves]
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,
    /// No notes on stderr
    #[arg(short, long)]
    pub quiet: bool,
}

/// Which cluster, and where in it.
#[derive(Debug, Args)]
pub(crate) struct WhereArgs {
    /// The namespace [default: that of the context]
    #[arg(short, long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// The context of the kubeconfig [default: the current one]
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
}

/// Fathom's own image.
#[derive(Debug, Args)]
pub(crate) struct ImageArgs {
    /// The image of fathom itself
    #[arg(long, value_name = "IMAGE", default_value = concat!("fathom:", env!("CARGO_PKG_VERSION")))]
    pub image: String,
    /// When images are pulled: Always, `IfNotPresent`, Never [default: what the cluster does]
    #[arg(long, value_name = "WHEN", value_parser = ["Always", "IfNotPresent", "Never"])]
    pub pull: Option<String>,
}

/// Who may use a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AccessWord {
    /// One node (`ReadWriteOnce`)
    Once,
    /// One pod (`ReadWriteOncePod`)
    Pod,
    /// Any number of nodes (`ReadWriteMany`)
    Many,
}

/// Remove what a run left in the cluster
#[derive(Debug, Args)]
#[command(after_help = "Only objects with fathom's label are looked at. What a run under way made goes too.")]
pub(crate) struct CleanupArgs {
    /// Only of this run [default: of all]
    #[arg(long, value_name = "ID")]
    pub run: Option<String>,
    #[command(flatten)]
    pub at: WhereArgs,
    /// Remove pods from the cluster's books without waiting for their nodes
    #[arg(long)]
    pub force: bool,
    /// Say what is there, and remove nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// What runs in the pod.
#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    #[command(subcommand)]
    pub command: AgentCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// Copy the program to where another image finds it
    Install {
        #[arg(value_name = "PATH")]
        to: PathBuf,
    },
    /// Carry steps out, then wait to be fetched and ended
    Work {
        #[arg(value_name = "STEPS")]
        steps: PathBuf,
    },
    /// List what the steps left
    List {
        #[arg(value_name = "DIR")]
        dir: PathBuf,
    },
    /// Compute what a run contributes to what many did, into its directory
    Part {
        #[arg(value_name = "RUN")]
        dir: PathBuf,
    },
    /// Answer each line with the time, in nanoseconds since 1970
    Time,
    /// Let the agent that waits begin, at a time
    Release {
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        #[arg(value_name = "UNIX_NS")]
        at_unix_ns: u64,
    },
    /// End what the agent carries out, as Ctrl-C would
    End {
        #[arg(value_name = "DIR")]
        dir: PathBuf,
    },
    /// Write a file of theirs to stdout
    Send {
        #[arg(value_name = "PATH")]
        path: PathBuf,
        #[arg(value_name = "OFFSET")]
        offset_bytes: u64,
    },
}

fn label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(String::from("give KEY=VALUE, as agentpool=storage")),
    }
}
