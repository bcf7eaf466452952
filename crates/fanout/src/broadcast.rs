//! The subscribers of one stream.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::Arc;
use std::task::{Context, Poll};

use limits::MemoryReservation;

use crate::Priority;
use crate::queue::{EndReason, Next, Queue};

#[derive(Debug)]
struct Entry<T> {
    queue: Arc<Queue<T>>,
    /// Whether it receives droppable events too.
    droppable: bool,
}

#[derive(Debug)]
struct Subscribers<T> {
    all: HashMap<u64, Entry<T>>,
    next_id: u64,
    droppable: usize,
    /// Whether the source ended.
    ended: bool,
}

#[derive(Debug)]
pub struct Broadcast<T> {
    subscribers: Mutex<Subscribers<T>>,
}

/// How many events wait in the queues.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueDepth {
    pub all: usize,
    /// In the longest queue.
    pub longest: usize,
}

impl QueueDepth {
    /// The depth of both together.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        Self { all: self.all + other.all, longest: self.longest.max(other.longest) }
    }
}

/// One subscriber; dropping it unsubscribes.
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

    /// Whether any subscriber receives droppable events; otherwise they need not be built.
    pub fn wants_droppable(&self) -> bool {
        self.subscribers().droppable > 0
    }
}

impl<T> Broadcast<T> {
    /// Subscribes with a queue of at most `queue_max` events. After the end of the source the
    /// subscriber receives the end at once.
    pub fn subscribe(self: &Arc<Self>, queue_max: usize, droppable: bool) -> Subscriber<T> {
        self.add(Queue::new(queue_max, None), droppable)
    }

    /// The same with a queue that grows within a memory budget. A subscriber for which there is no
    /// memory ends as too slow.
    pub fn subscribe_within(
        self: &Arc<Self>,
        memory: MemoryReservation,
        queue_max: usize,
        droppable: bool,
    ) -> Subscriber<T> {
        self.add(Queue::new(queue_max, Some(memory)), droppable)
    }

    fn add(self: &Arc<Self>, queue: Queue<T>, droppable: bool) -> Subscriber<T> {
        let queue = Arc::new(queue);
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

    /// Sends an event to all subscribers. A subscriber that was cut off stays until it has read its
    /// end.
    pub fn publish(&self, event: &Arc<T>, priority: Priority) {
        for entry in self.subscribers().all.values() {
            if entry.droppable || priority > Priority::Droppable {
                entry.queue.push(event, priority);
            }
        }
    }

    /// Whether a queue is more than half full of events that must be delivered.
    pub fn is_nearly_full(&self) -> bool {
        self.subscribers().all.values().any(|entry| entry.queue.is_nearly_full())
    }

    /// How many events wait, in all queues and in the longest.
    pub fn depth(&self) -> QueueDepth {
        let subscribers = self.subscribers();
        let waiting = subscribers.all.values().map(|entry| entry.queue.len());
        waiting.fold(QueueDepth::default(), |depth, one| {
            depth.merge(QueueDepth { all: one, longest: one })
        })
    }

    /// Ends the source; subscribers read what is queued and then the end.
    pub fn end(&self) {
        let mut subscribers = self.subscribers();
        subscribers.ended = true;
        for entry in subscribers.all.values() {
            entry.queue.end(EndReason::Closed);
        }
    }
}

impl<T> Subscriber<T> {
    pub fn poll_next(&self, context: &mut Context<'_>) -> Poll<Next<T>> {
        self.queue.poll_pop(context)
    }

    /// Ready when the source ended, even with events queued.
    pub fn poll_closed(&self, context: &mut Context<'_>) -> Poll<()> {
        self.queue.poll_closed(context)
    }

    /// Sends an event to this subscriber alone.
    pub fn send(&self, event: &Arc<T>, priority: Priority) {
        self.queue.push(event, priority);
    }
}

impl<T> Drop for Subscriber<T> {
    fn drop(&mut self) {
        let mut subscribers = self.broadcast.subscribers();
        if let Some(entry) = subscribers.all.remove(&self.id) {
            subscribers.droppable -= usize::from(entry.droppable);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    /// Publishes a number; negative ones are droppable.
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
    fn a_subscriber_gets_the_events_after_it_subscribed() {
        let broadcast = Arc::new(Broadcast::default());
        let closed_only = broadcast.subscribe(10, false);
        assert!(!broadcast.wants_droppable());
        [-1, 1].into_iter().for_each(|it| publish(&broadcast, it));
        let both = broadcast.subscribe(10, true);
        assert!(broadcast.wants_droppable());
        [-2, 2].into_iter().for_each(|it| publish(&broadcast, it));
        assert_eq!(broadcast.depth(), QueueDepth { all: 4, longest: 2 });
        assert_eq!(read(&closed_only), [1, 2]);
        assert_eq!(broadcast.depth(), QueueDepth { all: 2, longest: 2 });
        assert_eq!(read(&both), [-2, 2]);
        drop(both);
        assert!(!broadcast.wants_droppable() && broadcast.len() == 1);
        drop(closed_only);
        assert!(broadcast.is_empty());
    }

    #[test]
    fn queued_events_are_read_before_the_end() {
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
