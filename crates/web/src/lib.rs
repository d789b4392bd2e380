//! What a measurement shows while it goes on, over HTTP: metrics for Prometheus and a live page.
//!
//! Duty: keep what a session's events tell in a form that many may look at ([`Hub`]), and serve it, to those who may see it and
//! to no more of them than cost nothing ([`Server`]). Data in: events, by [`Watched`]. Data out: responses. What is exported is
//! one table, [`metric`], from which dashboards and rules are made as well. It must not know how a load is made,
//! parse arguments or print; the measured loop does not know of it: all it does is on a thread of its own, or on the one that
//! shows progress.
#![forbid(unsafe_code)]

mod browse;
pub mod dashboards;
pub mod exposition;
mod http;
mod hub;
mod live;
pub mod metric;
pub mod prometheus;

pub use browse::Reports;
pub use http::{Access, HostName, Secured, Server, Token, TokenError};
pub use hub::{About, Hub, Measured, Watched};
