use super::*;
use crate::document::content::{Card, Notice, Section, Table};
use expect_test::expect;
use proptest::prelude::*;

#[test]
fn a_document_reads_as_github_shows_it() {
    let table = Table {
        caption: String::from("Jobs"),
        head: ["job", "IOPS"].map(str::to_owned).into(),
        words: 1,
        rows: vec![vec![String::from("a|b"), String::from("500")]],
        folded: true,
        ..Table::default()
    };
    let document = Document {
        title: String::from("randread on <data_1>"),
        lead: vec![String::from("Run on vm1.")],
        sections: vec![Section {
            title: String::from("Numbers"),
            blocks: vec![
                Block::Cards(vec![Card {
                    label: String::from("read"),
                    value: String::from("500 IOPS"),
                    notes: vec![String::from("in 10 s")],
                }]),
                Block::Heading(String::from("More")),
                Block::Notice(Notice::Warning, String::from("*busy*\nhost")),
                Block::Facts(vec![("load", String::from("randread"))]),
                Block::Table(table),
                Block::Charts(Vec::new()),
            ],
        }],
        written_by: String::from("fathom 0.1.0"),
        ..Document::default()
    };
    expect![[r#"
        # randread on &lt;data\_1&gt;

        Run on vm1.

        ## Numbers

        - **read:** 500 IOPS (in 10 s)

        ### More

        **warning:** \*busy\* host

        - **load:** randread

        Jobs:

        | job | IOPS |
        |---|---:|
        | a\|b | 500 |

        Written by fathom 0.1.0.
    "#]]
    .assert_eq(&render(&document));
}

proptest! {
    #[test]
    fn no_text_ends_its_cell_or_begins_an_element(text in ".*") {
        let shown = inline(&text);
        prop_assert!(!shown.contains(['<', '>', '\n', '\r']));
        prop_assert_eq!(shown.matches('|').count(), shown.matches("\\|").count());
    }
}
