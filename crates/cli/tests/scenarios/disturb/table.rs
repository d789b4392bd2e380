//! Every kind several times, for `cargo xtask disturb`, which makes a table of the lines that this writes.

use super::bench::Bench;
use super::truth::Told;
use super::{KINDS, Kind, judged};
use fathom_testkit::{comes_to_rest, noise_during};
use serde_json::json;
use std::env;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// How often something that was not told rightly on a noisy machine is done again.
const TRIES: u32 = 3;
/// How long a run waits for the machine to come to rest.
const PATIENCE: Duration = Duration::from_mins(1);

/// One line a run: `{"kind", "told", "accused", "said", "why"}`.
#[test]
#[ignore = "it takes long: cargo xtask disturb"]
fn every_kind() {
    let _alone = crate::alone();
    let given = |name: &str| env::var(name).ok();
    let times = given("FATHOM_DISTURB_TIMES").map_or(1, |text| text.parse().expect("how many times"));
    let only = given("FATHOM_DISTURB_ONLY").unwrap_or_default();
    let keep = given("FATHOM_DISTURB_KEEP");
    let out = given("FATHOM_DISTURB_OUT").expect("FATHOM_DISTURB_OUT: where to write");
    let mut out = File::options()
        .create(true)
        .append(true)
        .open(out)
        .expect("a file to write");
    for kind in KINDS.iter().filter(|kind| kind.name.contains(&only)) {
        for number in 1..=times {
            let line = once(kind, number, keep.as_deref().map(Path::new));
            println!(
                "{} {number}: {}: {} {}",
                kind.name, line["told"], line["said"], line["why"]
            );
            writeln!(out, "{line}").expect("write");
        }
    }
}

fn once(kind: &Kind, number: u32, keep: Option<&Path>) -> serde_json::Value {
    let line = |told: &str, accused: &[String], said: &str, why: &str| json!({"kind": kind.name, "told": told, "accused": accused, "said": said, "why": why});
    let needs = crate::quiet();
    // Then the machine is taken as it is, and what is told is what is told.
    let noisy = env::var_os("FATHOM_DISTURB_NOISY").is_some();
    let mut noise = Vec::new();
    for _ in 0..TRIES {
        if !noisy {
            comes_to_rest(&needs, PATIENCE);
        }
        let bench = Bench::new();
        let (outcome, noises) = noise_during(&needs, || judged(&bench, kind.run));
        let judgement = match outcome {
            Ok(judgement) => judgement,
            Err(missing) => return line("skipped", &[], "", &missing),
        };
        let told = match &judgement.told {
            Told::Right => "right",
            Told::Missed => "missed",
            Told::Wrong => "wrong",
            Told::NoEffect(_) => "no effect",
        };
        let telling = noisy || noises.is_empty();
        noise = noises;
        if told != "right"
            && let Some(dir) = keep
        {
            let name = format!("{}-{number}", kind.name.replace("::", "-"));
            let said = format!("{judgement}\nnoise: {}\n", noise.join("; "));
            if let Err(error) = bench.keep(dir, &name, &said) {
                eprintln!("{name}: not kept: {error}");
            }
        }
        if told == "right" || telling {
            let why = match judgement.told {
                Told::NoEffect(why) => why,
                _ => String::new(),
            };
            return line(told, &judgement.accused, &judgement.said, &why);
        }
    }
    line(
        "skipped",
        &[],
        "",
        &format!("a quiet machine ({})", noise.join("; ")),
    )
}
