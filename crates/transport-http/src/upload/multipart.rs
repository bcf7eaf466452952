//! Parses `multipart/form-data` while it arrives. It holds only the head of a part and the bytes that
//! may begin a boundary. An error names the number of the part.

use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes, BytesMut};
use contract::{PartHead, PartSource};
use fault::Fault;
use memchr::memmem::{self, Finder};

use super::head;
use super::paced_body::{PacedBody, UnreadBody};

/// The head of a part, with its boundary line.
const HEAD_BYTES_MAX: usize = 16 * 1024;
const HEAD_END: &[u8] = b"\r\n\r\n";
/// Bytes before the first boundary and after the last one.
const OUTSIDE_BYTES_MAX: usize = 16 * 1024;

pub(crate) struct Multipart {
    /// `None` once it was left in `unread`.
    body: Option<PacedBody>,
    unread: UnreadBody,
    /// CRLF, two dashes, the boundary.
    delimiter: Finder<'static>,
    /// Bytes received and not yet returned.
    held: BytesMut,
    /// How many of the held bytes were searched for the end of a head.
    searched: usize,
    state: MultipartState,
    /// The number of the current part, from one.
    part: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MultipartState {
    /// Before the first boundary; the number of skipped bytes.
    Before(usize),
    /// After a boundary.
    AtHead,
    InPart,
    /// After the last boundary; the number of skipped bytes.
    After(usize),
    Ended,
}

impl Multipart {
    pub(crate) fn new(boundary: &str, body: PacedBody, unread: UnreadBody) -> Self {
        let delimiter = format!("\r\n--{boundary}");
        Self {
            body: Some(body),
            unread,
            delimiter: Finder::new(delimiter.as_bytes()).into_owned(),
            // The first boundary may be the first line, without a line end before it.
            held: BytesMut::from("\r\n"),
            searched: 0,
            state: MultipartState::Before(0),
            part: 0,
        }
    }

    /// Receives more of the body; `false` at its end.
    fn poll_more(&mut self, context: &mut Context<'_>) -> Poll<Result<bool, Fault>> {
        let Some(body) = &mut self.body else { return Poll::Ready(Ok(false)) };
        Poll::Ready(match ready!(body.poll_data(context))? {
            None => Ok(false),
            Some(data) if self.held.is_empty() => {
                // Without a copy where the bytes have no other owner.
                self.held = data.into();
                Ok(true)
            }
            Some(data) => {
                self.held.extend_from_slice(&data);
                Ok(true)
            }
        })
    }

    /// Bytes before the next boundary; `None` when the boundary was reached.
    fn poll_before(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Fault>> {
        loop {
            if let Some(at) = self.delimiter.find(&self.held) {
                if at > 0 {
                    return Poll::Ready(Ok(Some(self.held.split_to(at).freeze())));
                }
                self.held.advance(self.delimiter.needle().len());
                (self.state, self.searched) = (MultipartState::AtHead, 0);
                self.part += 1;
                return Poll::Ready(Ok(None));
            }
            let free = self.held.len() - self.possible_delimiter();
            if free > 0 {
                return Poll::Ready(Ok(Some(self.held.split_to(free).freeze())));
            }
            if !ready!(self.poll_more(context))? {
                return Poll::Ready(Err(self.broken("the body ends without its last boundary")));
            }
        }
    }

    /// How many bytes at the end may be the beginning of a boundary.
    fn possible_delimiter(&self) -> usize {
        let needle = self.delimiter.needle();
        let from = self.held.len().saturating_sub(needle.len() - 1);
        let tail = self.held.get(from..).unwrap_or_default();
        let begins = |at: &usize| tail.get(*at..).is_some_and(|rest| needle.starts_with(rest));
        memchr::memchr_iter(b'\r', tail).find(begins).map_or(0, |at| tail.len() - at)
    }

    /// After a boundary: the head of the next part, or `None` at the end of the form.
    fn poll_after(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<PartHead>, Fault>> {
        loop {
            if self.held.starts_with(b"--") {
                self.state = MultipartState::After(0);
                return Poll::Ready(Ok(None));
            }
            let from = self.searched.saturating_sub(3);
            let end = memmem::find(self.held.get(from..).unwrap_or_default(), HEAD_END);
            if let Some(end) = end.map(|at| at + from).filter(|end| *end <= HEAD_BYTES_MAX) {
                let block = self.held.split_to(end);
                self.held.advance(HEAD_END.len());
                self.state = MultipartState::InPart;
                return Poll::Ready(match head::read(&block) {
                    Ok(head) => Ok(Some(head)),
                    Err(what) => Err(self.broken(what)),
                });
            }
            self.searched = self.held.len();
            if self.held.len() > HEAD_BYTES_MAX + HEAD_END.len() {
                return Poll::Ready(Err(self.broken("its head is too long")));
            }
            if !ready!(self.poll_more(context))? {
                return Poll::Ready(Err(self.broken("the body ends in its head")));
            }
        }
    }

    fn broken(&self, what: &str) -> Fault {
        let message = match self.part {
            0 => format!("the form cannot be read: {what}"),
            part => format!("the form cannot be read: part {part}: {what}"),
        };
        Fault::invalid("invalid_multipart", message)
    }
}

impl PartSource for Multipart {
    fn poll_head(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<PartHead>, Fault>> {
        loop {
            match self.state {
                MultipartState::Before(skipped) => match ready!(self.poll_before(context))? {
                    None => {}
                    Some(more) if skipped + more.len() > OUTSIDE_BYTES_MAX => {
                        let what = "it does not begin with its boundary";
                        return Poll::Ready(Err(self.broken(what)));
                    }
                    Some(more) => self.state = MultipartState::Before(skipped + more.len()),
                },
                MultipartState::AtHead => {
                    if let Some(head) = ready!(self.poll_after(context))? {
                        return Poll::Ready(Ok(Some(head)));
                    }
                }
                MultipartState::InPart => while ready!(self.poll_before(context))?.is_some() {},
                // Read to the end, so that the connection can be reused.
                MultipartState::After(skipped) => {
                    let skipped = skipped + self.held.len();
                    self.held.clear();
                    self.state = MultipartState::After(skipped);
                    if skipped > OUTSIDE_BYTES_MAX || !ready!(self.poll_more(context))? {
                        self.state = MultipartState::Ended;
                    }
                }
                MultipartState::Ended => return Poll::Ready(Ok(None)),
            }
        }
    }

    fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Fault>> {
        match self.state {
            MultipartState::InPart => self.poll_before(context),
            _ => Poll::Ready(Ok(None)),
        }
    }
}

impl Drop for Multipart {
    fn drop(&mut self) {
        if let Some(body) = self.body.take() {
            self.unread.leave(body);
        }
    }
}

#[cfg(test)]
mod tests;
