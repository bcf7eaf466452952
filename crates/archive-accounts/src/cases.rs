//! Cases: created by the first use of their name, and shared with other users by their owner.

use std::collections::HashMap;
use std::time::Duration;

use clock::Millis;
use fault::Fault;
use store::Tx;

use crate::{Accounts, CASES_MAX, CaseAccess, MEMBERS_MAX, Visibility, faults, sql, validation};

/// Attempts when concurrent changes create and remove the same name.
const TRIES: usize = 5;

/// What sharing a case permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharePermission {
    Read,
    Write,
    /// Stops sharing.
    None,
}

/// A user a case is shared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseMember {
    pub username: String,
    pub may_write: bool,
}

/// What a list of cases shows of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseRecord {
    /// The username of its owner; `None` if the owner is no user but the subject of a token.
    pub owner_name: Option<String>,
    pub created_at: Millis,
    /// Users it is shared with.
    pub members: u64,
}

impl Accounts {
    /// The records of cases that the caller sees, by their ids; other ids are left out.
    pub async fn case_records(
        &self,
        visibility: &Visibility,
        ids: &[&str],
    ) -> Result<HashMap<String, CaseRecord>, Fault> {
        let is_visible = |id: &&str| visibility.case(id).is_some();
        let visible: Vec<&str> = ids.iter().copied().filter(is_visible).collect();
        sql::case_records(&self.0.db, &visible).await
    }

    /// What an owner (see [`Accounts::owner`]) may see.
    pub async fn visibility(&self, owner: &str) -> Result<Visibility, Fault> {
        let cases = sql::visible_cases(&self.0.db, owner).await?;
        Ok(Visibility { owner: owner.to_owned(), cases })
    }

    /// The id of the case the owner knows by this name. An unknown name becomes a new case of the
    /// owner when the transaction commits.
    pub async fn case_for_writing(
        &self,
        tx: &mut Tx,
        owner: &str,
        name: &str,
    ) -> Result<String, Fault> {
        validation::case_name(name)?;
        for _ in 0..TRIES {
            if let Some(case) = sql::case_by_name(tx, owner, name).await? {
                return match case.may_write {
                    true => Ok(case.id),
                    false => Err(faults::case_read_only(name)),
                };
            }
            if sql::count_cases(tx, owner, true).await? >= CASES_MAX {
                return Err(faults::too_many_cases(CASES_MAX));
            }
            let now = self.now();
            let id = self.0.ids.next(now);
            let case = CaseAccess { id, name: name.to_owned(), own: true, may_write: true };
            // A concurrent call created the case first; the next attempt finds it.
            if sql::insert_member(tx, owner, &case).await? {
                sql::insert_case(tx, owner, &case, now).await?;
                return Ok(case.id);
            }
        }
        Err(unsettled())
    }

    /// Shares an own case with a user, or stops sharing it. Returns all members.
    pub async fn share(
        &self,
        owner: &str,
        case_name: &str,
        username: &str,
        access: SharePermission,
    ) -> Result<Vec<CaseMember>, Fault> {
        validation::case_name(case_name)?;
        let found = self.find(username).await?;
        let (user, _) = found.ok_or_else(|| faults::unknown_user(username))?;
        let member = user.owner();
        if member == owner {
            return Err(faults::own_case());
        }
        let db = &self.0.db;
        let mut tx = db.begin().await?;
        // The user may have been removed meanwhile; the lock keeps the user until the commit.
        if !sql::lock_user_with_password(db, &mut tx, &user.id, None).await? {
            return Err(faults::unknown_user(username));
        }
        let case = sql::case_by_name(&mut tx, owner, case_name).await?;
        let case = case.ok_or_else(|| faults::case_not_found(case_name))?;
        if !case.own {
            return Err(faults::case_not_yours(case_name));
        }
        sql::lock_case(db, &mut tx, &case.id).await?;
        let shared = CaseAccess { own: false, may_write: access == SharePermission::Write, ..case };
        match access {
            SharePermission::None => sql::delete_member(&mut tx, &shared.id, &member).await?,
            SharePermission::Read | SharePermission::Write => {
                put_member(&mut tx, &shared, &member, &user.username).await?;
            }
        }
        let members = sql::members(&mut tx, &shared.id).await?;
        tx.commit().await?;
        let member = |(username, may_write)| CaseMember { username, may_write };
        Ok(members.into_iter().map(member).collect())
    }
}

async fn put_member(
    tx: &mut Tx,
    case: &CaseAccess,
    member: &str,
    username: &str,
) -> Result<(), Fault> {
    for _ in 0..TRIES {
        if sql::set_member(tx, &case.id, member, case.may_write).await? {
            return Ok(());
        }
        if sql::count_members(tx, &case.id).await? >= MEMBERS_MAX {
            return Err(faults::too_many_members(MEMBERS_MAX));
        }
        if sql::count_cases(tx, member, false).await? >= CASES_MAX {
            return Err(faults::too_many_shared(CASES_MAX, username));
        }
        if sql::insert_member(tx, member, case).await? {
            return Ok(());
        }
        let seen = sql::case_by_name(tx, member, &case.name).await?;
        if seen.is_some_and(|seen| seen.id != case.id) {
            return Err(faults::case_name_taken(&case.name, username));
        }
    }
    Err(unsettled())
}

fn unsettled() -> Fault {
    Fault::unavailable("store_busy", "the case is being changed by others; try again shortly")
        .retry_after(Duration::from_secs(1))
}
