//! A body that is one file as it is, read as a form with one part.

use std::task::{Context, Poll, ready};

use bytes::Bytes;
use contract::{PartHead, PartSource};
use fault::Fault;

use super::paced_body::{PacedBody, UnreadBody};

pub(crate) struct RawFile {
    /// `None` at the end of the file, and once the body was left in `unread`.
    body: Option<PacedBody>,
    unread: UnreadBody,
    is_started: bool,
}

impl RawFile {
    pub(crate) fn new(body: PacedBody, unread: UnreadBody) -> Self {
        Self { body: Some(body), unread, is_started: false }
    }
}

impl PartSource for RawFile {
    fn poll_head(&mut self, _: &mut Context<'_>) -> Poll<Result<Option<PartHead>, Fault>> {
        if std::mem::replace(&mut self.is_started, true) {
            return Poll::Ready(Ok(None));
        }
        // The name of the file is not in the body.
        let (name, file_name) = ("file".to_owned(), Some(String::new()));
        Poll::Ready(Ok(Some(PartHead { name, file_name, content_type: None })))
    }

    fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Fault>> {
        let Some(body) = &mut self.body else { return Poll::Ready(Ok(None)) };
        let chunk = ready!(body.poll_data(context))?;
        if chunk.is_none() {
            self.body = None;
        }
        Poll::Ready(Ok(chunk))
    }
}

impl Drop for RawFile {
    fn drop(&mut self) {
        if let Some(body) = self.body.take() {
            self.unread.leave(body);
        }
    }
}
