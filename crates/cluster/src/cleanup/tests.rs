use super::selector;

#[test]
fn only_what_belongs_to_a_run_is_found() {
    assert_eq!(
        selector(Some("a")),
        "app.kubernetes.io/managed-by=fathom,fathom/run=a"
    );
    assert_eq!(selector(None), "app.kubernetes.io/managed-by=fathom,fathom/run");
}
