//! How text may look: colours, width, characters.
//!
//! Data in: what the caller knows of the terminal. Data out: painted and plain text. It must not ask the terminal.

/// What the place can show that a report is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether ANSI colours may be used.
    pub colour: bool,
    /// Columns; taken for at least 60, and used up to 100.
    pub width: usize,
    /// Whether letters beyond ASCII (µ, ×) may be used.
    pub unicode: bool,
}

impl Default for Style {
    /// 80 columns without colour, as a pipe gets it.
    fn default() -> Self {
        Self {
            colour: false,
            width: 80,
            unicode: true,
        }
    }
}

/// The few looks that a report has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// Titles and headlines.
    Bold,
    /// Warnings.
    Yellow,
    /// Errors.
    Red,
}

impl Style {
    /// The columns that are used: tables need 60, and lines of text over 100 are hard to read.
    pub(crate) fn columns(self) -> usize {
        self.width.clamp(60, 100)
    }

    /// `text` in a look, if colours are allowed.
    pub(crate) fn paint(self, look: Look, text: &str) -> String {
        let code = match look {
            Look::Bold => 1,
            Look::Yellow => 33,
            Look::Red => 31,
        };
        if self.colour {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// The report as a whole: in ASCII where that is asked for. Each letter becomes one letter, so that tables
    /// stay aligned; letters of names that have no ASCII form become `?`.
    pub(crate) fn finish(self, text: String) -> String {
        if self.unicode {
            return text;
        }
        let ascii = |letter: char| match letter {
            'µ' => 'u',
            '×' => 'x',
            '…' | '±' => '~',
            '–' => '-',
            letter if letter.is_ascii() => letter,
            _ => '?',
        };
        text.chars().map(ascii).collect()
    }
}
