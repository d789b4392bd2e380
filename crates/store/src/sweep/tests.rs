use super::{Origin, SweepDir, is_sweep, measured_in, read_sweep_plan, read_sweep_results};
use crate::StoreError;
use fathom_core::run::Status;
use fathom_core::sweep::{Axes, Coordinates, Outcome, PointOrder, SweepPlan};
use fathom_testkit::make;

fn plan() -> SweepPlan {
    SweepPlan {
        command: vec![String::from("fathom"), String::from("sweep")],
        order: PointOrder::Shuffled,
        seed: 7,
        options: vec![(String::from("direct"), Some(String::from("1")))],
        points: vec![point()],
        ..make::sweep::plan(Axes::default())
    }
}

fn origin() -> Origin {
    Origin {
        on: String::from("model:azure/P15"),
        model_toml: Some(String::from("base = 'azure/P15'")),
    }
}

fn point() -> Coordinates {
    Coordinates {
        random: true,
        read_percent: 100,
        block_size_bytes: 4096,
        iodepth: 8,
        threads: 2,
    }
}

#[test]
fn a_point_is_done_when_its_directory_has_its_name() {
    let dir = tempfile::tempdir().expect("a directory");
    let sweep = SweepDir::create(dir.path(), &plan(), &origin()).expect("begun");
    let name = SweepDir::name_of(0, &point().name(), 0);
    assert_eq!(name, "points/0000-rand-r100-4k-q08-t2-n1");
    assert_eq!(measured_in(dir.path(), &name), None);
    let part = sweep.begin(&name).expect("begun");
    std::fs::write(part.join("series.arrows"), "half").expect("written");
    assert_eq!(measured_in(dir.path(), &name), None);
    // What a killed try left is gone.
    let part = sweep.begin(&name).expect("begun again");
    assert_eq!(std::fs::read_dir(&part).expect("there").count(), 0);
    let done = sweep.complete(&name).expect("done");
    assert_eq!(measured_in(dir.path(), &name), Some(done));
    let other = SweepDir::name_of(1, "x", 2);
    let part = sweep.begin(&other).expect("begun");
    sweep.abandon(&other).expect("removed");
    assert!(!part.exists());
}

#[test]
fn plan_and_results_come_back_as_they_were() {
    let dir = tempfile::tempdir().expect("a directory");
    assert!(!is_sweep(dir.path()));
    assert!(matches!(
        read_sweep_plan(dir.path()),
        Err(StoreError::NotASweep { .. })
    ));
    let sweep = SweepDir::create(dir.path(), &plan(), &origin()).expect("begun");
    let failed = Outcome::Failed {
        message: String::from("why"),
    };
    let results = make::sweep::results(Status::Running, [(point(), failed)]);
    sweep.write_results(&results).expect("written");
    assert!(is_sweep(dir.path()));
    assert_eq!(read_sweep_plan(dir.path()).expect("read"), plan());
    assert_eq!(read_sweep_results(dir.path()).expect("read"), results);
}

#[test]
fn two_cannot_be_at_one_sweep() {
    let dir = tempfile::tempdir().expect("a directory");
    let first = SweepDir::create(dir.path(), &plan(), &origin()).expect("begun");
    assert!(matches!(
        SweepDir::open(dir.path()),
        Err(StoreError::SweepUnderWay { .. })
    ));
    drop(first);
    let (_taken, again, from) = SweepDir::open(dir.path()).expect("free again");
    assert_eq!((again, from), (plan(), origin()));
}

#[test]
fn a_damaged_document_is_told_with_its_place() {
    let dir = tempfile::tempdir().expect("a directory");
    drop(SweepDir::create(dir.path(), &plan(), &origin()).expect("begun"));
    let path = dir.path().join(super::SWEEP_FILE);
    let text = std::fs::read_to_string(&path).expect("read");
    std::fs::write(&path, text.replace("\"seed\": 7", "\"seed\": \"x\"")).expect("written");
    let error = read_sweep_plan(dir.path()).expect_err("damaged").to_string();
    assert!(error.contains("sweep.json is damaged"), "{error}");
    std::fs::write(&path, text.replace("fathom.sweep/1", "fathom.sweep/9")).expect("written");
    let error = read_sweep_plan(dir.path()).expect_err("newer").to_string();
    assert!(error.contains("`fathom.sweep/9`"), "{error}");
}
