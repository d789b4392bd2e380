use super::*;

fn of(files: &[(&str, &str)]) -> Option<String> {
    let dir = tempfile::tempdir().expect("a directory");
    for (path, text) in files {
        let path = dir.path().join(path.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(path, text).expect("a file");
    }
    machine(&SystemRoot::new(dir.path()))
}

#[test]
fn a_machine_is_named_by_what_lies_on_it() {
    let azure = r#"{"ds": {"meta_data": {"imds": {"compute": {"vmSize": "Standard_D4s_v5"}}}}}"#;
    let google = r#"{"ds": {"meta_data": {"machine-type": "projects/1/machineTypes/n2-standard-4"}}}"#;
    let amazon = [
        ("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n"),
        ("/sys/class/dmi/id/product_name", "m5.large\n"),
    ];
    assert_eq!(of(&amazon).as_deref(), Some("m5.large"));
    assert_eq!(of(&[(INSTANCE_DATA, azure)]).as_deref(), Some("Standard_D4s_v5"));
    assert_eq!(of(&[(INSTANCE_DATA, google)]).as_deref(), Some("n2-standard-4"));
    for broken in ["", "{", "[]", r#"{"ds": {"meta_data": {"instance-type": 7}}}"#] {
        assert_eq!(of(&[(INSTANCE_DATA, broken)]), None);
    }
    assert_eq!(of(&[("/sys/class/dmi/id/sys_vendor", "QEMU")]), None);
}
