use super::*;
use crate::skipped;

/// A machine whose noise is known beforehand: before and during each try.
struct Made {
    looks: Vec<&'static str>,
    rests: bool,
}

impl Machine for Made {
    type Watch = ();
    fn look(&mut self) -> Vec<String> {
        let noise = self.looks.remove(0);
        (!noise.is_empty())
            .then(|| noise.to_owned())
            .into_iter()
            .collect()
    }
    fn begin(&mut self) {}
    fn end(&mut self, (): ()) -> Vec<String> {
        self.look()
    }
    fn comes_to_rest(&mut self) -> bool {
        self.rests
    }
}

fn made(looks: &[&'static str], rests: bool) -> Made {
    Made {
        looks: looks.to_vec(),
        rests,
    }
}

#[test]
fn a_test_that_passes_has_told_whatever_the_noise() {
    assert_eq!(told(&mut made(&["before", "during"], false), || ()), Told::Good);
}

#[test]
fn a_failure_on_a_quiet_machine_is_one() {
    let failed = catch_unwind(|| told(&mut made(&["", "", "", ""], true), || panic!("wrong")));
    assert!(failed.is_err());
    // Noise in the first try does not excuse the next two.
    let noisy_first = ["", "rustc", "", "", "", ""];
    let failed = catch_unwind(|| told(&mut made(&noisy_first, true), || panic!("wrong")));
    assert!(failed.is_err());
}

#[test]
fn a_failure_that_does_not_come_again_is_said() {
    let mut tries = 0;
    let outcome = told(&mut made(&["", "", "", ""], true), || {
        tries += 1;
        assert!(tries > 1, "the first time");
    });
    assert_eq!((outcome, tries), (Told::Unsteady, 2));
}

#[test]
fn a_failure_beside_noise_is_repeated_and_then_skipped() {
    let mut tries = 0;
    let outcome = told(&mut made(&["", "rustc", "", ""], true), || {
        tries += 1;
        assert!(tries > 1, "the first time");
    });
    assert_eq!((outcome, tries), (Told::Good, 2));
    for looks in [["rustc", ""], ["", "rustc"]] {
        let outcome = told(&mut made(&looks, false), || panic!("wrong"));
        assert_eq!(
            outcome,
            Told::Nothing {
                noise: "rustc".to_owned()
            }
        );
    }
}

#[test]
fn who_uses_cpus_is_named() {
    let watch = Watch::begin(&Needs::cpus());
    // A process of nobody's: its parent has ended.
    let spin = "(timeout 0.6 sh -c 'while :; do :; done') & echo $!";
    let shell = std::process::Command::new("setsid")
        .args(["sh", "-c", spin])
        .output();
    if shell.is_err() {
        return skipped("who_uses_cpus_is_named", "setsid");
    }
    std::thread::sleep(Duration::from_millis(400));
    let noise = watch.end();
    assert!(noise.iter().any(|noise| noise.contains("CPUs: ")), "{noise:?}");
}

#[test]
fn a_disk_is_tried_and_a_directory_without_one_is_not() {
    assert_eq!(slow_write(Path::new("/proc")), None);
    let needs = Needs::cpus().timely().disk(&std::env::temp_dir());
    let watch = Watch::begin(&needs);
    std::thread::sleep(Duration::from_millis(20));
    // What it says depends on the machine; that it ends does not.
    drop(watch.end());
}
