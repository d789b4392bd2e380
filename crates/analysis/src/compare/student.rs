//! Student's t distribution for any number of degrees of freedom, whole or not.
//!
//! Data in: t or a probability, degrees of freedom. Data out: probabilities and quantiles. With `libm`, so that a comparison
//! says the same on every machine.
//!
//! The tail is a regularised incomplete beta function, by Lentz's continued fraction (Press and others, *Numerical Recipes*,
//! 3rd edition, 6.4). Hill's algorithms, which small libraries use, are asymptotic where degrees of freedom are not whole, as
//! Welch's hardly ever are, and off in the third digit below three.

use libm::{erfc, exp, fabs, lgamma, log, sqrt};

/// Steps of the continued fraction; it needs some dozens where it is used.
const STEPS_MAX: u32 = 500;

/// The probability of a value at least as far from 0 as `t`, on either side; 1 where there are no degrees of freedom.
pub fn two_sided(t: f64, freedom: f64) -> f64 {
    if t.is_nan() || freedom.is_nan() || freedom <= 0.0 {
        return 1.0;
    }
    if t.is_infinite() {
        return 0.0;
    }
    incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t))
}

/// The value that is exceeded, on either side, with this probability: `critical(0.05, 4.0)` is 2.776. Infinite where there
/// are no degrees of freedom.
pub fn critical(probability: f64, freedom: f64) -> f64 {
    if freedom.is_nan() || freedom <= 0.0 || probability <= 0.0 {
        return f64::INFINITY;
    }
    let mut high = 1.0;
    while two_sided(high, freedom) > probability {
        high *= 2.0;
        if high > 1e12 {
            return f64::INFINITY;
        }
    }
    let mut low = 0.0;
    // Bisection halves some 50 times; the function is cheap and has no bad corner that way.
    while high - low > 1e-12 * high {
        let middle = f64::midpoint(low, high);
        if two_sided(middle, freedom) > probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// The probability of a normal value above `z`.
pub fn normal_beyond(z: f64) -> f64 {
    0.5 * erfc(z / std::f64::consts::SQRT_2)
}

/// The normal value that a share of all lies below.
pub fn normal_quantile(share: f64) -> f64 {
    let (mut low, mut high) = (-40.0, 40.0);
    while high - low > 1e-12 {
        let middle = f64::midpoint(low, high);
        if normal_beyond(middle) > 1.0 - share {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// The regularised incomplete beta function.
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1.0 - x));
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(a, b, x) / a
    } else {
        1.0 - front * fraction(b, a, 1.0 - x) / b
    }
}

fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let apart = |value: f64| if fabs(value) < TINY { TINY } else { value };
    let mut above = 1.0;
    let mut below = 1.0 / apart(1.0 - (a + b) * x / (a + 1.0));
    let mut all = below;
    for step in 1..=STEPS_MAX {
        let at = f64::from(step);
        let even = at * (b - at) * x / ((a + 2.0 * at - 1.0) * (a + 2.0 * at));
        let odd = -(a + at) * (a + b + at) * x / ((a + 2.0 * at) * (a + 2.0 * at + 1.0));
        let mut turn = 1.0;
        for part in [even, odd] {
            below = 1.0 / apart(1.0 + part * below);
            above = apart(1.0 + part / above);
            turn = above * below;
            all *= turn;
        }
        if fabs(turn - 1.0) < 1e-15 {
            break;
        }
    }
    all
}

/// `s` of few repeats is itself uncertain: what it is multiplied with so that it is too small in one case of five only,
/// √(ν / χ².20,ν). The quantile of χ² is Wilson and Hilferty's, within 1 % from three degrees of freedom on.
pub fn inflation(freedom: f64) -> f64 {
    /// The 20th percentile of the normal distribution.
    const Z_20: f64 = -0.841_621_233_572_914_2;
    if freedom < 1.0 {
        return 4.0;
    }
    let part = 2.0 / (9.0 * freedom);
    let root = 1.0 - part + Z_20 * sqrt(part);
    1.0 / sqrt(root * root * root)
}

#[cfg(test)]
mod tests;
