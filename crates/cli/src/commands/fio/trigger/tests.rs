use super::*;
use fathom_dialect::read_fio_args;

fn read(line: &str) -> anyhow::Result<Option<Trigger>> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    Trigger::read(&read_fio_args(&words, &[]).expect(line))
}

#[test]
fn its_moment_is_a_time_or_a_file() {
    assert_eq!(read("--name=a").unwrap(), None);
    let mut by_time = read("--trigger-timeout=2 --name=a").unwrap().unwrap();
    assert!(!by_time.is_due(Nanos::from_millis(1999)));
    assert!(by_time.is_due(Nanos::from_secs(2)));
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("t");
    let mut by_file = read(&format!("--trigger-file={} --name=a", path.display()))
        .unwrap()
        .unwrap();
    assert!(!by_file.is_due(Nanos::from_secs(100)));
    std::fs::write(&path, "").unwrap();
    assert!(by_file.is_due(Nanos::ZERO));
    by_file.carry_out().unwrap();
    assert!(!path.exists());
}

#[test]
fn a_file_that_holds_something_stays() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("t");
    std::fs::write(&path, "mine").unwrap();
    let mut trigger = read(&format!("--trigger-file={} --name=a", path.display()))
        .unwrap()
        .unwrap();
    assert!(trigger.is_due(Nanos::ZERO));
    assert!(trigger.carry_out().is_err());
    assert!(path.exists());
}

#[test]
fn other_machines_have_none() {
    assert!(read("--client=box --trigger-timeout=1 j.fio").is_err());
    assert!(read("--trigger-timeout=soon --name=a").is_err());
}
