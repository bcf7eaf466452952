//! A download: a file's headers and its bytes as a stream. It is never held in memory whole.

use std::io;

use bytes::Bytes;
use fault::Fault;
use futures_util::stream::{self, BoxStream, Stream, StreamExt as _};

/// What the handler of a download returns.
pub struct Download {
    /// The media type.
    pub content_type: String,
    /// The file name that a browser offers; any text.
    pub file_name: Option<String>,
    /// The length in bytes, if it is known.
    pub length: Option<u64>,
    /// The bytes.
    pub body: BoxStream<'static, io::Result<Bytes>>,
}

impl Download {
    /// A download of unknown length.
    pub fn new(
        content_type: impl Into<String>,
        body: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
    ) -> Self {
        let content_type = content_type.into();
        Self { content_type, file_name: None, length: None, body: body.boxed() }
    }

    /// A download that is in memory already.
    pub fn whole(content_type: impl Into<String>, bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        let length = bytes.len() as u64;
        Self::new(content_type, stream::iter([Ok(bytes)])).of_length(length)
    }

    /// Sets the file name.
    #[must_use]
    pub fn named(mut self, file_name: impl Into<String>) -> Self {
        self.file_name = Some(file_name.into());
        self
    }

    /// Sets the length in bytes.
    #[must_use]
    pub fn of_length(mut self, bytes: u64) -> Self {
        self.length = Some(bytes);
        self
    }

    /// Waits for the first chunk, so that an unreadable file fails the call instead of cutting off
    /// the response.
    pub(crate) async fn with_first_chunk(mut self) -> Result<Self, Fault> {
        let first = self.body.next().await.transpose().map_err(Fault::internal)?;
        self.body = stream::iter(first.map(Ok)).chain(self.body).boxed();
        Ok(self)
    }
}
