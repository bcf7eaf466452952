//! Several symbols in one stream. An event's id says how far every symbol was read, so that one id
//! resumes all of them.

use std::sync::Arc;
use std::task::{Context, Poll};

use clock::Millis;
use contract::{EventFeed, StreamEvent};

use super::ask::Ask;
use super::reader::{Read, Reader, TOO_SLOW};

pub(crate) struct Batch {
    readers: Vec<(String, Reader)>,
    /// Where to look first, so that no symbol waits for a busier one.
    turn: usize,
}

impl Batch {
    pub(crate) fn new(asks: &[Ask], readers: Vec<Reader>) -> Self {
        let names = asks.iter().map(|ask| ask.ticker.name.clone());
        Self { readers: names.zip(readers).collect(), turn: 0 }
    }

    fn marked(&self, read: Read) -> Arc<StreamEvent> {
        match read {
            Read::Candle { event, closed: true, .. } => {
                let points = self.readers.iter().map(|(name, reader)| (&**name, reader.after()));
                let resume = Some(Arc::from(resume_text(points)));
                Arc::new(StreamEvent { kind: event.kind, resume, json: Arc::clone(&event.json) })
            }
            Read::Candle { event, .. } | Read::Other(event) | Read::Ended { event, .. } => event,
        }
    }
}

/// Each symbol with the last closed candle that was read of it.
pub(crate) fn resume_text<'a>(points: impl Iterator<Item = (&'a str, Millis)>) -> String {
    let points: Vec<String> = points.map(|(name, at)| format!("{name}@{}", at.0)).collect();
    points.join(",")
}

impl EventFeed for Batch {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Arc<StreamEvent>>> {
        let count = self.readers.len();
        let mut open = false;
        for step in 0..count {
            let at = (self.turn + step) % count;
            let Some((_, reader)) = self.readers.get_mut(at) else { continue };
            match reader.poll_read(context) {
                Poll::Ready(Some(read)) => {
                    self.turn = (at + 1) % count;
                    return Poll::Ready(Some(self.marked(read)));
                }
                Poll::Ready(None) => {}
                Poll::Pending => open = true,
            }
        }
        if open { Poll::Pending } else { Poll::Ready(None) }
    }

    fn cut_off(&self) -> Option<&'static str> {
        self.readers.iter().any(|(_, reader)| reader.is_too_slow()).then_some(TOO_SLOW)
    }
}
