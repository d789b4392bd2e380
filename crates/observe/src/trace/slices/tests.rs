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
        target_cpu: 1,
    };
    SchedEvent {
        time_ns,
        cpu: 0,
        kind,
    }
}

fn slices(events: &[SchedEvent]) -> Slices {
    let mut slices = Slices::new(&[0, 1], 100);
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
        [(5, None, 100, 200), (5, None, 400, 500)]
    );
}

#[test]
fn memory_is_bounded_and_the_newest_stay() {
    let cpus: Vec<u32> = (0..4).collect();
    let mut slices = Slices::new(&cpus, 0);
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
        let mut slices = Slices::new(&[0, 1], 0);
        let mut has = [0u32; 2];
        let mut since = [0u64; 2];
        let mut ran: HashMap<u32, u64> = HashMap::new();
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

#[test]
fn a_task_whose_coming_after_idle_was_not_told_has_had_the_cpu_all_the_same() {
    let mut slices = slices(&[
        switch(200, 0, 5, TaskState::Sleeping, 0),
        // 6 comes unseen, and goes.
        switch(300, 0, 6, TaskState::Sleeping, 0),
        wake(340, 5),
        switch(400, 0, 5, TaskState::Sleeping, 7),
        switch(500, 0, 7, TaskState::Sleeping, 0),
    ]);
    let told = told(&mut slices, 150, 900);
    let expected = [
        (5, None, 100, 200),
        (6, None, 200, 300),
        (5, Some(340), 340, 400),
        (7, None, 400, 500),
    ];
    assert_eq!(told, expected);
}
