use super::*;
use crate::testing::{Answer, Run, Sim, job, random_job, seed, worker_plan};
use fathom_core::backend::Request;
use fathom_core::units::Nanos;
use fathom_core::workload::{Mix, VerifyAlgorithm};

const BLOCK: u64 = 4096;

fn verify(percent: u8, every: u32, batch: u32) -> Verify {
    Verify {
        algorithm: VerifyAlgorithm::Crc32c,
        trim_percent: percent,
        trim_every_ios: every,
        trim_batch_ios: batch,
        ..Verify::default()
    }
}

/// All I/Os of a load of 64 blocks.
fn run(random: bool, verify: &Verify) -> Run {
    let mut job = if random {
        random_job(Mix::Write, BLOCK)
    } else {
        job(Mix::Write, BLOCK)
    };
    job.verify = Some(verify.clone());
    let sim = Sim::new(worker_plan(&job, 64 * BLOCK), |request, _| Answer {
        slat: Nanos(0),
        clat: Nanos(1000),
        outcome: Ok(request.len),
    });
    sim.trimming(verify, seed()).run()
}

fn places(run: &Run, op: Op) -> Vec<u64> {
    let of_op = |request: &Request| (request.op == op).then_some(request.offset);
    run.requests().filter_map(|request| of_op(&request)).collect()
}

#[test]
fn all_that_was_written_may_be_trimmed() {
    for random in [false, true] {
        let run = run(random, &verify(100, 16, 0));
        let (written, trimmed) = (places(&run, Op::Write), places(&run, Op::Trim));
        assert_eq!(trimmed, written);
        assert_eq!(places(&run, Op::Read).len(), 64);
    }
}

#[test]
fn a_share_is_trimmed_once_it_is_written() {
    let run = run(true, &verify(50, 8, 0));
    let requests: Vec<Request> = run.requests().collect();
    let trimmed = places(&run, Op::Trim);
    assert!((12..52).contains(&trimmed.len()), "{}", trimmed.len());
    for (at, request) in requests.iter().enumerate() {
        if request.op == Op::Trim {
            let before = requests[..at].iter();
            assert!(
                before
                    .clone()
                    .any(|r| r.op == Op::Write && r.offset == request.offset)
            );
        }
    }
}

#[test]
fn a_batch_is_no_larger_than_it_may_be() {
    let run = run(false, &verify(100, 16, 4));
    assert_eq!(places(&run, Op::Trim), places(&run, Op::Write)[..16]);
}

#[test]
fn the_same_writes_are_chosen_again() {
    let job = {
        let mut job = random_job(Mix::Write, BLOCK);
        job.verify = Some(verify(30, 8, 0));
        job
    };
    let load = worker_plan(&job, 64 * BLOCK).generator;
    let mut trims = Trims::new(job.verify.as_ref(), &load, 1, seed()).expect("trims");
    let mut again = load.clone();
    for _ in 0..40 {
        trims.wrote();
    }
    let trimmed: Vec<u64> = std::iter::from_fn(|| trims.draw())
        .map(|draw| draw.offset)
        .collect();
    let mut told = Vec::new();
    for _ in 0..64 {
        let Some(draw) = again.draw() else { break };
        trims.reads();
        trims.sent_in(0);
        if trims.slots[0] {
            told.push(draw.offset);
        }
    }
    assert_eq!(told, trimmed);
}

#[test]
fn what_is_read_back_on_the_way_is_not_trimmed() {
    let verify = Verify {
        backlog_ios: 8,
        ..verify(100, 8, 0)
    };
    assert!(!verify.trims());
}
