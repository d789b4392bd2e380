use super::{
    PLAN_FILE, StepDone, TEST_FILE, TestDone, read_done, read_plan, test_dir, write_json, write_plan,
};
use crate::attach::AttachTimes;
use crate::phases::Phases;
use crate::plan::Test;
use crate::plan::tests::plan;

#[test]
fn a_run_is_taken_up_where_it_was_left() {
    let dir = tempfile::tempdir().expect("a directory");
    let plan = plan();
    write_plan(dir.path(), &plan).expect("kept");
    assert_eq!(read_plan(dir.path()).expect("read"), plan);
    assert!(write_plan(dir.path(), &plan).is_err(), "never over another one");
    assert!(read_done(dir.path(), &plan).expect("none").is_empty());
    for (repeat, failed) in [(1, None), (2, Some(String::from("no image")))] {
        let test = Test {
            side: 1,
            repeat,
            member: 1,
        };
        let done = TestDone {
            test,
            side: String::from("acstor-azuredisk"),
            pod: plan.name_of(test),
            node: None,
            started_unix_ms: 5,
            attach: AttachTimes::default(),
            steps: Vec::new(),
            phases: None,
            failed,
            cuts: 0,
            release: None,
            unstored: None,
        };
        let at = test_dir(dir.path(), &plan, test);
        std::fs::create_dir_all(&at).expect("made");
        write_json(&at.join(TEST_FILE), &done).expect("kept");
    }
    // What failed is tried again.
    let done = read_done(dir.path(), &plan).expect("some");
    assert_eq!(done.len(), 1);
    assert_eq!(
        done[0].test,
        Test {
            side: 1,
            repeat: 1,
            member: 1
        }
    );
    std::fs::write(dir.path().join(PLAN_FILE), "{}").expect("written");
    let error = read_plan(dir.path()).expect_err("no plan");
    assert!(error.to_string().contains("plan.json: not a plan"), "{error}");
}

#[test]
fn overhead_is_known_where_each_step_says_how_long_it_took() {
    let step = |name: &str| StepDone {
        name: name.to_owned(),
        exit: Some(0),
        took_ms: Some(7),
        unstarted: None,
    };
    let mut done = TestDone {
        test: plan().tests()[0],
        side: String::from("fast"),
        pod: String::from("p"),
        node: None,
        started_unix_ms: 5,
        attach: AttachTimes::default(),
        steps: vec![step("mixed"), step("part of mixed")],
        phases: Some(Phases {
            working_ms: 107,
            starting_ms: 5_000,
            ..Phases::default()
        }),
        failed: None,
        cuts: 0,
        release: None,
        unstored: None,
    };
    assert_eq!(done.overhead_ms(), Some(100), "parts are not the load's");
    done.steps[0].took_ms = None;
    assert_eq!(done.overhead_ms(), None);
}
