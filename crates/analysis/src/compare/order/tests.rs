use super::Order;

fn order(sides: &str) -> Order {
    let starts = |side: char| -> Vec<Option<u64>> {
        let all = sides.chars().enumerate();
        let of_side = all.filter(|(_, letter)| *letter == side);
        of_side.map(|(at, _)| Some(at as u64 * 60)).collect()
    };
    Order::of(&starts('A'), &starts('B'))
}

#[test]
fn sides_take_turns_or_come_one_after_the_other() {
    for sides in ["ABAB", "ABBA", "ABBAABBA", "ABABABABAB", "BAABBAABBA", "AB AB"] {
        let sides = sides.replace(' ', "");
        assert!(matches!(order(&sides), Order::InTurns(_)), "{sides}");
    }
    for sides in ["AABB", "AAAAABBBBB", "BBBBBAAAAA", "AAABAABBBB", "AB"] {
        assert_eq!(order(sides), Order::OneAfterOther, "{sides}");
    }
    assert_eq!(Order::of(&[Some(1), None], &[Some(2)]), Order::Unknown);
}

#[test]
fn each_repeat_keeps_its_turn() {
    let found = Order::of(&[Some(30), Some(0)], &[Some(10), Some(20)]);
    assert_eq!(found, Order::InTurns([vec![3.0, 0.0], vec![1.0, 2.0]]));
    let placed = found.placed(&[7.0, 8.0], &[9.0, 10.0]).expect("in turns");
    let turns: Vec<(f64, bool)> = placed.iter().map(|one| (one.position, one.is_b)).collect();
    assert_eq!(turns, [(3.0, false), (0.0, false), (1.0, true), (2.0, true)]);
}
