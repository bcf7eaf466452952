//! Everybody who reads one stream.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::Priority;
use crate::queue::{End, Next, Queue};

#[derive(Debug)]
struct Reader<T> {
    queue: Arc<Queue<T>>,
    /// Whether it also takes what the next event outdates.
    fleeting: bool,
}

#[derive(Debug)]
struct Readers<T> {
    all: HashMap<u64, Reader<T>>,
    next_id: u64,
    fleeting: usize,
    /// Nothing more will come.
    ended: bool,
}

#[derive(Debug)]
pub struct Broadcast<T> {
    readers: Mutex<Readers<T>>,
}

/// How much waits to be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Depth {
    pub all: usize,
    /// For the one that most waits for.
    pub longest: usize,
}

impl Depth {
    /// The same of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { all: self.all + other.all, longest: self.longest.max(other.longest) }
    }
}

/// A reader's place; given up when it is dropped.
#[derive(Debug)]
pub struct Subscriber<T> {
    fan: Arc<Broadcast<T>>,
    id: u64,
    queue: Arc<Queue<T>>,
}

impl<T> Default for Broadcast<T> {
    fn default() -> Self {
        let readers = Readers { all: HashMap::new(), next_id: 0, fleeting: 0, ended: false };
        Self { readers: Mutex::new(readers) }
    }
}

impl<T> Broadcast<T> {
    fn readers(&self) -> MutexGuard<'_, Readers<T>> {
        self.readers.lock()
    }

    pub fn len(&self) -> usize {
        self.readers().all.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether anybody takes fleeting events; if not, they need not be built.
    pub fn wants_fleeting(&self) -> bool {
        self.readers().fleeting > 0
    }
}

impl<T> Broadcast<T> {
    /// A place with a queue of at most `queue_max` events. Who comes after the end is told of it.
    pub fn join(self: &Arc<Self>, queue_max: usize, fleeting: bool) -> Subscriber<T> {
        let queue = Arc::new(Queue::new(queue_max));
        let mut readers = self.readers();
        let id = readers.next_id;
        readers.next_id += 1;
        readers.fleeting += usize::from(fleeting);
        if readers.ended {
            queue.end(End::Closed);
        }
        readers.all.insert(id, Reader { queue: Arc::clone(&queue), fleeting });
        drop(readers);
        Subscriber { fan: Arc::clone(self), id, queue }
    }

    /// Hands an event to everybody. Those that were cut off keep their seat until they have read
    /// how it ended.
    pub fn publish(&self, event: &Arc<T>, worth: Priority) {
        for reader in self.readers().all.values() {
            if reader.fleeting || worth > Priority::Droppable {
                reader.queue.push(event, worth);
            }
        }
    }

    /// Whether some reader has hardly room for more of what is never left out.
    pub fn is_crowded(&self) -> bool {
        self.readers().all.values().any(|reader| reader.queue.is_crowded())
    }

    /// What waits for its readers, all together and at most for one.
    pub fn depth(&self) -> Depth {
        let readers = self.readers();
        let waiting = readers.all.values().map(|reader| reader.queue.len());
        waiting.fold(Depth::default(), |depth, one| depth.and(Depth { all: one, longest: one }))
    }

    /// Nothing more will come.
    pub fn end(&self) {
        let mut readers = self.readers();
        readers.ended = true;
        for reader in readers.all.values() {
            reader.queue.end(End::Closed);
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
    pub fn tell(&self, event: &Arc<T>, worth: Priority) {
        self.queue.push(event, worth);
    }
}

impl<T> Drop for Subscriber<T> {
    fn drop(&mut self) {
        let mut readers = self.fan.readers();
        if let Some(reader) = readers.all.remove(&self.id) {
            readers.fleeting -= usize::from(reader.fleeting);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    /// Negative numbers are fleeting.
    fn publish(fan: &Broadcast<i32>, number: i32) {
        let worth = if number < 0 { Priority::Droppable } else { Priority::MustDeliver };
        fan.publish(&Arc::new(number), worth);
    }

    fn read(seat: &Subscriber<i32>) -> Vec<i32> {
        let mut context = Context::from_waker(Waker::noop());
        let mut all = Vec::new();
        while let Poll::Ready(Next::Event(event)) = seat.poll_next(&mut context) {
            all.push(*event);
        }
        all
    }

    #[test]
    fn each_reader_gets_what_it_asked_for_from_when_it_came() {
        let fan = Arc::new(Broadcast::default());
        let lasting = fan.join(10, false);
        assert!(!fan.wants_fleeting());
        [-1, 1].into_iter().for_each(|it| publish(&fan, it));
        let both = fan.join(10, true);
        assert!(fan.wants_fleeting());
        [-2, 2].into_iter().for_each(|it| publish(&fan, it));
        assert_eq!(fan.depth(), Depth { all: 4, longest: 2 });
        assert_eq!(read(&lasting), [1, 2]);
        assert_eq!(fan.depth(), Depth { all: 2, longest: 2 });
        assert_eq!(read(&both), [-2, 2]);
        drop(both);
        assert!(!fan.wants_fleeting() && fan.len() == 1);
        drop(lasting);
        assert!(fan.is_empty());
    }

    #[test]
    fn readers_are_told_of_the_end_after_what_was_waiting() {
        let fan = Arc::new(Broadcast::default());
        let seat = fan.join(10, false);
        publish(&fan, 1);
        fan.end();
        let mut context = Context::from_waker(Waker::noop());
        assert!(seat.poll_closed(&mut context).is_ready());
        assert_eq!(read(&seat), [1]);
        assert!(matches!(seat.poll_next(&mut context), Poll::Ready(Next::Ended(End::Closed))));
        let late = fan.join(10, false);
        assert!(matches!(late.poll_next(&mut context), Poll::Ready(Next::Ended(End::Closed))));
    }
}
