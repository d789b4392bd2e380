//! Formulas in a catalogue's cells: `min(16000, max(100, 3*gib))`, as the documentation words its rules.
//!
//! ```text
//! sum     product { (+|-) product }
//! product factor { (*|/) factor }
//! factor  number | name | min(sum, …) | max(sum, …) | if(sum < sum, sum, sum) | ( sum )       also <=, >, >=
//! name    gib, tib: the size; iops: what is provisioned; mbps: the same, in the unit of the row
//! ```
//!
//! Data in: text, then values of the names. Data out: a number. Only operations that every machine carries out alike. It must
//! not know what a formula is for.

/// A formula, understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    text: String,
    root: Node,
}

// Its numbers are finite.
impl Eq for Formula {}

/// What a formula may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Gib,
    Tib,
    Iops,
    Mbps,
}

impl Name {
    const ALL: [(&'static str, Self); 4] = [
        ("gib", Self::Gib),
        ("tib", Self::Tib),
        ("iops", Self::Iops),
        ("mbps", Self::Mbps),
    ];
}

/// Values of the names.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Values {
    pub(crate) gib: f64,
    pub(crate) iops: f64,
    pub(crate) mbps: f64,
}

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Number(f64),
    Name(Name),
    Apply(Sign, Box<(Node, Node)>),
    Least(Vec<Node>),
    Most(Vec<Node>),
    /// Which of the latter two: by comparing the former two.
    If(Comparison, Box<[Node; 4]>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Plus,
    Minus,
    Times,
    By,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
}

/// How deep formulas nest: more is a mistake.
const DEPTH_MAX: usize = 16;

impl Formula {
    /// Understands `text`.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser {
            text,
            rest: text,
            depth: 0,
        };
        let root = parser.sum()?;
        parser.blanks();
        if !parser.rest.is_empty() {
            return Err(parser.wrong("nothing more goes here"));
        }
        Ok(Self {
            text: text.to_owned(),
            root,
        })
    }

    /// As the catalogue has it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its value; never below zero, and none where something is divided by zero.
    pub(crate) fn at(&self, values: Values) -> Option<f64> {
        let value = self.root.at(values);
        value.is_finite().then_some(value.max(0.0))
    }

    /// Whether it has no value above zero for a small, a middling and a large disk.
    pub(super) fn is_nothing(&self) -> bool {
        let at = |value: f64| {
            self.at(Values {
                gib: value,
                iops: value,
                mbps: value,
            })
        };
        [1.0, 1_000.0, 65_536.0]
            .into_iter()
            .all(|value| at(value).is_none_or(|value| value <= 0.0))
    }

    /// Whether it names the throughput.
    pub(crate) fn names_mbps(&self) -> bool {
        self.root.names(Name::Mbps)
    }

    /// Whether it names the IOPS.
    pub(crate) fn names_iops(&self) -> bool {
        self.root.names(Name::Iops)
    }
}

