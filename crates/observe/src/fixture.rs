//! Trees that look like `/`, for tests: devices with their links in `/sys`, nodes in `/dev`, mount and swap
//! tables.

use crate::root::{FileKind, FileStat, SystemRoot};
use fathom_core::units::DevId;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use tempfile::TempDir;

/// The size of every device in a tree.
pub(crate) const DEVICE_BYTES: u64 = 8 << 20;

pub(crate) struct Tree {
    dir: TempDir,
    pub(crate) root: SystemRoot,
}

pub(crate) fn dev(major: u32, minor: u32) -> DevId {
    DevId { major, minor }
}

impl Tree {
    /// A tree with an empty swap table and only `/` mounted, on a device 8:1 that is not described.
    pub(crate) fn new() -> Self {
        let dir = TempDir::new().expect("a temporary directory");
        let root = SystemRoot::new(dir.path());
        let tree = Self { dir, root };
        for name in ["sys/block", "sys/class/block", "sys/dev/block", "dev", "data"] {
            fs::create_dir_all(tree.dir.path().join(name)).expect("a directory");
        }
        tree.file(
            "/proc/swaps",
            "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n",
        );
        tree.mounts(&["8:1 / ext4 /dev/root rw"]);
        tree
    }

    pub(crate) fn file(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.real(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(path, content).expect("a file");
    }

    /// Each row: `MAJ:MIN POINT TYPE SOURCE OPTIONS`.
    pub(crate) fn mounts(&self, rows: &[&str]) {
        let line = |(index, row): (usize, &&str)| {
            let [id, point, kind, source, options] = row.split(' ').collect::<Vec<_>>()[..] else {
                panic!("five words: {row}");
            };
            let number = index + 20;
            format!("{number} 1 {id} / {point} rw,relatime shared:1 - {kind} {source} {options}\n")
        };
        let text: Vec<String> = rows.iter().enumerate().map(line).collect();
        self.file("/proc/self/mountinfo", text.concat());
    }

    pub(crate) fn swap_on(&self, path: &str) {
        self.file(
            "/proc/swaps",
            format!(
                "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n{path}    partition\t1048572\t0\t-2\n"
            ),
        );
    }

    /// A whole disk with a node in `/dev`, blank.
    pub(crate) fn disk(&mut self, name: &str, id: DevId) {
        let dir = format!("/sys/devices/virtual/block/{name}");
        self.device(&dir, name, id);
        self.link(&format!("/sys/block/{name}"), &dir);
        self.file(&format!("{dir}/queue/logical_block_size"), "512\n");
        self.file(&format!("{dir}/queue/rotational"), "0\n");
        self.file(&format!("{dir}/queue/nr_requests"), "128\n");
        self.file(&format!("{dir}/queue/scheduler"), "none [mq-deadline] kyber\n");
    }

    pub(crate) fn partition(&mut self, disk: &str, name: &str, id: DevId) {
        let dir = format!("/sys/devices/virtual/block/{disk}/{name}");
        self.device(&dir, name, id);
        self.file(&format!("{dir}/partition"), "1\n");
    }

    /// A disk without number and node.
    pub(crate) fn hidden_disk(&self, name: &str) {
        let dir = format!("/sys/devices/virtual/block/{name}");
        self.file(&format!("{dir}/hidden"), "1\n");
        self.file(&format!("{dir}/size"), "16384\n");
        self.link(&format!("/sys/block/{name}"), &dir);
        self.link(&format!("/sys/class/block/{name}"), &dir);
    }

    /// A generic character device of class `class` in the directory `dir` of `/sys`, with a node in `/dev`.
    pub(crate) fn generic(&mut self, dir: &str, class: &str, id: DevId) {
        let name = dir.rsplit('/').next().expect("a name");
        self.file(&format!("{dir}/dev"), format!("{id}\n"));
        self.file(&format!("/sys/class/{class}/.keep"), "");
        self.link(&format!("{dir}/subsystem"), &format!("/sys/class/{class}"));
        self.link(&format!("/sys/dev/char/{id}"), dir);
        let node = format!("/dev/{name}");
        self.file(&node, "");
        let stat = FileStat {
            kind: FileKind::CharacterDevice,
            device: dev(0, 6),
            inode: 101,
            node: id,
            size_bytes: 0,
        };
        self.root = self.root.clone().with_stat(node, stat);
    }

    /// Builds `upper` on `lower`.
    pub(crate) fn stack(&self, upper: &str, lower: &str) {
        let up = self.real_dir(upper);
        let low = self.real_dir(lower);
        self.link(&format!("{up}/slaves/{lower}"), &low);
        self.link(&format!("{low}/holders/{upper}"), &up);
    }

    pub(crate) fn attribute(&self, name: &str, attribute: &str, value: &str) {
        self.file(
            &format!("{}/{attribute}", self.real_dir(name)),
            format!("{value}\n"),
        );
    }

    /// A file on device `device`, as `stat` would find it.
    pub(crate) fn data_file(&mut self, path: &str, device: DevId, inode: u64) {
        self.file(path, "some data");
        let stat = FileStat {
            kind: FileKind::Regular,
            device,
            inode,
            node: dev(0, 0),
            size_bytes: 9,
        };
        self.root = self.root.clone().with_stat(path, stat);
    }

    pub(crate) fn directory(&mut self, path: &str, device: DevId) {
        fs::create_dir_all(self.real(path)).expect("a directory");
        let stat = FileStat {
            kind: FileKind::Directory,
            device,
            inode: 2,
            node: dev(0, 0),
            size_bytes: 4096,
        };
        self.root = self.root.clone().with_stat(path, stat);
    }

    /// A symbolic link; both paths as the system has them.
    pub(crate) fn link(&self, at: &str, to: &str) {
        let real = self.real(at);
        fs::create_dir_all(real.parent().expect("a parent")).expect("directories");
        let depth = at.matches('/').count() - 1;
        let target = format!("{}{}", "../".repeat(depth), to.trim_start_matches('/'));
        symlink(target, real).expect("a link");
    }

    pub(crate) fn real(&self, path: &str) -> std::path::PathBuf {
        self.dir.path().join(path.trim_start_matches('/'))
    }

    fn device(&mut self, dir: &str, name: &str, id: DevId) {
        self.file(&format!("{dir}/dev"), format!("{id}\n"));
        self.file(&format!("{dir}/size"), format!("{}\n", DEVICE_BYTES / 512));
        self.file(&format!("{dir}/ro"), "0\n");
        self.link(&format!("/sys/class/block/{name}"), dir);
        self.link(&format!("/sys/dev/block/{id}"), dir);
        let node = format!("/dev/{name}");
        self.file(&node, "");
        let image = fs::File::options()
            .write(true)
            .open(self.real(&node))
            .expect("a node");
        image.set_len(DEVICE_BYTES).expect("its size");
        let stat = FileStat {
            kind: FileKind::BlockDevice,
            device: dev(0, 6),
            inode: 100,
            node: id,
            size_bytes: 0,
        };
        self.root = self.root.clone().with_stat(node, stat);
    }

    fn real_dir(&self, name: &str) -> String {
        let dir = self.root.canonical(Path::new("/sys/class/block").join(name));
        dir.expect("a known device").to_string_lossy().into_owned()
    }
}
