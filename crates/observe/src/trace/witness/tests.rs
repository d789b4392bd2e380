use super::*;

#[test]
fn what_a_witness_lacks_is_said_once() {
    let refused = || io::Error::from_raw_os_error(1);
    let all_well = vec![(0, Ok(Ok(()))), (1, Ok(Ok(())))];
    assert_eq!(remarks(all_well), Vec::<String>::new());
    let begun = vec![
        (2, Err(refused())),
        (0, Ok(Err(refused()))),
        (1, Err(refused())),
        (3, Ok(Err(refused()))),
    ];
    let said = remarks(begun);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].contains("CPU 1 "), "{said:?}");
    assert!(said[1].contains("CAP_SYS_NICE"), "{said:?}");
}

#[test]
fn there_is_one_on_each_cpu_and_none_is_left() {
    let (witnesses, _remarks) = Witnesses::begin().expect("witnesses");
    let cpus = process::allowed_cpus().expect("CPUs").len();
    assert_eq!(witnesses.threads.len(), cpus);
    let named = |name: &str| -> usize {
        let tasks = std::fs::read_dir("/proc/self/task").expect("tasks");
        let names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
        names.filter(|comm| comm.trim() == name).count()
    };
    let name = witnesses.name.clone();
    assert!(name.len() < 16, "{name}");
    assert_eq!(named(&name), cpus);
    drop(witnesses);
    assert_eq!(named(&name), 0);
}