impl Node {
    fn at(&self, values: Values) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Name(Name::Gib) => values.gib,
            Self::Name(Name::Tib) => values.gib / 1024.0,
            Self::Name(Name::Iops) => values.iops,
            Self::Name(Name::Mbps) => values.mbps,
            Self::Apply(sign, both) => {
                let (left, right) = (both.0.at(values), both.1.at(values));
                match sign {
                    Sign::Plus => left + right,
                    Sign::Minus => left - right,
                    Sign::Times => left * right,
                    Sign::By => left / right,
                }
            }
            Self::Least(of) => of
                .iter()
                .map(|node| node.at(values))
                .fold(f64::INFINITY, f64::min),
            Self::Most(of) => of
                .iter()
                .map(|node| node.at(values))
                .fold(f64::NEG_INFINITY, f64::max),
            Self::If(comparison, nodes) => {
                let (left, right) = (nodes[0].at(values), nodes[1].at(values));
                let holds = match comparison {
                    Comparison::Less => left < right,
                    Comparison::LessOrEqual => left <= right,
                    Comparison::More => left > right,
                    Comparison::MoreOrEqual => left >= right,
                };
                nodes[if holds { 2 } else { 3 }].at(values)
            }
        }
    }

    fn names(&self, name: Name) -> bool {
        match self {
            Self::Number(_) => false,
            Self::Name(own) => *own == name,
            Self::Apply(_, both) => both.0.names(name) || both.1.names(name),
            Self::Least(of) | Self::Most(of) => of.iter().any(|node| node.names(name)),
            Self::If(_, nodes) => nodes.iter().any(|node| node.names(name)),
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
    depth: usize,
}

impl Parser<'_> {
    fn wrong(&self, what: &str) -> String {
        let at = self.text.len() - self.rest.len();
        format!("at character {}: {what}", self.text[..at].chars().count() + 1)
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Whether `sign` comes next; it is passed then.
    fn passes(&mut self, sign: &str) -> bool {
        self.blanks();
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        if self.passes(sign) {
            return Ok(());
        }
        Err(self.wrong(&format!("`{sign}` goes here")))
    }

    fn sum(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.wrong("it nests too deep"));
        }
        let mut node = self.product()?;
        loop {
            let sign = if self.passes("+") {
                Sign::Plus
            } else if self.passes("-") {
                Sign::Minus
            } else {
                self.depth -= 1;
                return Ok(node);
            };
            node = Node::Apply(sign, Box::new((node, self.product()?)));
        }
    }

    fn product(&mut self) -> Result<Node, String> {
        let mut node = self.factor()?;
        loop {
            let sign = if self.passes("*") {
                Sign::Times
            } else if self.passes("/") {
                Sign::By
            } else {
                return Ok(node);
            };
            node = Node::Apply(sign, Box::new((node, self.factor()?)));
        }
    }

    fn factor(&mut self) -> Result<Node, String> {
        if self.passes("(") {
            let node = self.sum()?;
            self.expect(")")?;
            return Ok(node);
        }
        let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '.' || letter == '_';
        let end = self
            .rest
            .find(|letter| !is_of_word(letter))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.starts_with(|letter: char| letter.is_ascii_digit()) {
            let Some(number) = word.parse().ok().filter(|number: &f64| number.is_finite()) else {
                return Err(self.wrong(&format!("`{word}` is no number")));
            };
            self.rest = rest;
            return Ok(Node::Number(number));
        }
        if let Some((_, name)) = Name::ALL.into_iter().find(|(name, _)| *name == word) {
            self.rest = rest;
            return Ok(Node::Name(name));
        }
        match word {
            "min" | "max" => {
                self.rest = rest;
                let of = self.list()?;
                Ok(if word == "min" {
                    Node::Least(of)
                } else {
                    Node::Most(of)
                })
            }
            "if" => {
                self.rest = rest;
                self.choice()
            }
            _ => {
                Err(self
                    .wrong("a number, gib, tib, iops, mbps, min(…), max(…), if(…) or a bracket goes here"))
            }
        }
    }

    fn list(&mut self) -> Result<Vec<Node>, String> {
        self.expect("(")?;
        let mut of = vec![self.sum()?];
        while self.passes(",") {
            of.push(self.sum()?);
        }
        self.expect(")")?;
        Ok(of)
    }

    fn choice(&mut self) -> Result<Node, String> {
        self.expect("(")?;
        let left = self.sum()?;
        // The longer ones come first, since they begin with shorter ones.
        let known = [
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::MoreOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::More),
        ];
        let found = known.into_iter().find(|(sign, _)| self.passes(sign));
        let Some((_, comparison)) = found else {
            return Err(self.wrong("one of < <= > >= goes here"));
        };
        let right = self.sum()?;
        self.expect(",")?;
        let then = self.sum()?;
        self.expect(",")?;
        let or = self.sum()?;
        self.expect(")")?;
        Ok(Node::If(comparison, Box::new([left, right, then, or])))
    }
}

#[cfg(test)]
mod tests;
