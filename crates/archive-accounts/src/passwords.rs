//! Hashes and checks passwords with argon2id on blocking threads, two at a time, with a bounded
//! queue. One hash takes 19 MiB and tens of milliseconds of a core.

use std::sync::Arc;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{Error, PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, RECOMMENDED_SALT_LEN, Version};
use auth::Secret;
use fault::Fault;
use tokio::sync::Semaphore;

use crate::faults;

/// The first of OWASP's recommended settings for argon2id.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;

const CONCURRENCY: usize = 2;
/// At about 30 hashes a second, the last in the queue waits about 1 s.
const WAITING_MAX: usize = 32;

/// A hash that matches no password (its digest is all zeros). Checking against it takes as long as
/// checking a real one.
const UNMATCHABLE_HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$\
                       AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

pub(crate) struct Passwords {
    permits: Arc<Semaphore>,
    /// Running and waiting hashes.
    queue_slots: Arc<Semaphore>,
}

impl Default for Passwords {
    fn default() -> Self {
        Self {
            permits: Arc::new(Semaphore::new(CONCURRENCY)),
            queue_slots: Arc::new(Semaphore::new(CONCURRENCY + WAITING_MAX)),
        }
    }
}

impl Passwords {
    /// Hashes a new password with a new salt.
    pub(crate) async fn hash(&self, password: &str) -> Result<Secret, Fault> {
        let password = Secret::new(password);
        self.run_queued(move || hash(password.reveal())).await?
    }

    /// Whether the password has this hash. Without a hash it takes as long and returns false.
    pub(crate) async fn verify(
        &self,
        password: &str,
        hash: Option<&Secret>,
    ) -> Result<bool, Fault> {
        let password = Secret::new(password);
        let hash = hash.cloned();
        self.run_queued(move || match &hash {
            Some(hash) => matches(password.reveal(), hash.reveal()),
            None => matches(password.reveal(), UNMATCHABLE_HASH).map(|_| false),
        })
        .await?
    }

    /// The work keeps its turn until it is done, even when its caller stopped waiting.
    async fn run_queued<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Fault> {
        let place =
            Arc::clone(&self.queue_slots).try_acquire_owned().map_err(|_| faults::busy())?;
        let turn = Arc::clone(&self.permits).acquire_owned().await.map_err(Fault::internal)?;
        let work = move || {
            let done = work();
            drop((turn, place));
            done
        };
        tokio::task::spawn_blocking(work).await.map_err(Fault::internal)
    }
}

#[cfg(test)]
impl Passwords {
    /// Takes every place there is in the line, until the answer goes.
    pub(crate) fn fill_line(&self) -> tokio::sync::OwnedSemaphorePermit {
        let all = u32::try_from(CONCURRENCY + WAITING_MAX).unwrap();
        Arc::clone(&self.queue_slots).try_acquire_many_owned(all).unwrap()
    }
}

fn hash(password: &str) -> Result<Secret, Fault> {
    let mut salt = [0_u8; RECOMMENDED_SALT_LEN];
    getrandom::fill(&mut salt).map_err(Fault::internal)?;
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(broken)?;
    let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let hash = argon.hash_password_with_salt(password.as_bytes(), &salt).map_err(broken)?;
    Ok(Secret::new(hash.to_string()))
}

/// The settings are the hash's own, so that those of older ones still hold.
fn matches(password: &str, hash: &str) -> Result<bool, Fault> {
    let hash = PasswordHash::new(hash).map_err(broken)?;
    match Argon2::default().verify_password(password.as_bytes(), &hash) {
        Ok(()) => Ok(true),
        Err(Error::PasswordInvalid) => Ok(false),
        Err(error) => Err(broken(error)),
    }
}

fn broken(error: impl std::fmt::Display) -> Fault {
    Fault::internal(format!("argon2: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_fits_its_own_hash_alone() {
        let passwords = Passwords::default();
        let hash = passwords.hash("correct horse").await.unwrap();
        assert!(hash.reveal().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        assert_ne!(hash, passwords.hash("correct horse").await.unwrap(), "one salt for all");
        assert!(passwords.verify("correct horse", Some(&hash)).await.unwrap());
        for wrong in ["", "correct hors", "correct horse ", "Correct horse"] {
            assert!(!passwords.verify(wrong, Some(&hash)).await.unwrap(), "{wrong:?}");
        }
        assert!(!passwords.verify("", None).await.unwrap());
    }

    #[test]
    fn nobodys_hash_costs_what_a_new_one_does() {
        let settings = |hash: &str| {
            let hash = PasswordHash::new(hash).unwrap();
            let lengths = (hash.salt.unwrap().len(), hash.hash.unwrap().len());
            (hash.algorithm.to_string(), hash.version, hash.params.to_string(), lengths)
        };
        assert_eq!(settings(UNMATCHABLE_HASH), settings(hash("any").unwrap().reveal()));
    }

    #[tokio::test]
    async fn a_hash_that_was_damaged_is_our_fault_and_not_shown() {
        let hash = Secret::new("$argon2id$hunter2");
        let fault = Passwords::default().verify("hunter2", Some(&hash)).await.unwrap_err();
        assert_eq!(fault.code(), "internal");
        assert!(!format!("{fault:?}").contains("hunter2"), "{fault:?}");
    }

    #[tokio::test]
    async fn the_line_has_an_end() {
        let passwords = Passwords::default();
        let permits = passwords.permits.clone().acquire_many_owned(2).await.unwrap();
        let waiting: Vec<_> =
            (0..CONCURRENCY + WAITING_MAX).map(|_| Box::pin(passwords.verify("", None))).collect();
        // Each is looked at once, which puts it in the line.
        let mut waiting = waiting;
        for one in &mut waiting {
            let now = std::future::poll_fn(|cx| {
                std::task::Poll::Ready(Future::poll(one.as_mut(), cx).is_pending())
            });
            assert!(now.await);
        }
        let fault = passwords.verify("", None).await.unwrap_err();
        assert_eq!((fault.code(), fault.retry_wait().is_some()), ("busy", true));
        waiting.clear();
        drop(permits);
        assert!(!passwords.verify("", None).await.unwrap(), "whoever left still has a place");
    }
}
