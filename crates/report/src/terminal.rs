//! A document as lines for a terminal.
//!
//! Data in: a document and what the terminal can show. Data out: lines of at most its width. Cards and charts are left out. It
//! must not know what the document is about.

use crate::Style;
use crate::document::content::{Block, Bold, Document, Layout, Notice, Section, Table};
use crate::layout::{fit, table, table_width, width, wrap};
use crate::style::Look;

/// Lines being collected.
struct Page {
    style: Style,
    text: String,
}

/// The whole text. What is in a section with a title is indented, and what is below a heading twice.
pub(crate) fn render(document: &Document, style: Style) -> String {
    let mut page = Page {
        style,
        text: String::new(),
    };
    if !document.title.is_empty() {
        page.painted(Look::Bold, &document.title, 0);
    }
    for (index, section) in document.sections.iter().enumerate() {
        // What has no title and comes first belongs to the document's.
        if index > 0 || !section.title.is_empty() {
            page.gap();
        }
        page.section(section);
    }
    style.finish(page.text)
}

impl Page {
    fn section(&mut self, section: &Section) {
        let mut level = 0;
        if !section.title.is_empty() {
            self.painted(Look::Bold, &section.title, 0);
            level = 1;
        }
        for (index, block) in section.blocks.iter().enumerate() {
            self.block(block, &mut level, index == 0);
        }
    }

    fn block(&mut self, block: &Block, level: &mut usize, first: bool) {
        match block {
            Block::Heading(text) => {
                if !first {
                    self.gap();
                }
                self.painted(Look::Bold, text, 1);
                *level = 2;
            }
            Block::Text(text) => self.paragraph(text, *level),
            Block::List(entries) => {
                for entry in entries {
                    self.paragraph(entry, (*level).max(1));
                }
            }
            Block::Notice(notice, text) => self.notice(*notice, text, *level),
            Block::Conclusion(paragraph) => {
                self.gap();
                self.labelled(Look::Bold, &format!("{}:", paragraph.title), &paragraph.text);
                for evidence in &paragraph.evidence {
                    self.paragraph(&format!("- {evidence}"), 1);
                }
            }
            Block::Nested(texts) => {
                for (index, text) in texts.iter().enumerate() {
                    let indent = if index == 0 { 0 } else { 2 };
                    self.wrapped(text, indent, 4, None);
                }
                *level = 1;
            }
            Block::Command(text) => self.command(text, 4),
            Block::Headline(text) => self.line(text, Some(Look::Bold)),
            Block::Grid(caption, cells) => self.grid(caption, cells),
            Block::Gap => self.gap(),
            Block::Facts(facts) => {
                for (name, text) in facts {
                    self.paragraph(&format!("{name}: {text}"), *level);
                }
            }
            Block::Table(table) if table.terminal.sentence => {
                let rows: Vec<String> = table.rows.iter().map(|row| row.join(" ")).collect();
                self.wrapped(&rows.join(", "), 2 * *level, 2 * *level, None);
            }
            Block::Table(table) => {
                if !table.caption.is_empty() {
                    if !first {
                        self.gap();
                    }
                    self.paragraph(&table.caption, *level);
                }
                self.table(table, 2 * (*level).min(1));
            }
            Block::Cards(_) | Block::Charts(_) => {}
        }
    }

    fn line(&mut self, line: &str, look: Option<Look>) {
        match look {
            Some(look) => self.text.push_str(&self.style.paint(look, line)),
            None => self.text.push_str(line),
        }
        self.text.push('\n');
    }

    /// An empty line, unless there is one already.
    fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Lines, the later ones with an indent of their own.
    fn wrapped(&mut self, text: &str, indent: usize, later: usize, look: Option<Look>) {
        let text = format!("{:indent$}{text}", "");
        for line in wrap(&text, self.style.columns(), later) {
            self.line(&line, look);
        }
    }

    /// Words in lines that end in a backslash, but for the last; a word that does not fit has a line for itself, whatever its
    /// length.
    fn command(&mut self, text: &str, indent: usize) {
        let most = self.style.columns().saturating_sub(indent + 4);
        let mut lines: Vec<String> = Vec::new();
        for word in text.split(' ') {
            match lines.last_mut() {
                Some(line) if width(line) + 1 + width(word) <= most => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(word.to_owned()),
            }
        }
        let last = lines.len().saturating_sub(1);
        for (index, line) in lines.iter().enumerate() {
            let indent = if index == 0 { indent } else { indent + 2 };
            let end = if index == last { "" } else { " \\" };
            self.line(&format!("{:indent$}{line}{end}", ""), None);
        }
    }

    fn paragraph(&mut self, text: &str, level: usize) {
        self.wrapped(text, 2 * level, 2 * level + 2, None);
    }

    fn painted(&mut self, look: Look, text: &str, level: usize) {
        self.wrapped(text, 2 * level, 2 * level + 2, Some(look));
    }

    fn notice(&mut self, notice: Notice, text: &str, level: usize) {
        match notice.name() {
            "" => self.painted(look(notice), text, level),
            name => self.labelled(look(notice), &format!("{name}:"), text),
        }
    }

    /// A paragraph whose label is in a look: `warning: …`.
    fn labelled(&mut self, look: Look, label: &str, text: &str) {
        let lines = wrap(&format!("{label} {text}"), self.style.columns(), 2);
        for (index, line) in lines.iter().enumerate() {
            match line.strip_prefix(label).filter(|_| index == 0) {
                Some(rest) => self.line(&format!("{}{rest}", self.style.paint(look, label)), None),
                None => self.line(line, None),
            }
        }
    }

