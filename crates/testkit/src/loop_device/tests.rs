use super::*;
use crate::skipped;

fn attribute(name: &str, attribute: &str) -> String {
    let path = format!("/sys/block/{name}/queue/{attribute}");
    chosen(&fs::read_to_string(path).expect("an attribute"))
}

/// What somebody left at a device that nobody uses is out of the way while a test has it, and there again afterwards.
#[test]
fn what_was_left_is_set_and_put_back_also_by_a_panic() {
    let test = "what_was_left_is_set_and_put_back_also_by_a_panic";
    let dir = tempfile::tempdir().expect("a directory");
    let image = dir.path().join("image");
    fs::write(&image, vec![0; 1 << 20]).expect("an image");
    let mut device = match LoopDevice::over(&image, &[]) {
        Ok(device) => device,
        Err(missing) => return skipped(test, missing),
    };
    let name = device.name().to_owned();
    let left = [
        ("scheduler", "mq-deadline"),
        ("nr_requests", "4"),
        ("nomerges", "2"),
    ];
    for (attribute, value) in left {
        let path = format!("/sys/block/{name}/queue/{attribute}");
        if let Err(error) = fs::write(&path, value) {
            return skipped(test, said(Path::new(&path), &error));
        }
    }
    let before_all = std::mem::take(&mut device.before);
    drop(device);
    let outcome = std::panic::catch_unwind(|| {
        let device = LoopDevice::over(&image, &[]).expect("a device again");
        assert_eq!(device.name(), name, "another one was free");
        for (name_of, value) in SET {
            assert_eq!(attribute(&name, name_of), value, "{name_of}");
        }
        panic!("a test that fails");
    });
    let message = outcome.expect_err("it panics");
    assert_eq!(message.downcast_ref(), Some(&"a test that fails"));
    for (name_of, value) in left {
        assert_eq!(attribute(&name, name_of), value, "{name_of} is put back");
    }
    let mut device = LoopDevice::over(&image, &[]).expect("a device");
    // As it was before this test.
    device.before = before_all;
}

#[test]
fn of_several_values_the_chosen_one_is_read() {
    assert_eq!(chosen("none [mq-deadline] kyber\n"), "mq-deadline");
    assert_eq!(chosen("128\n"), "128");
}
