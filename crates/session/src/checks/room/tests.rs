//! The sums, in words.

use super::*;

#[expect(clippy::unnecessary_wraps, reason = "what is left is not always known")]
fn left(amount: u64, limit: &str) -> Option<Left> {
    Some(Left {
        amount,
        limit: limit.to_owned(),
    })
}

fn needs() -> Needs {
    Needs {
        workers: 10_000,
        buffer_bytes: 40 << 20,
        opens: 10_000,
        rings: 10_000,
        aio_requests: 70_000,
        ..Needs::default()
    }
}

/// What is refused with so much room, and how.
#[track_caller]
fn refused(room: &Room, text: &str) {
    let error = compare(&needs(), 10_000, room)
        .expect_err("it does not fit")
        .to_string();
    assert!(error.starts_with(text), "{error}");
}

#[test]
fn what_is_not_known_limits_nothing() {
    assert!(compare(&needs(), 10_000, &Room::default()).is_ok());
}

#[test]
fn what_just_fits_is_not_refused() {
    let room = Room {
        memory: left(needs().memory_bytes(), "memory"),
        threads: left(10_008, "kernel.threads-max"),
        mappings: left(70_000, "vm.max_map_count"),
        aio_requests: left(70_000, "fs.aio-max-nr"),
        files: left(30_032, "ulimit -n"),
    };
    assert!(compare(&needs(), 10_000, &room).is_ok());
}

#[test]
fn each_refusal_says_the_sum_and_the_limit() {
    refused(
        &Room {
            memory: left(1 << 30, "the memory available"),
            ..Room::default()
        },
        "10,000 workers need 2.48 GiB of memory = 10,000 × 256 KiB + 40 MiB of buffers, there are 1 GiB (the memory \
         available): use fewer workers",
    );
    refused(
        &Room {
            threads: left(10_007, "kernel.threads-max"),
            ..Room::default()
        },
        "10,000 workers need 10,008 threads = 10,000 of workers + 8 of fathom, there are 10,007 (kernel.threads-max): \
         use fewer workers",
    );
    refused(
        &Room {
            mappings: left(65_500, "vm.max_map_count"),
            ..Room::default()
        },
        "10,000 workers need 70,000 mappings = 50,000 of workers (10,000 × 5) + 20,000 of io_uring (10,000 × 2), there \
         are 65,500 (vm.max_map_count): use fewer workers",
    );
    refused(
        &Room {
            files: left(1024, "ulimit -n"),
            ..Room::default()
        },
        "10,000 workers need 30,032 open files = 10,000 that workers open + 10,000 queues of io_uring + 10,000 that are \
         held while they are written + 32 of fathom, there are 1,024 (ulimit -n): use fewer files",
    );
    refused(
        &Room {
            aio_requests: left(65_536, "fs.aio-max-nr"),
            ..Room::default()
        },
        "10,000 workers need 70,000 AIO requests = iodepth of each, all together, there are 65,536 (fs.aio-max-nr): use \
         fewer workers",
    );
}

#[test]
fn numbers_are_grouped() {
    for (n, words) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_048_576, "1,048,576")] {
        assert_eq!(grouped(n), words);
    }
}
