//! Users: registration, and the operations of the operator.

use std::net::IpAddr;

use auth::Secret;
use clock::Millis;
use fault::Fault;
use limits::ClientAddress;

use crate::{Accounts, USERS_MAX, faults, sessions, sql, validation};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub id: String,
    /// As it was first written; lookups ignore case.
    pub username: String,
    pub email: Option<String>,
    pub created_at: Millis,
}

impl User {
    /// The owner id of the files and cases of this user.
    pub fn owner(&self) -> String {
        owner_of(&self.id)
    }
}

pub(crate) fn owner_of(user_id: &str) -> String {
    format!("user:{user_id}")
}

/// A user in the list of the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserListing {
    pub user: User,
    pub sessions: u64,
}

/// The effects of removing a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedUser {
    pub user: User,
    pub sessions_ended: u64,
    /// Cases that remain without an owner who can log in; users they are shared with still see them.
    pub cases_left: u64,
}

/// The lookup keys of a new user.
struct UserKeys {
    username: String,
    email: Option<String>,
}

impl UserKeys {
    /// Fails if the username, the password or the email is not valid.
    fn new(username: &str, password: &str, email: Option<&str>) -> Result<Self, Fault> {
        let key = validation::new_username(username)?;
        let email = email.map(validation::email_key).transpose()?;
        validation::new_password(password)?;
        Ok(Self { username: key, email })
    }
}

impl Accounts {
    /// Creates a user, if registration is open. `client` is the address that the registration comes
    /// from, if it comes from a network.
    pub async fn register(
        &self,
        username: &str,
        password: &str,
        email: Option<&str>,
        client: Option<IpAddr>,
    ) -> Result<User, Fault> {
        if !self.0.rules.registration_open {
            return Err(faults::registration_closed());
        }
        let client = client.map(ClientAddress::from);
        let keys = UserKeys::new(username, password, email)?;
        self.0.login_limiter.take_registration(client, self.now())?;
        self.insert(username, password, email, keys, client).await
    }

    /// Creates a user for the operator.
    pub async fn add(
        &self,
        username: &str,
        password: &str,
        email: Option<&str>,
    ) -> Result<User, Fault> {
        let keys = UserKeys::new(username, password, email)?;
        self.insert(username, password, email, keys, None).await
    }

    async fn insert(
        &self,
        username: &str,
        password: &str,
        email: Option<&str>,
        keys: UserKeys,
        client: Option<ClientAddress>,
    ) -> Result<User, Fault> {
        let UserKeys { username: key, email: email_key } = keys;
        // Checked before the costly hash; the insertion decides.
        self.refuse_taken(username, &key, email, email_key.as_deref()).await?;
        if sql::count_users(&self.0.db).await? >= USERS_MAX {
            return Err(faults::too_many_users(USERS_MAX));
        }
        let password = self.0.passwords.hash(password, client).await?;
        let now = self.now();
        let user = User {
            id: self.0.ids.next(now),
            username: username.to_owned(),
            email: email.map(str::to_owned),
            created_at: now,
        };
        let keys = (key.as_str(), email_key.as_deref());
        if sql::insert_user(&self.0.db, &user, keys, &password).await? {
            tracing::info!(user = user.id, "added a user");
            return Ok(user);
        }
        self.refuse_taken(username, &key, email, email_key.as_deref()).await?;
        // The other user was removed between the two statements.
        Err(faults::username_taken(username))
    }

    async fn refuse_taken(
        &self,
        username: &str,
        key: &str,
        email: Option<&str>,
        email_key: Option<&str>,
    ) -> Result<(), Fault> {
        if sql::user_by_key(&self.0.db, key).await?.is_some() {
            return Err(faults::username_taken(username));
        }
        if let (Some(email), Some(key)) = (email, email_key)
            && sql::email_exists(&self.0.db, key).await?
        {
            return Err(faults::email_taken(email));
        }
        Ok(())
    }

    /// All users, by name.
    pub async fn list(&self) -> Result<Vec<UserListing>, Fault> {
        sql::list_users(&self.0.db, self.now()).await
    }

    /// Ends the sessions of a user and the shares with that user. Files and cases stay, and a later
    /// user of the same name does not get them.
    pub async fn remove(&self, username: &str) -> Result<RemovedUser, Fault> {
        let (user, _) = self.named(username).await?;
        let db = &self.0.db;
        let mut tx = db.begin().await?;
        // Locked before the sessions, in the same order as a login.
        if !sql::lock_user(db, &mut tx, &user.id).await? {
            return Err(faults::user_not_found(username));
        }
        let sessions_ended = sql::count_sessions(&mut tx, &user.id, self.now()).await?;
        sql::delete_user(&mut tx, &user.id).await?;
        let owner = user.owner();
        sql::delete_shared(&mut tx, &owner).await?;
        let cases_left = sql::count_cases(&mut tx, &owner, true).await?;
        tx.commit().await?;
        tracing::info!(user = user.id, "removed a user");
        Ok(RemovedUser { user, sessions_ended, cases_left })
    }

    /// Sets a new password, ends all sessions and returns their number.
    pub async fn set_password(&self, username: &str, password: &str) -> Result<u64, Fault> {
        validation::new_password(password)?;
        let (user, _) = self.named(username).await?;
        let password = self.0.passwords.hash(password, None).await?;
        let mut tx = self.0.db.begin().await?;
        if !sql::set_password(&mut tx, &user.id, &password).await? {
            return Err(faults::user_not_found(username));
        }
        let ending = sessions::ending(self.now());
        let ended = sql::end_sessions(&mut tx, &user.id, 0, ending).await?;
        tx.commit().await?;
        tracing::info!(user = user.id, "set a user's password");
        Ok(ended)
    }

    /// The user of this name, ignoring case, with the password hash.
    pub(crate) async fn find(&self, username: &str) -> Result<Option<(User, Secret)>, Fault> {
        match validation::username_key(username) {
            Some(key) => sql::user_by_key(&self.0.db, &key).await,
            None => Ok(None),
        }
    }

    pub(crate) async fn named(&self, username: &str) -> Result<(User, Secret), Fault> {
        self.find(username).await?.ok_or_else(|| faults::user_not_found(username))
    }
}
