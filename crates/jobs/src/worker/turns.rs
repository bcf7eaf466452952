//! Which due jobs a worker takes: owners take turns, and no owner takes the last slot of a worker
//! that has several, so a job of another owner never waits for jobs of one owner alone.

use std::collections::HashMap;

use clock::Millis;
use fault::Fault;
use store::{Db, Tx};

use crate::job::Job;
use crate::sql;

/// Whose turn it is, for one worker.
pub(crate) struct OwnerTurns {
    /// Jobs of one owner that the worker runs at once.
    owner_max: usize,
    /// For each kind the owner whose job was taken last.
    last: HashMap<String, String>,
}

/// Jobs that run now, by owner. Jobs without an owner are not counted.
pub(crate) type RunningByOwner = HashMap<String, usize>;

/// What is to be taken, and by which worker.
pub(crate) struct ClaimRequest<'a> {
    pub(crate) db: &'a Db,
    pub(crate) kind: &'a str,
    pub(crate) room: usize,
    pub(crate) worker: &'a str,
    /// Now, and when the lease ends.
    pub(crate) times: (Millis, Millis),
}

impl OwnerTurns {
    /// For a worker that runs this many jobs at once.
    pub(crate) fn new(concurrency: usize) -> Self {
        Self { owner_max: concurrency.saturating_sub(1).max(1), last: HashMap::new() }
    }

    /// Takes due jobs of one kind, at most `room`, and adds them to `running`.
    pub(crate) async fn claim(
        &mut self,
        tx: &mut Tx,
        request: &ClaimRequest<'_>,
        running: &mut RunningByOwner,
    ) -> Result<Vec<(Job, i64)>, Fault> {
        let mut claimed = Vec::new();
        while claimed.len() < request.room {
            let room = request.room - claimed.len();
            let full = running.values().filter(|it| **it >= self.owner_max).count();
            let last = self.last.get(request.kind).map(String::as_str);
            let now = request.times.0;
            let owners = sql::waiting_owners(tx, request.kind, last, now, room + full).await?;
            let before = claimed.len();
            for (owner, share) in self.shares(owners, running, room) {
                let taken = sql::claim(tx, request, &owner, share).await?;
                if !taken.is_empty() && !owner.is_empty() {
                    *running.entry(owner.clone()).or_default() += taken.len();
                }
                if !taken.is_empty() {
                    self.last.insert(request.kind.to_owned(), owner);
                }
                claimed.extend(taken);
            }
            // Nothing is due, or other workers are taking all of it.
            if claimed.len() == before {
                break;
            }
        }
        Ok(claimed)
    }

    /// Deals the free slots to the owners one by one, to none more than it may have.
    fn shares(
        &self,
        owners: Vec<String>,
        running: &RunningByOwner,
        room: usize,
    ) -> Vec<(String, usize)> {
        let may_have = |owner: &String| match owner.is_empty() {
            true => room,
            false => self.owner_max.saturating_sub(running.get(owner).copied().unwrap_or(0)),
        };
        let mut shares: Vec<(String, usize, usize)> = owners
            .into_iter()
            .map(|owner| (may_have(&owner), owner))
            .filter(|(most, _)| *most > 0)
            .map(|(most, owner)| (owner, 0, most))
            .collect();
        let mut left = room;
        let mut dealt = true;
        while left > 0 && dealt {
            dealt = false;
            for (_, share, most) in &mut shares {
                if left > 0 && *share < *most {
                    *share += 1;
                    left -= 1;
                    dealt = true;
                }
            }
        }
        shares.into_iter().map(|(owner, share, _)| (owner, share)).filter(|it| it.1 > 0).collect()
    }
}
