//! Loads and commands carried by Kubernetes: claims, pods, waiting for them, what came of it brought back, all of it removed.
//!
//! Data in: a [`Plan`] of tests. Data out: directories as the pods made them, the times at which volumes were bound,
//! attached and started, and what went wrong in words of the cluster. It must not know what a load is, parse arguments, print or
//! exit; what is in the directories that it brings back it does not read.
//!
//! One test is one claim with one pod on it. In the pod an [`agent`] runs the program's own command line and keeps what it leaves
//! until it was fetched and compared by digest. Everything that is made carries the label of its run
//! ([`objects::RUN_LABEL`]), so that [`cleanup`] finds it whatever became of who made it.

pub mod agent;
pub mod api;
pub mod attach;
pub mod cleanup;
pub mod collect;
pub mod conduct;
pub mod objects;
pub mod phases;
pub mod plan;
pub mod prefix;
pub mod rights;
pub mod start;
pub mod state;
pub mod yaml;

pub use api::{Cluster, ClusterError};
pub use conduct::{Event, Outcome, TestDone, carry_out};
pub use plan::{Plan, Test};
