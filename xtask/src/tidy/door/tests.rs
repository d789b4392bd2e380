use super::check;
use std::path::Path;

fn breaches(file: &str, text: &str) -> Vec<String> {
    let mut breaches = Vec::new();
    check(Path::new(file), text, &mut breaches);
    breaches
}

#[test]
fn whatever_writes_is_found() {
    for line in [
        "let file = File::create(path)?;",
        "    std::fs::write(path, text)",
        "fs::remove_file(&path)?;",
        "file.set_len(0)?;",
        "std::fs::OpenOptions::new().write(true)",
        "open(path, OFlags::WRONLY, mode)",
        "rustix::fs::fallocate(file, flags, 0, bytes)",
        "let listener = UnixListener::bind(path)?;",
        "const BLKRESETZONE: Opcode = opcode::write::<[u64; 2]>(0x12, 131);",
        "const BLKFINISHZONE: Opcode = opcode::write::<[u64; 2]>(0x12, 136);",
    ] {
        let found = breaches("crates/cli/src/some.rs", line);
        assert_eq!(found.len(), 1, "{line}: {found:?}");
        assert!(found[0].starts_with("crates/cli/src/some.rs:1: "), "{found:?}");
        assert!(breaches("crates/door/src/own.rs", line).is_empty());
        assert!(breaches("crates/cli/tests/it/some.rs", line).is_empty());
        assert!(breaches("crates/cli/src/some/tests.rs", line).is_empty());
        assert!(breaches("xtask/src/some.rs", line).is_empty());
    }
    assert!(breaches("crates/cli/src/some.rs", "// File::create is refused").is_empty());
    assert!(breaches("crates/sys/src/file.rs", "const BLKDISCARD: Opcode").is_empty());
    assert!(breaches("crates/sys/src/zoned.rs", "const BLKRESETZONE: Opcode").is_empty());
    let with_test =
        "fn a() {\n    #[cfg(test)]\n    fn b() {\n        File::create(x);\n    }\n    File::create(y);\n}";
    assert_eq!(breaches("crates/cli/src/some.rs", with_test).len(), 1);
}
