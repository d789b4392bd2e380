//! What is kept of a run under way: Arrow IPC streams that are whole after each batch.
//!
//! Data in: batches, such as the rows of one second. Data out: bytes appended to a file in one write; and, from a file
//! that may be torn or damaged, its whole batches and how it ends. It must not know what the columns mean, nor the
//! other files of the directory.
//!
//! Format: <https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format>: messages of a
//! continuation mark (`FF FF FF FF`), the metadata's length, metadata, body; a length of 0 ends the stream.

use crate::StoreError;
use crate::error::{RECOVER, guarded};
use crate::open;
use arrow_array::RecordBatch;
use arrow_ipc::reader::RecordBatchDecoder;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_ipc::{Message, MetadataVersion, root_as_message};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use fathom_door::own;
use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most bytes of one message: a second of ten thousand jobs fits; a wild length does not allocate memory.
const MESSAGE_MAX_BYTES: u64 = 64 << 20;

/// Encodes batches and appends them to a file.
pub(crate) struct ArrowStream {
    file: File,
    path: PathBuf,
    encoder: StreamWriter<Vec<u8>>,
    /// Up to here the file is whole.
    whole_bytes: u64,
    /// Whether there may be half a message behind that.
    torn: bool,
}

impl ArrowStream {
    /// Makes the file, takes its lock (which tells a run under way from a killed one) and writes the schema.
    pub(crate) fn create(path: &Path, schema: &SchemaRef) -> Result<Self, StoreError> {
        let io = |source| StoreError::io("create", path, source);
        let file = own::create(path).map_err(io)?;
        match file.try_lock() {
            // Some network file systems have no locks: only a recovery under way is then not prevented.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
            locked => locked.map_err(|error| StoreError::io("lock", path, error.into()))?,
        }
        // Batches are small: an alignment of 8 instead of 64 halves the file.
        let encoder = IpcWriteOptions::try_new(8, false, MetadataVersion::V5)
            .and_then(|options| StreamWriter::try_new_with_options(Vec::new(), schema, options))
            .map_err(|error| io(other(&error)))?;
        let mut stream = Self {
            file,
            path: path.to_owned(),
            encoder,
            whole_bytes: 0,
            torn: false,
        };
        stream.append().map_err(io)?;
        Ok(stream)
    }

    /// Appends a batch and hands it to the kernel. There is no fsync: what the kernel has survives a kill of the
    /// process, and a flush each second would disturb the disk measured.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        self.encoder.write(batch).map_err(|error| other(&error))?;
        self.append()
    }

    /// Writes what was encoded. What is written in part is taken back, so that later batches stay readable.
    fn append(&mut self) -> io::Result<()> {
        let taken_back = if self.torn { self.take_back() } else { Ok(()) };
        let bytes = self.encoder.get_mut();
        let length = bytes.len() as u64;
        let written = taken_back.and_then(|()| self.file.write_all(bytes));
        // Its memory serves the next batch.
        bytes.clear();
        if written.is_err() {
            self.torn = true;
            // Where that fails, the next batch tries it again.
            let _ = self.take_back();
            return written;
        }
        self.whole_bytes += length;
        Ok(())
    }

    fn take_back(&mut self) -> io::Result<()> {
        own::cut(&self.file, self.whole_bytes)?;
        self.file.seek(SeekFrom::Start(self.whole_bytes))?;
        self.torn = false;
        Ok(())
    }

    /// Puts a device that is always full in place of the file.
    #[cfg(test)]
    pub(crate) fn fill_disk(&mut self) {
        self.file = File::options().write(true).open("/dev/full").expect("opened");
    }

    /// Writes the end mark and waits until all of it is on the disk. The lock stays until the value is dropped.
    pub(crate) fn end(&mut self) -> Result<(), StoreError> {
        self.encoder
            .finish()
            .map_err(|error| other(&error))
            .and_then(|()| self.append())
            .and_then(|()| self.file.sync_all())
            .map_err(|source| StoreError::io("write", &self.path, source))
    }
}

