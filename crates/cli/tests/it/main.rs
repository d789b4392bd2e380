//! The real program, run as its users run it.
//!
//! Each module is one side of it; [`harness`] starts the program and prepares places for it. A test that needs a
//! capability that is missing (root, loop devices, fio) prints `SKIPPED: <test>: <what is missing>` and returns.
#![forbid(unsafe_code)]

mod accessible;
mod against_fio;
mod blocked;
mod bounded;
mod browsed;
mod catalog;
mod certificates;
mod commanded;
mod compare;
mod damaged;
mod disk;
mod diskspd;
mod door;
mod dry_run;
mod elsewhere;
mod engines;
mod failures;
mod fio_command;
mod fio_options;
mod fio_outputs;
mod fio_remote;
mod fio_states;
mod fio_suite;
mod flags;
mod generated;
mod harness;
mod history;
mod identify;
mod job_files;
mod k8s;
mod modelled;
mod output;
mod pace;
mod plan;
mod plan_from;
mod recorded;
mod replay;
mod report;
mod reproduce;
mod safety;
mod served;
mod signals;
mod stops;
mod sweep;
mod tracing;
mod verified;
mod watched;
mod words;
