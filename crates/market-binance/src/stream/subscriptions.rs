//! The subscription requests of one connection: queued, sent, answered. A refused request is split into
//! halves until the refused stream is known; that stream is requested again ever more rarely, so the
//! other streams of its request do not wait for it. Pure: `connection` sends the requests.

use std::collections::{BTreeMap, VecDeque};

use http_client::Backoff;
use serde_json::json;
use tokio::time::Instant;

/// How many streams one request names.
const BATCH_MAX: usize = 100;
/// After this many refusals without a confirmation the connection is at fault, not the streams.
const REFUSALS_MAX: usize = 2 * BATCH_MAX;

/// A change of the subscribed streams.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SubscriptionChange {
    Subscribe(Vec<String>),
    Unsubscribe(Vec<String>),
}

impl SubscriptionChange {
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
pub(crate) struct Subscriptions {
    /// Changes that were not sent yet.
    waiting: VecDeque<SubscriptionChange>,
    /// Halves of refused requests, sent when no other change waits.
    refused_batches: VecDeque<Vec<String>>,
    /// Requests without an answer, and when they were sent.
    unanswered: BTreeMap<u64, (Instant, SubscriptionChange)>,
    next_id: u64,
    /// Streams that were refused alone; `retry_at` is when they are requested again.
    refused: Vec<String>,
    retry_at: Option<Instant>,
    retry_waits: Backoff,
    /// The number of refusals.
    refusals: usize,
    /// Whether any stream was confirmed.
    confirmed: bool,
}

impl Subscriptions {
    pub(crate) fn new(streams: Vec<String>, retry_waits: Backoff) -> Self {
        Self {
            waiting: SubscriptionChange::Subscribe(streams).batches().into(),
            refused_batches: VecDeque::new(),
            unanswered: BTreeMap::new(),
            next_id: 1,
            refused: Vec::new(),
            retry_at: None,
            retry_waits,
            refusals: 0,
            confirmed: false,
        }
    }

    /// Adds a change; waiting changes of the same kind are sent as one request.
    pub(crate) fn enqueue(&mut self, change: SubscriptionChange) {
        if let SubscriptionChange::Unsubscribe(names) = &change {
            self.withdraw(names);
        }
        match (self.waiting.back_mut(), change) {
            (
                Some(SubscriptionChange::Subscribe(waiting)),
                SubscriptionChange::Subscribe(mut names),
            )
            | (
                Some(SubscriptionChange::Unsubscribe(waiting)),
                SubscriptionChange::Unsubscribe(mut names),
            ) if waiting.len() + names.len() <= BATCH_MAX => {
                waiting.append(&mut names);
            }
            (_, change) => self.waiting.extend(change.batches()),
        }
    }

    /// A stream that was unsubscribed must not be requested again.
    fn withdraw(&mut self, names: &[String]) {
        let unanswered = self.unanswered.values_mut().map(|(_, change)| change);
        let pending = self.waiting.iter_mut().chain(unanswered).filter_map(|change| match change {
            SubscriptionChange::Subscribe(names) => Some(names),
            SubscriptionChange::Unsubscribe(_) => None,
        });
        for pending in pending.chain(&mut self.refused_batches).chain([&mut self.refused]) {
            pending.retain(|name| !names.contains(name));
        }
        self.waiting.retain(|change| *change != SubscriptionChange::Subscribe(Vec::new()));
        self.refused_batches.retain(|names| !names.is_empty());
    }

    pub(crate) fn is_waiting(&self) -> bool {
        !(self.waiting.is_empty() && self.refused_batches.is_empty())
    }

    /// The text of the next request, which the caller sends now.
    pub(crate) fn next(&mut self, now: Instant) -> Option<String> {
        let refused_batches =
            || self.refused_batches.pop_front().map(SubscriptionChange::Subscribe);
        let change = self.waiting.pop_front().or_else(refused_batches)?;
        let id = self.next_id;
        self.next_id += 1;
        let text = change.text(id);
        self.unanswered.insert(id, (now, change));
        Some(text)
    }

    /// When the oldest request without an answer was sent.
    pub(crate) fn unanswered_since(&self) -> Option<Instant> {
        self.unanswered.first_key_value().map(|(_, (since, _))| *since)
    }

    /// Every request was confirmed or refused.
    pub(crate) fn is_settled(&self) -> bool {
        !self.is_waiting() && self.unanswered.is_empty()
    }

