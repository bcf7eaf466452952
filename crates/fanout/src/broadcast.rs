//! Everybody who reads one stream.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::Priority;
use crate::queue::{EndReason, Next, Queue};

#[derive(Debug)]
struct Entry<T> {
    queue: Arc<Queue<T>>,
    /// Whether it also takes what the next event outdates.
    droppable: bool,
}

#[derive(Debug)]
struct Subscribers<T> {
    all: HashMap<u64, Entry<T>>,
    next_id: u64,
    droppable: usize,
    /// Nothing more will come.
    ended: bool,
}

#[derive(Debug)]
pub struct Broadcast<T> {
    subscribers: Mutex<Subscribers<T>>,
}

/// How much waits to be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueDepth {
    pub all: usize,
    /// For the one that most waits for.
    pub longest: usize,
}

impl QueueDepth {
    /// The same of both.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        Self { all: self.all + other.all, longest: self.longest.max(other.longest) }
    }
}

/// A reader's place; given up when it is dropped.
#[derive(Debug)]
pub struct Subscriber<T> {
    broadcast: Arc<Broadcast<T>>,
    id: u64,
    queue: Arc<Queue<T>>,
}

impl<T> Default for Broadcast<T> {
    fn default() -> Self {
        let subscribers =
            Subscribers { all: HashMap::new(), next_id: 0, droppable: 0, ended: false };
        Self { subscribers: Mutex::new(subscribers) }
    }
}

impl<T> Broadcast<T> {
    fn subscribers(&self) -> MutexGuard<'_, Subscribers<T>> {
        self.subscribers.lock()
    }

    pub fn len(&self) -> usize {
        self.subscribers().all.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether anybody takes droppable events; if not, they need not be built.
    pub fn wants_droppable(&self) -> bool {
        self.subscribers().droppable > 0
    }
}

impl<T> Broadcast<T> {
    /// A place with a queue of at most `queue_max` events. Who comes after the end is told of it.
    pub fn subscribe(self: &Arc<Self>, queue_max: usize, droppable: bool) -> Subscriber<T> {
        let queue = Arc::new(Queue::new(queue_max));
        let mut subscribers = self.subscribers();
        let id = subscribers.next_id;
        subscribers.next_id += 1;
        subscribers.droppable += usize::from(droppable);
        if subscribers.ended {
            queue.end(EndReason::Closed);
        }
        subscribers.all.insert(id, Entry { queue: Arc::clone(&queue), droppable });
        drop(subscribers);
        Subscriber { broadcast: Arc::clone(self), id, queue }
    }

    /// Hands an event to everybody. Those that were cut off keep their subscriber until they have read
    /// how it ended.
    pub fn publish(&self, event: &Arc<T>, priority: Priority) {
        for reader in self.subscribers().all.values() {
            if reader.droppable || priority > Priority::Droppable {
                reader.queue.push(event, priority);
            }
        }
    }

    /// Whether some reader has hardly room for more of what is never left out.
    pub fn is_nearly_full(&self) -> bool {
        self.subscribers().all.values().any(|reader| reader.queue.is_nearly_full())
    }

    /// What waits for its subscribers, all together and at most for one.
    pub fn depth(&self) -> QueueDepth {
        let subscribers = self.subscribers();
        let waiting = subscribers.all.values().map(|reader| reader.queue.len());
        waiting.fold(QueueDepth::default(), |depth, one| {
            depth.merge(QueueDepth { all: one, longest: one })
        })
    }

    /// Nothing more will come.
    pub fn end(&self) {
        let mut subscribers = self.subscribers();
        subscribers.ended = true;
        for reader in subscribers.all.values() {
            reader.queue.end(EndReason::Closed);
        }
    }
}

impl<T> Subscriber<T> {
    pub fn poll_next(&self, context: &mut Context<'_>) -> Poll<Next<T>> {
        self.queue.poll_pop(context)
    }

    /// Ready when the source is over, whatever is still waiting.
    pub fn poll_closed(&self, context: &mut Context<'_>) -> Poll<()> {
        self.queue.poll_closed(context)
    }

    /// Puts an event before this reader alone.
    pub fn send(&self, event: &Arc<T>, priority: Priority) {
        self.queue.push(event, priority);
    }
}

impl<T> Drop for Subscriber<T> {
    fn drop(&mut self) {
        let mut subscribers = self.broadcast.subscribers();
        if let Some(reader) = subscribers.all.remove(&self.id) {
            subscribers.droppable -= usize::from(reader.droppable);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    /// Negative numbers are droppable.
    fn publish(broadcast: &Broadcast<i32>, number: i32) {
        let priority = if number < 0 { Priority::Droppable } else { Priority::MustDeliver };
        broadcast.publish(&Arc::new(number), priority);
    }

    fn read(subscriber: &Subscriber<i32>) -> Vec<i32> {
        let mut context = Context::from_waker(Waker::noop());
        let mut all = Vec::new();
        while let Poll::Ready(Next::Event(event)) = subscriber.poll_next(&mut context) {
            all.push(*event);
        }
        all
    }

    #[test]
    fn each_reader_gets_what_it_asked_for_from_when_it_came() {
        let broadcast = Arc::new(Broadcast::default());
        let lasting = broadcast.subscribe(10, false);
        assert!(!broadcast.wants_droppable());
        [-1, 1].into_iter().for_each(|it| publish(&broadcast, it));
        let both = broadcast.subscribe(10, true);
        assert!(broadcast.wants_droppable());
        [-2, 2].into_iter().for_each(|it| publish(&broadcast, it));
        assert_eq!(broadcast.depth(), QueueDepth { all: 4, longest: 2 });
        assert_eq!(read(&lasting), [1, 2]);
        assert_eq!(broadcast.depth(), QueueDepth { all: 2, longest: 2 });
        assert_eq!(read(&both), [-2, 2]);
        drop(both);
        assert!(!broadcast.wants_droppable() && broadcast.len() == 1);
        drop(lasting);
        assert!(broadcast.is_empty());
    }

    #[test]
    fn readers_are_told_of_the_end_after_what_was_waiting() {
        let broadcast = Arc::new(Broadcast::default());
        let subscriber = broadcast.subscribe(10, false);
        publish(&broadcast, 1);
        broadcast.end();
        let mut context = Context::from_waker(Waker::noop());
        assert!(subscriber.poll_closed(&mut context).is_ready());
        assert_eq!(read(&subscriber), [1]);
        assert!(matches!(
            subscriber.poll_next(&mut context),
            Poll::Ready(Next::Ended(EndReason::Closed))
        ));
        let late = broadcast.subscribe(10, false);
        assert!(matches!(
            late.poll_next(&mut context),
            Poll::Ready(Next::Ended(EndReason::Closed))
        ));
    }
}
