//! Errors in words.

use super::with_causes;

#[test]
fn causes_follow_and_are_not_repeated() {
    let quoted = anyhow::anyhow!("No such file").context("cannot read F: No such file");
    assert_eq!(with_causes(&quoted), "cannot read F: No such file");
    let plain = anyhow::anyhow!("No such file").context("cannot read F");
    assert_eq!(with_causes(&plain), "cannot read F: No such file");
}
