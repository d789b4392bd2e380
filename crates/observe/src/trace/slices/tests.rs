use super::*;
use fathom_core::rng::Rng;

fn comm(tid: u32) -> Comm {
    Comm::from(format!("task{tid}"))
}

fn switch(time_ns: u64, cpu: u32, from: u32, state: TaskState, to: u32) -> SchedEvent {
    let kind = SchedKind::Switch {
        from,
        from_comm: comm(from),
        state,
        to,
        to_comm: comm(to),
    };
    SchedEvent { time_ns, cpu, kind }
}

fn wake(time_ns: u64, tid: u32) -> SchedEvent {
    let kind = SchedKind::Wake {
        tid,
        comm: comm(tid),
        target_cpu: 0,
        waker: 0,
    };
    SchedEvent {
        time_ns,
        cpu: 0,
        kind,
    }
}

fn slices(events: &[SchedEvent]) -> Slices {
    let mut slices = Slices::new(&[0, 1], &Load::default(), 100);
    for event in events {
        slices.apply(event);
    }
    slices
}

/// Task, ready, start, end.
fn told(slices: &mut Slices, from_ns: u64, to_ns: u64) -> Vec<(u32, Option<u64>, u64, u64)> {
    let mut out = Vec::new();
    slices.consult(from_ns, to_ns, &mut out);
    out.iter()
        .map(|slice| (slice.tid, slice.ready_ns, slice.start_ns, slice.end_ns))
        .collect()
}

#[test]
fn a_window_gives_what_overlaps_it_once() {
    let mut slices = slices(&[
        switch(200, 0, 5, TaskState::Preempted, 6),
        switch(300, 0, 6, TaskState::Sleeping, 5),
        switch(400, 0, 5, TaskState::Uninterruptible, 0),
    ]);
    assert_eq!(told(&mut slices, 400, 900), []);
    assert_eq!(told(&mut slices, 0, 100), []);
    assert_eq!(
        told(&mut slices, 150, 250),
        [(5, None, 100, 200), (6, None, 200, 300)]
    );
    assert_eq!(told(&mut slices, 0, 1000), [(5, Some(200), 300, 400)]);
    assert_eq!(told(&mut slices, 0, 1000), []);
}

#[test]
fn a_task_waits_from_its_waking_on() {
    let mut slices = slices(&[
        switch(200, 0, 5, TaskState::Sleeping, 6),
        wake(220, 5),
        wake(230, 5),
        switch(300, 0, 6, TaskState::Preempted, 5),
        // Woken while it is on its way off: it waits from when it left.
        wake(390, 5),
        switch(400, 0, 5, TaskState::Sleeping, 6),
        switch(500, 0, 6, TaskState::Sleeping, 5),
        switch(600, 0, 5, TaskState::Sleeping, 0),
    ]);
    let expected = [
        (5, None, 100, 200),
        (6, None, 200, 300),
        (5, Some(220), 300, 400),
        (6, Some(300), 400, 500),
        (5, Some(400), 500, 600),
    ];
    assert_eq!(told(&mut slices, 0, 1000), expected);
}

#[test]
fn what_goes_on_is_cut_where_it_is_asked_for() {
    let mut slices = slices(&[switch(200, 0, 5, TaskState::Preempted, 6), wake(210, 7)]);
    slices.seen_to(250);
    let now = [
        (5, None, 100, 200),
        (6, None, 200, 250),
        (7, Some(210), 250, 250),
        (5, Some(200), 250, 250),
    ];
    let mut found = told(&mut slices, 150, 240);
    found.sort_by_key(|slice| now.iter().position(|known| known == slice));
    assert_eq!(found, now);
    assert_eq!(told(&mut slices, 150, 240), []);
    slices.apply(&switch(300, 0, 6, TaskState::Preempted, 7));
    slices.apply(&switch(400, 0, 7, TaskState::Preempted, 5));
    slices.apply(&switch(500, 0, 5, TaskState::Sleeping, 0));
    let rest = [
        (6, None, 250, 300),
        (7, Some(250), 300, 400),
        (5, Some(250), 400, 500),
    ];
    assert_eq!(
        told(&mut slices, 0, 301)[..2],
        rest[..1].iter().chain(&rest[1..2]).copied().collect::<Vec<_>>()[..]
    );
    let after = told(&mut slices, 0, 1000);
    assert!(after.contains(&rest[2]), "{after:?}");
}

