//! An upload: the parts of a multipart form, one after the other, none held in memory whole. The
//! transport splits the parts; this module enforces the size limits.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use fault::Fault;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::transfer::UploadSpec;

mod form;
mod memory;
#[cfg(test)]
mod tests;

pub use memory::MemoryParts;

/// The longest text field, in bytes.
const FIELD_BYTES_MAX: usize = 64 * 1024;
const FIELDS_MAX: usize = 64;
/// The most files and fields of one form.
const PARTS_MAX: usize = 1_000;
/// How many characters of a client's field name an error repeats.
const NAME_SHOWN_MAX: usize = 64;

/// A source of the parts of a form.
pub trait PartSource: Send + Unpin {
    /// The head of the next part; `None` after a complete body. Called only when the part before it
    /// was read to its end.
    fn poll_head(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<PartHead>, Fault>>;

    /// The next chunk of the part; `None` at its end.
    fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Fault>>;
}

/// The head of a part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartHead {
    /// The name of the form field.
    pub name: String,
    /// Set if the part is a file: the last component of its name, without control characters.
    pub file_name: Option<String>,
    /// The media type, as the client says.
    pub content_type: Option<String>,
}

/// A form with files, as its handler reads it. Dropping it stops the reading.
pub struct Upload {
    source: Box<dyn PartSource>,
    /// The limits and the form's schema, if any were set.
    spec: Option<Arc<UploadSpec>>,
    announced: Option<u64>,
    id: Option<String>,
    /// The arguments in the path.
    path: Vec<(String, String)>,
    /// The fields read so far.
    fields: BTreeMap<String, String>,
    parts: usize,
    state: ReadState,
    /// Bytes of the file that is being read.
    file_bytes: u64,
    /// Bytes of all files so far.
    received: u64,
}

/// How far the form was read.
enum ReadState {
    BetweenParts,
    InFile,
    Ended,
    /// Every later read fails with the same fault.
    Failed(Fault),
}

/// One part of a form.
pub enum UploadPart<'a> {
    /// A text field, read whole.
    Field {
        /// The name of the field.
        name: String,
        /// Its text.
        text: String,
    },
    /// A file, which the handler reads in chunks.
    File(FilePart<'a>),
}

/// A file that is read as it arrives.
pub struct FilePart<'a> {
    /// The name of its field in the form.
    pub name: String,
    /// The client's name of the file, last component only; may be empty.
    pub file_name: String,
    /// The client's media type, which is not verified.
    pub content_type: Option<String>,
    upload: &'a mut Upload,
}

impl FilePart<'_> {
    /// The next chunk of the file; `None` at its end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Fault> {
        self.upload.chunk().await
    }

    /// Bytes of this file so far.
    pub fn received_bytes(&self) -> u64 {
        self.upload.file_bytes
    }

    /// Bytes of all files so far.
    pub fn upload_received_bytes(&self) -> u64 {
        self.upload.received
    }
}

impl Upload {
    /// An upload without limits; see [`Upload::with_spec`].
    pub fn new(source: impl PartSource + 'static) -> Self {
        Self {
            source: Box::new(source),
            spec: None,
            announced: None,
            id: None,
            path: Vec::new(),
            fields: BTreeMap::new(),
            parts: 0,
            state: ReadState::BetweenParts,
            file_bytes: 0,
            received: 0,
        }
    }

    /// Sets the length of the whole body, if the client announced it.
    #[must_use]
    pub fn with_announced_bytes(mut self, bytes: Option<u64>) -> Self {
        self.announced = bytes;
        self
    }

    /// Sets the client's id of the upload.
    #[must_use]
    pub fn with_id(mut self, id: Option<String>) -> Self {
        self.id = id;
        self
    }

    /// Sets the arguments in the path of the upload.
    #[must_use]
    pub fn with_path(mut self, path: Vec<(String, String)>) -> Self {
        self.path = path;
        self
    }

    /// An argument in the path; empty if the path has no such argument.
    pub fn path_argument(&self, name: &str) -> &str {
        let found = self.path.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    /// Sets the limits and the form's schema of a contract.
    #[must_use]
    pub fn with_spec(mut self, spec: &Arc<UploadSpec>) -> Self {
        self.spec = Some(Arc::clone(spec));
        self
    }

    /// The length of the whole body, if the client announced it.
    pub fn announced_bytes(&self) -> Option<u64> {
        self.announced
    }

    /// Bytes of all files so far.
    pub fn received_bytes(&self) -> u64 {
        self.received
    }

    /// The client's id of this upload, 1 to 64 characters of `A-Za-z0-9._-`.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The next part; `None` after a complete body. Unread bytes of the file before it are
    /// discarded and counted.
    pub async fn next(&mut self) -> Result<Option<UploadPart<'_>>, Fault> {
        while self.chunk().await?.is_some() {}
        if matches!(self.state, ReadState::Ended) {
            return Ok(None);
        }
        let head = self.head().await;
        let Some(head) = self.remember_fault(head)? else {
            self.state = ReadState::Ended;
            return Ok(None);
        };
        if let Some(file_name) = head.file_name {
            (self.state, self.file_bytes) = (ReadState::InFile, 0);
            let (name, content_type) = (head.name, head.content_type);
            return Ok(Some(UploadPart::File(FilePart {
                name,
                file_name,
                content_type,
                upload: self,
            })));
        }
        let text = self.text(&head.name).await;
        let text = self.remember_fault(text)?;
        self.fields.insert(head.name.clone(), text.clone());
        Ok(Some(UploadPart::Field { name: head.name, text }))
    }

