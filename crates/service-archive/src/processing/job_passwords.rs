//! Passwords of documents whose processing waits or runs, by the id of the job.
//!
//! A password is kept in the memory of this process and nowhere else: the payload of the job, which
//! the database keeps, says only that there is one. The password is dropped when the job ends.
//! After a restart the password is gone, and the job fails with `password_lost`, which asks for it
//! again.

use std::collections::{HashMap, VecDeque};

use archive_extract::Password;
use parking_lot::Mutex;

/// At most this many passwords are kept; one more drops the oldest.
const PASSWORDS_MAX: usize = 1_000;

#[derive(Default)]
pub(crate) struct JobPasswords(Mutex<Passwords>);

#[derive(Default)]
struct Passwords {
    by_job: HashMap<String, Password>,
    /// The ids of the jobs in the order in which their passwords came.
    order: VecDeque<String>,
}

impl JobPasswords {
    pub(crate) fn put(&self, job_id: &str, password: Password) {
        let mut kept = self.0.lock();
        if kept.by_job.insert(job_id.to_owned(), password).is_none() {
            kept.order.push_back(job_id.to_owned());
        }
        while kept.order.len() > PASSWORDS_MAX {
            if let Some(oldest) = kept.order.pop_front() {
                kept.by_job.remove(&oldest);
            }
        }
    }

    pub(crate) fn get(&self, job_id: &str) -> Option<Password> {
        self.0.lock().by_job.get(job_id).cloned()
    }

    pub(crate) fn forget(&self, job_id: &str) {
        let mut kept = self.0.lock();
        if kept.by_job.remove(job_id).is_some() {
            kept.order.retain(|it| it != job_id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_bounded_and_forgotten() {
        let passwords = JobPasswords::default();
        let secret = || Password::new("secret".to_owned());
        for job in 0..=PASSWORDS_MAX {
            passwords.put(&job.to_string(), secret());
        }
        assert_eq!((passwords.get("0"), passwords.get("1")), (None, Some(secret())));
        passwords.put("1", secret());
        passwords.forget("1");
        passwords.forget("1");
        assert_eq!(passwords.get("1"), None);
        assert_eq!(passwords.0.lock().order.len(), PASSWORDS_MAX - 1);
    }
}
