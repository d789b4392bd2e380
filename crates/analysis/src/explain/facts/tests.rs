use super::*;

#[test]
fn workers_are_known_by_their_names_as_the_kernel_keeps_them() {
    let is = |job: &str, comm: &str| is_worker_of(job, &Comm::from(comm));
    assert!(is("load", "load.0") && is("load", "load.12"));
    assert!(!is("load", "load") && !is("load", "load.") && !is("load", "loader.1") && !is("load", "load.x"));
    // Cut after 15 bytes: within the number, before it, within the name.
    assert!(is("thirteen-byte", "thirteen-byte.1"));
    assert!(is("fourteen-bytes", "fourteen-bytes."));
    assert!(is("more-than-fifteen-bytes", "more-than-fiftee"));
    assert!(!is("more-than-fifteen-bytes", "more-than-fif.0"));
    assert!(!is("", "kworker/0:1"));
}
