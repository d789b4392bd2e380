use super::after;

#[test]
fn a_page_says_what_it_had() {
    for (query, had) in [
        ("", 0),
        ("after=7", 7),
        ("x=1&after=12&y", 12),
        ("after=-1", 0),
        ("after=x", 0),
        ("before=3", 0),
    ] {
        assert_eq!(after(query), had, "{query}");
    }
}