fn other(error: &ArrowError) -> io::Error {
    io::Error::other(error.to_string())
}

/// How a stream ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tail {
    /// With its end mark.
    Ended,
    /// After a whole batch, or within one: the writer was killed. So many bytes were left over.
    Torn { left_over_bytes: u64 },
    /// In something that is not a message of this stream.
    Damaged { at_bytes: u64, detail: String },
}

/// Reads whole batches from a stream that may be torn.
pub(crate) struct StreamReader {
    path: PathBuf,
    file: BufReader<File>,
    position: u64,
    size: u64,
    schema: Option<SchemaRef>,
    tail: Option<Tail>,
}

/// One message: its metadata and its body.
struct Parts {
    metadata: Vec<u8>,
    body: Vec<u8>,
}

impl StreamReader {
    /// Opens a stream whose columns have the types of those of `expected`.
    pub(crate) fn open(path: &Path, expected: &Schema) -> Result<Self, StoreError> {
        let io = |source| StoreError::io("open", path, source);
        let file = open::regular(path).map_err(io)?;
        let size = file.metadata().map_err(io)?.len();
        let mut reader = Self {
            path: path.to_owned(),
            file: BufReader::new(file),
            position: 0,
            size,
            schema: None,
            tail: None,
        };
        if let Some(parts) = reader.message()? {
            match guarded(path, RECOVER, || schema_of(path, expected, &parts)) {
                Ok(schema) => reader.schema = Some(schema),
                Err(StoreError::Corrupt { detail, .. }) => reader.damaged(0, detail),
                Err(error) => return Err(error),
            }
        }
        Ok(reader)
    }

