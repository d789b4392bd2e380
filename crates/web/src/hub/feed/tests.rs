use super::{EVENTS_MAX, Feed};

fn numbers(text: &str) -> Vec<u64> {
    let ids = text.lines().filter_map(|line| line.strip_prefix("id: "));
    ids.map(|id| id.parse().expect("a number")).collect()
}

/// All that comes after a number, as a viewer takes it.
fn all_after(feed: &Feed, mut had: u64) -> String {
    let mut text = String::new();
    while let Some(batch) = feed.after(had) {
        assert!(batch.last > had);
        text.push_str(&batch.text);
        had = batch.last;
    }
    text
}

#[test]
fn who_comes_back_gets_what_was_missed_and_nothing_twice() {
    let feed = Feed::default();
    assert_eq!(feed.after(0), None);
    for event in 0..500u32 {
        feed.push("interval", &event);
    }
    assert_eq!(numbers(&all_after(&feed, 0)), (1..=500).collect::<Vec<u64>>());
    assert_eq!(numbers(&all_after(&feed, 1)), (2..=500).collect::<Vec<u64>>());
    assert_eq!(numbers(&all_after(&feed, 497)), [498, 499, 500]);
    assert_eq!(feed.after(500), None);
    assert!(!feed.knows(501));
    assert_eq!(*feed.subscribe().borrow(), 500);
}

#[test]
fn it_is_bounded_and_says_what_is_missing() {
    let feed = Feed::default();
    feed.push("about", &"first");
    let many = EVENTS_MAX as u64 + 100;
    for event in 0..many {
        feed.push("interval", &event);
    }
    let text = all_after(&feed, 0);
    let numbers = numbers(&text);
    assert_eq!(numbers.len(), EVENTS_MAX + 1);
    assert_eq!(
        (numbers[0], numbers[1]),
        (1, 102),
        "what is measured is always told"
    );
    assert!(text.contains("event: gap\ndata: {\"missing\":100}"));
    assert!(all_after(&feed, 50).contains("{\"missing\":51}"));
    assert!(!all_after(&feed, 101).contains("missing"));
}

#[test]
fn a_line_break_in_data_does_not_end_an_event() {
    let feed = Feed::default();
    feed.push("about", &"a\n\nid: 99\nevent: end");
    let batch = feed.after(0).expect("an event");
    assert_eq!(batch.text.lines().count(), 4);
}
