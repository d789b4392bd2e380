use super::load;

#[test]
fn words_and_files_give_the_same_machine() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("mine.toml");
    std::fs::write(&path, "base = \"azure/P15\"\n").expect("a file");
    let from_file = load(path.to_str().expect("UTF-8"), None).expect("a model");
    let from_words = load("azure/P15", None).expect("a model");
    assert_eq!(from_file.disks, from_words.disks);
}

#[test]
fn what_is_wrong_is_named() {
    let wrong = |words: &str| format!("{:#}", load(words, None).expect_err(words));
    assert!(
        wrong("azure/P16").starts_with("--on model:azure/P16: "),
        "{}",
        wrong("azure/P16")
    );
    assert!(wrong("/nowhere/m.toml").starts_with("cannot read the model file /nowhere/m.toml: "));
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("mine.toml");
    std::fs::write(&path, b"seed = 1\n\xff").expect("a file");
    assert!(wrong(path.to_str().expect("UTF-8")).ends_with(":2: not text (UTF-8): give a model file"));
}
