use super::*;
use fathom_core::run::StartStep;
use std::sync::mpsc::channel;

/// However the body ends, one message says so.
#[test]
fn a_panic_is_told() {
    let (sender, receiver) = channel();
    let say = |message| sender.send(message).expect("a receiver");
    tell(&say, || panic!("the {} block", 7));
    tell(&say, || panic!("plain"));
    tell(&say, || std::panic::panic_any(7));
    tell(&say, || Ok(None));
    tell(&say, || {
        Err(failure(StartStep::Open)(std::io::Error::other("no")))
    });
    drop(sender);
    let told: Vec<String> = receiver
        .iter()
        .map(|message| match message {
            Message::Panicked(words) => words,
            Message::Stopped => String::from("stopped"),
            Message::Failed(failure) => failure.what.name().to_owned(),
            Message::Ready | Message::Done(_) => String::from("?"),
        })
        .collect();
    assert_eq!(
        told,
        ["the 7 block", "plain", "it gave no message", "stopped", "open"]
    );
}
