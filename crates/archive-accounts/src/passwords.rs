//! Hashes and checks passwords with argon2id on blocking threads, two at a time, with bounded queues:
//! one for logins, one for users known at their address, one for registrations. One hash takes 19 MiB
//! and tens of milliseconds of a core.

use std::sync::Arc;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{Error, PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, RECOMMENDED_SALT_LEN, Version};
use auth::Secret;
use fault::Fault;
use limits::{ClientAddress, OwnerLimiter};
use tokio::sync::Semaphore;

use crate::faults;

/// The first of OWASP's recommended settings for argon2id.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;

const CONCURRENCY: usize = 2;
/// Running and waiting hashes of each queue, in total and of one client address. At about 30 hashes a
/// second, the last of all 96 waits about 3 s.
const LOGINS: (usize, usize) = (64, 16);
const KNOWN_LOGINS: (usize, usize) = (16, 8);
const REGISTRATIONS: (usize, usize) = (16, 8);

/// A hash that matches no password (its digest is all zeros). Checking against it takes as long as
/// checking a real one.
pub(crate) const UNMATCHABLE_HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$\
                       AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

pub(crate) struct Passwords {
    permits: Arc<Semaphore>,
    logins: QueueSlots,
    known_logins: QueueSlots,
    registrations: QueueSlots,
}

type QueueSlots = OwnerLimiter<Option<ClientAddress>>;

/// Where a password check waits. A queue that is full refuses its own kind alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Queue {
    Login,
    /// A login of a user who has logged in from the same address before.
    KnownLogin,
}

impl Default for Passwords {
    fn default() -> Self {
        let slots = |(total, of_address)| OwnerLimiter::new(total, of_address);
        Self {
            permits: Arc::new(Semaphore::new(CONCURRENCY)),
            logins: slots(LOGINS),
            known_logins: slots(KNOWN_LOGINS),
            registrations: slots(REGISTRATIONS),
        }
    }
}

impl Passwords {
    /// Hashes a new password with a new salt.
    pub(crate) async fn hash(
        &self,
        password: &str,
        client: Option<ClientAddress>,
    ) -> Result<Secret, Fault> {
        let password = Secret::new(password);
        self.run_queued(&self.registrations, client, move || hash(password.reveal())).await?
    }

    /// Whether the password has this hash. Without a hash it takes as long and returns false.
    pub(crate) async fn verify(
        &self,
        password: &str,
        hash: Option<&Secret>,
        (queue, client): (Queue, Option<ClientAddress>),
    ) -> Result<bool, Fault> {
        let password = Secret::new(password);
        let hash = hash.cloned();
        let slots = match queue {
            Queue::Login => &self.logins,
            Queue::KnownLogin => &self.known_logins,
        };
        self.run_queued(slots, client, move || match &hash {
            Some(hash) => matches(password.reveal(), hash.reveal()),
            None => matches(password.reveal(), UNMATCHABLE_HASH).map(|_| false),
        })
        .await?
    }

    /// The work keeps its turn until it is done, even when its caller stopped waiting.
    async fn run_queued<T: Send + 'static>(
        &self,
        slots: &QueueSlots,
        client: Option<ClientAddress>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Fault> {
        let place = slots.try_acquire(client).map_err(|_| faults::busy())?;
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
    /// Takes every slot of both login queues, until the answer is dropped.
    pub(crate) fn fill_login_queues(&self) -> Vec<limits::OwnerSlot<Option<ClientAddress>>> {
        let address =
            |last: u8| Some(ClientAddress::from(std::net::IpAddr::from([192, 0, 2, last])));
        let of = |slots: &QueueSlots| -> Vec<_> {
            (0..=255).map_while(|last| slots.try_acquire(address(last)).ok()).collect()
        };
        let mut all = of(&self.logins);
        all.extend(of(&self.known_logins));
        all
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

    const LOGIN: (Queue, Option<ClientAddress>) = (Queue::Login, None);

    #[tokio::test]
    async fn a_password_fits_its_own_hash_alone() {
        let passwords = Passwords::default();
        let hash = passwords.hash("correct horse", None).await.unwrap();
        assert!(hash.reveal().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        assert_ne!(hash, passwords.hash("correct horse", None).await.unwrap(), "one salt for all");
        assert!(passwords.verify("correct horse", Some(&hash), LOGIN).await.unwrap());
        for wrong in ["", "correct hors", "correct horse ", "Correct horse"] {
            assert!(!passwords.verify(wrong, Some(&hash), LOGIN).await.unwrap(), "{wrong:?}");
        }
        assert!(!passwords.verify("", None, LOGIN).await.unwrap());
    }

    #[test]
    fn the_hash_of_an_unknown_user_costs_what_a_new_one_does() {
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
        let fault = Passwords::default().verify("hunter2", Some(&hash), LOGIN).await.unwrap_err();
        assert_eq!(fault.code(), "internal");
        assert!(!format!("{fault:?}").contains("hunter2"), "{fault:?}");
    }

    /// Polls a future once, which puts it into its queue.
    async fn enter<F: Future + Unpin>(one: &mut F) -> bool {
        std::future::poll_fn(|cx| {
            std::task::Poll::Ready(std::pin::Pin::new(&mut *one).poll(cx).is_pending())
        })
        .await
    }

    #[tokio::test]
    async fn a_full_queue_refuses_its_own_kind_alone() {
        let passwords = Passwords::default();
        let permits = passwords.permits.clone().acquire_many_owned(2).await.unwrap();
        let (total, of_address) = LOGINS;
        let address = |last: usize| {
            let last = u8::try_from(last).unwrap();
            Some(ClientAddress::from(std::net::IpAddr::from([192, 0, 2, last])))
        };
        let login = |from| Box::pin(passwords.verify("", None, (Queue::Login, from)));
        let mut waiting = Vec::new();
        for from in 0..total / of_address {
            for _ in 0..of_address {
                waiting.push(login(address(from)));
                assert!(enter(waiting.last_mut().unwrap()).await);
            }
            let fault = login(address(from)).await.unwrap_err();
            assert_eq!((fault.code(), fault.retry_wait().is_some()), ("busy", true));
        }
        assert_eq!(login(address(9)).await.unwrap_err().code(), "busy", "of all addresses");
        let mut known = Box::pin(passwords.verify("", None, (Queue::KnownLogin, address(0))));
        assert!(enter(&mut known).await);
        let mut registrations = Vec::new();
        for _ in 0..REGISTRATIONS.1 {
            registrations.push(Box::pin(passwords.hash("x", address(0))));
            assert!(enter(registrations.last_mut().unwrap()).await);
        }
        assert_eq!(passwords.hash("x", address(0)).await.unwrap_err().code(), "busy");
        drop((waiting, registrations, permits));
        assert!(!known.await.unwrap());
        assert!(!login(address(0)).await.unwrap(), "a login that was given up keeps its slot");
    }
}
