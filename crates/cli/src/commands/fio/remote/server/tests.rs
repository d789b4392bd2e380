use super::make_unique;
use fathom_core::workload::{Job, Workload};
use std::path::PathBuf;

fn job(directory: Option<&str>, name: Option<&str>) -> Job {
    let mut job = Job::default();
    job.files.directories = directory.map(PathBuf::from).into_iter().collect();
    job.files.names = name.map(PathBuf::from).into_iter().collect();
    job
}

/// As fio 3.33: only where there is a directory, and not with `unique_filename=0`.
#[test]
fn names_begin_with_where_the_client_is() {
    let mut jobs = vec![
        job(Some("d"), None),
        job(Some("d"), Some("below/f")),
        job(None, Some("f")),
        job(Some("d"), Some("f")),
        job(Some("d"), Some("/dev/null")),
    ];
    jobs[3].files.not_unique = true;
    let mut workload = Workload { jobs };
    make_unique(&mut workload, "10.0.0.1");
    let formats = |at: usize| workload.jobs[at].files.name_format.clone();
    let name = |at: usize| workload.jobs[at].files.names[0].clone();
    assert_eq!(formats(0), "10.0.0.1.$jobname.$jobnum.$filenum");
    assert_eq!(name(1), PathBuf::from("below/10.0.0.1.f"));
    assert_eq!(name(2), PathBuf::from("f"));
    assert_eq!((name(3), formats(3)), (PathBuf::from("f"), formats(2)));
    assert_eq!(name(4), PathBuf::from("/dev/null"));
}