    fn fits(&self, rows: &[Vec<String>], indent: usize) -> bool {
        table_width(rows, indent) <= self.style.columns()
    }

    /// Cells of equal width in as many columns as fit, filled row by row.
    fn grid(&mut self, caption: &str, cells: &[[String; 2]]) {
        self.gap();
        self.line(&format!("  {caption}"), None);
        let rows = |across: usize| -> Vec<Vec<String>> { cells.chunks(across).map(<[_]>::concat).collect() };
        let across = (1..=5).rev().find(|&across| self.fits(&rows(across), 4));
        for line in table(&rows(across.unwrap_or(1)), 0, 4) {
            self.line(&line, None);
        }
    }

    fn table(&mut self, given: &Table, indent: usize) {
        let layout = &given.terminal;
        let head = Some(&given.head).filter(|head| !head.is_empty());
        let mut rows: Vec<Vec<String>> = head.into_iter().chain(&given.rows).cloned().collect();
        if !layout.groups.is_empty() {
            self.split(&rows, &layout.groups, indent);
            return;
        }
        let rest: Vec<String> = match layout.rest {
            Some(_) => rows.iter_mut().filter_map(Vec::pop).collect(),
            None => Vec::new(),
        };
        if !layout.narrow.is_empty() && !self.fits(&rows, indent) {
            rows.clone_from(&layout.narrow);
        }
        self.narrow(&mut rows, given.words, layout, indent);
        let lines = table(&rows, given.words, indent);
        let widest = lines.iter().map(|line| width(line)).max().unwrap_or(0);
        let room = self.style.columns().saturating_sub(widest + 2);
        let heads = usize::from(head.is_some());
        for (index, mut line) in lines.into_iter().enumerate() {
            if let Some(last) = rest.get(index).filter(|_| layout.rest <= Some(room)) {
                line = format!("{line:widest$}  {}", fit(last, room));
            }
            if layout.cut.is_some() {
                line = fit(&line, self.style.columns());
            }
            let bold = match layout.bold {
                Bold::All => true,
                Bold::Head => index == 0,
                Bold::None => false,
            };
            let mark = index.checked_sub(heads).and_then(|row| *layout.marks.get(row)?);
            self.line(&line, mark.map(look).or(bold.then_some(Look::Bold)));
        }
    }

    /// Cuts words and leaves out columns until the rows fit.
    fn narrow(&self, rows: &mut [Vec<String>], words: usize, layout: &Layout, indent: usize) {
        let cut = |rows: &mut [Vec<String>], letters: usize| {
            for cell in rows.iter_mut().flat_map(|row| row.iter_mut().take(words)) {
                *cell = fit(cell, letters);
            }
        };
        let (most, least) = layout.cut.unwrap_or((usize::MAX, usize::MAX));
        cut(rows, most);
        for (index, &column) in layout.spare.iter().enumerate() {
            if self.fits(rows, indent) {
                return;
            }
            let gone = layout.spare[..index]
                .iter()
                .filter(|&&gone| gone < column)
                .count();
            for row in rows.iter_mut() {
                row.remove(column - gone);
            }
        }
        for letters in (least..most).rev() {
            if self.fits(rows, indent) {
                return;
            }
            cut(rows, letters);
        }
    }

    /// As many groups of columns in a table as fit, in as many tables as it takes; a group that does not fit by itself is in
    /// several. The first column is in all of them.
    fn split(&mut self, rows: &[Vec<String>], groups: &[&str], indent: usize) {
        let part = |columns: &[usize]| -> Vec<Vec<String>> {
            let mut names = vec![String::new()];
            for (index, &column) in columns.iter().enumerate() {
                let said = index > 0 && groups[columns[index - 1]] == groups[column];
                names.push(String::from(if said { "" } else { groups[column] }));
            }
            let cells = |row: &Vec<String>| {
                let chosen = columns.iter().map(|&column| row[column + 1].clone());
                std::iter::once(row[0].clone()).chain(chosen).collect()
            };
            std::iter::once(names).chain(rows.iter().map(cells)).collect()
        };
        let all: Vec<usize> = (0..groups.len()).collect();
        let each: Vec<&[usize]> = all.chunk_by(|&a, &b| groups[a] == groups[b]).collect();
        let mut from = 0;
        while from < each.len() {
            let fitting = |&to: &usize| self.fits(&part(&each[from..to].concat()), indent);
            let to = (from + 1..=each.len()).rev().find(fitting).unwrap_or(from + 1);
            let columns = each[from..to].concat();
            let mut rest = columns.as_slice();
            while !rest.is_empty() {
                let fitting = |&n: &usize| self.fits(&part(&rest[..n]), indent);
                let n = (1..=rest.len()).rev().find(fitting).unwrap_or(1);
                for line in table(&part(&rest[..n]), 1, indent) {
                    self.line(&line, None);
                }
                rest = &rest[n..];
            }
            from = to;
        }
    }
}

fn look(notice: Notice) -> Look {
    match notice {
        Notice::Error | Notice::Failure | Notice::Failed => Look::Red,
        Notice::Note | Notice::Warning | Notice::Interrupted | Notice::Unfinished => Look::Yellow,
    }
}
