//! A form in memory, for tests and for callers without a network.

use std::collections::VecDeque;
use std::task::{Context, Poll};

use bytes::Bytes;
use fault::Fault;

use super::{PartHead, PartSource};

/// A form in memory.
#[derive(Debug, Default)]
pub struct MemoryParts {
    parts: VecDeque<(PartHead, VecDeque<Bytes>)>,
    /// The chunks of the part that is being read.
    chunks: VecDeque<Bytes>,
    /// The fault that the form ends with, if any.
    broken: Option<Fault>,
}

impl MemoryParts {
    /// A form without parts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text field.
    #[must_use]
    pub fn field(mut self, name: &str, text: &str) -> Self {
        let head = PartHead { name: name.to_owned(), ..PartHead::default() };
        self.parts.push_back((head, [Bytes::copy_from_slice(text.as_bytes())].into()));
        self
    }

    /// Adds a file that arrives in these chunks.
    #[must_use]
    pub fn file<'a>(
        mut self,
        name: &str,
        file_name: &str,
        content_type: Option<&str>,
        chunks: impl IntoIterator<Item = &'a [u8]>,
    ) -> Self {
        let head = PartHead {
            name: name.to_owned(),
            file_name: Some(file_name.to_owned()),
            content_type: content_type.map(str::to_owned),
        };
        self.parts.push_back((head, chunks.into_iter().map(Bytes::copy_from_slice).collect()));
        self
    }

    /// Ends the form with a fault, inside its last part if it has one.
    #[must_use]
    pub fn ending_with(mut self, fault: Fault) -> Self {
        self.broken = Some(fault);
        self
    }
}

impl PartSource for MemoryParts {
    fn poll_head(&mut self, _context: &mut Context<'_>) -> Poll<Result<Option<PartHead>, Fault>> {
        let Some((head, chunks)) = self.parts.pop_front() else {
            return Poll::Ready(self.broken.take().map_or(Ok(None), Err));
        };
        self.chunks = chunks;
        Poll::Ready(Ok(Some(head)))
    }

    fn poll_chunk(&mut self, _context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Fault>> {
        Poll::Ready(match self.chunks.pop_front() {
            None if self.parts.is_empty() => self.broken.take().map_or(Ok(None), Err),
            more => Ok(more),
        })
    }
}