    /// The next whole batch; `None` at the end, whatever kind it is.
    ///
    /// # Errors
    /// The file could not be read. Damage is no error here: [`StreamReader::tail`] tells it.
    pub(crate) fn next(&mut self) -> Result<Option<RecordBatch>, StoreError> {
        let Some(schema) = self.schema.clone() else {
            return Ok(None);
        };
        let at = self.position;
        let Some(parts) = self.message()? else {
            return Ok(None);
        };
        match guarded(&self.path, RECOVER, || batch_of(&self.path, &schema, parts)) {
            Ok(batch) => Ok(Some(batch)),
            Err(StoreError::Corrupt { detail, .. }) => {
                self.damaged(at, detail);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// How the stream ended, once [`StreamReader::next`] has said `None`.
    pub(crate) fn tail(&self) -> Tail {
        self.tail.clone().unwrap_or(Tail::Torn { left_over_bytes: 0 })
    }

    fn damaged(&mut self, at_bytes: u64, detail: String) {
        self.tail = Some(Tail::Damaged { at_bytes, detail });
    }

    fn left(&self) -> u64 {
        self.size.saturating_sub(self.position)
    }

    /// The next message, if all of it is there.
    fn message(&mut self) -> Result<Option<Parts>, StoreError> {
        if self.tail.is_some() {
            return Ok(None);
        }
        let start = self.position;
        let left = self.left();
        let torn = Tail::Torn {
            left_over_bytes: left,
        };
        let Some(head) = self.take(8)? else {
            self.tail = Some(torn);
            return Ok(None);
        };
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (mark, length) = (word(0), word(4));
        if mark == 0 && length == 0 {
            // After a power loss a file system may show zeros where data was not yet written.
            self.tail = Some(torn);
            return Ok(None);
        }
        if mark != u32::MAX {
            self.damaged(start, format!("no message begins at byte {start}"));
            return Ok(None);
        }
        if length == 0 {
            self.tail = Some(Tail::Ended);
            return Ok(None);
        }
        let Some(metadata) = self.take(u64::from(length))? else {
            self.tail = Some(torn);
            return Ok(None);
        };
        let Some(body_bytes) = body_bytes(&metadata) else {
            self.damaged(start, format!("the message at byte {start} does not decode"));
            return Ok(None);
        };
        let body = self.take(body_bytes)?;
        if body.is_none() {
            self.tail = Some(torn);
        }
        Ok(body.map(|body| Parts { metadata, body }))
    }

    /// So many bytes, or `None` where the file has fewer.
    fn take(&mut self, bytes: u64) -> Result<Option<Vec<u8>>, StoreError> {
        if bytes > self.left() || bytes > MESSAGE_MAX_BYTES {
            return Ok(None);
        }
        let mut buffer = vec![0; bytes as usize];
        match self.file.read_exact(&mut buffer) {
            Ok(()) => {
                self.position += bytes;
                Ok(Some(buffer))
            }
            // It became shorter while being read.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(source) => Err(StoreError::io("read", &self.path, source)),
        }
    }
}

fn body_bytes(metadata: &[u8]) -> Option<u64> {
    u64::try_from(root_as_message(metadata).ok()?.bodyLength()).ok()
}

/// The schema of the stream. Only columns of the types that are written are let through, all of them plain ones.
fn schema_of(path: &Path, expected: &Schema, parts: &Parts) -> Result<SchemaRef, StoreError> {
    let bad = |detail: String| StoreError::corrupt(path, detail, RECOVER);
    let message = root_as_message(&parts.metadata).map_err(|error| bad(error.to_string()))?;
    let schema = message
        .header_as_schema()
        .ok_or_else(|| bad(String::from("it does not begin with a schema")))?;
    let schema: Schema =
        arrow_ipc::convert::try_fb_to_schema(schema).map_err(|error| bad(error.to_string()))?;
    for field in schema.fields() {
        let mut types = expected.fields().iter().map(|known| known.data_type());
        if !types.any(|known| known == field.data_type()) {
            let problem = format!("is {}, which is never written there", field.data_type());
            return Err(StoreError::column(path, field.name(), problem));
        }
    }
    Ok(Arc::new(schema))
}

/// The batch of a message. All lengths are checked here: the decoder takes them as they are.
fn batch_of(path: &Path, schema: &SchemaRef, parts: Parts) -> Result<RecordBatch, StoreError> {
    let bad = |detail: String| StoreError::corrupt(path, detail, RECOVER);
    let message = root_as_message(&parts.metadata).map_err(|error| bad(error.to_string()))?;
    check(&message, parts.body.len() as u64).map_err(|detail| bad(String::from(detail)))?;
    let header = message
        .header_as_record_batch()
        .ok_or_else(|| bad(String::from("a message is no batch")))?;
    let version = message.version();
    let dictionaries = HashMap::new();
    RecordBatchDecoder::try_new(
        &parts.body.into(),
        header,
        Arc::clone(schema),
        &dictionaries,
        &version,
    )
    .and_then(RecordBatchDecoder::read_record_batch)
    .map_err(|error| bad(error.to_string()))
}

fn check(message: &Message<'_>, body_bytes: u64) -> Result<(), &'static str> {
    let batch = message.header_as_record_batch().ok_or("a message is no batch")?;
    if batch.compression().is_some() {
        return Err("a batch is compressed, which is never done");
    }
    let rows = batch.length();
    if !(0..=i64::from(u32::MAX)).contains(&rows) {
        return Err("a batch has an impossible number of rows");
    }
    for buffer in batch.buffers().ok_or("a batch has no buffers")? {
        let offset = u64::try_from(buffer.offset()).map_err(|_| "a buffer has a negative offset")?;
        let length = u64::try_from(buffer.length()).map_err(|_| "a buffer has a negative length")?;
        if offset.checked_add(length).is_none_or(|end| end > body_bytes) {
            return Err("a buffer lies outside its batch");
        }
    }
    for node in batch.nodes().ok_or("a batch has no columns")? {
        if node.length() != rows || !(0..=rows).contains(&node.null_count()) {
            return Err("the columns of a batch differ in length");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
