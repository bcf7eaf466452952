//! Files on their way in: the parts of a form, one after the other, none of them held whole. How
//! they are told apart is the transport's affair; how large they may be is decided here.

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

/// How long the text of one field may be.
const FIELD_BYTES_MAX: usize = 64 * 1024;
const FIELDS_MAX: usize = 64;
/// Files and fields of one form.
const PARTS_MAX: usize = 1_000;
/// How much of a made-up name is repeated.
const NAME_SHOWN_MAX: usize = 64;

/// Where the parts come from.
pub trait PartSource: Send + Unpin {
    /// The next part; `None` after a body that ended as it should. Asked only when the part before
    /// it has been read to its end.
    fn poll_head(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<PartHead>, Fault>>;

    /// More of the part; `None` at its end.
    fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Fault>>;
}

/// What a part says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartHead {
    pub name: String,
    /// What makes it a file. Its last component alone, without control characters.
    pub file_name: Option<String>,
    pub content_type: Option<String>,
}

/// A form with files as its handler reads it. Dropping it ends the reading.
pub struct Upload {
    source: Box<dyn PartSource>,
    /// The limits and the form's schema; absent where nobody set any.
    spec: Option<Arc<UploadSpec>>,
    announced: Option<u64>,
    id: Option<String>,
    /// The fields that came so far.
    fields: BTreeMap<String, String>,
    parts: usize,
    place: Place,
    /// Of the file that is being read.
    file_bytes: u64,
    /// Of all files so far.
    received: u64,
}

/// How far the reading is.
enum Place {
    Between,
    InFile,
    Over,
    /// What went wrong once goes on being wrong.
    Broken(Fault),
}

pub enum UploadPart<'a> {
    Field { name: String, text: String },
    File(FilePart<'a>),
}

/// A file that is read while it comes.
pub struct FilePart<'a> {
    /// The name of its field in the form.
    pub name: String,
    /// As the client calls it, the last component alone; may be empty.
    pub file_name: String,
    /// As the client would have it, which says little.
    pub content_type: Option<String>,
    upload: &'a mut Upload,
}

impl FilePart<'_> {
    /// More of the file; `None` at its end.
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
    /// An upload without limits of its own; see [`Upload::with_spec`].
    pub fn new(source: impl PartSource + 'static) -> Self {
        Self {
            source: Box::new(source),
            spec: None,
            announced: None,
            id: None,
            fields: BTreeMap::new(),
            parts: 0,
            place: Place::Between,
            file_bytes: 0,
            received: 0,
        }
    }

    /// With the length of the whole body, where the client said it.
    #[must_use]
    pub fn announced(mut self, bytes: Option<u64>) -> Self {
        self.announced = bytes;
        self
    }

    /// With the client's own name for it.
    #[must_use]
    pub fn named(mut self, id: Option<String>) -> Self {
        self.id = id;
        self
    }

    /// Under the limits and the form of a contract.
    #[must_use]
    pub fn with_spec(mut self, spec: &Arc<UploadSpec>) -> Self {
        self.spec = Some(Arc::clone(spec));
        self
    }

    /// The length of the whole body, where the client said it.
    pub fn announced_bytes(&self) -> Option<u64> {
        self.announced
    }

    /// Bytes of all files so far.
    pub fn received_bytes(&self) -> u64 {
        self.received
    }

    /// The client's own name for this upload, 1 to 64 characters of `A-Za-z0-9._-`.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The next part; `None` after a whole body. What was not read of the file before it is thrown
    /// away, and counted all the same.
    pub async fn next(&mut self) -> Result<Option<UploadPart<'_>>, Fault> {
        while self.chunk().await?.is_some() {}
        if matches!(self.place, Place::Over) {
            return Ok(None);
        }
        let head = self.head().await;
        let Some(head) = self.kept(head)? else {
            self.place = Place::Over;
            return Ok(None);
        };
        if let Some(file_name) = head.file_name {
            (self.place, self.file_bytes) = (Place::InFile, 0);
            let (name, content_type) = (head.name, head.content_type);
            return Ok(Some(UploadPart::File(FilePart {
                name,
                file_name,
                content_type,
                upload: self,
            })));
        }
        let text = self.text(&head.name).await;
        let text = self.kept(text)?;
        self.fields.insert(head.name.clone(), text.clone());
        Ok(Some(UploadPart::Field { name: head.name, text }))
    }

    /// The fields that came so far, as the contract's form would have them. They may come after the
    /// files, so only when there are no more parts is it known that none is missing.
    pub fn form<A: DeserializeOwned>(&self) -> Result<A, Fault> {
        let args = match &self.spec {
            Some(spec) => form::read(&self.fields, &spec.form)?,
            None => self.fields.iter().map(|(k, v)| (k.clone(), Value::from(&**v))).collect(),
        };
        // The schema has been checked, so a mismatch here is a contract our types missed.
        serde_json::from_value(Value::Object(args)).map_err(Fault::internal)
    }

    async fn head(&mut self) -> Result<Option<PartHead>, Fault> {
        let Some(mut head) = poll_fn(|context| self.source.poll_head(context)).await? else {
            return Ok(None);
        };
        // A browser gives a field that is sent as a blob of JSON the name of a file.
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

    /// The text of a field, whole.
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

    /// More of the file that is being read; `None` where there is none.
    async fn chunk(&mut self) -> Result<Option<Bytes>, Fault> {
        match &self.place {
            Place::Between | Place::Over => return Ok(None),
            Place::Broken(fault) => return Err(fault.shared()),
            Place::InFile => {}
        }
        let more = poll_fn(|context| self.source.poll_chunk(context)).await;
        let more = more.and_then(|more| self.counted(more));
        let more = self.kept(more)?;
        if more.is_none() {
            self.place = Place::Between;
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

    /// Remembers a fault, because what comes after it cannot be made sense of.
    fn kept<T>(&mut self, read: Result<T, Fault>) -> Result<T, Fault> {
        if let Err(fault) = &read {
            self.place = Place::Broken(fault.shared());
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
