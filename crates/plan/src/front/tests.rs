use super::*;
use crate::need::Ask;

#[test]
fn dearer_ones_deliver_more() {
    let ask = Ask {
        iops: Some(8_000),
        bytes_per_second: Some(150_000_000),
        size_bytes: Some(200 << 30),
        ..Ask::default()
    };
    let need = ask.need().expect("a need").0;
    let front = front(&[Catalog::azure()], &need);
    assert!(front.len() >= 8, "{}", front.len());
    for (index, one) in front.iter().enumerate() {
        assert!(one.layout.size_bytes() >= need.size_bytes);
        for cheaper in &front[..index] {
            assert!(cheaper.cost.microusd_month() <= one.cost.microusd_month());
            assert!(
                !delivers_as_much(cheaper, one),
                "{} and {}",
                cheaper.layout.target(),
                one.layout.target()
            );
        }
    }
    // What meets the need itself is on it.
    let cheapest = search::cheapest(Catalog::azure(), &need, 1).answers;
    let price = cheapest[0].cost.microusd_month();
    assert!(front.iter().any(|one| one.cost.microusd_month() == price));
}

/// Figures of layouts that were found for I/Os of another size would not be comparable.
#[test]
fn each_delivers_what_the_same_layout_does_for_the_need_itself() {
    let aws = Catalog::named("aws").expect("built in");
    let mut ask = Ask {
        iops: Some(200),
        bytes_per_second: Some(20_000_000),
        size_bytes: Some(1_000 << 30),
        ..Ask::default()
    };
    ask.choice.families = ["st1", "sc1", "gp3"]
        .iter()
        .map(|word| aws.family(word).expect("a family"))
        .collect();
    let need = ask.need().expect("a need").0;
    let front = front(&[aws], &need);
    assert!(front.len() > 2, "{}", front.len());
    for one in &front {
        let alone = search::answer(one.layout, &need);
        assert_eq!(
            one.judged.sustained,
            alone.judged.sustained,
            "{}",
            one.layout.target()
        );
    }
}
