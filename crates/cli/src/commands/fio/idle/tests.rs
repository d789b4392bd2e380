use super::*;
use fathom_dialect::read_fio_args;

#[test]
fn what_is_asked_for_is_one_of_three() {
    for (word, expected) in [
        ("system", Ok(Some(Wanted::System))),
        ("percpu", Ok(Some(Wanted::EachCpu))),
        ("calibrate", Ok(Some(Wanted::Calibrate))),
        ("all", Err(String::from("fio: incorrect idle-prof option: all"))),
    ] {
        let words = [format!("--idle-prof={word}")];
        let command = read_fio_args(&words, &[]).expect("a command");
        assert_eq!(wanted(&command), expected);
    }
}

#[test]
fn shares_are_those_between_two_readings() {
    let reading = |idle| {
        vec![CpuTimes {
            cpu: 3,
            user: 100,
            kernel: 0,
            idle,
            steal: 0,
        }]
    };
    let mut later = reading(130);
    later[0].user = 110;
    let watch = Watch {
        each_cpu: true,
        before: Some(reading(100)),
        after: Some(later),
        unit: (2.0, 1.0),
    };
    let told = watch.so_far();
    assert_eq!(told.system_percent, Some(75.0));
    assert_eq!(told.cpus, [(3, 75.0)]);
    let nothing = Watch {
        after: Some(Vec::new()),
        ..watch
    };
    assert_eq!(nothing.so_far().system_percent, None);
}
