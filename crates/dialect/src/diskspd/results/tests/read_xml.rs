//! A reader of diskspd's XML results: elements by their names, over a parser that the writer does not use.

use roxmltree::{Document, Node};

/// The first element of a name directly within.
pub(super) fn child<'a>(node: Node<'a, 'a>, name: &str) -> Option<Node<'a, 'a>> {
    node.children().find(|node| node.has_tag_name(name))
}

pub(super) fn children<'a>(node: Node<'a, 'a>, name: &'static str) -> Vec<Node<'a, 'a>> {
    node.children().filter(|node| node.has_tag_name(name)).collect()
}

/// The text of an element directly within.
pub(super) fn text(node: Node<'_, '_>, name: &str) -> Option<String> {
    let found = node.children().find(|node| node.has_tag_name(name))?;
    Some(found.text().unwrap_or_default().to_owned())
}

pub(super) fn number(node: Node<'_, '_>, name: &str) -> u64 {
    let text = text(node, name).unwrap_or_else(|| panic!("no <{name}>"));
    text.parse().unwrap_or_else(|_| panic!("<{name}> is `{text}`"))
}

/// Reads a document, and panics where it is none.
pub(super) fn document(text: &str) -> Document<'_> {
    Document::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The paths of all elements, each once: `Results/TimeSpan/Thread/Id`.
pub(super) fn paths(document: &Document<'_>) -> std::collections::BTreeSet<String> {
    let path = |node: Node<'_, '_>| {
        let mut names: Vec<&str> = node
            .ancestors()
            .filter(Node::is_element)
            .map(|node| node.tag_name().name())
            .collect();
        names.reverse();
        names.join("/")
    };
    document
        .descendants()
        .filter(Node::is_element)
        .map(path)
        .collect()
}