#[test]
fn after_a_gap_nothing_is_claimed() {
    let gap = SchedEvent {
        time_ns: 300,
        cpu: 0,
        kind: SchedKind::Gap,
    };
    let mut slices = slices(&[
        switch(200, 0, 5, TaskState::Preempted, 6),
        gap,
        // Neither who had the CPU meanwhile nor whether 5 waited all the time is known.
        switch(400, 0, 8, TaskState::Sleeping, 5),
        switch(500, 0, 5, TaskState::Sleeping, 0),
    ]);
    assert_eq!(
        told(&mut slices, 0, 1000),
        [(5, None, 100, 200), (5, None, 400, 500), (8, None, 400, 400)]
    );
}

#[test]
fn a_clock_that_jumps_is_not_time_that_somebody_had() {
    const FAR_NS: u64 = 1 << 59;
    let mut slices = slices(&[
        switch(200, 0, 5, TaskState::Preempted, 6),
        switch(FAR_NS, 0, 6, TaskState::Sleeping, 5),
        switch(FAR_NS + 300, 0, 5, TaskState::Sleeping, 6),
    ]);
    let (mut stays, mut shares) = (Vec::new(), Vec::new());
    slices.finish(&mut stays, &mut shares);
    let had: Vec<(u32, u64)> = shares.iter().map(|share| (share.tid, share.ran_ns)).collect();
    assert_eq!(had, [(5, 100), (5, 300)]);
}

#[test]
fn memory_is_bounded_and_the_newest_stay() {
    let cpus: Vec<u32> = (0..4).collect();
    let mut slices = Slices::new(&cpus, &Load::default(), 0);
    for turn in 1..100_000 {
        slices.apply(&switch(
            turn * 10,
            3,
            1 + (turn % 2) as u32,
            TaskState::Preempted,
            1 + ((turn + 1) % 2) as u32,
        ));
    }
    let found = told(&mut slices, 0, u64::MAX);
    assert!((32_000..33_000).contains(&found.len()), "{}", found.len());
    assert!(found.iter().any(|slice| slice.3 == 999_990));
}

/// Random tasks on random CPUs; windows asked at random. Against what happened.
#[test]
fn the_parts_add_up_whatever_is_asked() {
    for seed in 0..50 {
        let mut rng = Rng::new(seed);
        let mut slices = Slices::new(&[0, 1], &Load::default(), 0);
        let mut has = [0u32; 2];
        let mut since = [0u64; 2];
        let mut ran: std::collections::HashMap<u32, u64> = std::collections::HashMap::new();
        let mut found = Vec::new();
        let mut now_ns = 0;
        for _ in 0..2000 {
            now_ns += 1 + rng.below(50);
            let cpu = rng.below(2) as usize;
            let free: Vec<u32> = (0..6).filter(|&tid| tid == 0 || !has.contains(&tid)).collect();
            let next = free[rng.below(free.len() as u64) as usize];
            *ran.entry(has[cpu]).or_default() += now_ns - since[cpu];
            let state = TaskState::ALL[rng.below(3) as usize];
            slices.apply(&switch(now_ns, cpu as u32, has[cpu], state, next));
            (has[cpu], since[cpu]) = (next, now_ns);
            if rng.percent(10) {
                let from_ns = rng.below(now_ns);
                slices.consult(from_ns, from_ns + rng.below(2000), &mut found);
            }
        }
        for cpu in 0..2 {
            *ran.entry(has[cpu]).or_default() += now_ns - since[cpu];
        }
        slices.consult(0, u64::MAX, &mut found);
        for tid in 1..6 {
            let mut own: Vec<_> = found.iter().filter(|slice| slice.tid == tid).collect();
            own.sort_by_key(|slice| (slice.start_ns, slice.end_ns));
            let told: u64 = own.iter().map(|slice| slice.end_ns - slice.start_ns).sum();
            assert_eq!(
                told,
                ran.get(&tid).copied().unwrap_or(0),
                "seed {seed}, task {tid}"
            );
            assert!(
                own.windows(2).all(|pair| pair[0].end_ns <= pair[1].start_ns),
                "seed {seed}"
            );
            let waits_overlap = own
                .windows(2)
                .any(|pair| pair[1].ready_ns.is_some_and(|ready| ready < pair[0].end_ns));
            assert!(!waits_overlap, "seed {seed}");
        }
    }
}

