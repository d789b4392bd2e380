//! Any bytes as an XML profile of diskspd: judged without a panic; what is accepted prints as XML that is read again and
//! prints the same, and becomes workloads or is refused with a reason.
#![no_main]

use fathom_dialect::Severity;
use fathom_dialect::diskspd::{
    Context, Dialect, Lowering, ParsedProfile, lower, parse, profile_as_text, profile_as_xml,
};
use libfuzzer_sys::fuzz_target;

fn look(path: &str) -> Option<u64> {
    (path != "none").then_some(1 << 30)
}

/// Reads a profile that is only printed, or one that is run.
fn read(text: &str, words: &[&str]) -> ParsedProfile {
    let mut args = vec![String::from("-Xprofile.xml")];
    args.extend(words.iter().map(|&word| word.to_owned()));
    let context = Context {
        dialect: Dialect::Auto,
        look: &look,
        read_profile: &|_| Ok(text.to_owned()),
        seed: 1,
    };
    parse(&args, &context)
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    for words in [&["-Rpxml"][..], &[], &["first", "second"]] {
        let parsed = read(text, words);
        let refused = parsed.errors().next().is_some();
        assert_eq!(
            parsed.profile.is_none(),
            refused,
            "refused without a reason, or accepted with an error"
        );
        let Some(profile) = parsed.profile else { continue };
        let _ = profile_as_text(&profile);
        let xml = profile_as_xml(&profile);
        let second = read(&xml, &["-Rp"]);
        let Some(second) = second.profile else {
            panic!("{:?}\n{xml}", second.diagnostics)
        };
        assert_eq!(profile_as_xml(&second), xml);
        let lowering = Lowering {
            cpus: &[0, 1],
            look: &look,
            read_bytes: &|_, most| Ok(vec![1; most.min(9) as usize]),
        };
        let lowered = lower(&profile, &lowering);
        let failed = lowered
            .diagnostics
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error);
        assert_eq!(lowered.spans.is_empty(), failed);
    }
});