    /// Returns the streams that this answer confirms.
    pub(crate) fn confirmed(&mut self, id: u64) -> Vec<String> {
        let Some((_, SubscriptionChange::Subscribe(names))) = self.unanswered.remove(&id) else {
            return Vec::new();
        };
        self.confirmed = true;
        if self.refused.is_empty() && self.is_settled() {
            self.retry_waits.reset();
        }
        names
    }

    /// Records a refusal; returns the stream if the request named only one.
    pub(crate) fn refused(&mut self, id: Option<u64>, now: Instant) -> Option<String> {
        // The exchange does not always name the request; it answers in order.
        let id = id.or_else(|| self.unanswered.keys().next().copied())?;
        // A refused unsubscription needs no retry: frames of unknown series are ignored.
        let (_, SubscriptionChange::Subscribe(mut names)) = self.unanswered.remove(&id)? else {
            return None;
        };
        self.refusals += 1;
        if names.len() > 1 {
            let rest = names.split_off(names.len() / 2);
            self.refused_batches.extend([names, rest]);
            return None;
        }
        let name = names.pop()?;
        self.refused.push(name.clone());
        self.retry_at.get_or_insert_with(|| now + self.retry_waits.next());
        Some(name)
    }

    /// When to request refused streams again: only after every other stream was requested.
    pub(crate) fn retry_at(&self) -> Option<Instant> {
        self.retry_at.filter(|_| self.is_settled())
    }

    /// Requests the refused streams again in one request, because all of them may be accepted now.
    pub(crate) fn retry(&mut self) {
        self.retry_at = None;
        let refused = std::mem::take(&mut self.refused);
        self.refused_batches.extend(refused.chunks(BATCH_MAX).map(<[String]>::to_vec));
    }

