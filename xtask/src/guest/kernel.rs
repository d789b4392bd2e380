//! Debian's kernel with the modules that the guest needs, and its shell: fetched by `apt-get`, unpacked, not installed.

use crate::shell;
use anyhow::{Context as _, Result, bail};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is loaded, in this order, each behind what it depends on.
const MODULES: [&str; 12] = [
    "virtio_pci",
    "virtio_blk",
    "virtio_scsi",
    "crc32c_generic",
    "crc64_rocksoft_generic",
    "crct10dif_generic",
    "nvme",
    "sd_mod",
    "sg",
    "ext4",
    "loop",
    "null_blk",
];
/// The package that names the newest one.
const NEWEST: &str = "linux-image-amd64";

/// Where they are.
pub(super) struct Kernel(PathBuf);

impl Kernel {
    pub(super) fn image(&self) -> PathBuf {
        self.0.join("vmlinuz")
    }

    pub(super) fn busybox(&self) -> PathBuf {
        self.0.join("busybox")
    }

    /// The modules in the order in which they are loaded.
    pub(super) fn modules(&self) -> Result<Vec<PathBuf>> {
        let order = self.0.join("order");
        let names =
            std::fs::read_to_string(&order).with_context(|| format!("cannot read {}", order.display()))?;
        Ok(names.lines().map(|name| self.0.join(name)).collect())
    }
}

/// The one that was fetched, if ever.
pub(super) fn kept() -> Result<Option<Kernel>> {
    let dir = cache()?;
    // The last thing that is made.
    Ok(dir.join("order").exists().then_some(Kernel(dir)))
}

/// As [`kept`], or fetches it.
pub(super) fn fetched() -> Result<Kernel> {
    if let Some(kernel) = kept()? {
        return Ok(kernel);
    }
    let dir = cache()?;
    std::fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let unpacked = tempfile::tempdir_in(&dir)?;
    let image = newest()?;
    for package in [image.as_str(), "busybox-static"] {
        let mut download = Command::new("apt-get");
        shell::run(download.args(["download", package]).current_dir(unpacked.path()))?;
    }
    let root = unpacked.path().join("root");
    for entry in std::fs::read_dir(unpacked.path())? {
        let package = entry?.path();
        if package.extension().is_some_and(|extension| extension == "deb") {
            shell::run(Command::new("dpkg-deb").arg("-x").arg(&package).arg(&root))?;
        }
    }
    let release = image.trim_start_matches("linux-image-");
    std::fs::copy(
        root.join("boot").join(format!("vmlinuz-{release}")),
        dir.join("vmlinuz"),
    )?;
    std::fs::copy(root.join("bin/busybox"), dir.join("busybox"))?;
    let modules = Modules::below(&root.join("lib/modules").join(release))?;
    let mut order = String::new();
    for (name, path) in modules.in_order(&MODULES)? {
        std::fs::copy(path, dir.join(format!("{name}.ko")))?;
        order.push_str(&name);
        order.push_str(".ko\n");
    }
    std::fs::write(dir.join("order"), order)?;
    Ok(Kernel(dir))
}

fn cache() -> Result<PathBuf> {
    let given = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let usual = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    let cache = given
        .or_else(usual)
        .context("HOME is not set: there is nowhere to keep a kernel")?;
    Ok(cache.join("fathom/guest"))
}

/// The package of Debian's newest kernel.
fn newest() -> Result<String> {
    let said = shell::output(Command::new("apt-cache").args(["depends", NEWEST]))?;
    let said = String::from_utf8_lossy(&said).into_owned();
    let package = said
        .lines()
        .find_map(|line| line.trim().strip_prefix("Depends: ").map(str::to_owned));
    package.with_context(|| format!("no package {NEWEST}: apt-get update"))
}

/// Kernel modules by their names, with `_` for `-`.
struct Modules(BTreeMap<String, PathBuf>);

impl Modules {
    fn below(dir: &Path) -> Result<Self> {
        let mut found = BTreeMap::new();
        let mut left = vec![dir.to_owned()];
        while let Some(dir) = left.pop() {
            for entry in std::fs::read_dir(&dir).with_context(|| format!("cannot read {}", dir.display()))? {
                let path = entry?.path();
                if path.is_dir() {
                    left.push(path);
                } else if path.extension().is_some_and(|extension| extension == "ko") {
                    let name = path.file_stem().unwrap_or_default().to_string_lossy();
                    found.insert(name.replace('-', "_"), path);
                }
            }
        }
        Ok(Self(found))
    }

    /// Those asked for, each behind what it depends on. What the kernel has built in is in no file.
    fn in_order(&self, wanted: &[&str]) -> Result<Vec<(String, PathBuf)>> {
        let mut order = Vec::new();
        for name in wanted {
            self.put(name, &mut order)?;
        }
        Ok(order)
    }

    fn put(&self, name: &str, order: &mut Vec<(String, PathBuf)>) -> Result<()> {
        let Some(path) = self.0.get(name) else {
            return Ok(());
        };
        if order.iter().any(|(known, _)| known == name) {
            return Ok(());
        }
        for needed in depends(&std::fs::read(path)?) {
            if needed == name {
                bail!("module {name} depends on itself");
            }
            self.put(&needed, order)?;
        }
        order.push((name.to_owned(), path.clone()));
        Ok(())
    }
}

/// The names that a module says it depends on (its section `.modinfo`: texts with zeros between them).
pub(super) fn depends(module: &[u8]) -> Vec<String> {
    const KEY: &[u8] = b"\0depends=";
    let Some(at) = module.windows(KEY.len()).position(|bytes| bytes == KEY) else {
        return Vec::new();
    };
    let text = &module[at + KEY.len()..];
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    let names = String::from_utf8_lossy(&text[..end]).replace('-', "_");
    let names = names.split(',').filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}
