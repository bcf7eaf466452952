//! A file on its way out: what it is called, and its bytes as they come. It is never held whole.

use std::io;

use bytes::Bytes;
use fault::Fault;
use futures_util::stream::{self, BoxStream, Stream, StreamExt as _};

/// What the handler of a download answers with.
pub struct Download {
    pub content_type: String,
    /// What a browser offers to save it as; any text will do.
    pub file_name: Option<String>,
    /// How many bytes it has, where that is known.
    pub length: Option<u64>,
    pub body: BoxStream<'static, io::Result<Bytes>>,
}

impl Download {
    pub fn new(
        content_type: impl Into<String>,
        body: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
    ) -> Self {
        let content_type = content_type.into();
        Self { content_type, file_name: None, length: None, body: body.boxed() }
    }

    /// One that is small enough to have been made at once.
    pub fn whole(content_type: impl Into<String>, bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        let length = bytes.len() as u64;
        Self::new(content_type, stream::iter([Ok(bytes)])).of_length(length)
    }

    #[must_use]
    pub fn named(mut self, file_name: impl Into<String>) -> Self {
        self.file_name = Some(file_name.into());
        self
    }

    #[must_use]
    pub fn of_length(mut self, bytes: u64) -> Self {
        self.length = Some(bytes);
        self
    }

    /// Waits for the first bytes, so that a file that cannot be read is a failed call and not an
    /// answer that breaks off.
    pub(crate) async fn with_first_chunk(mut self) -> Result<Self, Fault> {
        let first = self.body.next().await.transpose().map_err(Fault::internal)?;
        self.body = stream::iter(first.map(Ok)).chain(self.body).boxed();
        Ok(self)
    }
}
