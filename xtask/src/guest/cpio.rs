//! An archive of the kind that the kernel unpacks as its first file system (`newc`; Documentation/driver-api/early-userspace).

use std::collections::BTreeSet;
use std::fmt::Write as _;

const DIRECTORY: u32 = 0o040_755;
const REGULAR: u32 = 0o100_000;
const CHARACTER: u32 = 0o020_600;

/// What was put in so far.
pub(super) struct Archive {
    bytes: Vec<u8>,
    directories: BTreeSet<String>,
    entries: u32,
}

impl Archive {
    /// With a console, without which the first program says nothing.
    pub(super) fn new() -> Self {
        let mut archive = Self {
            bytes: Vec::new(),
            directories: BTreeSet::new(),
            entries: 0,
        };
        archive.parents("dev/console");
        archive.entry("dev/console", CHARACTER, &[], (5, 1));
        archive
    }

    /// A file by its path without a root, and the directories on the way.
    pub(super) fn file(&mut self, path: &str, mode: u32, content: &[u8]) {
        self.parents(path);
        self.entry(path, REGULAR | mode, content, (0, 0));
    }

    fn parents(&mut self, path: &str) {
        for (at, _) in path.match_indices('/') {
            if self.directories.insert(path[..at].to_owned()) {
                self.entry(&path[..at], DIRECTORY, &[], (0, 0));
            }
        }
    }

    fn entry(&mut self, path: &str, mode: u32, content: &[u8], node: (u32, u32)) {
        self.entries += 1;
        let links = 1;
        let fields = [
            self.entries,
            mode,
            0,
            0,
            links,
            0,
            content.len() as u32,
            0,
            0,
            node.0,
            node.1,
            path.len() as u32 + 1,
            0,
        ];
        let mut head = String::from("070701");
        for field in fields {
            // Writing to a string cannot fail.
            let _ = write!(head, "{field:08x}");
        }
        self.bytes.extend(head.as_bytes());
        self.bytes.extend(path.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend(content);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    /// The whole archive.
    pub(super) fn finished(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[], (0, 0));
        self.bytes
    }
}
