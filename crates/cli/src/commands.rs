//! One file a command: from what was typed to what is printed, written and returned.

pub(crate) mod browse;
pub(crate) mod catalog;
pub(crate) mod compare;
pub(crate) mod dashboards;
pub(crate) mod disk;
pub(crate) mod diskspd;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod fio;
pub(crate) mod generate;
pub(crate) mod identify;
pub(crate) mod k8s;
pub(crate) mod logs;
pub(crate) mod options;
pub(crate) mod plan;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod sweep;
