//! Stays and shares against a machine of which all is known, one of its CPUs blind.

use super::*;

const TASKS: u32 = 7;

/// What a task is at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    Running(usize),
    Ready(usize),
    Blocked,
}

/// A made-up machine and what happened on it.
struct World {
    rng: Rng,
    now_ns: u64,
    at: Vec<At>,
    has: [u32; 2],
    /// What each task ran, stood ready and was blocked since 0, and each CPU was idle.
    spent: Vec<[u64; 3]>,
    idle: [u64; 2],
    events: Vec<SchedEvent>,
    /// A CPU whose idle task's switches are not written.
    blind: Option<usize>,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let blind = [None, Some(0), Some(1)][rng.below(3) as usize];
        Self {
            rng,
            now_ns: 0,
            at: vec![At::Blocked; TASKS as usize + 1],
            has: [0; 2],
            spent: vec![[0; 3]; TASKS as usize + 1],
            idle: [0; 2],
            events: Vec::new(),
            blind,
        }
    }

    fn pass(&mut self, ns: u64) {
        self.now_ns += ns;
        for tid in 1..=TASKS as usize {
            let kind = match self.at[tid] {
                At::Running(_) => 0,
                At::Ready(_) => 1,
                At::Blocked => 2,
            };
            self.spent[tid][kind] += ns;
        }
        for cpu in 0..2 {
            if self.has[cpu] == 0 {
                self.idle[cpu] += ns;
            }
        }
    }

    fn ready(&self, cpu: usize) -> Option<u32> {
        (1..=TASKS).find(|&tid| self.at[tid as usize] == At::Ready(cpu))
    }

    fn switch(&mut self, cpu: usize, state: TaskState, to: u32) {
        let from = self.has[cpu];
        if from != 0 {
            self.at[from as usize] = match state {
                TaskState::Preempted => At::Ready(cpu),
                _ => At::Blocked,
            };
        }
        if to != 0 {
            self.at[to as usize] = At::Running(cpu);
        }
        self.has[cpu] = to;
        // The idle task of a blind CPU writes nothing outside interrupts.
        if from != 0 || self.blind != Some(cpu) {
            self.events.push(switch(self.now_ns, cpu as u32, from, state, to));
        }
    }

    /// An idle CPU takes who waits for it at once: so what is not told is known all the same.
    fn fill(&mut self, cpu: usize) {
        if self.has[cpu] == 0
            && let Some(tid) = self.ready(cpu)
        {
            self.switch(cpu, TaskState::Preempted, tid);
        }
    }

    fn step(&mut self) {
        let ns = 1 + self.rng.below(3_000_000);
        self.pass(ns);
        let cpu = self.rng.below(2) as usize;
        let tid = 1 + self.rng.below(u64::from(TASKS)) as u32;
        match self.rng.below(4) {
            0 if self.at[tid as usize] == At::Blocked => {
                let mut event = wake(self.now_ns, tid);
                event.kind = SchedKind::Wake {
                    tid,
                    comm: comm(tid),
                    target_cpu: cpu as u32,
                    waker: 0,
                };
                self.events.push(event);
                self.at[tid as usize] = At::Ready(cpu);
                self.fill(cpu);
            }
            1 => {
                if let At::Ready(_) = self.at[tid as usize] {
                    let to_cpu = cpu as u32;
                    self.events.push(SchedEvent {
                        time_ns: self.now_ns,
                        cpu: 0,
                        kind: SchedKind::Migrate { tid, to_cpu },
                    });
                    self.at[tid as usize] = At::Ready(cpu);
                    self.fill(cpu);
                }
            }
            _ if self.has[cpu] != 0 => {
                let state = TaskState::ALL[self.rng.below(3) as usize];
                let next = self.ready(cpu);
                // Who is to leave alone goes on.
                if state != TaskState::Preempted || next.is_some() {
                    self.switch(cpu, state, next.unwrap_or(0));
                }
            }
            _ => {}
        }
    }
}

