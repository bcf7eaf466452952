//! What a connection asks of the exchange: requests wait for their turn, and then for their answer.
//! One that is refused is made again in halves until it is known which stream was meant, and that
//! stream is asked for again ever more rarely, so that its neighbours keep theirs and nobody else
//! waits for it.
//!
//! Pure: it is told the time and the answers. Sending is for `connection`.

use std::collections::{BTreeMap, VecDeque};

use http_client::Backoff;
use serde_json::json;
use tokio::time::Instant;

/// How many streams one request names.
const BATCH_MAX: usize = 100;
/// Where nothing was ever confirmed, after so many refusals it is not the streams that are refused.
const REFUSALS_MAX: usize = 2 * BATCH_MAX;

/// What a connection is asked to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Subscribe(Vec<String>),
    Unsubscribe(Vec<String>),
}

impl Order {
    fn batches(self) -> Vec<Self> {
        let (make, names): (fn(Vec<String>) -> Self, _) = match self {
            Self::Subscribe(names) => (Self::Subscribe, names),
            Self::Unsubscribe(names) => (Self::Unsubscribe, names),
        };
        names.chunks(BATCH_MAX).map(|names| make(names.to_vec())).collect()
    }

    fn text(&self, id: u64) -> String {
        let (method, names) = match self {
            Self::Subscribe(names) => ("SUBSCRIBE", names),
            Self::Unsubscribe(names) => ("UNSUBSCRIBE", names),
        };
        json!({"method": method, "params": names, "id": id}).to_string()
    }
}

#[derive(Debug)]
pub(crate) struct Requests {
    /// Those that wait for their turn.
    waiting: VecDeque<Order>,
    /// Streams that were refused together, to be asked for when nothing else waits.
    suspects: VecDeque<Vec<String>>,
    /// Those that were not answered yet, and since when.
    unanswered: BTreeMap<u64, (Instant, Order)>,
    next_id: u64,
    /// Streams that were refused by themselves, and when they are asked for again.
    refused: Vec<String>,
    retry_at: Option<Instant>,
    retry_waits: Backoff,
    /// How often something was refused.
    refusals: usize,
    /// Whether any stream was confirmed.
    confirmed: bool,
}

impl Requests {
    pub(crate) fn new(streams: Vec<String>, retry_waits: Backoff) -> Self {
        Self {
            waiting: Order::Subscribe(streams).batches().into(),
            suspects: VecDeque::new(),
            unanswered: BTreeMap::new(),
            next_id: 1,
            refused: Vec::new(),
            retry_at: None,
            retry_waits,
            refusals: 0,
            confirmed: false,
        }
    }

    /// Orders that come one by one while others wait are sent as one.
    pub(crate) fn enqueue(&mut self, order: Order) {
        if let Order::Unsubscribe(names) = &order {
            self.give_up(names);
        }
        match (self.waiting.back_mut(), order) {
            (Some(Order::Subscribe(waiting)), Order::Subscribe(mut names))
            | (Some(Order::Unsubscribe(waiting)), Order::Unsubscribe(mut names))
                if waiting.len() + names.len() <= BATCH_MAX =>
            {
                waiting.append(&mut names);
            }
            (_, order) => self.waiting.extend(order.batches()),
        }
    }

    /// What is not wanted any more must not be asked for after it was given up.
    fn give_up(&mut self, names: &[String]) {
        let unanswered = self.unanswered.values_mut().map(|(_, order)| order);
        let asked = self.waiting.iter_mut().chain(unanswered).filter_map(|order| match order {
            Order::Subscribe(names) => Some(names),
            Order::Unsubscribe(_) => None,
        });
        for asked in asked.chain(&mut self.suspects).chain([&mut self.refused]) {
            asked.retain(|name| !names.contains(name));
        }
        self.waiting.retain(|order| *order != Order::Subscribe(Vec::new()));
        self.suspects.retain(|names| !names.is_empty());
    }

    pub(crate) fn is_waiting(&self) -> bool {
        !(self.waiting.is_empty() && self.suspects.is_empty())
    }

    /// The text of the next request, which is sent now.
    pub(crate) fn next(&mut self, now: Instant) -> Option<String> {
        let suspects = || self.suspects.pop_front().map(Order::Subscribe);
        let order = self.waiting.pop_front().or_else(suspects)?;
        let id = self.next_id;
        self.next_id += 1;
        let text = order.text(id);
        self.unanswered.insert(id, (now, order));
        Some(text)
    }

    /// Since when an answer is waited for.
    pub(crate) fn unanswered_since(&self) -> Option<Instant> {
        self.unanswered.first_key_value().map(|(_, (since, _))| *since)
    }

    /// Every request was answered, in whichever way.
    pub(crate) fn is_settled(&self) -> bool {
        !self.is_waiting() && self.unanswered.is_empty()
    }

