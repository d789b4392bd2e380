use super::*;
use crate::chart::Figure;
use crate::document::content::{Notice, Section, Table, Width};
use serde_json::json;

const HOSTILE: &str = "</script></style><!--<b onload=\"x\">'&amp;";

/// All kinds of blocks, each with the same text.
fn document(text: &str) -> Document {
    let own = || text.to_owned();
    Document {
        title: own(),
        lead: vec![own()],
        sections: vec![Section {
            title: own(),
            blocks: vec![
                Block::Heading(own()),
                Block::Text(own()),
                Block::List(vec![own()]),
                Block::Notice(Notice::Error, own()),
                Block::Facts(vec![("command", own())]),
                Block::Cards(vec![crate::document::content::Card {
                    label: own(),
                    value: own(),
                    notes: vec![own()],
                }]),
                Block::Table(Table {
                    caption: own(),
                    head: vec![own()],
                    words: 1,
                    rows: vec![vec![own()]],
                    folded: true,
                    ..Table::default()
                }),
                Block::Charts(vec![Chart {
                    title: own(),
                    about: own(),
                    width: Width::Half,
                    height: 300,
                    figure: Figure {
                        data: vec![json!({"type": "scatter", "name": text})],
                        layout: json!({}),
                    },
                    table: None,
                }]),
            ],
        }],
        written_by: own(),
        ..Document::default()
    }
}

#[test]
fn no_text_leaves_its_place() {
    let page = render(&document(HOSTILE));
    assert!(!page.contains(HOSTILE));
    assert!(!page.contains("<b onload"));
    // The page's own, and no other.
    assert_eq!(
        page.matches("<script").count(),
        3 + plotly().matches("<script").count()
    );
    assert_eq!(page.matches("</script>").count(), 3);
    assert_eq!(
        page.matches("</style>").count(),
        2 + plotly().matches("</style>").count()
    );
}

#[test]
fn figures_come_back_as_they_were() {
    let page = render(&document(HOSTILE));
    let (_, rest) = page.split_once("id=\"figures\">").expect("the figures");
    let (text, _) = rest.split_once("</script>").expect("their end");
    let figures: serde_json::Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(figures[0]["data"][0]["name"], HOSTILE);
}

#[test]
fn the_script_is_there_once_and_nothing_is_loaded() {
    let page = render(&document("plain"));
    assert_eq!(page.matches("* plotly.js v").count(), 1);
    let own = page.replace(&plotly(), "");
    for asks in ["http:", "https:", " src=", "@import", "url(", "<link"] {
        assert!(!own.contains(asks), "{asks}");
    }
    assert!(page.replace("&#39;", "'").contains("default-src 'none'"));
}

/// What the browser would compute: the text between the tags of each script that runs and of each style.
#[test]
fn the_policy_lets_run_what_is_in_the_page_and_nothing_else() {
    let page = render(&document(HOSTILE));
    let (_, policy) = page
        .split_once("Content-Security-Policy\" content=\"")
        .expect("a policy");
    let (policy, _) = policy.split_once("\">").expect("its end");
    assert!(!policy.contains("unsafe"), "{policy}");
    let policy = policy.replace("&#39;", "'");
    let mut rest = page.as_str();
    let mut digests = 0;
    while let Some((open, after)) = rest.split_once("<s") {
        let _ = open;
        let (tag, text, end) = if after.starts_with("cript>") {
            ("script-src", after.trim_start_matches("cript>"), "</script>")
        } else if after.starts_with("tyle") {
            ("style-src", after.split_once('>').expect("a tag").1, "</style>")
        } else {
            rest = after;
            continue;
        };
        let (text, after) = text.split_once(end).expect("an end");
        let digest = BASE64.encode(&Sha256::digest(text));
        let of_tag = policy
            .split(';')
            .find(|part| part.trim().starts_with(tag))
            .expect("a part");
        assert!(of_tag.contains(&digest), "{tag}: {}", &text[..text.len().min(80)]);
        digests += 1;
        rest = after;
    }
    assert_eq!(digests, 4);
    assert_eq!(policy.matches("sha256-").count(), 4);
    assert!(
        !page.replace(&plotly(), "").contains(" style="),
        "no style in the markup"
    );
}

#[test]
fn the_script_can_stand_in_a_page() {
    let script = plotly();
    assert_eq!(script.len().to_string(), PLOTLY_BYTES);
    assert!(!script.contains("</script") && !script.contains("<!--"));
}
