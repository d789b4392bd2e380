//! The command line of `fathom dashboards`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use fathom_web::dashboards::Kind;
use std::path::PathBuf;

const ABOUT: &str = "\
Gives dashboards for Grafana and rules for Prometheus, for what `--serve` exports. They are made from the table of what is exported: no \
panel asks for anything else. Without a name all are written into a directory, or listed.";

const EXAMPLES: &str = "\
Examples:
  what there is
    fathom dashboards
  all files, for Grafana's provisioning and Prometheus' rule_files
    fathom dashboards -o monitoring
    promtool check rules monitoring/fathom-rules.yaml
  one of them, to be imported by hand
    fathom dashboards load > load.json";

/// Give dashboards for Grafana and rules for Prometheus
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct DashboardsArgs {
    /// Print this one: load, node, disk, served, fleet or rules
    #[arg(value_name = "NAME", value_parser = kind(), conflicts_with = "output")]
    pub kind: Option<Kind>,
    /// Write all into this directory
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub output: Option<PathBuf>,
    /// Replace files that are there (regular files only)
    #[arg(long)]
    pub force: bool,
    /// No notes on stderr
    #[arg(short, long)]
    pub quiet: bool,
}

fn kind() -> impl TypedValueParser<Value = Kind> {
    let named = |name: &str| Kind::ALL.into_iter().find(|kind| kind.name() == name);
    PossibleValuesParser::new(Kind::ALL.map(Kind::name)).map(move |name| named(&name).unwrap_or(Kind::Load))
}
