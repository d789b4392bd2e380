use super::Program;
use crate::units::Nanos;

#[test]
fn arguments_are_divided_at_spaces_and_know_the_job() {
    let program = Program {
        arguments: String::from("-c  'a %r' %n=%n %%r"),
        ..Program::default()
    };
    let words = program.words("my job", Some(Nanos::from_millis(2500)));
    assert_eq!(words, ["-c", "'a", "2'", "my job=my job", "%2"]);
    assert_eq!(program.words("x", None)[2], "0'");
    assert!(Program::default().words("x", None).is_empty());
}
