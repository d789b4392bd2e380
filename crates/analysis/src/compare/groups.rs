//! The difference of two groups of repeats: Welch's t, and the same with a drift taken out.
//!
//! Data in: one number a repeat, on whatever scale they add up on (logarithms, where a ratio is asked for). Data out: B − A
//! with its standard error and its degrees of freedom. It must not know what is measured.
//!
//! Which method holds where, at how many repeats and under which drift, is simulated in `docs/compare.md`.

use super::student;

/// A difference and how well it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// B − A.
    pub difference: f64,
    /// Its standard error.
    pub error: f64,
    /// Degrees of freedom of the t distribution that it is judged by.
    pub freedom: f64,
}

impl Estimate {
    /// Half of the interval that misses the truth with this probability.
    pub fn half_width(&self, miss: f64) -> f64 {
        if self.error == 0.0 {
            return 0.0;
        }
        student::critical(miss, self.freedom) * self.error
    }

    /// The probability of a difference at least as far from 0 if there is none. What lies within `resolution` of 0, by which
    /// either side's numbers may be off for lack of digits, counts as none.
    pub fn p(&self, resolution: f64) -> f64 {
        let beyond = (self.difference.abs() - resolution).max(0.0);
        if beyond == 0.0 {
            return 1.0;
        }
        student::two_sided(beyond / self.error, self.freedom)
    }

    /// The true difference that would be told from none in four of five comparisons like this one, where what is seen with
    /// `miss` by chance is not taken for one.
    pub fn seen_from(&self, miss: f64) -> f64 {
        if self.error == 0.0 {
            return 0.0;
        }
        // 0.4 on both sides together is 0.2 on one.
        let power = student::critical(0.4, self.freedom);
        (student::critical(miss, self.freedom) + power) * self.error
    }
}

pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Sum of squares about the mean.
pub fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean) * (value - mean)).sum()
}

/// The deviation of repeats from each other (n − 1); `None` of one.
pub fn deviation(values: &[f64]) -> Option<f64> {
    (values.len() > 1).then(|| (squares(values) / (values.len() - 1) as f64).sqrt())
}

/// Welch's t with Satterthwaite's degrees of freedom (Welch, *Biometrika* 34, 1947). `None` where a side has one value.
pub fn welch(a: &[f64], b: &[f64]) -> Option<Estimate> {
    if a.len() < 2 || b.len() < 2 {
        return None;
    }
    let parts = [a, b].map(|values| {
        let freedom = (values.len() - 1) as f64;
        (squares(values) / freedom / values.len() as f64, freedom)
    });
    Some(satterthwaite(mean(b) - mean(a), parts))
}

/// A difference whose variance has these parts, with the degrees of freedom of each.
fn satterthwaite(difference: f64, parts: [(f64, f64); 2]) -> Estimate {
    let variance: f64 = parts.iter().map(|(part, _)| part).sum();
    let fourth: f64 = parts.iter().map(|(part, freedom)| part * part / freedom).sum();
    let freedom = if fourth > 0.0 {
        variance * variance / fourth
    } else {
        parts.iter().map(|(_, freedom)| freedom).sum()
    };
    Estimate {
        difference,
        error: variance.sqrt(),
        freedom,
    }
}

/// A repeat of either side and when it was its turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placed {
    pub is_b: bool,
    /// Its turn among all, from 0.
    pub position: f64,
    pub value: f64,
}

/// The difference beside a drift in a straight line: least squares on side and position, with the two sides' deviations
/// apart as in Welch's t (each side's residual squares over what is left of its degrees of freedom). `None` where fewer than
/// four repeats are on a side, or the sides do not take turns, so that side and position cannot be told apart.
pub fn beside_drift(placed: &[Placed]) -> Option<Estimate> {
    let n = placed.len() as f64;
    let of_b = placed.iter().filter(|one| one.is_b).count();
    if of_b < 4 || placed.len() - of_b < 4 {
        return None;
    }
    let share = of_b as f64 / n;
    let middle = placed.iter().map(|one| one.position).sum::<f64>() / n;
    let side = |one: &Placed| f64::from(u8::from(one.is_b)) - share;
    let place = |one: &Placed| one.position - middle;
    let sum = |of: &dyn Fn(&Placed) -> f64| placed.iter().map(of).sum::<f64>();
    let (sides, places, both) = (
        sum(&|one| side(one) * side(one)),
        sum(&|one| place(one) * place(one)),
        sum(&|one| side(one) * place(one)),
    );
    if places <= 0.0 || both * both / (sides * places) > SHARED_MAX {
        return None;
    }
    let slope_of_side = both / places;
    let own = |one: &Placed| side(one) - slope_of_side * place(one);
    let own_squares = sum(&|one| own(one) * own(one));
    let mean = sum(&|one| one.value) / n;
    let difference = sum(&|one| own(one) * one.value) / own_squares;
    let drift = sum(&|one| place(one) * (one.value - mean - difference * side(one))) / places;
    let parts = [false, true].map(|is_b| {
        let (mut weights, mut squares, mut freedom) = (0.0, 0.0, 0.0);
        for one in placed.iter().filter(|one| one.is_b == is_b) {
            let rest = one.value - mean - difference * side(one) - drift * place(one);
            let weight = own(one) / own_squares;
            let leverage = 1.0 / n + own(one) * own(one) / own_squares + place(one) * place(one) / places;
            weights += weight * weight;
            squares += rest * rest;
            freedom += 1.0 - leverage;
        }
        (weights * squares / freedom, freedom)
    });
    Some(satterthwaite(difference, parts))
}

/// How much of the sides their positions may tell (squared correlation): above it, drift and difference pass for each other.
const SHARED_MAX: f64 = 0.25;

#[cfg(test)]
mod tests;
