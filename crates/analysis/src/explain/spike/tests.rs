use super::super::answer::{Cause, Explanation};
use super::super::scenarios::explained;
use super::*;
use crate::explain::answer::OwnerClass;
use fathom_core::record::{BlockRequest, BlockedOn, Comm, KernelSpan, SpanKind, TaskState};
use fathom_testkit::make;
use fathom_testkit::scenarios::{Scenario, Set, plans};

mod coverage;

/// The first scenario in which that is done to a load of four in flight.
fn scenario(doing: &str) -> Scenario {
    let plans = plans(Set::Development);
    let mut of_it = plans.iter().filter(|plan| plan.doing() == doing);
    of_it.nth(2).expect("a scenario").simulate()
}

fn worst(explanation: &Explanation) -> &Spike {
    let kept = &explanation.spikes.as_ref().expect("looked for").kept;
    kept.iter()
        .max_by_key(|spike| spike.worst.response_ns)
        .expect("a spike")
}

#[test]
fn without_the_scheduler_starvation_is_unknown_and_that_is_said() {
    let mut scenario = scenario("CPU hog");
    scenario.slices.clear();
    let explanation = explained(&scenario);
    let verdict = &worst(&explanation).verdict;
    assert_eq!((verdict.cause, verdict.process), (Cause::Unknown, None));
    assert!(
        verdict.missing.iter().any(|missing| missing.contains("sched")),
        "{verdict:?}"
    );
}

#[test]
fn without_a_block_trace_the_counters_may_tell_and_what_is_missing_is_said() {
    let mut scenario = scenario("device outage");
    scenario.requests.clear();
    let explanation = explained(&scenario);
    let spike = worst(&explanation);
    assert!(
        matches!(spike.verdict.cause, Cause::Device | Cause::Unknown),
        "{spike:?}"
    );
    assert!(spike.verdict.confidence < 0.7, "{spike:?}");
    assert!(spike.split.is_none());
    assert!(
        spike
            .verdict
            .missing
            .iter()
            .any(|missing| missing.contains("block"))
    );
}

/// All that is inside a modelled disk is the device's part; there are neither processes nor CPUs.
#[test]
fn on_a_modelled_disk_it_is_the_device() {
    let mut scenario = scenario("device outage");
    scenario.run.summary.target.modelled = true;
    let start = scenario.run.started_monotonic_ns.0;
    scenario.counters.clear();
    scenario.slices.clear();
    scenario.processes.clear();
    for io in &mut scenario.ios {
        io.intended_ns -= start;
        io.created_ns -= start;
        io.submitted_ns -= start;
        io.completed_ns -= start;
    }
    scenario
        .requests
        .retain(|request| request.comm.as_bytes() == b"fathom");
    for request in &mut scenario.requests {
        request.queued_ns = request.queued_ns.map(|ns| ns - start);
        request.issued_ns = request.queued_ns;
        request.allocated_ns = None;
        request.completed_ns -= start;
    }
    let explanation = explained(&scenario);
    let verdict = &worst(&explanation).verdict;
    assert_eq!(verdict.cause, Cause::Device);
    assert!(verdict.confidence > 0.9);
    // The same without the trace.
    scenario.requests.clear();
    assert_eq!(worst(&explained(&scenario)).verdict.cause, Cause::Device);
}

/// A device that is watched without a load.
#[test]
fn without_a_load_requests_are_looked_at() {
    let mut scenario = scenario("device outage");
    scenario.run.workload.jobs.clear();
    scenario.ios.clear();
    let explanation = explained(&scenario);
    let spike = worst(&explanation);
    assert_eq!(spike.verdict.cause, Cause::Device, "{spike:?}");
    assert_eq!(spike.sections, ["device 254:0"]);
    assert!(explanation.distributions[0].whole.n > 1000);
}

#[test]
fn regular_outages_have_a_period() {
    let scenario = scenario("regular device outages");
    let explanation = explained(&scenario);
    let spikes = explanation.spikes.as_ref().expect("looked for");
    let period = spikes.periods.first().expect("a period");
    let truth = scenario.run.workload.jobs[0].limit.runtime.unwrap().0 as f64 / 9.0;
    assert!(
        (period.period_ns as f64 / truth - 1.0).abs() < 0.03,
        "{period:?} {truth}"
    );
    assert_eq!(period.cause, Some(Cause::Device));
}

#[test]
fn a_spike_that_is_not_looked_at_has_no_cause() {
    let scenario = scenario("device outage");
    let explanation = explained(&scenario);
    for spike in explanation.spikes.iter().flat_map(|spikes| &spikes.kept) {
        assert!(spike.verdict.confidence <= 0.99);
        let split = spike.split.expect("a block trace");
        let mean_ns = split.total_ns();
        assert!(
            mean_ns > 0.0 && mean_ns <= spike.worst.response_ns as f64 + 1.0,
            "{spike:?}"
        );
    }
}

fn event(worst_ns: u64) -> Event {
    Event {
        start_ns: worst_ns,
        end_ns: worst_ns,
        ios: 1,
        worst_ns,
        worst_at_ns: worst_ns,
        shift: false,
        lost_ns: 0,
    }
}

