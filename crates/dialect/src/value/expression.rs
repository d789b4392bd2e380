//! Arithmetic in parentheses: `(4k*2)`, `(1h-90s)`, `($ncpus*2)`.
//!
//! Data in: the text and the meaning of a unit's name. Data out: a number. It must not know sizes from times.

use crate::diagnostic::Fault;

/// Nesting beyond this is refused, so that a hostile file cannot exhaust the stack.
const MAX_DEPTH: u32 = 32;

/// The factor of a unit's name, lower-case; the empty name is a bare number's.
pub(super) type Units<'a> = &'a dyn Fn(&str) -> Option<f64>;

/// Evaluates `text`. Operators: `+ - * / % ^`, unary minus, parentheses; a number may carry a unit.
pub(super) fn evaluate(text: &str, units: Units<'_>) -> Result<f64, Fault> {
    let mut parser = Parser {
        rest: text.trim_start(),
        text,
        units,
        depth: 0,
    };
    let value = parser.sum()?;
    if !parser.rest.is_empty() {
        return Err(parser.unexpected());
    }
    if !value.is_finite() {
        return Err(Fault::new(format!("`{text}` has no finite value")));
    }
    Ok(value)
}

/// `scale` times the value of `text` as a whole number that is not negative, rounded down.
pub(super) fn evaluate_whole(text: &str, scale: f64, units: Units<'_>) -> Result<u64, Fault> {
    let value = evaluate(text, units)? * scale;
    // Above 2^53 a float is no longer every integer; nobody's disk is that large.
    if !(0.0..=9_007_199_254_740_992.0).contains(&value) {
        return Err(Fault::new(format!(
            "`{text}` is {value}, which is not between 0 and 2^53"
        )));
    }
    Ok(value as u64)
}

/// Does a sum of bare numbers, as the words of a job file allow (`4*$pagesize`), and prints its whole part.
pub(crate) fn plain_sum(text: &str) -> Result<String, Fault> {
    evaluate_whole(text, 1.0, &|name| name.is_empty().then_some(1.0)).map(|value| value.to_string())
}

struct Parser<'a> {
    rest: &'a str,
    text: &'a str,
    units: Units<'a>,
    depth: u32,
}

impl Parser<'_> {
    fn take(&mut self, operator: char) -> bool {
        let Some(rest) = self.rest.strip_prefix(operator) else {
            return false;
        };
        self.rest = rest.trim_start();
        true
    }

    fn unexpected(&self) -> Fault {
        match self.rest.chars().next() {
            Some(c) => Fault::new(format!("unexpected `{c}` in `{}`", self.text)),
            None => Fault::new(format!("`{}` ends too early", self.text)),
        }
        .remedy("write numbers with units, + - * / % ^ and parentheses, such as (4k*2)")
    }

    fn sum(&mut self) -> Result<f64, Fault> {
        let mut value = self.product()?;
        loop {
            if self.take('+') {
                value += self.product()?;
            } else if self.take('-') {
                value -= self.product()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<f64, Fault> {
        let mut value = self.power()?;
        loop {
            if self.take('*') {
                value *= self.power()?;
            } else if self.take('/') {
                value /= self.power()?;
            } else if self.take('%') {
                value %= self.power()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn power(&mut self) -> Result<f64, Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Fault::new(format!(
                "more than {MAX_DEPTH} levels in an expression"
            )));
        }
        let base = self.atom()?;
        let value = if self.take('^') {
            base.powf(self.power()?)
        } else {
            base
        };
        self.depth -= 1;
        Ok(value)
    }

    fn atom(&mut self) -> Result<f64, Fault> {
        if self.take('-') {
            return Ok(-self.power()?);
        }
        if self.take('(') {
            let value = self.sum()?;
            return if self.take(')') {
                Ok(value)
            } else {
                Err(self.unexpected())
            };
        }
        self.number()
    }

    fn number(&mut self) -> Result<f64, Fault> {
        let digits = self
            .rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(digits);
        let value: f64 = number.parse().map_err(|_| self.unexpected())?;
        let letters = rest
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(rest.len());
        let (unit, rest) = rest.split_at(letters);
        let Some(factor) = (self.units)(&unit.to_ascii_lowercase()) else {
            return Err(Fault::new(format!("unknown unit `{unit}` in `{}`", self.text)));
        };
        self.rest = rest.trim_start();
        Ok(value * factor)
    }
}

#[cfg(test)]
mod tests;
