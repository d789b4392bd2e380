//! Which rows of a listing are wanted: `family=Premium SSD,iops>=5000`.
//!
//! An expression is conditions joined with commas, all of which must hold. A condition is a column, an operator and
//! a value. `=` and `!=` compare text (ignoring case), numbers and `true`/`false`; `~` asks whether text contains
//! another (ignoring case); `<`, `<=`, `>` and `>=` compare numbers. What is not known, or is not there at all,
//! meets no condition but `=not known`.
//!
//! Data in: the expression and the columns. Data out: yes or no for a row. It must not know the rows' meaning.

use super::columns::{Column, Unit, Value};
use super::nearest;

/// Why an expression is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    #[error(
        "filter `{0}`: no operator: write a column, one of = != ~ < <= > >=, and a value, as in iops>=5000"
    )]
    NoOperator(String),
    /// A column that is not there.
    #[error("filter `{condition}`: no column `{name}`{}: the columns are {columns}", did_you_mean(.near.as_deref()))]
    NoColumn {
        condition: String,
        /// What was written.
        name: String,
        /// What may be meant.
        near: Option<String>,
        columns: String,
    },
    /// An operator that the column's values do not have.
    #[error("filter `{condition}`: {operator} compares {wanted}, but `{name}` is {found}")]
    Operator {
        condition: String,
        operator: &'static str,
        /// What the operator is for.
        wanted: &'static str,
        /// The column.
        name: &'static str,
        /// What the column holds.
        found: &'static str,
    },
    /// A value that is none of the column's.
    #[error("filter `{condition}`: `{value}` is not {wanted}")]
    Value {
        condition: String,
        /// What was written.
        value: String,
        /// What goes there.
        wanted: &'static str,
    },
}

fn did_you_mean(near: Option<&str>) -> String {
    near.map_or(String::new(), |near| format!(" (did you mean `{near}`?)"))
}

/// An expression, understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    conditions: Vec<Condition>,
}

#[derive(Debug, Clone, PartialEq)]
struct Condition {
    /// Place of the column.
    place: usize,
    operator: Operator,
    wanted: Wanted,
}

#[derive(Debug, Clone, PartialEq)]
enum Wanted {
    /// In lower case.
    Text(String),
    Number(f64),
    Flag(bool),
    NotKnown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Is,
    IsNot,
    Contains,
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
}

impl Operator {
    /// As written. The longer ones come first, since they begin with shorter ones.
    const ALL: [(&'static str, Self); 7] = [
        ("!=", Self::IsNot),
        (">=", Self::MoreOrEqual),
        ("<=", Self::LessOrEqual),
        ("=", Self::Is),
        ("~", Self::Contains),
        (">", Self::More),
        ("<", Self::Less),
    ];

    /// The operator at the beginning of `text`.
    fn at(text: &str) -> Option<(&'static str, Self)> {
        Self::ALL.into_iter().find(|(sign, _)| text.starts_with(sign))
    }
}

impl Filter {
    /// Understands an expression over `columns`. An empty one wants every row.
    ///
    /// # Errors
    /// The first condition that is none, with the columns there are.
    pub fn parse(text: &str, columns: &[Column]) -> Result<Self, FilterError> {
        let conditions = text.split(',').map(str::trim).filter(|text| !text.is_empty());
        let conditions: Result<_, _> = conditions.map(|text| condition(text, columns)).collect();
        Ok(Self {
            conditions: conditions?,
        })
    }

    /// Whether a row with these values, in the order of the columns, is wanted.
    pub fn wants(&self, values: &[Value<'_>]) -> bool {
        self.conditions.iter().all(|condition| {
            let value = values.get(condition.place).copied().unwrap_or(Value::None);
            condition.holds(value)
        })
    }
}

impl Condition {
    fn holds(&self, value: Value<'_>) -> bool {
        let is_not = self.operator == Operator::IsNot;
        match (&self.wanted, value) {
            (Wanted::NotKnown, _) => (value == Value::NotKnown) != is_not,
            (Wanted::Text(wanted), Value::Text(text)) => {
                let text = text.to_lowercase();
                match self.operator {
                    Operator::Contains => text.contains(wanted),
                    _ => (text == *wanted) != is_not,
                }
            }
            (Wanted::Flag(wanted), Value::Flag(flag)) => (flag == *wanted) != is_not,
            (&Wanted::Number(wanted), Value::Number(number)) => match self.operator {
                // Numbers of the catalogue have six decimals.
                Operator::Is => (number - wanted).abs() < 1e-7,
                Operator::IsNot => (number - wanted).abs() >= 1e-7,
                Operator::Less => number < wanted,
                Operator::LessOrEqual => number <= wanted,
                Operator::More => number > wanted,
                Operator::MoreOrEqual => number >= wanted,
                Operator::Contains => false,
            },
            _ => false,
        }
    }
}

fn condition(text: &str, columns: &[Column]) -> Result<Condition, FilterError> {
    let found = text
        .char_indices()
        .find_map(|(at, _)| Operator::at(&text[at..]).map(|found| (at, found)));
    let Some((at, (sign, operator))) = found else {
        return Err(FilterError::NoOperator(text.to_owned()));
    };
    let name = text[..at].trim();
    let value = text[at + sign.len()..].trim();
    let named = |column: &Column| {
        [column.name, column.key]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(name))
    };
    let place = columns.iter().position(named);
    let Some(place) = place else {
        let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
        return Err(FilterError::NoColumn {
            condition: text.to_owned(),
            name: name.to_owned(),
            near: nearest::nearest(name, names.iter().copied()).map(str::to_owned),
            columns: names.join(", "),
        });
    };
    fits(text, sign, operator, &columns[place])?;
    Ok(Condition {
        place,
        operator,
        wanted: wanted(text, value, operator, columns[place].unit)?,
    })
}

/// Whether the column's values have the operator.
fn fits(text: &str, sign: &'static str, operator: Operator, column: &Column) -> Result<(), FilterError> {
    let found = match column.unit {
        Unit::Text => "text",
        Unit::Flag => "true or false",
        _ => "a number",
    };
    let wanted = match operator {
        Operator::Is | Operator::IsNot => found,
        Operator::Contains => "text",
        _ => "a number",
    };
    if wanted == found {
        return Ok(());
    }
    Err(FilterError::Operator {
        condition: text.to_owned(),
        operator: sign,
        wanted: if wanted == "text" { "text" } else { "numbers" },
        name: column.name,
        found,
    })
}

fn wanted(text: &str, value: &str, operator: Operator, unit: Unit) -> Result<Wanted, FilterError> {
    let error = |wanted| FilterError::Value {
        condition: text.to_owned(),
        value: value.to_owned(),
        wanted,
    };
    if matches!(operator, Operator::Is | Operator::IsNot) && value.eq_ignore_ascii_case("not known") {
        return Ok(Wanted::NotKnown);
    }
    match unit {
        Unit::Text => Ok(Wanted::Text(value.to_lowercase())),
        Unit::Flag => match value.to_ascii_lowercase().as_str() {
            "true" | "yes" => Ok(Wanted::Flag(true)),
            "false" | "no" => Ok(Wanted::Flag(false)),
            _ => Err(error("true, false or not known")),
        },
        _ => {
            let number: Option<f64> = value.parse().ok().filter(|number: &f64| number.is_finite());
            number.map(Wanted::Number).ok_or_else(|| error("a number"))
        }
    }
}

#[cfg(test)]
mod tests;