/// Of a tail only the worst are exceptions; what is set apart from it all are.
#[test]
fn a_tail_is_cut_and_what_is_set_apart_is_kept() {
    let height = |event: &Event| event.worst_ns as f64 / 100.0;
    // Half as many for each doubling, as tails have it.
    let tail: Vec<Event> = (1..5000_u64).map(|number| event(100 * 5000 / number)).collect();
    let kept = exceptions(&tail, height, 3600.0);
    assert!(kept <= 80, "{kept}");
    let mut apart: Vec<Event> = (0..400).map(|_| event(50_000_000)).collect();
    apart.extend(tail);
    let kept = exceptions(&apart, height, 3600.0);
    assert!((400..600).contains(&kept), "{kept}");
}

/// Counters of pressure each second, of which those that `stalled` names show 320 ms.
fn under_pressure(mut scenario: Scenario, stalled: impl Fn(u64) -> bool) -> Explanation {
    let start = scenario.run.started_monotonic_ns.0;
    let mut waited_s = 3.5;
    for second in 0..60 {
        let metric = "node_pressure_memory_waiting_seconds_total";
        let at_ns = start + second * SECOND_NS;
        scenario.counters.push(make::counter(at_ns, metric, "", waited_s));
        waited_s += if stalled(second) { 0.32 } else { 0.002 };
    }
    explained(&scenario)
}

/// Who was short of memory is not known: nobody is accused, and the cause stays what it is.
#[test]
fn a_second_in_which_tasks_waited_for_memory_is_told() {
    let calm = explained(&scenario("device outage"));
    let calm = worst(&calm);
    let first = calm.start_ns / SECOND_NS;
    let last = (calm.start_ns + calm.duration_ns) / SECOND_NS;
    let said = |explanation: &Explanation| {
        let spike = worst(explanation);
        assert_eq!(
            (spike.verdict.cause, spike.verdict.process),
            (Cause::Device, None)
        );
        let (of_memory, others): (Vec<String>, Vec<String>) = spike
            .verdict
            .because
            .iter()
            .cloned()
            .partition(|because| because.contains("memory"));
        assert_eq!(others, calm.verdict.because);
        assert!((spike.verdict.confidence - calm.verdict.confidence).abs() < 1e-9);
        of_memory
    };
    let elsewhere = under_pressure(scenario("device outage"), |second| {
        !(first..=last).contains(&second)
    });
    assert!(said(&elsewhere).is_empty());
    let there = under_pressure(scenario("device outage"), |second| second == first);
    let expected = if first == last {
        String::from("memory pressure: tasks waited 320 ms for memory in that second")
    } else {
        format!(
            "memory pressure: tasks waited {} for memory in those {} seconds",
            fathom_core::units::Nanos(320_000_000 + (last - first) * 2_000_000),
            last - first + 1
        )
    };
    assert_eq!(said(&there), [expected]);
}

/// What a commit writes into the log belongs to the journal, also where the load itself asked for it: it is not the load's pages.
#[test]
fn a_commit_of_the_load_s_own_is_the_journal_s_time() {
    let mut scenario = scenario("commit that another process asked for");
    let load = scenario.requests.iter().find(|request| request.owner_pid == 0);
    let load = load
        .map(|request| (request.pid, request.comm))
        .expect("the load's request");
    for span in &mut scenario.kernel {
        (span.by_tid, span.by_comm) = load;
    }
    for request in &mut scenario.requests {
        if request.comm.as_bytes().starts_with(b"jbd2/") {
            (request.owner_pid, request.owner_comm) = load;
        }
    }
    let explanation = explained(&scenario);
    let verdict = &worst(&explanation).verdict;
    assert_eq!(
        (verdict.cause, verdict.process),
        (Cause::FlushOrJournal, None),
        "{verdict:?}"
    );
}

/// The first stop by a signal of a load that has one I/O in flight, as if no signal had been: the thread slept beyond the time
/// of its next I/O, and a timer let it go on.
fn late_timer() -> Scenario {
    let plans = plans(Set::Development);
    let mut stopped = plans.iter().filter(|plan| plan.doing() == "stopped by a signal");
    let mut scenario = stopped.next().expect("a scenario").simulate();
    assert!(scenario.label.contains("QD1 "), "{}", scenario.label);
    scenario.kernel.clear();
    scenario.run.summary.warnings.clear();
    for stay in &mut scenario.slices {
        if stay.state == TaskState::Stopped {
            (stay.state, stay.blocked_on) = (TaskState::Sleeping, BlockedOn::Itself);
        }
        (stay.waker_tid, stay.waker_comm) = (0, Comm::default());
    }
    // What was in flight then, and seen late, was due then and is sent late.
    let worst = scenario
        .ios
        .iter_mut()
        .max_by_key(|io| io.completed_ns - io.submitted_ns);
    let io = worst.expect("I/Os");
    let of_it = |request: &&mut BlockRequest| {
        request
            .queued_ns
            .is_some_and(|queued_ns| queued_ns.abs_diff(io.submitted_ns) < 100_000)
    };
    let request = scenario.requests.iter_mut().find(of_it).expect("its request");
    let later_ns = io.completed_ns - 20_000 - request.completed_ns;
    for at_ns in [
        &mut request.queued_ns,
        &mut request.allocated_ns,
        &mut request.issued_ns,
    ] {
        *at_ns = at_ns.map(|ns| ns + later_ns);
    }
    request.completed_ns += later_ns;
    io.created_ns += later_ns;
    io.submitted_ns += later_ns;
    scenario
}