/// A task comes to a CPU that does not tell it, and goes.
fn unseen(sent: &[SchedEvent]) -> Vec<(u32, Option<u64>, u64, u64)> {
    let mut events = vec![switch(200, 0, 5, TaskState::Sleeping, 0)];
    events.extend(sent);
    events.push(switch(400, 0, 6, TaskState::Sleeping, 0));
    told(&mut slices(&events), 150, 900)
}

#[test]
fn what_a_blind_cpu_does_not_tell_begins_with_the_last_waking() {
    let seen = [(5, None, 100, 200), (6, Some(340), 340, 400)];
    assert_eq!(unseen(&[wake(340, 6)]), seen);
    // Sent elsewhere first: it waited from the waking, and came when it was moved.
    let mut elsewhere = wake(300, 6);
    if let SchedKind::Wake { target_cpu, .. } = &mut elsewhere.kind {
        *target_cpu = 1;
    }
    let moved = SchedEvent {
        time_ns: 350,
        cpu: 1,
        kind: SchedKind::Migrate { tid: 6, to_cpu: 0 },
    };
    let seen = [(5, None, 100, 200), (6, Some(300), 350, 400)];
    assert_eq!(unseen(&[elsewhere, moved]), seen);
    // When it came is not known: nothing is claimed but that it was there.
    assert_eq!(unseen(&[]), [(5, None, 100, 200), (6, None, 400, 400)]);
}

#[test]
fn one_that_waits_beside_an_idle_cpu_is_not_there() {
    // 6 was made to leave, and nobody took its place: its quota is used up. When it goes on is not told.
    let held = [
        switch(200, 0, 5, TaskState::Sleeping, 6),
        switch(300, 0, 6, TaskState::Preempted, 0),
    ];
    let mut slices = slices(&held);
    slices.seen_to(40_000_000);
    slices.apply(&switch(50_000_000, 0, 6, TaskState::Sleeping, 0));
    assert_eq!(
        told(&mut slices, 250, 60_000_000),
        [(6, None, 200, 300), (6, None, 50_000_000, 50_000_000)]
    );
    let mut shares = Vec::new();
    slices.finish(&mut Vec::new(), &mut shares);
    let of_6 = shares.iter().filter(|share| share.cpu == 0 && share.tid == 6);
    assert_eq!(of_6.map(|share| share.ran_ns).sum::<u64>(), 100);
}

#[test]
fn of_several_that_were_sent_to_a_blind_cpu_the_first_to_leave_was_there() {
    // 6 was sent first, and 7, which is of real time, was taken.
    let events = [
        switch(200, 0, 5, TaskState::Sleeping, 0),
        wake(300, 6),
        wake(310, 7),
    ];
    let mut slices = slices(&events);
    slices.seen_to(50_000_000);
    slices.apply(&switch(60_000_000, 0, 7, TaskState::Sleeping, 6));
    slices.apply(&switch(60_000_100, 0, 6, TaskState::Sleeping, 0));
    let mut shares = Vec::new();
    slices.finish(&mut Vec::new(), &mut shares);
    let of = |tid| -> u64 {
        let own = shares.iter().filter(|share| share.tid == tid && share.cpu == 0);
        own.map(|share| share.ran_ns).sum()
    };
    assert_eq!((of(6), of(7)), (100, 59_999_690));
}

#[test]
fn who_was_sent_to_a_blind_cpu_has_it_before_that_is_told() {
    let mut slices = slices(&[switch(200, 0, 5, TaskState::Sleeping, 0), wake(300, 6)]);
    slices.seen_to(50_000_000);
    let mut shares = Vec::new();
    slices.take_shares(&mut shares);
    slices.finish(&mut Vec::new(), &mut shares);
    let of = |tid| -> u64 {
        let own = shares.iter().filter(|share| share.tid == tid && share.cpu == 0);
        own.map(|share| share.ran_ns).sum()
    };
    assert_eq!((of(5), of(0), of(6)), (100, 100, 49_999_700));
    assert_eq!(
        told(&mut slices, 0, 900).last(),
        Some(&(6, Some(300), 300, 50_000_000))
    );
}

