//! Remembers the progress of named uploads, in memory only: an upload ends with its process.

use std::collections::{HashMap, VecDeque};

use contract::Upload;
use parking_lot::Mutex;

/// Uploads that are remembered; the oldest is forgotten first.
const TRACKED_MAX: usize = 10_000;

/// An owner and the name the owner gave to the upload.
type UploadKey = (String, String);

#[derive(Default)]
pub(crate) struct UploadTracker(Mutex<TrackedUploads>);

#[derive(Default)]
struct TrackedUploads {
    by_key: HashMap<UploadKey, UploadProgress>,
    /// Keys with the serial number of their upload, oldest first. An upload that was forgotten or
    /// replaced leaves its pair here until the pair reaches the front.
    order: VecDeque<(UploadKey, u64)>,
    last_serial: u64,
}

#[derive(Clone)]
pub(crate) struct UploadProgress {
    pub(crate) received: u64,
    pub(crate) total: Option<u64>,
    /// The ids of the stored files, once they are stored.
    pub(crate) files: Option<Vec<String>>,
    /// Tells two uploads of the same name apart.
    serial: u64,
}

/// One upload under way. Dropping it before [`Self::done`] forgets the upload.
pub(crate) struct TrackedUpload<'a> {
    tracker: &'a UploadTracker,
    key: UploadKey,
    serial: u64,
}

impl UploadTracker {
    /// Starts tracking, if the upload has a name. A later upload of the same name replaces it.
    pub(crate) fn track(&self, owner: &str, upload: &Upload) -> Option<TrackedUpload<'_>> {
        Some(self.insert((owner.to_owned(), upload.id()?.to_owned()), upload.announced_bytes()))
    }

    fn insert(&self, key: UploadKey, total: Option<u64>) -> TrackedUpload<'_> {
        let mut uploads = self.0.lock();
        uploads.last_serial += 1;
        let serial = uploads.last_serial;
        let progress = UploadProgress { received: 0, total, files: None, serial };
        uploads.by_key.insert(key.clone(), progress);
        uploads.order.push_back((key.clone(), serial));
        uploads.forget_oldest();
        TrackedUpload { tracker: self, key, serial }
    }

    pub(crate) fn find(&self, owner: &str, id: &str) -> Option<UploadProgress> {
        self.0.lock().by_key.get(&(owner.to_owned(), id.to_owned())).cloned()
    }
}

impl TrackedUploads {
    /// Each pair is pushed once and popped once, so the cost of an upload is constant on average.
    fn forget_oldest(&mut self) {
        while (self.by_key.len() > TRACKED_MAX || self.order.len() > 2 * TRACKED_MAX)
            && let Some((key, serial)) = self.order.pop_front()
        {
            self.remove(&key, serial);
        }
    }

    fn remove(&mut self, key: &UploadKey, serial: u64) {
        if self.by_key.get(key).is_some_and(|it| it.serial == serial) {
            self.by_key.remove(key);
        }
    }
}

impl TrackedUpload<'_> {
    fn change(&self, change: impl FnOnce(&mut UploadProgress)) {
        let mut uploads = self.tracker.0.lock();
        if let Some(mine) = uploads.by_key.get_mut(&self.key).filter(|it| it.serial == self.serial)
        {
            change(mine);
        }
    }

    pub(crate) fn received(&self, bytes: u64) {
        self.change(|it| it.received = bytes);
    }

    pub(crate) fn done(&self, files: Vec<String>) {
        self.change(|it| it.files = Some(files));
    }
}

impl Drop for TrackedUpload<'_> {
    fn drop(&mut self) {
        let mut uploads = self.tracker.0.lock();
        if uploads.by_key.get(&self.key).is_some_and(|it| it.files.is_none()) {
            uploads.remove(&self.key, self.serial);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(owner: &str, id: &str) -> UploadKey {
        (owner.to_owned(), id.to_owned())
    }

    #[test]
    fn an_upload_is_remembered_once_it_is_done_and_forgotten_when_it_failed() {
        let tracker = UploadTracker::default();
        let done = tracker.insert(key("ann", "a"), Some(10));
        let failed = tracker.insert(key("ann", "b"), None);
        done.received(4);
        assert_eq!(tracker.find("ann", "a").map(|it| (it.received, it.total)), Some((4, Some(10))));
        assert!(tracker.find("bob", "a").is_none());
        done.done(vec!["file".to_owned()]);
        drop((done, failed));
        assert!(tracker.find("ann", "a").is_some_and(|it| it.files.is_some()));
        assert!(tracker.find("ann", "b").is_none());
    }

    #[test]
    fn a_later_upload_of_the_same_name_replaces_the_earlier_one() {
        let tracker = UploadTracker::default();
        let earlier = tracker.insert(key("ann", "a"), Some(1));
        let later = tracker.insert(key("ann", "a"), Some(2));
        earlier.received(9);
        drop(earlier);
        assert_eq!(tracker.find("ann", "a").map(|it| (it.received, it.total)), Some((0, Some(2))));
        drop(later);
        assert!(tracker.find("ann", "a").is_none());
    }

    #[test]
    fn the_oldest_upload_is_forgotten_at_the_limit() {
        let tracker = UploadTracker::default();
        for number in 0..=TRACKED_MAX {
            tracker.insert(key("ann", &number.to_string()), None).done(Vec::new());
        }
        assert!(tracker.find("ann", "0").is_none());
        assert!(tracker.find("ann", "1").is_some());
        let uploads = tracker.0.lock();
        assert_eq!((uploads.by_key.len(), uploads.order.len()), (TRACKED_MAX, TRACKED_MAX));
    }
}
