use super::{last_words, why};
use crate::conduct::StepDone;
use crate::plan::tests::plan;

fn ended(exit: Option<i32>) -> StepDone {
    StepDone {
        name: String::from("mixed"),
        exit,
        took_ms: Some(7),
        unstarted: None,
    }
}

#[test]
fn a_load_that_fails_is_told_with_what_it_said_last() {
    let mut log = String::new();
    for line in [
        "fathom-agent {\"said\":\"begun\",\"step\":\"files of mixed\"}",
        "error: of another step",
        "fathom-agent {\"said\":\"ended\",\"step\":\"files of mixed\",\"exit\":0}",
        "fathom-agent {\"said\":\"begun\",\"step\":\"mixed\"}",
        "warning: one thing",
        "error: /data: it has 64 MiB, and job needs 1 GiB",
        "  a line that explains it",
        "",
        "fathom-agent {\"said\":\"ended\",\"step\":\"mixed\",\"exit\":2}",
        "fathom-agent {\"said\":\"done\"}",
        "behind it",
    ] {
        log.push_str(line);
        log.push('\n');
    }
    assert_eq!(
        why(&plan(), &ended(Some(2)), &log),
        "mixed ended with exit code 2: /data: it has 64 MiB, and job needs 1 GiB"
    );
    assert_eq!(last_words(&log, "other"), None);
    let silent = log.replace("error: /data: it has 64 MiB, and job needs 1 GiB\n", "");
    assert_eq!(
        last_words(&silent, "mixed").as_deref(),
        Some("a line that explains it")
    );
    assert_eq!(why(&plan(), &ended(None), ""), "mixed ended by a signal");
    let unstarted = StepDone {
        unstarted: Some(String::from("volume v is mounted nowhere")),
        ..ended(None)
    };
    assert_eq!(
        why(&plan(), &unstarted, &log),
        "mixed could not be started: volume v is mounted nowhere"
    );
    let long = log.replace("/data", &"é".repeat(1_000));
    let last = last_words(&long, "mixed").expect("a line");
    assert!(last.ends_with("é…") && last.chars().count() == 401, "{last}");
}

#[test]
fn a_device_that_the_pod_may_not_open_has_a_remedy() {
    let log = "fathom-agent {\"said\":\"begun\",\"step\":\"mixed\"}\n\
               error: cannot open /dev/fathom-data: Permission denied (os error 13)\n";
    let mut plan = plan();
    plan.claim.block = true;
    let told = why(&plan, &ended(Some(2)), log);
    assert!(told.contains("give --privileged"), "{told}");
    plan.claim.block = false;
    let told = why(&plan, &ended(Some(2)), log);
    assert!(!told.contains("give --privileged"), "{told}");
}