    /// The streams that are confirmed by this.
    pub(crate) fn confirmed(&mut self, id: u64) -> Vec<String> {
        let Some((_, Order::Subscribe(names))) = self.unanswered.remove(&id) else {
            return Vec::new();
        };
        self.confirmed = true;
        if self.refused.is_empty() && self.is_settled() {
            self.retry_waits.reset();
        }
        names
    }

    /// Notes a refusal; the stream, where one alone was meant.
    pub(crate) fn refused(&mut self, id: Option<u64>, now: Instant) -> Option<String> {
        // The exchange does not always say which request it means; it answers in order.
        let id = id.or_else(|| self.unanswered.keys().next().copied())?;
        // A stream that cannot be given up is not listened to, which does as well.
        let (_, Order::Subscribe(mut names)) = self.unanswered.remove(&id)? else { return None };
        self.refusals += 1;
        if names.len() > 1 {
            let rest = names.split_off(names.len() / 2);
            self.suspects.extend([names, rest]);
            return None;
        }
        let name = names.pop()?;
        self.refused.push(name.clone());
        self.retry_at.get_or_insert_with(|| now + self.retry_waits.next());
        Some(name)
    }

    /// When to ask again for what was refused: not before everything was asked for once, however
    /// long it takes.
    pub(crate) fn retry_at(&self) -> Option<Instant> {
        self.retry_at.filter(|_| self.is_settled())
    }

    /// Asks again for what was refused: together, for it may all be over.
    pub(crate) fn retry(&mut self) {
        self.retry_at = None;
        let refused = std::mem::take(&mut self.refused);
        self.suspects.extend(refused.chunks(BATCH_MAX).map(<[String]>::to_vec));
    }

