use super::{PART_FILE, Prefix, RunKey, split};
use std::path::Path;

fn run_directory(dir: &Path) {
    std::fs::create_dir_all(dir.join("io")).expect("made");
    for (name, content) in [
        ("run.json", "{}"),
        ("series.parquet", "PAR1"),
        ("io/000000.parquet", "PAR1 io"),
        (PART_FILE, "part"),
    ] {
        std::fs::write(dir.join(name), content).expect("written");
    }
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(future)
}

#[test]
fn what_is_put_is_laid_out_by_table_and_given_back_in_order() {
    let dir = tempfile::tempdir().expect("a directory");
    let run = dir.path().join("run");
    run_directory(&run);
    let to = dir.path().join("fleet");
    let text = to.to_str().expect("text");
    let prefix = Prefix::open(text, &[]).expect("a directory");
    assert!(!Prefix::is_one(text));
    let keys = ["b", "a"].map(|node| RunKey::new("arn:aws:eks/prod", "fast", node, "r-1"));
    for key in &keys {
        assert_eq!(wait(prefix.put(key, &run)).expect("put"), 2 + 4 + 7 + 4);
    }
    assert!(Prefix::is_one(text));
    for file in [
        "runs/cluster=arn-aws-eks-prod/class=fast/node=a/run=r-1/run.json",
        "series/cluster=arn-aws-eks-prod/class=fast/node=a/run=r-1/series.parquet",
        "io/cluster=arn-aws-eks-prod/class=fast/node=b/run=r-1/000000.parquet",
    ] {
        assert!(to.join(file).is_file(), "{file}");
    }
    let runs = wait(prefix.runs()).expect("listed");
    let mut taken = Vec::new();
    wait(prefix.parts(&runs, |key, part| {
        taken.push((key.node.clone(), part.to_vec()));
        Ok(())
    }))
    .expect("read");
    assert_eq!(
        taken,
        [("a".into(), b"part".to_vec()), ("b".into(), b"part".to_vec())]
    );
    let one = Prefix::open(&format!("{text}/node=b"), &[]).expect("a directory");
    assert_eq!(wait(one.runs()).expect("listed").len(), 1);
    let none = Prefix::open(&format!("{text}/class=slow/node=b"), &[]).expect("a directory");
    let why = wait(none.runs()).expect_err("none").to_string();
    assert!(why.ends_with("none of its 2 runs is class=slow, node=b"), "{why}");
}

#[test]
fn a_run_without_its_part_is_not_there() {
    let dir = tempfile::tempdir().expect("a directory");
    let run = dir.path().join("run");
    run_directory(&run);
    std::fs::remove_file(run.join(PART_FILE)).expect("removed");
    let prefix = Prefix::open(dir.path().to_str().expect("text"), &[]).expect("a directory");
    let why = wait(prefix.put(&RunKey::new("c", "k", "n", "r"), &run)).expect_err("refused");
    assert!(why.to_string().ends_with("it has no part.json"), "{why}");
    let why = wait(prefix.runs()).expect_err("none").to_string();
    assert!(why.contains("there are no runs in it"), "{why}");
}

#[test]
fn what_selects_runs_stands_at_the_end() {
    let (base, only) = split("s3://b/class=all/x/class=fast/run=1/");
    assert_eq!(base, "s3://b/class=all/x");
    assert_eq!(only, [None, Some("fast".into()), None, Some("1".into())]);
    assert_eq!(split("dir/other=1").0, "dir/other=1");
    assert_eq!(
        RunKey::new("", "..", "a b", "é").path(),
        "cluster=none/class=-/node=a-b/run=-"
    );
}

#[test]
fn bad_prefixes_get_one_clear_message() {
    let var = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let http = var("AWS_ENDPOINT_URL", "http://127.0.0.1:1");
    for (text, vars, expected) in [
        (
            "ftp://host/path",
            vec![],
            "ftp://host/path: give s3://BUCKET/PATH",
        ),
        (
            "https://host/path",
            vec![],
            "https://host/path: give s3://BUCKET/PATH",
        ),
        ("s3://", vec![], "s3://"),
        ("://x", vec![], "://x: no address"),
        ("file://", vec![], "give a directory"),
        ("s3://bucket/path", vec![http.clone()], "is plain HTTP"),
        ("az://container/path", vec![], "az://container/path: "),
    ] {
        let why = Prefix::open(text, &vars).expect_err(text).to_string();
        assert!(why.contains(expected), "{text}: {why}");
        assert!(!why.contains('\n'), "{text}: {why}");
    }
    let allowed = vec![http, var("AWS_ALLOW_HTTP", "true")];
    Prefix::open("s3://bucket/path", &allowed).expect("allowed");
}