#[test]
fn who_woke_a_task_is_told_of_its_next_stay() {
    let mut slices = Slices::new(&[0, 1], &Load::default(), 100);
    let mut woken = wake(250, 5);
    if let SchedKind::Wake { waker, .. } = &mut woken.kind {
        *waker = 9;
    }
    for event in [
        switch(150, 0, 7, TaskState::Preempted, 9),
        switch(200, 1, 5, TaskState::Sleeping, 0),
        woken,
        // Once it waits, others only repeat it.
        wake(260, 5),
        switch(300, 1, 0, TaskState::Preempted, 5),
        switch(400, 1, 5, TaskState::Preempted, 6),
        switch(500, 1, 6, TaskState::Sleeping, 5),
        switch(600, 1, 5, TaskState::Sleeping, 0),
    ] {
        slices.apply(&event);
    }
    let mut out = Vec::new();
    slices.consult(0, 1000, &mut out);
    let wakers: Vec<_> = out
        .iter()
        .filter(|slice| slice.tid == 5)
        .map(|slice| (slice.waker_tid, slice.waker_comm))
        .collect();
    assert_eq!(wakers, [(0, Comm::default()), (9, comm(9)), (0, Comm::default())]);
}

/// A shell makes a task, which becomes another program and wakes one that waited for it.
#[test]
fn a_waker_has_the_name_of_what_it_has_become() {
    let mut slices = Slices::new(&[0, 1], &Load::default(), 100);
    let mut woken = wake(250, 5);
    if let SchedKind::Wake { waker, .. } = &mut woken.kind {
        *waker = 9;
    }
    let renamed = SchedEvent {
        time_ns: 200,
        cpu: 0,
        kind: SchedKind::Rename {
            tid: 9,
            comm: Comm::from("fsfreeze"),
        },
    };
    for event in [
        switch(150, 0, 7, TaskState::Preempted, 9),
        switch(160, 1, 5, TaskState::Sleeping, 0),
        renamed,
        woken,
        switch(300, 1, 0, TaskState::Preempted, 5),
        switch(400, 1, 5, TaskState::Sleeping, 0),
    ] {
        slices.apply(&event);
    }
    let mut out = Vec::new();
    slices.consult(250, 1000, &mut out);
    let of_5 = out.iter().find(|slice| slice.tid == 5).expect("its stay");
    assert_eq!((of_5.waker_tid, of_5.waker_comm), (9, Comm::from("fsfreeze")));
}

#[test]
fn a_stack_belongs_to_the_stay_before_it() {
    let load = Load {
        comm_prefixes: vec!["task5".to_owned()],
        tids: vec![],
    };
    let mut slices = Slices::new(&[0], &load, 100);
    let stack = |time_ns, tid, on| SchedEvent {
        time_ns,
        cpu: 0,
        kind: SchedKind::Stack { tid, on },
    };
    for event in [
        switch(200, 0, 5, TaskState::Uninterruptible, 6),
        stack(201, 5, BlockedOn::Tag),
        switch(300, 0, 6, TaskState::Sleeping, 5),
        stack(301, 6, BlockedOn::Lock),
        switch(400, 0, 5, TaskState::Preempted, 6),
        stack(401, 5, BlockedOn::Quota),
        // Of somebody else: lost events lie between.
        switch(500, 0, 6, TaskState::Sleeping, 5),
        stack(501, 5, BlockedOn::Io),
        switch(600, 0, 5, TaskState::Preempted, 6),
        stack(601, 5, BlockedOn::Io),
        switch(700, 0, 6, TaskState::Sleeping, 5),
        switch(800, 0, 5, TaskState::Stopped, 0),
    ] {
        slices.apply(&event);
    }
    let mut others = Vec::new();
    slices.consult(0, 1000, &mut others);
    let (mut stays, mut shares) = (Vec::new(), Vec::new());
    slices.take_stays(&mut stays);
    assert_eq!(stays, []);
    slices.finish(&mut stays, &mut shares);
    let on = |slices: &[SchedSlice]| slices.iter().map(|slice| slice.blocked_on).collect::<Vec<_>>();
    assert_eq!(
        on(&stays),
        [
            BlockedOn::Tag,
            BlockedOn::Quota,
            BlockedOn::Unknown,
            BlockedOn::Stopped
        ]
    );
    assert_eq!(
        on(&others),
        [BlockedOn::Lock, BlockedOn::Unknown, BlockedOn::Unknown]
    );
    assert!(stays.iter().all(|slice| slice.tid == 5) && others.iter().all(|slice| slice.tid == 6));
}

mod world;
