//! Any bytes as a diskspd command line, a word a line: the reader judges them without a panic; what it accepts becomes
//! workloads or is refused with a reason, and prints as XML that is read again, prints the same and means the same.
//!
//! The first byte chooses the dialect.
#![no_main]

use fathom_dialect::Severity;
use fathom_dialect::diskspd::{Context, Dialect, Lowering, lower, parse, profile_as_text, profile_as_xml};
use libfuzzer_sys::fuzz_target;

fn look(path: &str) -> Option<u64> {
    match path {
        "data" | "/dev/sdb" => Some(1 << 30),
        "small" => Some(4096),
        _ => None,
    }
}

fn read_bytes(path: &str, most: u64) -> Result<Vec<u8>, String> {
    match path {
        "words" => Ok(b"abc".to_vec()),
        "long" => Ok(vec![1; most as usize]),
        _ => Err(String::from("no such file")),
    }
}

const LOWERING: Lowering<'static> = Lowering {
    cpus: &[0, 1, 2],
    look: &look,
    read_bytes: &read_bytes,
};

fuzz_target!(|data: &[u8]| {
    let Some((&choice, rest)) = data.split_first() else {
        return;
    };
    let Ok(text) = std::str::from_utf8(rest) else {
        return;
    };
    let dialect = [Dialect::Auto, Dialect::Windows, Dialect::Linux][usize::from(choice % 3)];
    let args: Vec<String> = text.lines().map(str::to_owned).collect();
    let profile_text = "<Profile><TimeSpans><TimeSpan><Targets><Target><Path>*1</Path></Target></Targets></TimeSpan>\
        </TimeSpans></Profile>";
    let context = Context {
        dialect,
        look: &look,
        read_profile: &|_| Ok(profile_text.to_owned()),
        seed: 1,
    };
    let parsed = parse(&args, &context);
    let refused = parsed.errors().next().is_some();
    assert_eq!(
        parsed.profile.is_none() && !parsed.help,
        refused,
        "refused without a reason, or accepted with an error"
    );
    let Some(profile) = parsed.profile else { return };
    let first = lower(&profile, &LOWERING);
    let failed = first
        .diagnostics
        .iter()
        .any(|diagnostic| diagnostic.severity == Severity::Error);
    assert_eq!(first.spans.is_empty(), failed);
    let _ = profile_as_text(&profile);
    let xml = profile_as_xml(&profile);
    // Names of targets may hold what XML cannot.
    if !xml
        .chars()
        .all(|c| c == '\n' || (c >= ' ' && c != '\u{7f}' && c < '\u{fffe}'))
        || trimmed(&profile)
    {
        return;
    }
    let again = Context {
        dialect: Dialect::Windows,
        look: &look,
        read_profile: &|_| Ok(xml.clone()),
        seed: 1,
    };
    let second = parse(&[String::from("-Xprinted.xml")], &again);
    // A time span with a slot is whole only while it is not run, and a path that begins with a star is a slot there.
    let Some(second) = second.profile else {
        assert!(xml.contains("<Path>*"), "{:?}\n{xml}", second.diagnostics);
        return;
    };
    assert_eq!(profile_as_xml(&second), xml);
    // The interface of the Linux port is no part of a profile.
    if profile.linux_engine.is_none() {
        assert_eq!(lower(&second, &LOWERING).spans, first.spans);
    }
});

/// Whether a name begins or ends with spaces, which reading XML cuts off.
fn trimmed(profile: &fathom_dialect::diskspd::Profile) -> bool {
    let targets = profile.time_spans.iter().flat_map(|span| &span.targets);
    let cut = |text: &str| text.trim() != text || text.is_empty();
    targets.into_iter().any(|target| {
        let file = target
            .write_source
            .as_ref()
            .and_then(|source| source.file.as_deref());
        cut(&target.path) || file.is_some_and(cut)
    })
}
