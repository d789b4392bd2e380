use super::*;
use fathom_core::run::Warning;
use fathom_dialect::table;

/// Options of job files that a message still has, written as they are there: `bs=`.
fn options_in(message: &str) -> Vec<&'static str> {
    let parts = |text: &str| -> Vec<String> {
        let split = text.split(|c: char| !(c.is_alphanumeric() || "_=".contains(c)));
        split.map(str::to_owned).collect()
    };
    let words = parts(message);
    let has = |name: &str| {
        words.iter().any(|word| {
            let option = word.split_once('=').map(|(option, _)| option);
            option == Some(name) || (word == name && name == "iodepth")
        })
    };
    table()
        .iter()
        .map(|row| row.name)
        .filter(|name| has(name))
        .collect()
}

#[test]
fn no_option_of_job_files_is_left_in_what_a_run_may_say() {
    let path = || String::from("/mnt/a.bin");
    let job = || String::from("thread 0");
    let warnings = [
        Warning::UnwrittenExtents {
            path: path(),
            share_percent: 50.0,
        },
        Warning::PageCache {
            path: path(),
            resident_percent: 10.0,
        },
        Warning::DirectRefused {
            path: path(),
            reason: String::from("tmpfs"),
        },
        Warning::DirectUnaligned {
            path: path(),
            block_bytes: 100,
            need_bytes: 512,
        },
        Warning::SizeClipped {
            path: path(),
            size_bytes: 10,
            path_bytes: 5,
            offset_bytes: 0,
            used_bytes: 5,
        },
        Warning::BufferedWrites { job: job() },
        Warning::Backlog {
            job: job(),
            backlog_max: 3,
            backlog_end: 1,
        },
        Warning::CpuBound {
            job: job(),
            cpu_percent: 99.0,
        },
        Warning::ShortRun {
            job: job(),
            runtime_ns: 1,
        },
    ];
    let more = [
        "thread 0: how large is a? It does not exist yet (or is empty): give size=, or filesize=",
        "thread 0: a has 1 KiB from offset 0 on, less than one block of 4 KiB: give a smaller bs= or a larger size=",
        "thread 0: a block of 2 GiB is too large: bs= may be at most 1 GiB",
        "thread 0: a does not exist, and allow_file_create=0 forbids making it",
        "4 workers need 8 GiB of memory = 4 × 256 KiB + 8 GiB of buffers, there are 4 GiB (the memory available): use fewer \
         workers (numjobs=, or fewer sections at once, with stonewall), a smaller iodepth or smaller blocks",
        "use fewer workers (numjobs=) with a higher iodepth, or raise it as root (sysctl vm.max_map_count=1000000)",
        "4 workers need 9 AIO requests = iodepth of each, all together, there are 2 (fs.aio-max-nr): use fewer workers or a \
         smaller iodepth, use ioengine=io_uring, or raise it as root (sysctl fs.aio-max-nr=1048576)",
        "the modelled disk holds 1 GiB, and the 1 file(s) of the workload need 2 GiB: give a smaller size= or a larger disk",
        "io_setup failed. Run `sysctl fs.aio-max-nr=1048576` as root, or use ioengine=io_uring.",
        "Use fewer workers (numjobs=), or raise the limit (ulimit -u)",
        "cannot make a ready: full. Make room, give a smaller size=, or choose another directory",
    ];
    let messages = warnings
        .iter()
        .map(Warning::in_full)
        .chain(more.map(String::from));
    for message in messages {
        let told = in_flags(&message);
        assert!(options_in(&told).is_empty(), "{:?} in: {told}", options_in(&told));
    }
    assert!(
        !options_in("give a smaller bs= or iodepth").is_empty(),
        "the search finds some"
    );
}

#[test]
fn names_and_places_stay_as_they_are() {
    for message in [
        "/mnt/bs=1/iodepth.bin at offset 4096",
        "bs",
        "my_iodepth",
        "größe=1",
    ] {
        assert_eq!(in_flags(message), message);
    }
    assert_eq!(in_flags("bs= may be at most 1 GiB"), "-b may be at most 1 GiB");
}
