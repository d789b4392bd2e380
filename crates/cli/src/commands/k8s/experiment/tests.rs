use super::{runs, typed_beside, words};
use std::ffi::OsString;
use std::path::Path;

const TEXT: &str = "\
class = [\"fast\", \"slow\"]
size = \"8Gi\"

[[run]]
name = \"fio\"
jobs = [\"a.fio\", \"b.fio\"]
repeat = 2
block = true
together = false

[[run]]
size = \"50Gi\"
command-image = \"postgres:15\"
command = \"-x\"
";

fn line(typed: &str, which: usize) -> String {
    let runs = runs(Path::new("dir/e.toml"), TEXT).expect("an experiment");
    let typed: Vec<OsString> = typed.split(' ').map(OsString::from).collect();
    let beside = typed_beside(&typed, Path::new("dir/e.toml"));
    let words = words(&runs[which], &beside, Some(Path::new("/nowhere/out")));
    let words: Vec<String> = words
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    words.join(" ")
}

#[test]
fn its_keys_are_flags_and_what_was_typed_goes_before_them() {
    assert_eq!(
        line("fathom k8s run dir/e.toml -o out -n bench", 0),
        "fathom k8s run -o /nowhere/out/fio --block --class=fast --class=slow --repeat=2 --size=8Gi -n bench -- dir/a.fio dir/b.fio"
    );
    assert_eq!(
        line("fathom k8s run dir/e.toml --class=pool --output x", 1),
        "fathom k8s run -o /nowhere/out/2 --command=-x --command-image=postgres:15 --size=50Gi --class=pool --"
    );
}

#[test]
fn what_is_wrong_is_named_with_the_file() {
    for (text, expected) in [
        ("class = [1]", "e.toml: class = [1]: a text, a number"),
        ("\nclass = ", "e.toml:2: "),
        ("run = 1", "each run is a table"),
        ("[[run]]\nname = \"a b\"", "name = \"a b\": letters"),
        (
            "[[run]]\nname = \"a\"\n[[run]]\nname = \"a\"",
            "two runs are called a",
        ),
        ("run = []", "it has 0 runs"),
        ("size = { a = 1 }", "a text, a number"),
    ] {
        let why = runs(Path::new("e.toml"), text).expect_err(text).to_string();
        assert!(why.contains(expected), "{text}: {why}");
    }
}
