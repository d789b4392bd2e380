//! Mappings hold what the file holds, and outlive what happens to it.

use super::*;
use crate::testing::{bytes, open, scratch, seed};
use fathom_core::rng::Rng;
use std::os::unix::fs::FileExt;

const LEN: usize = 256 << 10;

#[test]
fn round_trips_at_any_offset() {
    let mut rng = Rng::new(seed());
    let (scratch, model) = scratch(&mut rng, LEN);
    let file = open(&scratch, false).expect("open");
    for base in [0, 1, 4095, 4096, 70_000] {
        let mut model = model.clone();
        file.write_all_at(&model, 0).expect("write");
        let mut mapping = Mapping::new(&file, base as u64, (LEN - base) as u64, true).expect("map");
        assert_eq!(mapping.len_bytes(), (LEN - base) as u64);
        mapping.advise(Access::Random).expect("advice");
        for _ in 0..200 {
            let len = (rng.next_u64() % 20_000) as usize;
            let offset = (rng.next_u64() % (LEN - base - len) as u64) as usize;
            let data = bytes(&mut rng, len);
            assert_eq!(mapping.write(offset as u64, &data), Ok(len as u32));
            model[base + offset..base + offset + len].copy_from_slice(&data);
            let mut got = vec![0; len];
            assert_eq!(mapping.read(offset as u64, &mut got), Ok(len as u32));
            assert!(got == data);
            assert_eq!(mapping.sync(offset as u64, len as u64), Ok(0));
        }
        drop(mapping);
        assert!(
            std::fs::read(scratch.path()).expect("read") == model,
            "base {base}"
        );
    }
}

#[test]
fn what_is_out_of_range_is_refused() {
    let (scratch, _) = scratch(&mut Rng::new(4), LEN);
    let file = open(&scratch, false).expect("open");
    let mut mapping = Mapping::new(&file, 0, LEN as u64, false).expect("map");
    let mut buffer = [0; 10];
    for offset in [LEN as u64 - 9, LEN as u64, u64::MAX, u64::MAX - 5] {
        assert_eq!(
            mapping.read(offset, &mut buffer),
            Err(Errno(libc::EINVAL)),
            "{offset}"
        );
        assert_eq!(mapping.sync(offset, 10), Err(Errno(libc::EINVAL)), "{offset}");
    }
    assert_eq!(mapping.write(0, &buffer), Err(Errno(libc::EACCES)));
    assert_eq!(mapping.read(LEN as u64 - 10, &mut buffer), Ok(10));
    for len in [0, u64::MAX] {
        assert_eq!(
            Mapping::new(&file, 0, len, false).expect_err("refused").kind(),
            io::ErrorKind::InvalidInput
        );
    }
    let read_only = File::open(scratch.path()).expect("open");
    let error = Mapping::new(&read_only, 0, 4096, true).expect_err("refused");
    assert_eq!(error.raw_os_error(), Some(libc::EACCES));
}

#[test]
fn a_file_truncated_under_it_gives_eio_and_comes_back() {
    let mut rng = Rng::new(seed());
    let (scratch, model) = scratch(&mut rng, LEN);
    let file = open(&scratch, false).expect("open");
    let mut mapping = Mapping::new(&file, 0, LEN as u64, true).expect("map");
    let half = LEN as u64 / 2;
    file.set_len(half).expect("truncate");

    let mut buffer = vec![0; 16 << 10];
    for _ in 0..3 {
        assert_eq!(mapping.read(half, &mut buffer), Err(Errno(libc::EIO)));
        assert_eq!(
            mapping.read(half - 4096, &mut buffer),
            Err(Errno(libc::EIO)),
            "in part"
        );
        assert_eq!(mapping.write(half + 8192, &buffer), Err(Errno(libc::EIO)));
        assert_eq!(
            mapping.read(0, &mut buffer),
            Ok(buffer.len() as u32),
            "what is left can be read"
        );
        assert!(buffer == model[..buffer.len()]);
    }

    file.write_all_at(&model[LEN / 2..], half).expect("grow");
    assert_eq!(mapping.read(half, &mut buffer), Ok(buffer.len() as u32));
    assert!(buffer == model[LEN / 2..LEN / 2 + buffer.len()]);
    assert_eq!(mapping.write(half, &buffer), Ok(buffer.len() as u32));
}

#[test]
fn threads_fault_apart() {
    let (scratch, model) = scratch(&mut Rng::new(5), LEN);
    let gone = tempfile::tempfile().expect("a scratch file");
    gone.set_len(LEN as u64).expect("size");
    let whole = Mapping::new(&open(&scratch, false).expect("open"), 0, LEN as u64, false).expect("map");
    let holed = Mapping::new(&gone, 0, LEN as u64, false).expect("map");
    gone.set_len(0).expect("truncate");
    let faulting = std::thread::spawn(move || {
        let mut buffer = [0; 100];
        for round in 0..2000 {
            assert_eq!(holed.read(round % 60 * 4096, &mut buffer), Err(Errno(libc::EIO)));
        }
    });
    let mut buffer = [0; 4096];
    for round in 0..2000 {
        let offset = round % 60 * 4096;
        assert_eq!(whole.read(offset as u64, &mut buffer), Ok(4096));
        assert!(buffer == model[offset..offset + 4096]);
    }
    faulting.join().expect("thread");
}

/// A bus error that is nobody's must still end the process. The test runs itself as a child for that.
#[test]
fn a_fault_elsewhere_still_kills() {
    const CHILD: &str = "FATHOM_SYS_BUS_ERROR_CHILD";
    if std::env::var_os(CHILD).is_some() {
        return read_a_truncated_map_of_another();
    }
    if !fathom_testkit::starts_itself("mapping::a_fault_elsewhere_still_kills") {
        return;
    }
    let status = std::process::Command::new(std::env::current_exe().expect("own path"))
        .args([
            "--exact",
            "mapping::tests::a_fault_elsewhere_still_kills",
            "--nocapture",
        ])
        .env(CHILD, "1")
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .expect("child");
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    assert_eq!(signal, Some(libc::SIGBUS), "{status}");
}

fn read_a_truncated_map_of_another() {
    let file = tempfile::tempfile().expect("a scratch file");
    file.set_len(8192).expect("size");
    let _ours = Mapping::new(&file, 0, 8192, false).expect("map");
    // SAFETY: with a null hint the kernel picks a range that nothing else uses.
    let theirs = unsafe { mmap(ptr::null_mut(), 8192, ProtFlags::READ, MapFlags::SHARED, &file, 0) };
    let theirs = theirs.expect("mmap").cast::<u8>();
    file.set_len(0).expect("truncate");
    // SAFETY: the address is mapped for reading; the page is gone, so this raises SIGBUS, as intended.
    let byte = unsafe { theirs.read_volatile() };
    eprintln!("read {byte} where nothing is");
}
