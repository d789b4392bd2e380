use super::*;

fn need(id: &str, kinds: &[Option<&str>]) -> Value {
    let kinds: Vec<Value> = kinds.iter().map(|kind| json!({"kind": kind})).collect();
    json!({"pkg": id, "dep_kinds": kinds})
}

fn package(id: &str, name: &str, version: &str, licence: &str) -> Value {
    json!({"id": id, "name": name, "version": version, "license": licence})
}

#[test]
fn what_is_built_in_is_listed_and_what_tests_need_is_not() {
    let metadata = json!({
        "packages": [
            package("f", "fathom", "0.1.0", "MIT OR Apache-2.0"),
            package("a", "alpha", "1.0.0", "MIT/Apache-2.0"),
            package("z", "zstd-sys", "2.1.2+zstd.1.5.7", "MIT"),
            package("t", "only-tests", "3.0.0", "MIT"),
            package("o", "another-program", "4.0.0", "MIT"),
        ],
        "resolve": {"nodes": [
            {"id": "f", "deps": [need("a", &[None]), need("t", &[Some("dev")])]},
            {"id": "a", "deps": [need("z", &[Some("dev"), Some("build")])]},
            {"id": "z", "deps": []},
            {"id": "t", "deps": []},
            {"id": "o", "deps": [need("t", &[None])]},
        ]},
    });
    let lock = "[[package]]\nname = \"alpha\"\nversion = \"1.0.0\"\nchecksum = \"ab12\"\n";
    let lock = toml::from_str(lock).expect("a lock file");
    let release = Release {
        version: String::from("0.1.0"),
        epoch: 0,
    };
    let bill = bill(&release, &metadata, &lock).expect("a bill");
    assert_eq!(bill["metadata"]["timestamp"], "1970-01-01T00:00:00Z");
    assert_eq!(bill["metadata"]["component"]["bom-ref"], "pkg:cargo/fathom@0.1.0");
    let names: Vec<&Value> = list(&bill["components"])
        .map(|component| &component["name"])
        .collect();
    assert_eq!(names, ["alpha", "zstd-sys"]);
    let alpha = &bill["components"][0];
    assert_eq!(alpha["licenses"][0]["expression"], "MIT OR Apache-2.0");
    assert_eq!(alpha["hashes"][0]["content"], "ab12");
    assert_eq!(
        bill["dependencies"][0],
        json!({"ref": "pkg:cargo/alpha@1.0.0", "dependsOn": ["pkg:cargo/zstd-sys@2.1.2%2Bzstd.1.5.7"]})
    );
}
