//! Starts QEMU with the guest's disks, one of which fathom serves live, and hears what it says.

use crate::shell;
use anyhow::{Context as _, Result, bail};
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// A guest takes seconds; one that hangs is ended (timeout(1)).
const PATIENCE: [&str; 4] = ["--foreground", "--signal=KILL", "300", "qemu-system-x86_64"];
const MEMORY: &str = "1536M";
/// Each disk's size, in a file that takes no room.
const DISK_BYTES: u64 = 256 << 20;

/// A disk of the guest's: its name, and QEMU's device behind `drive=`.
const DISKS: [(&str, &str); 6] = [
    // /dev/nvme0n1: blocks of 512 bytes.
    ("plain", "nvme-ns,bus=nvme,nsid=1,drive=plain"),
    // /dev/nvme0n2: of 4 KiB.
    (
        "large",
        "nvme-ns,bus=nvme,nsid=2,logical_block_size=4096,physical_block_size=4096,drive=large",
    ),
    // /dev/nvme0n3: with 8 bytes beside each block.
    ("beside", "nvme-ns,bus=nvme,nsid=3,ms=8,drive=beside"),
    // /dev/nvme0n4: zones of 16 MiB, 12 of which can be written; 4 open at a time.
    (
        "zoned",
        "nvme-ns,bus=nvme,nsid=4,logical_block_size=4096,physical_block_size=4096,zoned=true,zoned.zone_size=16M,\
         zoned.zone_capacity=12M,zoned.max_open=4,zoned.max_active=6,drive=zoned",
    ),
    // /dev/sda, /dev/sg0.
    ("scsi", "scsi-hd,bus=scsi.0,drive=scsi"),
    // /dev/vda.
    ("virtio", "virtio-blk-pci,drive=virtio"),
];

/// /dev/vdb: a P15 of 2019 (1,100 I/Os a second, no credit) that `fathom disk serve` gives to QEMU by NBD.
const SERVED: &str = "experiments/aks-2019/p15.toml";

/// What the guest's processors are: the machine's own where its kernel can lend them. A kernel that is a guest itself may have
/// another kind of KVM (`kvm_pvm`), by which only guests made for it run, and others hang: then QEMU computes them, which takes
/// several times as long.
fn processor() -> [&'static str; 4] {
    let lends = |module: &str| Path::new("/sys/module").join(module).exists();
    let kvm = File::options().read(true).write(true).open("/dev/kvm");
    if kvm.is_ok() && (lends("kvm_intel") || lends("kvm_amd")) {
        ["-accel", "kvm", "-cpu", "host"]
    } else {
        ["-accel", "tcg,thread=multi", "-cpu", "max"]
    }
}

/// Serves a disk at the socket `nbd` in `dir`, until it is dropped.
fn serve(fathom: &Path, dir: &Path) -> Result<Ended> {
    let mut serve = Command::new(fathom);
    serve.args(["disk", "serve", "-q"]);
    serve.arg(format!("model:{}", shell::root().join(SERVED).display()));
    serve.args(["--size", &DISK_BYTES.to_string()]);
    serve
        .arg("--nbd")
        .arg(format!("unix:{}", dir.join("nbd").display()));
    serve.arg("--control").arg(dir.join("control"));
    let child = serve.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let mut server = Ended(child.context("cannot run fathom disk serve")?);
    let stdout = server.0.stdout.take().context("no pipe")?;
    for line in BufReader::new(stdout).lines() {
        if line? == "ready" {
            return Ok(server);
        }
    }
    bail!("fathom disk serve did not begin")
}

/// Boots `kernel` with `archive` as its first file system, with a disk that `fathom` serves; what it said until it was off.
pub(super) fn boot(kernel: &Path, archive: &[u8], fathom: &Path) -> Result<String> {
    let dir = tempfile::tempdir()?;
    let first = dir.path().join("initramfs.cpio");
    std::fs::write(&first, archive)?;
    let mut qemu = Command::new("timeout");
    qemu.args(PATIENCE)
        .args(processor())
        .args(["-smp", "2", "-m", MEMORY])
        .args([
            "-no-reboot",
            "-display",
            "none",
            "-monitor",
            "none",
            "-serial",
            "stdio",
            "-nic",
            "none",
        ])
        .args(["-append", "console=ttyS0 quiet panic=-1 random.trust_cpu=on"])
        .arg("-kernel")
        .arg(kernel)
        .arg("-initrd")
        .arg(&first)
        .args(["-device", "nvme,id=nvme,serial=guest,max_ioqpairs=8"])
        .args(["-device", "virtio-scsi-pci,id=scsi"]);
    for (name, device) in DISKS {
        let image = dir.path().join(name);
        File::create(&image)?.set_len(DISK_BYTES)?;
        qemu.arg("-drive")
            .arg(format!(
                "if=none,id={name},format=raw,discard=unmap,file={}",
                image.display()
            ))
            .args(["-device", device]);
    }
    let _server = serve(fathom, dir.path())?;
    qemu.arg("-drive")
        .arg(format!(
            "if=none,id=served,format=raw,discard=unmap,file=nbd+unix:///disk?socket={}",
            dir.path().join("nbd").display()
        ))
        .args(["-device", "virtio-blk-pci,drive=served"]);
    let begun = Instant::now();
    let mut child = qemu
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run qemu-system-x86_64")?;
    let stdout = child.stdout.take().context("no pipe")?;
    let mut child = Ended(child);
    let mut said = String::new();
    for line in BufReader::new(stdout).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end_matches('\r');
        println!("guest: {line}");
        said.push_str(line);
        said.push('\n');
    }
    let status = child.0.wait()?;
    if !status.success() {
        bail!("the guest hung, or qemu-system-x86_64 failed ({status})");
    }
    println!("guest: {:.1} s", begun.elapsed().as_secs_f64());
    Ok(said)
}

/// A child that does not outlive this.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It has ended, as a rule.
        let _ended = self.0.kill();
        let _reaped = self.0.wait();
    }
}
