//! New jobs, and the limits of what they hold.

use std::time::Duration;

use fault::Fault;
use serde::Serialize;

use crate::job::Job;

pub(crate) const KIND_MAX: usize = 64;
/// The most bytes of a key, an owner or a worker's name.
pub(crate) const NAME_MAX: usize = 256;
/// The most bytes of a payload or a result; larger data belongs into a table or a blob.
pub(crate) const JSON_MAX: usize = 64 * 1024;
pub(crate) const NOTE_MAX: usize = 512;
pub(crate) const ERROR_MAX: usize = 2048;
const ATTEMPTS_MAX: u32 = 100;
pub(crate) const DELAY_MAX: Duration = Duration::from_secs(366 * 86_400);

/// A job that is to be pushed.
#[derive(Debug, Clone)]
pub struct NewJob {
    pub(crate) kind: String,
    pub(crate) payload: String,
    pub(crate) key: Option<String>,
    pub(crate) owner: Option<String>,
    pub(crate) priority: i32,
    pub(crate) max_attempts: u32,
    pub(crate) delay: Duration,
}

/// The result of a push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pushed {
    /// The new job, or the unfinished one with the same key.
    pub job: Job,
    /// False where an unfinished job with the same kind and key exists; `job` is that one.
    pub is_new: bool,
}

impl NewJob {
    /// `kind` is 1 to 64 of `a-z 0-9 _ . -`; the payload is at most 64 KiB of JSON.
    pub fn new(kind: impl Into<String>, payload: &impl Serialize) -> Result<Self, Fault> {
        let kind = kind.into();
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_.-".contains(&b);
        if !(1..=KIND_MAX).contains(&kind.len()) || !kind.bytes().all(plain) {
            return Err(Fault::invalid("invalid_job", "the kind of a job is a short plain word"));
        }
        Ok(Self {
            kind,
            payload: to_json(payload, "payload")?,
            key: None,
            owner: None,
            priority: 0,
            max_attempts: 5,
            delay: Duration::ZERO,
        })
    }

    /// While a job of this kind and key is queued or running, no other is made.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// The subject on whose behalf the job runs.
    #[must_use]
    pub fn owner(mut self, owner: impl Into<String>) -> Self {
        self.owner = Some(owner.into());
        self
    }

    /// Jobs of a higher priority start first; the default is 0.
    #[must_use]
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// Between 1 and 100; the default is 5.
    #[must_use]
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = attempts.clamp(1, ATTEMPTS_MAX);
        self
    }

    /// The job starts after this delay; at most a year.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay.min(DELAY_MAX);
        self
    }

    pub(crate) fn check(&self) -> Result<(), Fault> {
        for (name, value) in [("key", &self.key), ("owner", &self.owner)] {
            let good = |it: &String| (1..=NAME_MAX).contains(&it.len()) && !it.contains('\0');
            if !value.as_ref().is_none_or(good) {
                let message = format!("the {name} of a job is 1 to {NAME_MAX} bytes of text");
                return Err(Fault::invalid("invalid_job", message).problem(name, "a shorter name"));
            }
        }
        Ok(())
    }
}

/// The value as JSON of at most [`JSON_MAX`] bytes.
pub(crate) fn to_json(value: &impl Serialize, what: &str) -> Result<String, Fault> {
    let text = serde_json::to_string(value).map_err(Fault::internal)?;
    if text.len() <= JSON_MAX {
        return Ok(text);
    }
    let message = format!("a job's {what} is at most {JSON_MAX} bytes of JSON");
    Err(Fault::invalid("job_too_large", message))
}

/// Text of at most `most` bytes, cut between characters, without NUL, which PostgreSQL refuses.
pub(crate) fn clipped(text: &str, most: usize) -> String {
    text[..text.floor_char_boundary(most)].replace('\0', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(job: Result<NewJob, Fault>, code: Option<&str>) {
        let refused = job.and_then(|job| job.check()).err();
        assert_eq!(refused.as_ref().map(Fault::code), code);
    }

    #[test]
    fn jobs_that_are_too_large_or_misnamed_are_refused() {
        let job = |kind: &str| NewJob::new(kind, &());
        check(job("collect"), None);
        check(job("archive.process-file_2"), None);
        check(job(""), Some("invalid_job"));
        check(job("Collect it"), Some("invalid_job"));
        check(job(&"a".repeat(65)), Some("invalid_job"));
        check(NewJob::new("a", &"x".repeat(JSON_MAX - 2)), None);
        check(NewJob::new("a", &"x".repeat(JSON_MAX - 1)), Some("job_too_large"));
        check(job("a").map(|job| job.key("k".repeat(256)).owner("o")), None);
        check(job("a").map(|job| job.key("k".repeat(257))), Some("invalid_job"));
        check(job("a").map(|job| job.owner("a\0b")), Some("invalid_job"));
        check(job("a").map(|job| job.key("")), Some("invalid_job"));
        assert_eq!(job("a").unwrap().max_attempts(0).max_attempts, 1);
    }

    #[test]
    fn clipping_keeps_characters_whole() {
        assert_eq!(clipped("стоа", 5), "ст");
        assert_eq!(clipped("a\0b", 9), "a b");
    }
}
