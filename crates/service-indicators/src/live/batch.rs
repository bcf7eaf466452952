//! Several symbols in one stream. An event's id holds the resume point of every symbol, so that one
//! id resumes all of them.

use std::sync::Arc;
use std::task::{Context, Poll};

use clock::Millis;
use contract::{EventFeed, StreamEvent};

use super::reader::{Reader, ReaderEvent, TOO_SLOW};
use super::subscription_request::SubscriptionRequest;

pub(crate) struct Batch {
    readers: Vec<(String, Reader)>,
    /// Index of the reader to poll first; it rotates so that a busy symbol does not starve the
    /// others.
    next_reader: usize,
}

impl Batch {
    pub(crate) fn new(requests: &[SubscriptionRequest], readers: Vec<Reader>) -> Self {
        let names = requests.iter().map(|request| request.ticker.name.clone());
        Self { readers: names.zip(readers).collect(), next_reader: 0 }
    }

    fn with_resume_point(&self, read: ReaderEvent) -> Arc<StreamEvent> {
        match read {
            ReaderEvent::Candle { event, closed: true, .. } => {
                let points = self.readers.iter().map(|(name, reader)| (&**name, reader.after()));
                let resume = Some(Arc::from(resume_text(points)));
                Arc::new(StreamEvent { kind: event.kind, resume, json: Arc::clone(&event.json) })
            }
            ReaderEvent::Candle { event, .. }
            | ReaderEvent::Other(event)
            | ReaderEvent::Ended { event, .. } => event,
        }
    }
}

/// Formats each symbol with the opening time of its last read closed candle.
pub(crate) fn resume_text<'a>(points: impl Iterator<Item = (&'a str, Millis)>) -> String {
    let points: Vec<String> = points.map(|(name, at)| format!("{name}@{}", at.0)).collect();
    points.join(",")
}

impl EventFeed for Batch {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Arc<StreamEvent>>> {
        let count = self.readers.len();
        let mut open = false;
        for step in 0..count {
            let at = (self.next_reader + step) % count;
            let Some((_, reader)) = self.readers.get_mut(at) else { continue };
            match reader.poll_read(context) {
                Poll::Ready(Some(read)) => {
                    self.next_reader = (at + 1) % count;
                    return Poll::Ready(Some(self.with_resume_point(read)));
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
