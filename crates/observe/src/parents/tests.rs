use super::*;

#[test]
fn places_are_those_of_the_system() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name);
    fs::create_dir(at("real")).expect("a directory");
    std::os::unix::fs::symlink(at("real"), at("way")).expect("a link");
    fs::write(at("real/x"), "x").expect("a file");
    std::os::unix::fs::symlink("x", at("real/link")).expect("a link");
    let root = SystemRoot::default();
    let parents = Parents::new(&root);
    let real = fs::canonicalize(at("real")).expect("a place");
    for _ in 0..2 {
        assert!(matches!(parents.plain(&at("way/x")), Some(Plain::There(place)) if place == real.join("x")));
        assert!(
            matches!(parents.plain(&at("way/y")), Some(Plain::Missing(place)) if place == real.join("y"))
        );
        assert!(parents.plain(&at("way/link")).is_none());
        assert!(parents.plain(&at("no/x")).is_none());
        assert!(parents.plain(&at("way/..")).is_none());
    }
}
