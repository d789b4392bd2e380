use super::*;
use fathom_core::record::Comm;
use fathom_core::rng::Rng;

fn stay(
    tid: u32,
    (ready_ns, start_ns, end_ns): (Option<u64>, u64, u64),
    state: TaskState,
    blocked_on: BlockedOn,
) -> SchedSlice {
    SchedSlice {
        cpu: 0,
        tid,
        comm: Comm::NONE,
        ready_ns,
        start_ns,
        end_ns,
        state,
        blocked_on,
        waker_tid: 0,
        waker_comm: Comm::NONE,
    }
}

fn each(split: TimeSplit) -> [u64; 4] {
    [split.cpu_ns, split.ready_ns, split.disk_ns, split.other_ns]
}

#[test]
fn a_thread_alone_is_at_one_thing_at_a_time() {
    let mut waits = Waits::default();
    waits.within(100, 0);
    waits.stay(
        &stay(
            7,
            (Some(100), 110, 150),
            TaskState::Uninterruptible,
            BlockedOn::Io,
        ),
        false,
    );
    waits.stay(
        &stay(7, (Some(180), 190, 200), TaskState::Sleeping, BlockedOn::Unknown),
        false,
    );
    waits.stay(
        &stay(7, (Some(260), 260, 300), TaskState::Other, BlockedOn::Unknown),
        true,
    );
    waits.within(100, 310);
    waits.settle(u64::MAX);
    let sums = waits.sums();
    assert_eq!(each(sums.elapsed), [90, 20, 30, 60]);
    assert_eq!(sums.elapsed, sums.threads);
}

#[test]
fn while_one_runs_another_ones_wait_does_not_count() {
    let mut waits = Waits::default();
    waits.within(0, 100);
    waits.stay(
        &stay(1, (None, 0, 40), TaskState::Uninterruptible, BlockedOn::Io),
        false,
    );
    waits.stay(
        &stay(2, (Some(10), 20, 70), TaskState::Sleeping, BlockedOn::Lock),
        false,
    );
    waits.stay(
        &stay(1, (Some(80), 90, 100), TaskState::Preempted, BlockedOn::Unknown),
        false,
    );
    waits.settle(u64::MAX);
    let sums = waits.sums();
    assert_eq!(each(sums.elapsed), [80, 10, 10, 0]);
    assert_eq!(each(sums.threads), [100, 20, 40, 30]);
}

/// Against what each nanosecond says, whatever the order in which threads are told of.
#[test]
fn it_adds_up_as_moment_by_moment() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let end = 400u64;
        let mut stays = Vec::new();
        let mut threads_moments = vec![vec![None::<At>; end as usize]; 3];
        for (tid, moments) in threads_moments.iter_mut().enumerate() {
            let mut now = rng.below(40);
            let mut wait: Option<At> = None;
            loop {
                let (ready, start) = (now + rng.below(30), rng.below(10));
                let (start, length) = (ready + start, 1 + rng.below(50));
                let stop = start + length;
                if stop >= end {
                    break;
                }
                let (state, on, then) = match rng.below(3) {
                    0 => (TaskState::Uninterruptible, BlockedOn::Unknown, At::Disk),
                    1 => (TaskState::Sleeping, BlockedOn::Itself, At::Other),
                    _ => (TaskState::Preempted, BlockedOn::Unknown, At::Ready),
                };
                let ready = if wait == Some(At::Ready) { now } else { ready };
                for at in now..ready {
                    moments[at as usize] = wait;
                }
                for at in ready..start {
                    moments[at as usize] = Some(At::Ready);
                }
                for at in start..stop {
                    moments[at as usize] = Some(At::Cpu);
                }
                stays.push(stay(tid as u32, (Some(ready), start, stop), state, on));
                (now, wait) = (stop, Some(then));
            }
            for at in now..end {
                moments[at as usize] = wait;
            }
        }
        stays.sort_by_key(|stay| stay.end_ns);
        let mut waits = Waits::default();
        let from = rng.below(100);
        waits.within(from, 0);
        for stay in &stays {
            waits.stay(stay, false);
            // The longest stay begins so long before its end, with its wait for a CPU.
            waits.settle(stay.end_ns.saturating_sub(100));
        }
        waits.within(from, end);
        waits.settle(u64::MAX);
        let (mut elapsed, mut threads) = ([0; 4], [0; 4]);
        for at in from as usize..end as usize {
            let moment: Vec<At> = threads_moments.iter().filter_map(|moments| moments[at]).collect();
            if let Some(first) = moment.iter().min() {
                elapsed[*first as usize] += 1;
            }
            for at in moment {
                threads[at as usize] += 1;
            }
        }
        let sums = waits.sums();
        assert_eq!(
            (each(sums.elapsed), each(sums.threads)),
            (elapsed, threads),
            "seed {seed}"
        );
    }
}

/// Parts add up to the whole, however long they had to become.
#[test]
fn parts_of_the_time_add_up_to_it() {
    let second = 1_000_000_000;
    for (count, width) in [(3, 1), (5_000, 8)] {
        let mut waits = Waits::default();
        waits.within(500, 0);
        for number in 0..count {
            let from = 500 + number * second;
            // A quarter of each second on a CPU, the rest waiting for a disk.
            let stay = stay(
                7,
                (None, from, from + second / 4),
                TaskState::Uninterruptible,
                BlockedOn::Io,
            );
            waits.stay(&stay, false);
            waits.settle(from);
        }
        waits.within(500, 500 + count * second);
        waits.settle(u64::MAX);
        let course = waits.course();
        assert_eq!(course.part_ns, width * second);
        assert_eq!(course.parts.len() as u64, count.div_ceil(width));
        assert_eq!(
            each(course.parts[0]),
            [width * second / 4, 0, width * second * 3 / 4, 0]
        );
        let sum = |of: fn(&TimeSplit) -> u64| course.parts.iter().map(of).sum::<u64>();
        let elapsed = waits.sums().elapsed;
        assert_eq!(sum(|part| part.cpu_ns), elapsed.cpu_ns);
        assert_eq!(sum(|part| part.disk_ns), elapsed.disk_ns);
        assert_eq!(elapsed.total_ns(), count * second);
    }
}
