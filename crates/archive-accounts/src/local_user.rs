//! The local user: the account of the person who starts this program on the machine that holds the
//! database. It needs no login, and logging in as it is impossible until the operator sets a password.

use auth::Secret;
use fault::Fault;

use crate::passwords::UNMATCHABLE_HASH;
use crate::users::{User, owner_of};
use crate::{Accounts, faults, sql, validation};

/// The id of the local user in every database. A name would not do: another user may have
/// registered it before.
const LOCAL_ID: &str = "00000000-0000-7000-8000-000000000000";
/// Its name. Where another user has it, an id of its own is added.
const NAME: &str = "local";
/// What stands in its subject in place of a session.
const NO_SESSION: &str = "local";

/// Whether the subject is that of the local user.
pub(crate) fn is_local(subject: &str) -> bool {
    let user = subject.strip_prefix("user:").and_then(|rest| rest.split_once('/'));
    user == Some((LOCAL_ID, NO_SESSION))
}

impl Accounts {
    /// The subject of the local user, whose account is made on the first call.
    pub async fn local_subject(&self) -> Result<String, Fault> {
        let subject = format!("{}/{NO_SESSION}", owner_of(LOCAL_ID));
        let other_name = format!("{NAME}-{}", self.0.ids.next(self.now()));
        for name in [NAME, other_name.as_str()] {
            if sql::user_exists(&self.0.db, LOCAL_ID).await? {
                return Ok(subject);
            }
            let Some(key) = validation::username_key(name) else { continue };
            let user = User {
                id: LOCAL_ID.to_owned(),
                username: name.to_owned(),
                email: None,
                created_at: self.now(),
            };
            // False if the name is taken, or another process has just made the account.
            let password = Secret::new(UNMATCHABLE_HASH);
            if sql::insert_user(&self.0.db, &user, (&key, None), &password).await? {
                tracing::info!(user = user.id, "added the local user");
            }
        }
        match sql::user_exists(&self.0.db, LOCAL_ID).await? {
            true => Ok(subject),
            false => Err(Fault::internal("every name of the local user is taken")),
        }
    }

    /// The owner id of the local user; a fault if the account was removed.
    pub(crate) async fn local_owner(&self) -> Result<String, Fault> {
        match sql::user_exists(&self.0.db, LOCAL_ID).await? {
            true => Ok(owner_of(LOCAL_ID)),
            false => Err(faults::session_ended()),
        }
    }

    /// The name of an owner for people: that of the user, or the subject of a token.
    pub async fn owner_name(&self, owner: &str) -> Result<String, Fault> {
        let Some(id) = owner.strip_prefix("user:") else {
            return Ok(owner.strip_prefix("token:").unwrap_or(owner).to_owned());
        };
        let name = sql::username_of(&self.0.db, id).await?;
        Ok(name.unwrap_or_else(|| "a removed user".to_owned()))
    }
}
