//! Blocks from one job to another over a network (`ioengine=net`).

use super::{job, run_jobs};
use fathom_core::run::Status;
use fathom_core::units::Nanos;
use fathom_core::workload::{
    Amount, EngineKind, Job, Mix, Net, NetProtocol, ThinkTime, ThinkTimeBasis, Verify, VerifyAlgorithm,
};
use std::net::TcpListener;
use std::path::Path;
use std::time::Instant;

/// The two sides, over so many blocks of 4 KiB each.
fn sides(protocol: NetProtocol, blocks: [u64; 2]) -> [Job; 2] {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let port = port.expect("a port").port();
    let side = |name: &str, mix: Mix, blocks: u64| {
        let mut job = job(name, EngineKind::Net, mix, Path::new("."));
        job.pattern.random = false;
        job.files.directories.clear();
        job.region.size = Some(Amount::Bytes(blocks << 12));
        job.net = Net {
            protocol,
            port,
            host: String::from(if mix == Mix::Write { "127.0.0.1" } else { "" }),
            listens: mix == Mix::Read && protocol.is_tcp(),
            ..Net::default()
        };
        job
    };
    [
        side("send", Mix::Write, blocks[1]),
        side("receive", Mix::Read, blocks[0]),
    ]
}

fn verified(mut jobs: [Job; 2]) -> [Job; 2] {
    for job in &mut jobs {
        job.verify = Some(Verify {
            algorithm: VerifyAlgorithm::Crc32c,
            read_back: false,
            ..Verify::default()
        });
    }
    jobs
}

#[test]
fn what_one_job_sends_another_receives() {
    // Datagrams that nobody has taken yet are kept up to the size of a socket's buffer, and lost beyond that.
    for (protocol, blocks) in [(NetProtocol::Tcp, 64), (NetProtocol::Udp, 16)] {
        for jobs in [
            sides(protocol, [blocks, blocks]),
            verified(sides(protocol, [blocks, blocks])),
            // It is over when the sender has gone.
            sides(protocol, [2 * blocks, blocks]),
        ] {
            let results = run_jobs(&jobs).expect("results");
            let [send, receive] = &results.jobs[..] else {
                panic!("two jobs");
            };
            let errors = (&send.errors, &receive.errors);
            assert_eq!(results.status, Status::Complete, "{errors:?}");
            assert!(errors.0.is_empty() && errors.1.is_empty(), "{errors:?}");
            let all = (blocks, blocks << 12);
            assert_eq!((send.write.ios, send.write.bytes), all, "{protocol:?}");
            assert_eq!((receive.read.ios, receive.read.bytes), all, "{protocol:?}");
            assert_eq!(receive.read.lat_ns.n, blocks);
            let verifies = jobs[1].verify.is_some();
            assert_eq!(receive.verified_ios, if verifies { blocks } else { 0 });
        }
    }
}

/// What a socket's buffer does not take is lost, and told of.
#[test]
fn lost_datagrams_are_counted() {
    let mut jobs = sides(NetProtocol::Udp, [400, 400]);
    // The receiver begins when all has been sent, but for the end.
    jobs[1].start.delay = (Nanos::from_millis(300), Nanos::from_millis(300));
    jobs[0].pace.think = Some(ThinkTime {
        pause: Nanos::from_millis(500),
        spin: Nanos::ZERO,
        blocks: 390,
        basis: ThinkTimeBasis::default(),
        puts_off: false,
        after_run: None,
    });
    let results = run_jobs(&jobs).expect("results");
    let (send, receive) = (&results.jobs[0].write, &results.jobs[1].read);
    assert_eq!(results.status, Status::Complete, "{:?}", results.jobs[1].errors);
    assert_eq!(send.ios, 400);
    assert!(receive.lost_ios > 0, "{receive:?}");
    assert_eq!(receive.ios + receive.lost_ios, 400);
}

/// What arrives otherwise than it was sent is found.
#[test]
fn what_is_not_what_was_sent_is_found() {
    let [mut send, receive] = verified(sides(NetProtocol::Tcp, [16, 16]));
    send.verify = None;
    let results = run_jobs(&[send, receive]).expect("results");
    assert_eq!(results.status, Status::Failed);
    assert!(!results.jobs[1].errors.is_empty());
}

#[test]
fn a_runtime_ends_both_sides() {
    let mut jobs = sides(NetProtocol::Tcp, [64, 64]);
    for job in &mut jobs {
        job.limit.runtime = Some(Nanos::from_millis(200));
        job.limit.time_based = true;
    }
    // The receiver has more time: it ends with the sender.
    jobs[1].limit.runtime = Some(Nanos::from_secs(30));
    let begun = Instant::now();
    let results = run_jobs(&jobs).expect("results");
    assert_eq!(results.status, Status::Complete, "{:?}", results.jobs[1].errors);
    let (sent, came) = (&results.jobs[0].write, &results.jobs[1].read);
    assert_eq!((sent.ios, sent.bytes), (came.ios, came.bytes));
    assert!(sent.ios > 100, "{}", sent.ios);
    assert!(begun.elapsed().as_secs() < 15);
}

#[test]
fn a_sender_without_a_receiver_fails() {
    let [send, _] = sides(NetProtocol::Tcp, [1, 1]);
    let results = run_jobs(&[send]).expect("results");
    assert_eq!(results.status, Status::Failed);
    let error = &results.jobs[0].errors[0];
    let refused = rustix::io::Errno::CONNREFUSED.raw_os_error();
    assert_eq!((error.what.as_str(), error.errno), ("net", refused), "{error:?}");
}
