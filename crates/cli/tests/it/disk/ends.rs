//! How servers end, and what they leave.

use super::served::{Served, is_mounted, or_skip, socket};
use crate::harness::{Place, tool};
use std::fs::File;

#[test]
fn signals_take_everything_down_though_it_is_in_use() {
    let test = "signals_take_everything_down_though_it_is_in_use";
    for name in ["INT", "TERM", "HUP"] {
        let place = Place::new();
        std::fs::create_dir(place.path("mnt")).expect("a directory");
        let mount = place.path("mnt").display().to_string();
        let line = format!("null: --size 32MiB --at at --loop --mkfs ext4 --mount {mount} --nbd unix:nbd");
        let served = or_skip!(test, Served::start(&place, &line));
        let file = File::open(served.way("file")).expect("in use");
        let device = served.way("device").to_owned();
        served.end_by(name, 0);
        drop(file);
        assert!(
            !is_mounted(&place.path("mnt")) && !place.path("nbd").exists(),
            "{name}"
        );
        assert!(
            tool(&format!("losetup {device}")).is_err(),
            "{name}: {device} is still there"
        );
    }
}

#[test]
fn what_a_killed_server_left_is_cleaned_up_and_its_data_is_whole() {
    let test = "what_a_killed_server_left_is_cleaned_up_and_its_data_is_whole";
    let place = Place::new();
    std::fs::create_dir(place.path("mnt")).expect("a directory");
    let mount = place.path("mnt").display().to_string();
    let line = format!("null: --size 32MiB --at at --backing image --loop --mkfs ext4 --mount {mount}");
    let mut told = String::new();
    // Where another test's server starts at that moment, it takes down what is found here.
    for _ in 0..5 {
        let served = or_skip!(test, Served::start(&place, &line));
        place.write("mnt/kept", vec![5; 100_000]);
        tool(&format!("sync -f {mount}")).expect("flush");
        served.kill();
        told = place.fathom("disk cleanup").expect(0).stdout;
        assert!(!is_mounted(&place.path("at")) && !is_mounted(&place.path("mnt")));
        if ["unmounted ", "detached /dev/loop", "whose server "]
            .iter()
            .all(|expected| told.contains(expected))
        {
            break;
        }
        std::fs::remove_file(place.path("image")).expect("a file of the test");
        told.clear();
    }
    assert!(!told.is_empty(), "it was never told of what was taken down");
    // The next start does it by itself, finds the stale socket, and all that was flushed.
    let line = format!("null: --at at --backing image --loop --mount {mount}");
    let line = line.replace("null:", "null: --size 32MiB");
    let served = or_skip!(test, Served::start(&place, &line));
    assert_eq!(
        std::fs::read(place.path("mnt/kept")).expect("kept"),
        vec![5; 100_000]
    );
    served.kill();
    let served = or_skip!(test, Served::start(&place, &line));
    assert_eq!(
        std::fs::read(place.path("mnt/kept")).expect("kept"),
        vec![5; 100_000]
    );
    assert!(std::path::Path::new(&socket(&place)).exists());
    served.end(0);
}

#[test]
fn a_living_server_is_left_alone_whatever_it_is_called() {
    let test = "a_living_server_is_left_alone_whatever_it_is_called";
    let place = Place::new();
    let renamed = place.path("database-disk");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fathom"), &renamed).expect("another name");
    let served = or_skip!(
        test,
        Served::start_of(&place, &renamed, "null: --size 1MiB --at at")
    );
    let cleaned = place.fathom("disk cleanup");
    let said = format!("{cleaned:?}");
    assert!(
        is_mounted(&place.path("at")) && !said.contains(&place.path("at").display().to_string()),
        "{said}"
    );
    std::fs::create_dir(place.path("other")).expect("a directory");
    // So does the next start.
    place
        .fathom("disk serve null: --size 1MiB --at other --duration 1ms --control ctl-other")
        .expect(0);
    assert_eq!(
        std::fs::read(served.way("file")).expect("it is served").len(),
        1 << 20
    );
    served.end(0);
}

#[test]
fn it_ends_by_itself_after_its_time() {
    let test = "it_ends_by_itself_after_its_time";
    let place = Place::new();
    let served = or_skip!(
        test,
        Served::start(&place, "null: --size 1MiB --nbd unix:nbd --duration 1s")
    );
    drop(served);
    let outcome = place
        .fathom("disk serve null: --size 1MiB --nbd unix:nbd --duration 1s")
        .expect(0);
    assert!(outcome.stdout.ends_with("ready\n"), "{}", outcome.stdout);
    assert!(!place.path("nbd").exists());
}

#[test]
fn after_a_power_cut_nothing_more_is_written_when_it_ends() {
    let test = "after_a_power_cut_nothing_more_is_written_when_it_ends";
    let place = Place::new();
    std::fs::create_dir(place.path("mnt")).expect("a directory");
    let mount = place.path("mnt").display().to_string();
    let line = "null: --size 32MiB --at at --backing image --loop";
    let served = or_skip!(
        test,
        Served::start(&place, &format!("{line} --mkfs ext4 --mount {mount}"))
    );
    place.write("mnt/flushed", vec![5; 100_000]);
    tool(&format!("sync -f {mount}")).expect("flush");
    place.write("mnt/not-flushed", vec![6; 1_000_000]);
    served.fault("power-cut seed 3").expect(0);
    let image = || tool(&format!("sha256sum {}", place.path("image").display())).expect("the image");
    let cut = image();
    served.end(0);
    assert_eq!(image(), cut);
    let served = or_skip!(test, Served::start(&place, &format!("{line} --mount {mount}")));
    assert_eq!(
        std::fs::read(place.path("mnt/flushed")).expect("kept"),
        vec![5; 100_000]
    );
    served.end(0);
}
