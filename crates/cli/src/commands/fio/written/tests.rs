use super::Options;
use fathom_core::workload::{Written, WrittenSection};

#[test]
fn options_have_their_one_name_and_globals_are_apart() {
    let section = |name: &str, options: &[(&str, &str)]| WrittenSection {
        name: name.to_owned(),
        options: options
            .iter()
            .map(|&(name, value)| (name.to_owned(), (!value.is_empty()).then(|| value.to_owned())))
            .collect(),
    };
    let options = Options::new(&Written {
        source: String::new(),
        sections: vec![
            section("global", &[("blocksize", "4k"), ("thread", "")]),
            section("one", &[("readwrite", "randread"), ("bs", "8k"), ("bs", "16k")]),
            section("two", &[("thread", "0")]),
        ],
    });
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        options.global,
        [(String::from("bs"), some("4k")), (String::from("thread"), None)]
    );
    assert_eq!(options.jobs[0].len(), 3);
    assert_eq!(options.jobs[0][0], (String::from("rw"), some("randread")));
    assert_eq!(options.threads, [true, false]);
}
