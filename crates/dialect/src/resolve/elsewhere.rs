//! Interfaces that are about no file of this machine, or about generic devices: what each needs, and what goes with none of them.

mod network;

use super::Settling;
use crate::diagnostic::Fault;
use fathom_core::nbd::Uri;
use fathom_core::workload::{EngineKind, Http, HttpMode, SyncMode};

impl Settling<'_> {
    pub(super) fn elsewhere(&mut self) {
        match self.job.engine.kind {
            EngineKind::Exec => self.program(),
            EngineKind::Nbd => self.export(),
            EngineKind::Http => self.objects(),
            EngineKind::Net => self.other_side(),
            EngineKind::IoUringCmd => self.generic_device("/dev/ng0n1"),
            EngineKind::Sg => self.generic_device("/dev/sg0"),
            _ => return,
        }
        if !self.draft.iolog.path.as_os_str().is_empty() {
            let engine = self.job.engine.kind.name();
            let fault = Fault::new(format!("ioengine={engine} plays no record"));
            self.error(
                &["read_iolog"],
                fault.remedy("leave read_iolog out, or use io_uring on files"),
            );
        }
    }

    /// Commands go to a device that is there, and know nothing of files.
    fn generic_device(&mut self, example: &str) {
        let engine = self.job.engine.kind.name();
        if self.job.files.names.is_empty() {
            let fault = Fault::new(format!("ioengine={engine} needs to know the device"));
            return self.error(
                &["ioengine"],
                fault.remedy(format!("add such as filename={example}")),
            );
        }
        if self.job.files.new_each_loop {
            let fault = Fault::new("a device is not made anew");
            self.error(&["unlink_each_loop"], fault.remedy("leave unlink_each_loop out"));
        }
        if self.job.files.pre_read {
            let fault = Fault::new("`pre_read` has no effect: commands pass the page cache by");
            self.note(&["pre_read"], fault);
        }
        if self.job.engine.kind == EngineKind::IoUringCmd && self.job.sync.mode != SyncMode::None {
            let fault = Fault::new("`sync` has no effect: as with fio, commands carry nothing of it");
            self.warning(
                &["sync"],
                fault.remedy("use fsync=1, which sends a flush behind each write"),
            );
        }
    }

    fn export(&mut self) {
        if self.job.uri.is_empty() {
            let fault = Fault::new("ioengine=nbd needs to know the export");
            return self.error(
                &["ioengine"],
                fault.remedy("add such as uri=nbd://localhost:10809/disk"),
            );
        }
        if let Err(wrong) = Uri::parse(&self.job.uri) {
            let fault = Fault::new(format!("`{}` is no address of an export: {wrong}", self.job.uri));
            self.error(&["uri"], fault);
        }
        for option in ["filename", "directory", "filesize", "nrfiles", "opendir"] {
            if self.given(option) {
                let fault = Fault::new(format!("`{option}` has no effect: uri names what is measured"));
                self.note(&[option], fault);
            }
        }
        if self.job.files.new_each_loop {
            let fault = Fault::new("an export is not made anew");
            self.error(&["unlink_each_loop"], fault.remedy("leave unlink_each_loop out"));
        }
    }

    fn objects(&mut self) {
        let Http {
            host,
            mode,
            s3_key_id,
            s3_key,
            s3_region,
            s3_storage_class,
            user,
            ..
        } = &self.job.http;
        let strange = |text: &str| text.chars().any(|c| c.is_whitespace() || c.is_control());
        if host.is_empty() || strange(host) || host.contains(['/', '@', '?', '#']) {
            let fault = Fault::new(format!("`{host}` is no host"));
            return self.error(
                &["http_host"],
                fault.remedy("write such as http_host=s3.example.com:9000"),
            );
        }
        if [s3_key_id, s3_region, s3_storage_class]
            .iter()
            .any(|text| strange(text))
            || user.contains(':')
        {
            let fault = Fault::new("a header of HTTP cannot have that in it");
            return self.error(
                &[
                    "http_s3_keyid",
                    "http_s3_region",
                    "http_s3_storage_class",
                    "http_user",
                ],
                fault.remedy("leave spaces out, and colons of a user's name"),
            );
        }
        if *mode == HttpMode::S3 && (s3_key_id.is_empty() || s3_key.0.is_empty()) {
            let fault = Fault::new("http_mode=s3 needs a key");
            return self.error(&["http_mode"], fault.remedy("add http_s3_keyid and http_s3_key"));
        }
        let one_size = |op: usize| self.job.block_size[op].min() == self.job.block_size[op].max();
        if !self.job.used_ops().all(one_size) {
            let fault =
                Fault::new("an object is named after its size: with several sizes, most are not found again");
            self.warning(&["bsrange", "bssplit"], fault.remedy("use one bs"));
        }
        if self.job.files.new_each_loop {
            let fault = Fault::new("objects are not made anew");
            self.error(&["unlink_each_loop"], fault.remedy("leave unlink_each_loop out"));
        }
    }

    fn program(&mut self) {
        let program = self.job.program.clone();
        if program.path.is_empty() {
            let fault = Fault::new("ioengine=exec needs a program");
            self.error(&["ioengine"], fault.remedy("add such as program=/usr/bin/vmstat"));
        }
        if program.arguments.contains(['"', '\'']) {
            let fault = Fault::new("nothing quotes arguments: they are divided at every space, as by fio");
            self.warning(
                &["arguments"],
                fault.remedy("put what needs quotes into a script, and run that"),
            );
        }
        // What is not read or written cannot be verified either.
        if self.draft.verify_algorithm.is_some() {
            let fault = Fault::new("`verify` has no effect: ioengine=exec does no I/O");
            self.note(&["verify"], fault);
            self.job.verify = None;
        }
    }
}

#[cfg(test)]
mod tests;
