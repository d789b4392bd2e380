//! The rules on real devices: loop devices with file systems, swap, partition tables and mounts on them.
//! Needs root and util-linux; says `SKIPPED` and what is missing otherwise. Whatever a test sets up is taken
//! down when it ends, also when it fails.

mod device;
mod file;
mod setup;