    /// Every stream was refused alone, often enough to give up the connection.
    pub(crate) fn is_all_refused(&self) -> bool {
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

    fn requests(streams: impl IntoIterator<Item = usize>) -> Subscriptions {
        let names = streams.into_iter().map(|it| it.to_string()).collect();
        Subscriptions::new(names, Backoff::new(FIRST, LONGEST))
    }

    fn named(text: &str) -> (u64, Vec<usize>) {
        let request: Value = text.parse().unwrap();
        assert_eq!(request["method"], "SUBSCRIBE");
        let names = request["params"].as_array().unwrap().iter();
        let names = names.map(|it| it.as_str().unwrap().parse().unwrap()).collect();
        (request["id"].as_u64().unwrap(), names)
    }

    /// Sends requests to an exchange that refuses every request with one of these streams. Returns the
    /// confirmed streams, the refused ones and the number of requests.
    fn settle(
        requests: &mut Subscriptions,
        refuses: impl Fn(usize) -> bool,
        now: Instant,
    ) -> (BTreeSet<usize>, BTreeSet<usize>, usize) {
        let (mut confirmed, mut refused, mut count) = (BTreeSet::new(), BTreeSet::new(), 0);
        while !requests.is_all_refused()
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

    /// Of `streams` streams these are refused and all others confirmed within `most` requests.
    #[track_caller]
    fn check(streams: usize, refused: &[usize], most: usize) {
        let expected = BTreeSet::from_iter(refused.iter().copied());
        let mut requests = requests(0..streams);
        let found = settle(&mut requests, |it| expected.contains(&it), Instant::now());
        let others: BTreeSet<usize> = (0..streams).filter(|it| !expected.contains(it)).collect();
        assert_eq!((&found.0, &found.1), (&others, &expected));
        assert!(found.2 <= most, "{streams}, {refused:?}: {} requests", found.2);
        assert!(!requests.is_all_refused());
    }

    #[test]
    fn the_refused_stream_is_found_among_the_others() {
        check(0, &[], 0);
        check(250, &[], 3);
        check(1, &[0], 1);
        check(2, &[0], 3);
        check(3, &[0, 1, 2], 5);
        check(100, &[17], 15);
        check(1_000, &[170], 24);
        check(100, &(0..100).step_by(2).collect::<Vec<_>>(), 199);
        // One accepted stream among many refused ones is found.
        check(1_000, &(0..999).collect::<Vec<_>>(), 1_990);
    }

    #[test]
    fn a_refused_stream_is_requested_after_all_others_and_new_ones() {
        let (now, mut requests) = (Instant::now(), requests([0, 1]));
        for expected in [vec![0, 1], vec![0]] {
            let (id, names) = named(&requests.next(now).unwrap());
            assert_eq!((names, requests.retry_at()), (expected, None));
            requests.refused(Some(id), now);
        }
        assert_eq!((requests.refused.len(), requests.retry_at()), (1, None));
        requests.enqueue(SubscriptionChange::Subscribe(vec!["2".to_owned()]));
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
    fn refused_streams_are_requested_together_and_ever_more_rarely() {
        let (mut now, mut requests) = (Instant::now(), requests(0..10));
        for bound in [100, 200, 400, 800, 1_000, 1_000] {
            let (_, refused, _) = settle(&mut requests, |it| it < 2, now);
            assert_eq!(refused, BTreeSet::from([0, 1]));
            let at = requests.retry_at().unwrap();
            let wait = (at - now).as_millis();
            assert!((bound / 2..=bound).contains(&wait), "{wait} of {bound}");
            now = at;
            requests.retry();
            assert_eq!((requests.retry_at(), requests.refused_batches.len()), (None, 1));
        }
        // After a confirmation the waits start again.
        assert_eq!(settle(&mut requests, |_| false, now).0, BTreeSet::from([0, 1]));
        requests.enqueue(SubscriptionChange::Subscribe(vec!["11".to_owned()]));
        settle(&mut requests, |_| true, now);
        assert!(requests.retry_at().unwrap() - now <= FIRST);
    }

    #[test]
    fn when_everything_is_refused_the_connection_is_given_up() {
        let (now, mut requests) = (Instant::now(), requests(0..10));
        let mut refusals = settle(&mut requests, |_| true, now).2;
        while !requests.is_all_refused() {
            requests.retry();
            refusals += settle(&mut requests, |_| true, now).2;
            assert!(refusals < 1_000);
        }
        assert!(refusals >= REFUSALS_MAX);
    }

    #[test]
    fn an_unsubscribed_stream_is_not_requested_again() {
        let now = Instant::now();
        let withdraw = |requests: &mut Subscriptions, name: &str| {
            requests.enqueue(SubscriptionChange::Unsubscribe(vec![name.to_owned()]));
            let text = requests.next(now).unwrap();
            assert!(text.contains("UNSUBSCRIBE") && text.contains(name), "{text}");
            assert!(requests.confirmed(requests.next_id - 1).is_empty());
        };
        // Unsubscribed before the refusal.
        let mut early = requests([7, 8]);
        let (id, _) = named(&early.next(now).unwrap());
        withdraw(&mut early, "7");
        assert_eq!(early.refused(Some(id), now), Some("8".to_owned()));
        // After the refusal.
        withdraw(&mut early, "8");
        early.retry();
        assert!(!early.is_waiting());
        // Before the confirmation.
        let mut late = requests([7, 8]);
        let (id, _) = named(&late.next(now).unwrap());
        withdraw(&mut late, "7");
        assert_eq!(late.confirmed(id), ["8"]);
        // Before the request, alone and with another stream.
        let mut soon = requests([7]);
        withdraw(&mut soon, "7");
        assert!(soon.is_settled());
        let mut soon = requests([7, 8]);
        soon.enqueue(SubscriptionChange::Unsubscribe(vec!["7".to_owned()]));
        assert_eq!(named(&soon.next(now).unwrap()).1, [8]);
        // Between the refusal of a batch and that of one stream.
        let mut split = requests([7, 8, 9]);
        let (id, _) = named(&split.next(now).unwrap());
        assert_eq!(split.refused(Some(id), now), None);
        withdraw(&mut split, "7");
        withdraw(&mut split, "9");
        assert_eq!(named(&split.next(now).unwrap()).1, [8]);
        assert!(!split.is_waiting());
    }

    #[test]
    fn a_refusal_without_an_id_belongs_to_the_oldest_request() {
        let (now, mut requests) = (Instant::now(), requests(0..200));
        let ids: Vec<u64> = (0..2).map(|_| named(&requests.next(now).unwrap()).0).collect();
        assert_eq!(requests.refused(None, now), None);
        assert_eq!(requests.refused_batches.len(), 2);
        assert_eq!(requests.confirmed(ids[0]), [""; 0]);
        assert_eq!(requests.confirmed(ids[1]).len(), 100);
        // An answer to an unknown request changes nothing.
        assert_eq!((requests.refused(Some(99), now), requests.refused(None, now)), (None, None));
        assert_eq!((requests.refused_batches.len(), requests.refusals), (2, 1));
    }
}