/// Runs a world through; the stays of tasks 1 to 4 (throughout), the shares, and what was true.
fn lived(seed: u64) -> (World, Vec<SchedSlice>, Vec<CpuShare>) {
    let mut world = World::new(seed);
    let load = Load {
        comm_prefixes: vec!["task1".to_owned(), "task2".to_owned()],
        tids: vec![3, 4],
    };
    let mut slices = Slices::new(&[0, 1], &load, 0);
    let (mut stays, mut shares) = (Vec::new(), Vec::new());
    // Each CPU has said once who has it.
    for cpu in 0..2 {
        let tid = 1 + cpu as u32;
        world.at[tid as usize] = At::Running(cpu);
        world.has[cpu] = tid;
    }
    for _ in 0..800 {
        world.step();
        for event in std::mem::take(&mut world.events) {
            slices.apply(&event);
        }
        if world.rng.percent(20) {
            slices.seen_to(world.now_ns);
            slices.take_stays(&mut stays);
            slices.take_shares(&mut shares);
        }
    }
    // Of several that were sent to a blind CPU it is known who had it when one leaves.
    for cpu in 0..2 {
        if world.has[cpu] != 0 {
            world.switch(cpu, TaskState::Sleeping, 0);
        }
    }
    for event in std::mem::take(&mut world.events) {
        slices.apply(&event);
    }
    slices.seen_to(world.now_ns);
    slices.finish(&mut stays, &mut shares);
    (world, stays, shares)
}

#[test]
fn each_nanosecond_of_a_cpu_is_somebodys_or_nobodys() {
    for seed in 0..60 {
        let (world, _, shares) = lived(seed);
        assert!(shares.is_sorted_by_key(|share| share.end_ns), "seed {seed}");
        for cpu in 0..2u32 {
            let own = shares.iter().filter(|share| share.cpu == cpu);
            let mut slots: Vec<(u64, u64, u64)> = Vec::new();
            for share in own.clone() {
                match slots.last_mut().filter(|slot| slot.0 == share.end_ns) {
                    Some(slot) => slot.2 += share.ran_ns,
                    None => slots.push((share.end_ns, share.duration_ns, share.ran_ns)),
                }
            }
            let whole: u64 = slots.iter().map(|slot| slot.1).sum();
            assert_eq!(whole, world.now_ns, "seed {seed}: the slots are all the time");
            for (end_ns, length_ns, ran_ns) in slots {
                assert_eq!(ran_ns, length_ns, "seed {seed}, CPU {cpu}, slot to {end_ns}");
            }
            let idle: u64 = own.filter(|share| share.tid == 0).map(|share| share.ran_ns).sum();
            assert_eq!(idle, world.idle[cpu as usize], "seed {seed}, CPU {cpu}");
        }
        for tid in 1..=TASKS {
            let own = shares.iter().filter(|share| share.tid == tid);
            let ran: u64 = own.map(|share| share.ran_ns).sum();
            assert_eq!(ran, world.spent[tid as usize][0], "seed {seed}, task {tid}");
        }
    }
}

#[test]
fn each_nanosecond_of_a_thread_is_running_ready_or_blocked() {
    for seed in 0..60 {
        let (world, stays, _) = lived(seed);
        assert!(stays.is_sorted_by_key(|stay| stay.end_ns), "seed {seed}");
        assert!(
            stays.iter().all(|stay| (1..=4).contains(&stay.tid)),
            "seed {seed}"
        );
        for tid in 1..=4 {
            let own: Vec<_> = stays.iter().filter(|stay| stay.tid == tid).collect();
            let mut to_ns = 0;
            let (mut ran, mut ready, mut blocked) = (0, 0, 0);
            for stay in &own {
                let ready_ns = stay.ready_ns.unwrap_or(stay.start_ns);
                assert!(ready_ns >= to_ns, "seed {seed}, task {tid}: no two at a time");
                blocked += ready_ns - to_ns;
                ready += stay.start_ns - ready_ns;
                ran += stay.end_ns - stay.start_ns;
                to_ns = stay.end_ns;
            }
            let spent = world.spent[tid as usize];
            let rest = world.now_ns - to_ns;
            assert_eq!(ran, spent[0], "seed {seed}, task {tid}");
            // What it is at since its last stay has no row yet.
            assert!(
                ready <= spent[1] && blocked <= spent[2],
                "seed {seed}, task {tid}"
            );
            assert_eq!(
                ran + ready + blocked + rest,
                world.now_ns,
                "seed {seed}, task {tid}"
            );
            assert!(
                spent[1] - ready <= rest && spent[2] - blocked <= rest,
                "seed {seed}, task {tid}"
            );
        }
    }
}
