use super::*;
use crate::explanation::tests::spike;
use fathom_analysis::explain::answer::{Owned, Spike};
use fathom_core::record::Comm;

fn owned(class: OwnerClass, name: Option<&str>, ms: u64) -> Owned {
    Owned {
        class,
        process: name.map(|name| Process {
            pid: 7,
            comm: Comm::from(name),
        }),
        cgroup: None,
        ns: ms * 1_000_000,
        share: 0.0,
        evidence: "",
    }
}

fn explained(spikes: Vec<Vec<Owned>>) -> Explanation {
    let kept: Vec<Spike> = spikes
        .into_iter()
        .map(|owners| Spike { owners, ..spike() })
        .collect();
    Explanation {
        usage: fathom_analysis::usage::Usage::default(),
        commands: Vec::new(),
        schema: String::new(),
        limits: Vec::new(),
        spikes: Some(SpikeReport {
            found: kept.len() as u64,
            covered: 0.97,
            kept,
            ..SpikeReport::default()
        }),
        distributions: Vec::new(),
        missing: Vec::new(),
    }
}

#[test]
fn owners_are_summed_over_all_disturbances() {
    let both = explained(vec![
        vec![
            owned(OwnerClass::NoCpu, Some("sh"), 300),
            owned(OwnerClass::Usual, None, 5_000),
        ],
        vec![
            owned(OwnerClass::NoCpu, Some("sh"), 500),
            owned(OwnerClass::Device, None, 190),
            owned(OwnerClass::NotSeen, None, 10),
        ],
    ]);
    assert_eq!(
        lines(&both),
        [
            "What disturbed it: of 1.00 s that I/Os lost in 2 disturbances, 800 ms (80 %) no CPU, which sh had; 190 ms (19 %) at \
             the device.",
            "What to do: give the load CPUs of its own, or move sh elsewhere.",
        ]
    );
}

#[test]
fn nothing_is_said_of_what_is_not_known() {
    let nothing = explained(Vec::new());
    assert_eq!(
        lines(&nothing),
        ["What disturbed it: nothing; no I/O took far longer than those around it."]
    );
    let unknown = explained(vec![Vec::new()]);
    assert_eq!(
        lines(&unknown),
        ["What disturbed it: 1 disturbance, of unknown cause."]
    );
}

#[test]
fn of_many_who_had_a_little_a_few_are_named() {
    let crowd = |names: &[(&str, u64)]| {
        let owners = names
            .iter()
            .map(|(name, ms)| owned(OwnerClass::NoCpu, Some(name), *ms));
        lines(&explained(vec![owners.collect()])).swap_remove(0)
    };
    let told = |who: &str| {
        format!(
            "What disturbed it: of 1.00 s that I/Os lost in 1 disturbance, 1.00 s (100 %) no CPU, which {who} had."
        )
    };
    assert_eq!(crowd(&[("a", 600), ("b", 400)]), told("a and b"));
    assert_eq!(crowd(&[("a", 700), ("b", 150), ("c", 150)]), told("a and others"));
    let ten: Vec<(&str, u64)> = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]
        .map(|name| (name, 100))
        .into();
    assert_eq!(crowd(&ten), told("several"));
}
