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
