//! Any bytes as a job file: the parser judges them without a panic, and what it accepts prints as a job file
//! that means the same.
//!
//! The first line may be a fio command line (`#! --runtime 30 --name=x …`); it is parsed as well.
#![no_main]

use fathom_dialect::{Context, Severity, Source, parse, parse_fio, print, read_fio_args};
use libfuzzer_sys::fuzz_target;
use std::path::Path;

/// An included file that includes itself, so that the guards against that are exercised too.
fn include(path: &Path) -> Result<String, String> {
    match path.file_name().and_then(|name| name.to_str()) {
        Some("part") => Ok(String::from("bs=8k\niodepth=4\n")),
        Some("self") => Ok(String::from("include self\ninclude part\n")),
        _ => Err(String::from("no such file")),
    }
}

fn environment(name: &str) -> Option<String> {
    (name == "SIZE").then(|| String::from("128k"))
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let context = Context {
        include: &include,
        env: &environment,
        pagesize: 4096,
        memory_mib: 1024,
        ncpus: 8,
        seed: 1,
        sections: &[],
    };
    let source = Source {
        name: "fuzz.fio",
        text,
    };
    if let Some(line) = text.lines().next().and_then(|line| line.strip_prefix("#!")) {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        if let Ok(command) = read_fio_args(&args, &[]) {
            let _ = parse_fio(&command, &[source], &context);
        }
    }
    let first = parse(&[source], &[], &context);
    let Some(workload) = &first.workload else {
        assert!(first.errors().next().is_some(), "refused without a reason");
        return;
    };
    assert!(first.errors().next().is_none(), "accepted with an error");
    let printed = print(workload).expect("a job file prints as a job file");
    let second = parse(
        &[Source {
            name: "printed.fio",
            text: &printed,
        }],
        &[],
        &context,
    );
    assert_eq!(second.workload.as_ref(), Some(workload), "{printed}");
    let loud = second
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == Severity::Error);
    assert_eq!(loud.count(), 0);
    assert_eq!(print(workload).as_deref(), Ok(printed.as_str()));
});