/// The machine itself did not run: nobody in it is to blame. While somebody had the CPU that is not said.
#[test]
fn a_timer_that_is_late_beside_an_idle_cpu_is_told() {
    let mut scenario = late_timer();
    let late = |scenario: &Scenario| {
        let explanation = explained(scenario);
        let spike = worst(&explanation);
        let owned = spike.owners.iter().map(|owned| (owned.class, owned.share));
        let (of_it, others): (Vec<_>, Vec<_>) = owned.partition(|owned| owned.0 == OwnerClass::LateTimer);
        (
            of_it.iter().map(|owned| owned.1).sum::<f64>(),
            others,
            spike.verdict.cause,
        )
    };
    let (share, others, cause) = late(&scenario);
    assert_eq!(cause, Cause::LateTimer, "{others:?}");
    assert!(share > 0.9, "{share} {others:?}");
    for share in scenario.cpus.iter_mut().filter(|share| share.tid == 0) {
        (share.tid, share.comm) = (4711, Comm::from("busy"));
    }
    let (share, others, cause) = late(&scenario);
    assert_eq!((share, cause), (0.0, Cause::Unknown), "{others:?}");
}

/// A scenario whose machine stood still from a moment on: nothing went on but the clock, and whoever had a CPU seems to have had it.
fn standing_still(mut scenario: Scenario, at_ns: u64, length_ns: u64, noticed: bool) -> Scenario {
    let later = |ns: &mut u64| {
        if *ns > at_ns {
            *ns += length_ns;
        }
    };
    for io in &mut scenario.ios {
        [&mut io.intended_ns, &mut io.created_ns]
            .into_iter()
            .for_each(later);
        [&mut io.submitted_ns, &mut io.completed_ns]
            .into_iter()
            .for_each(later);
    }
    for request in &mut scenario.requests {
        let begins = [
            &mut request.queued_ns,
            &mut request.allocated_ns,
            &mut request.inserted_ns,
            &mut request.issued_ns,
        ];
        begins.into_iter().flatten().for_each(later);
        later(&mut request.completed_ns);
    }
    for stay in &mut scenario.slices {
        stay.ready_ns.iter_mut().for_each(later);
        [&mut stay.start_ns, &mut stay.end_ns].into_iter().for_each(later);
    }
    let mut cpus: Vec<u32> = Vec::new();
    for share in &mut scenario.cpus {
        if (share.end_ns - share.duration_ns..share.end_ns).contains(&at_ns) {
            share.duration_ns += length_ns;
            // Who had most of that time had it then.
            if !cpus.contains(&share.cpu) {
                share.ran_ns += length_ns;
            }
        }
        if !cpus.contains(&share.cpu) {
            cpus.push(share.cpu);
        }
        later(&mut share.end_ns);
    }
    scenario.counters.iter_mut().for_each(|row| later(&mut row.at_ns));
    scenario
        .processes
        .iter_mut()
        .for_each(|row| later(&mut row.at_ns));
    if noticed {
        scenario.kernel.extend(cpus.iter().map(|&cpu| KernelSpan {
            kind: SpanKind::Standstill,
            // The timer was not due yet.
            start_ns: at_ns + 1_000_000,
            end_ns: at_ns + length_ns,
            device: 0,
            tid: 0,
            comm: Comm::NONE,
            about: cpu.into(),
            by_tid: 0,
            by_comm: Comm::NONE,
        }));
    }
    scenario
}

/// Whoever had a CPU when the machine stood still, and whoever served the disk: nobody of them is to blame.
#[test]
fn a_machine_that_stood_still_is_told_and_nobody_named() {
    for noticed in [true, false] {
        let mut plans = plans(Set::Development)
            .into_iter()
            .filter(|plan| plan.doing() == "nothing");
        let quiet = plans.next().expect("a scenario").simulate();
        let mut ends: Vec<u64> = quiet.ios.iter().map(|io| io.completed_ns).collect();
        ends.sort_unstable();
        // In the middle of an I/O.
        let at_ns = ends[ends.len() / 2] - 20_000;
        let scenario = standing_still(quiet, at_ns, 60_000_000, noticed);
        let explanation = explained(&scenario);
        let spike = worst(&explanation);
        let verdict = &spike.verdict;
        assert_eq!(verdict.cause == Cause::Standstill, noticed, "{verdict:?}");
        assert_eq!((verdict.process, verdict.also.len()), (None, 0), "{verdict:?}");
        let of_it = spike
            .owners
            .iter()
            .filter(|owned| owned.class == OwnerClass::Standstill);
        let share: f64 = of_it.map(|owned| owned.share).sum();
        assert_eq!(share > 0.9, noticed, "{:?}", spike.owners);
    }
}
