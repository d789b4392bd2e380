//! Dashboards for Grafana, rules for Prometheus: made from the table of metrics, so that nothing asks for what is not exported.
//!
//! Data in: [`metric`](crate::metric)'s table. Data out: text. An `Expr` can be made from rows of the table alone. It must
//! not know where the text goes.

mod expr;
mod fleet;
mod grafana;
mod load;
mod modelled;
mod node;
mod rules;
mod served;
mod share;

use grafana::Dashboard;

/// What there is to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A load: rates, latencies, limits, disturbances.
    Load,
    /// The machine by utilization, saturation and errors.
    Node,
    /// A modelled disk: limits, credit, what the device shows.
    Disk,
    /// A modelled disk that is served live: what the model decides, how late the server is.
    Served,
    /// Many of them, by claim and class.
    Fleet,
    /// Alerts and recordings.
    Rules,
}

impl Kind {
    pub const ALL: [Self; 6] = [
        Self::Load,
        Self::Node,
        Self::Disk,
        Self::Served,
        Self::Fleet,
        Self::Rules,
    ];

    /// What it is called on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Node => "node",
            Self::Disk => "disk",
            Self::Served => "served",
            Self::Fleet => "fleet",
            Self::Rules => "rules",
        }
    }

    /// The name of its file.
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Load => "fathom-load.json",
            Self::Node => "fathom-node.json",
            Self::Disk => "fathom-disk.json",
            Self::Served => "fathom-served.json",
            Self::Fleet => "fathom-fleet.json",
            Self::Rules => "fathom-rules.yaml",
        }
    }

    pub const fn about(self) -> &'static str {
        match self {
            Self::Load => "Grafana: a load, its rates and latencies, limits, disturbances by cause",
            Self::Node => "Grafana: a machine by utilization, saturation and errors",
            Self::Disk => "Grafana: a modelled disk, its limits, credit, caches and device",
            Self::Served => {
                "Grafana: a modelled disk served live, what limits let through and hold, lateness"
            }
            Self::Fleet => "Grafana: many loads and disks, by class and claim",
            Self::Rules => "Prometheus: alerts and recording rules",
        }
    }

    /// The text of its file.
    pub fn text(self) -> String {
        match self {
            Self::Rules => rules::text(),
            kind => kind.dashboard().json(),
        }
    }

    /// All queries of it, as Prometheus takes them: variables of Grafana's are replaced.
    pub fn queries(self) -> Vec<String> {
        match self {
            Self::Rules => rules::queries(),
            kind => kind.dashboard().queries(),
        }
    }

    /// The dashboard; that of a load for what has none.
    fn dashboard(self) -> Dashboard {
        match self {
            Self::Load | Self::Rules => load::dashboard(),
            Self::Node => node::dashboard(),
            Self::Disk => modelled::dashboard(),
            Self::Served => served::dashboard(),
            Self::Fleet => fleet::dashboard(),
        }
    }
}

#[cfg(test)]
mod tests;
