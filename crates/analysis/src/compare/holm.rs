//! Several figures looked at together: Holm's correction, so that none of all is called a difference by chance more often
//! than one alone would be.
//!
//! Data in: probabilities. Data out: the same, corrected (Holm, *Scandinavian Journal of Statistics* 6, 1979).

/// Each probability times the number of those not smaller, and none below a smaller one's; at most 1.
pub(super) fn adjusted(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&one, &other| p[one].total_cmp(&p[other]));
    let mut adjusted = vec![1.0; p.len()];
    let mut highest: f64 = 0.0;
    for (rank, &index) in order.iter().enumerate() {
        highest = highest.max(p[index] * (p.len() - rank) as f64).min(1.0);
        adjusted[index] = highest;
    }
    adjusted
}

#[cfg(test)]
mod tests;