    /// The fields read so far, converted and validated by the contract's form. Fields may come
    /// after files, so a missing one is certain only after the last part.
    pub fn form<A: DeserializeOwned>(&self) -> Result<A, Fault> {
        let args = match &self.spec {
            Some(spec) => form::read(&self.fields, &spec.form)?,
            None => self.fields.iter().map(|(k, v)| (k.clone(), Value::from(&**v))).collect(),
        };
        // The fields match the schema, so a mismatch means that our types differ from it.
        serde_json::from_value(Value::Object(args)).map_err(Fault::internal)
    }

    async fn head(&mut self) -> Result<Option<PartHead>, Fault> {
        let Some(mut head) = poll_fn(|context| self.source.poll_head(context)).await? else {
            return Ok(None);
        };
        // A browser adds a file name to a field that it sends as a JSON blob.
        if self.is_field(&head.name) {
            head.file_name = None;
        }
        self.parts += 1;
        if self.parts > PARTS_MAX {
            let message = format!("a form has at most {PARTS_MAX} parts");
            return Err(Fault::invalid("too_many_parts", message));
        }
        if head.file_name.is_none() {
            self.check_field(&head.name)?;
        }
        Ok(Some(head))
    }

    fn is_field(&self, name: &str) -> bool {
        let form = self.spec.as_ref().map(|spec| spec.form.json());
        form.is_some_and(|form| form["properties"].get(name).is_some())
    }

    fn check_field(&self, name: &str) -> Result<(), Fault> {
        let shown = shown(name);
        if self.fields.contains_key(name) {
            let message = format!("{shown}: expected one value, not several");
            return Err(Fault::invalid("repeated_field", message).problem(shown, "one value"));
        }
        if self.fields.len() >= FIELDS_MAX {
            let message = format!("a form has at most {FIELDS_MAX} fields beside its files");
            return Err(Fault::invalid("too_many_parts", message));
        }
        Ok(())
    }

    /// Reads the text of a field.
    async fn text(&mut self, name: &str) -> Result<String, Fault> {
        let mut bytes = Vec::new();
        while let Some(more) = poll_fn(|context| self.source.poll_chunk(context)).await? {
            if bytes.len() + more.len() > FIELD_BYTES_MAX {
                let expected = format!("at most {FIELD_BYTES_MAX} bytes");
                let message = format!("{}: expected {expected}", shown(name));
                return Err(
                    Fault::invalid("field_too_large", message).problem(shown(name), expected)
                );
            }
            bytes.extend_from_slice(&more);
        }
        String::from_utf8(bytes).map_err(|_| {
            let expected = "a text in UTF-8";
            let message = format!("{}: expected {expected}", shown(name));
            Fault::invalid("invalid_input", message).problem(shown(name), expected)
        })
    }

    /// The next chunk of the file that is being read; `None` if no file is.
    async fn chunk(&mut self) -> Result<Option<Bytes>, Fault> {
        match &self.state {
            ReadState::BetweenParts | ReadState::Ended => return Ok(None),
            ReadState::Failed(fault) => return Err(fault.shared()),
            ReadState::InFile => {}
        }
        let more = poll_fn(|context| self.source.poll_chunk(context)).await;
        let more = more.and_then(|more| self.counted(more));
        let more = self.remember_fault(more)?;
        if more.is_none() {
            self.state = ReadState::BetweenParts;
        }
        Ok(more)
    }

    fn counted(&mut self, more: Option<Bytes>) -> Result<Option<Bytes>, Fault> {
        let length = more.as_ref().map_or(0, |more| more.len() as u64);
        self.file_bytes += length;
        self.received += length;
        let Some(spec) = &self.spec else { return Ok(more) };
        if self.file_bytes > spec.file_bytes {
            let most = spec.file_bytes;
            let message = format!("a file may have at most {most} bytes ({})", mebibytes(most));
            return Err(Fault::invalid("file_too_large", message));
        }
        if self.received > spec.batch_bytes {
            let most = spec.batch_bytes;
            let message =
                format!("all files together may have at most {most} bytes ({})", mebibytes(most));
            return Err(Fault::invalid("batch_too_large", message));
        }
        Ok(more)
    }

    /// Keeps a fault, because the body cannot be parsed after it.
    fn remember_fault<T>(&mut self, read: Result<T, Fault>) -> Result<T, Fault> {
        if let Err(fault) = &read {
            self.state = ReadState::Failed(fault.shared());
        }
        read
    }
}

fn shown(name: &str) -> String {
    name.chars().take(NAME_SHOWN_MAX).collect()
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes / (1024 * 1024))
}