    /// So much was refused, and every stream by itself, that nobody would miss the connection.
    pub(crate) fn is_hopeless(&self) -> bool {
        !self.confirmed && self.refusals >= REFUSALS_MAX && self.is_settled()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use serde_json::Value;

    use super::*;

    const FIRST: Duration = Duration::from_millis(100);
    const LONGEST: Duration = Duration::from_secs(1);

    fn requests(streams: impl IntoIterator<Item = usize>) -> Requests {
        let names = streams.into_iter().map(|it| it.to_string()).collect();
        Requests::new(names, Backoff::new(FIRST, LONGEST))
    }

    fn named(text: &str) -> (u64, Vec<usize>) {
        let request: Value = text.parse().unwrap();
        assert_eq!(request["method"], "SUBSCRIBE");
        let names = request["params"].as_array().unwrap().iter();
        let names = names.map(|it| it.as_str().unwrap().parse().unwrap()).collect();
        (request["id"].as_u64().unwrap(), names)
    }

    /// Asks until all is answered by an exchange that refuses what names any of these, or until it
    /// is hopeless; what was confirmed, what was refused, and how many requests it took.
    fn settle(
        requests: &mut Requests,
        refuses: impl Fn(usize) -> bool,
        now: Instant,
    ) -> (BTreeSet<usize>, BTreeSet<usize>, usize) {
        let (mut confirmed, mut refused, mut count) = (BTreeSet::new(), BTreeSet::new(), 0);
        while !requests.is_hopeless()
            && let Some(text) = requests.next(now)
        {
            count += 1;
            let (id, names) = named(&text);
            if names.iter().any(|it| refuses(*it)) {
                refused
                    .extend(requests.refused(Some(id), now).map(|it| it.parse::<usize>().unwrap()));
            } else {
                let names = requests.confirmed(id);
                confirmed.extend(names.iter().map(|it| it.parse::<usize>().unwrap()));
            }
        }
        assert!(requests.is_settled());
        (confirmed, refused, count)
    }

    /// Of so many streams these are refused, and all others confirmed within so many requests.
    #[track_caller]
    fn check(streams: usize, refused: &[usize], most: usize) {
        let expected = BTreeSet::from_iter(refused.iter().copied());
        let mut requests = requests(0..streams);
        let found = settle(&mut requests, |it| expected.contains(&it), Instant::now());
        let others: BTreeSet<usize> = (0..streams).filter(|it| !expected.contains(it)).collect();
        assert_eq!((&found.0, &found.1), (&others, &expected));
        assert!(found.2 <= most, "{streams}, {refused:?}: {} requests", found.2);
        assert!(!requests.is_hopeless());
    }

    #[test]
    fn what_is_refused_is_found_among_the_others() {
        check(0, &[], 0);
        check(250, &[], 3);
        check(1, &[0], 1);
        check(2, &[0], 3);
        check(3, &[0, 1, 2], 5);
        check(100, &[17], 15);
        check(1_000, &[170], 24);
        check(100, &(0..100).step_by(2).collect::<Vec<_>>(), 199);
        // One good stream among many is found, too.
        check(1_000, &(0..999).collect::<Vec<_>>(), 1_990);
    }

    #[test]
    fn what_is_refused_is_asked_for_again_when_all_others_were_and_behind_what_is_new() {
        let (now, mut requests) = (Instant::now(), requests([0, 1]));
        for expected in [vec![0, 1], vec![0]] {
            let (id, names) = named(&requests.next(now).unwrap());
            assert_eq!((names, requests.retry_at()), (expected, None));
            requests.refused(Some(id), now);
        }
        assert_eq!((requests.refused.len(), requests.retry_at()), (1, None));
        requests.enqueue(Order::Subscribe(vec!["2".to_owned()]));
        for expected in [2, 1] {
            let (id, names) = named(&requests.next(now).unwrap());
            assert_eq!(
                (names, requests.confirmed(id)),
                (vec![expected], vec![expected.to_string()])
            );
        }
        assert!(requests.retry_at().is_some());
    }

    #[test]
    fn what_is_refused_is_asked_for_again_together_and_ever_more_rarely() {
        let (mut now, mut requests) = (Instant::now(), requests(0..10));
        for bound in [100, 200, 400, 800, 1_000, 1_000] {
            let (_, refused, _) = settle(&mut requests, |it| it < 2, now);
            assert_eq!(refused, BTreeSet::from([0, 1]));
            let at = requests.retry_at().unwrap();
            let wait = (at - now).as_millis();
            assert!((bound / 2..=bound).contains(&wait), "{wait} of {bound}");
            now = at;
            requests.retry();
            assert_eq!((requests.retry_at(), requests.suspects.len()), (None, 1));
        }
        // Once it is not refused any more, the next refusal is a new one.
        assert_eq!(settle(&mut requests, |_| false, now).0, BTreeSet::from([0, 1]));
        requests.enqueue(Order::Subscribe(vec!["11".to_owned()]));
        settle(&mut requests, |_| true, now);
        assert!(requests.retry_at().unwrap() - now <= FIRST);
    }

    #[test]
    fn where_everything_is_refused_the_connection_is_hopeless() {
        let (now, mut requests) = (Instant::now(), requests(0..10));
        let mut refusals = settle(&mut requests, |_| true, now).2;
        while !requests.is_hopeless() {
            requests.retry();
            refusals += settle(&mut requests, |_| true, now).2;
            assert!(refusals < 1_000);
        }
        assert!(refusals >= REFUSALS_MAX);
    }

    #[test]
    fn what_is_given_up_is_not_asked_for_again() {
        let now = Instant::now();
        let give_up = |requests: &mut Requests, name: &str| {
            requests.enqueue(Order::Unsubscribe(vec![name.to_owned()]));
            let text = requests.next(now).unwrap();
            assert!(text.contains("UNSUBSCRIBE") && text.contains(name), "{text}");
            assert!(requests.confirmed(requests.next_id - 1).is_empty());
        };
        // Before the refusal.
        let mut early = requests([7, 8]);
        let (id, _) = named(&early.next(now).unwrap());
        give_up(&mut early, "7");
        assert_eq!(early.refused(Some(id), now), Some("8".to_owned()));
        // After it.
        give_up(&mut early, "8");
        early.retry();
        assert!(!early.is_waiting());
        // Before it was confirmed.
        let mut late = requests([7, 8]);
        let (id, _) = named(&late.next(now).unwrap());
        give_up(&mut late, "7");
        assert_eq!(late.confirmed(id), ["8"]);
        // Before it was asked for, alone and with another.
        let mut soon = requests([7]);
        give_up(&mut soon, "7");
        assert!(soon.is_settled());
        let mut soon = requests([7, 8]);
        soon.enqueue(Order::Unsubscribe(vec!["7".to_owned()]));
        assert_eq!(named(&soon.next(now).unwrap()).1, [8]);
        // Between the refusal of several and that of one.
        let mut split = requests([7, 8, 9]);
        let (id, _) = named(&split.next(now).unwrap());
        assert_eq!(split.refused(Some(id), now), None);
        give_up(&mut split, "7");
        give_up(&mut split, "9");
        assert_eq!(named(&split.next(now).unwrap()).1, [8]);
        assert!(!split.is_waiting());
    }

    #[test]
    fn a_refusal_that_does_not_say_of_what_is_of_the_oldest() {
        let (now, mut requests) = (Instant::now(), requests(0..200));
        let ids: Vec<u64> = (0..2).map(|_| named(&requests.next(now).unwrap()).0).collect();
        assert_eq!(requests.refused(None, now), None);
        assert_eq!(requests.suspects.len(), 2);
        assert_eq!(requests.confirmed(ids[0]), [""; 0]);
        assert_eq!(requests.confirmed(ids[1]).len(), 100);
        // What was never asked changes nothing.
        assert_eq!((requests.refused(Some(99), now), requests.refused(None, now)), (None, None));
        assert_eq!((requests.suspects.len(), requests.refusals), (2, 1));
    }
}
