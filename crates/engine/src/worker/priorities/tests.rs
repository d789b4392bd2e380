use super::Priorities;
use crate::interval::Stamps;
use fathom_core::backend::{Op, Request};
use fathom_core::workload::{CommandPriorities, IoPriority, Job, SizePriority};

fn request(slot: u32, op: Op, len: u32) -> Request {
    Request {
        slot,
        op,
        file: 0,
        offset: 0,
        len,
    }
}

fn job(wanted: CommandPriorities) -> Job {
    Job {
        command_priorities: wanted,
        ..Job::default()
    }
}

#[test]
fn a_share_of_each_direction_has_a_priority_and_all_are_counted() {
    let seed = 11;
    println!("seed {seed}");
    let wanted = CommandPriorities {
        percent: [30, 0, 0],
        ..CommandPriorities::default()
    };
    let mut priorities = Priorities::new(&job(wanted), 4, seed).expect("some have one");
    let mut high = [0u64; 2];
    for number in 0..20_000u32 {
        let op = if number % 2 == 0 { Op::Read } else { Op::Write };
        let slot = number % 4;
        priorities.sent(&request(slot, op, 4096));
        let told = priorities.number_of_slot(slot);
        assert!(told == 0 || told == 1 << 13, "{told}");
        high[op.index()] += u64::from(told != 0);
        let stamps = Stamps {
            created: 10,
            submitted: 15,
            completed: 40,
            ..Stamps::default()
        };
        priorities.completed(op, slot, &stamps);
    }
    assert!((2_800..3_200).contains(&high[0]) && high[1] == 0, "{high:?}");
    let accounts = priorities.into_accounts();
    let told: Vec<(Op, u8, u64)> = accounts
        .iter()
        .map(|account| (account.op, account.priority.class, account.lat.n()))
        .collect();
    assert_eq!(
        told,
        [
            (Op::Read, 0, 10_000 - high[0]),
            (Op::Read, 1, high[0]),
            (Op::Write, 0, 10_000)
        ]
    );
    assert!(
        accounts
            .iter()
            .all(|account| account.clat.max() == Some(25) && account.lat.max() == Some(30))
    );
}

#[test]
fn shares_of_sizes_name_their_own() {
    let share = |bytes, percent, class| SizePriority {
        bytes,
        percent,
        priority: Some(IoPriority { class, level: 0 }),
    };
    let wanted = CommandPriorities {
        by_size: [
            vec![share(4096, 50, 1), share(4096, 50, 3)],
            Vec::new(),
            Vec::new(),
        ],
        ..CommandPriorities::default()
    };
    let mut priorities = Priorities::new(&job(wanted), 1, 3).expect("some have one");
    let mut classes = [0u64; 4];
    for _ in 0..1_000 {
        priorities.sent(&request(0, Op::Read, 4096));
        classes[usize::from(priorities.of_slot(0) >> 3)] += 1;
        priorities.sent(&request(0, Op::Read, 8192));
        assert_eq!(priorities.number_of_slot(0), 0, "no share of that size");
    }
    assert_eq!(classes[0] + classes[2], 0);
    assert!((400..600).contains(&classes[1]), "{classes:?}");
    assert!(Priorities::new(&Job::default(), 1, 3).is_none());
}
