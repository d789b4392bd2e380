use super::*;
use crate::judge;
use crate::need::Ask;

const WANTED: Wanted = Wanted {
    layouts: 3,
    tried: TRIED,
    on_credit: true,
    front: false,
};

fn planned(ask: &Ask) -> Plan<'static> {
    let catalog = Catalog::azure();
    let each = |layouts: &[Layout<'static>], load: &Load| -> Result<Vec<Proof>, LayoutError> {
        layouts
            .iter()
            .map(|layout| prove::prove(layout, load, catalog))
            .collect()
    };
    plan(&[catalog], ask.need().expect("a need"), WANTED, &each).expect("a plan")
}

#[test]
fn bounds_on_latency_leave_slow_families_out() {
    let mut ask = Ask {
        iops: Some(2_000),
        block_bytes: Some(8 << 10),
        read_percent: Some(0),
        size_bytes: Some(100 << 30),
        ..Ask::default()
    };
    let any = planned(&ask);
    ask.latency = vec![Bound {
        percentile: Some(99.0),
        below_ns: 2_000_000,
    }];
    let fast = planned(&ask);
    for one in &fast.layouts {
        let family = one.answer.layout.disk.family();
        assert!(["premium-v2", "ultra"].contains(&family.key()), "{family}");
        assert!(one.proof.as_ref().is_some_and(|proof| proof.keeps(&fast.need)));
    }
    let price = |plan: &Plan<'_>| plan.layouts[0].answer.cost.microusd_month();
    assert!(price(&any) <= price(&fast));
    ask.latency[0].below_ns = 100_000;
    let Some(Nothing::TooSlow(fastest)) = planned(&ask).nothing else {
        panic!("nothing is as fast");
    };
    assert_eq!(fastest.len(), 5);
}

#[test]
fn credit_is_told_apart() {
    let ask = Ask {
        iops: Some(3_000),
        block_bytes: Some(4 << 10),
        size_bytes: Some(16 << 30),
        choice: crate::need::Choice {
            families: vec![Catalog::azure().family("premium").expect("a family")],
            ..crate::need::Choice::default()
        },
        ..Ask::default()
    };
    let plan = planned(&ask);
    let sustained = plan.layouts[0].answer.cost.microusd_month();
    assert!(
        plan.layouts
            .iter()
            .all(|one| one.answer.judged.lasts_seconds.is_none())
    );
    assert!(!plan.on_credit.is_empty());
    for one in &plan.on_credit {
        assert!(one.answer.cost.microusd_month() < sustained);
        assert!(one.answer.judged.lasts_seconds >= Some(PEAK_SECONDS));
    }
}

#[test]
fn room_alone_needs_no_proof() {
    let ask = Ask {
        size_bytes: Some(100 << 30),
        ..Ask::default()
    };
    let plan = planned(&ask);
    assert_eq!(plan.layouts.len(), 3);
    assert!(plan.layouts.iter().all(|one| one.proof.is_none()));
    assert_eq!(
        plan.layouts[0].answer.judged.binding().map(|share| share.of),
        Some(judge::Binding::Size)
    );
}
