//! diskspd and its Linux port: forms that only one has, and forms that mean different things.

use super::{assert_refused, parsed_as, profile, said, target};
use crate::diskspd::{Affinity, CacheMode, Dialect, LinuxEngine, Throughput};

/// The target of a line of one dialect, and what is said.
fn of(dialect: Dialect, line: &str) -> (Option<crate::diskspd::Profile>, String) {
    let parsed = parsed_as(dialect, line);
    let said: Vec<String> = parsed.diagnostics.iter().map(ToString::to_string).collect();
    (parsed.profile, said.join("\n"))
}

#[test]
fn interfaces() {
    assert!(super::span("-x data").completion_routines);
    assert!(said("-x data").contains("differ here"), "{}", said("-x data"));
    assert_eq!(profile("-xk data").linux_engine, Some(LinuxEngine::Kernel));
    assert_eq!(profile("-xp data").linux_engine, Some(LinuxEngine::Posix));
    assert!(said("-xp data").contains("taken as the Linux port's"));
    assert_refused("-xq data", "left over");
    let (profile, said) = of(Dialect::Windows, "-x data");
    assert!(profile.is_some() && !said.contains("differ"), "{said}");
    assert!(of(Dialect::Windows, "-xk data").0.is_none());
    assert!(of(Dialect::Linux, "-x data").0.is_none());
}

#[test]
fn cache_letters_of_the_linux_port() {
    let direct = target("-Sd data");
    assert_eq!(
        (direct.cache, direct.write_through),
        (CacheMode::DisableOsCache, false)
    );
    let synced = target("-Ss data");
    assert_eq!((synced.cache, synced.write_through), (CacheMode::Cached, true));
    assert_eq!(target("-Sds data").cache, CacheMode::DisableOsCache);
    assert!(said("-Sd data").contains("taken as the Linux port's"));
    // The same in both.
    assert!(said("-Sh data").is_empty());
    assert!(of(Dialect::Linux, "-Su data").0.is_none());
    assert!(of(Dialect::Windows, "-Sd data").0.is_none());
}

#[test]
fn processor_ranges_of_the_linux_port() {
    let cpus: Vec<u16> = super::span("-a0-3,7 data")
        .affinity
        .iter()
        .map(|at: &Affinity| at.cpu)
        .collect();
    assert_eq!(cpus, [0, 1, 2, 3, 7]);
    assert!(said("-a0-3 data").contains("-a0-3: warning: diskspd and its Linux port differ here"));
    assert_refused("-a3-0 data", "runs backwards");
    assert!(said("-a0,1 data").is_empty());
}

#[test]
fn buffers_of_the_linux_port() {
    // -Zr is a flag of both: random for each write, or random once.
    assert!(super::span("-Zr data").random_write_data);
    assert!(said("-Zr data").contains("filled with random data once"));
    let (linux, _) = of(Dialect::Linux, "-Zr data");
    let span = &linux.expect("accepted").time_spans[0];
    assert!(!span.random_write_data);
    assert_eq!(
        span.targets[0]
            .write_source
            .as_ref()
            .map(|source| source.size_bytes),
        Some(65_536)
    );
    // One flag that only the port has decides for all.
    assert!(!super::span("-Zr -xk data").random_write_data);
    assert!(target("-Zz data").zero_buffers);
    assert!(target("-Zzs data").zero_buffers);
    assert_refused("-Zzr data", "exclude each other");
}

#[test]
fn sizes_of_limits_of_the_linux_port() {
    assert_eq!(target("-g1M data").throughput, Throughput::BytesPerMs(1 << 20));
    let (profile, _) = of(Dialect::Linux, "data -w -b4K");
    let target = &profile.expect("flags may follow targets there").time_spans[0].targets[0];
    assert_eq!((target.write_percent, target.block_size), (0, 4096));
}
