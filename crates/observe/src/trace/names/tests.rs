use super::*;

#[test]
fn one_that_has_ended_is_known_to_the_tracer() {
    let dir = tempfile::tempdir().expect("a directory");
    let write = |path: &str, text: &str| {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(path, text).expect("a file");
    };
    write("proc/7/comm", "db writer\n");
    write("saved", "17 sync\n7 old name\n8 a b\n");
    let mut names = Names::new(&SystemRoot::new(dir.path()), dir.path().join("saved"));
    let names = [7, 8, 17, 1, 0].map(|tid| names.of(tid, 1).to_string());
    assert_eq!(names, ["db writer", "a b", "sync", "", ""]);
}
