use super::Shares;
use fathom_core::record::{Comm, CpuShare};

/// A shell that starts one program after the other: each has a moment, and their name has nearly all.
#[test]
fn many_of_one_name_are_one() {
    for number in [20, 200] {
        let mut shares = Shares::new(&[0], 0);
        let step = 9_000_000 / number;
        for n in 0..number {
            let tid = 100 + u32::try_from(n).expect("small");
            shares.had(0, (tid, Comm::from("true")), n * step + step / 2);
            shares.had(0, (50, Comm::from("sh")), (n + 1) * step);
        }
        shares.had(0, (0, Comm::default()), 10_000_000);
        let mut told = Vec::new();
        shares.finish(&mut told);
        let of = |name: &str| -> u64 {
            let own = told
                .iter()
                .filter(|share| share.comm == Comm::from(name) && share.tid > 0);
            own.map(|share| share.ran_ns).sum()
        };
        let half = number * (step / 2);
        assert_eq!((of("true"), of("sh")), (half, number * step - half), "{told:?}");
        assert_eq!(told.iter().map(|share| share.ran_ns).sum::<u64>(), 10_000_000);
        assert!(told.iter().all(|share| share.tid != CpuShare::OTHERS), "{told:?}");
    }
}

/// Of very many different ones most have no name.
#[test]
fn what_has_no_name_is_counted_all_the_same() {
    let mut shares = Shares::new(&[0], 0);
    for n in 0..1_000u32 {
        let comm = Comm::from(format!("p{n}").as_str());
        shares.had(0, (n + 1, comm), u64::from(n + 1) * 10_000);
    }
    let mut told = Vec::new();
    shares.finish(&mut told);
    assert_eq!(told.len(), 9);
    assert_eq!(told.iter().map(|share| share.ran_ns).sum::<u64>(), 10_000_000);
    assert_eq!(told[8].tid, CpuShare::OTHERS);
}
