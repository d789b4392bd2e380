use super::*;
use expect_test::expect;

/// Lines with a mark before each, which keeps their first spaces.
fn shown(lines: &[String]) -> String {
    let marked: Vec<String> = lines.iter().map(|line| format!("|{line}")).collect();
    marked.join("\n")
}

#[test]
fn wrapping() {
    let lines = wrap("  one two three four five", 12, 4);
    expect![[r#"
        |  one two
        |    three
        |    four
        |    five"#]]
    .assert_eq(&shown(&lines));
    let lines = wrap("see /a/very/long/path/without/spaces for more", 16, 2);
    expect![[r#"
        |see
        |  /a/very/long/p
        |  ath/without/sp
        |  aces for more"#]]
    .assert_eq(&shown(&lines));
    assert_eq!(wrap("", 10, 2), [""]);
}

#[test]
fn wrapped_lines_keep_every_word_and_fit() {
    let mut rng = fathom_core::rng::Rng::new(7);
    for _ in 0..500 {
        let text: String = (0..rng.below(60))
            .map(|_| if rng.below(4) == 0 { ' ' } else { 'µ' })
            .collect();
        let columns = 5 + rng.below(20) as usize;
        let lines = wrap(&text, columns, 3);
        assert!(
            lines.iter().all(|line| width(line) <= columns),
            "{text:?} {columns} {lines:?}"
        );
        let letters = |text: &str| text.chars().filter(|&c| c == 'µ').count();
        assert_eq!(
            lines.iter().map(|line| letters(line)).sum::<usize>(),
            letters(&text)
        );
    }
}

#[test]
fn fitting() {
    assert_eq!(fit("µµµµ", 4), "µµµµ");
    assert_eq!(fit("µµµµµ", 4), "µµµ…");
    assert_eq!(fit("a\nb", 4), "a b");
}

#[test]
fn tables_align() {
    let rows = [
        vec![String::from("a"), String::from("1"), String::from("µs")],
        vec![String::from("bcd"), String::from("234")],
    ];
    expect![[r#"
        | a      1  µs
        | bcd  234"#]]
    .assert_eq(&shown(&table(&rows, 1, 1)));
    assert_eq!(table_width(&rows, 1), 1 + 3 + 2 + 3 + 2 + 2);
}
