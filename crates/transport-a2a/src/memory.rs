//! Tasks that last as long as the process: for tests, and for servers without a store.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use fault::Fault;

use crate::store::{Lease, Place, TaskFilter, TaskPage, TaskRecord, TaskStore};
use crate::wire::PushConfig;

#[derive(Debug, Default)]
pub struct MemoryTasks(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    tasks: HashMap<Key, TaskRecord>,
    pushes: HashMap<Key, BTreeMap<String, PushConfig>>,
}

/// Agent, owner, task.
type Key = (String, String, String);

fn key(agent: &str, owner: &str, id: &str) -> Key {
    (agent.to_owned(), owner.to_owned(), id.to_owned())
}

fn place(record: &TaskRecord) -> Place {
    Place { updated_ms: record.updated_ms, id: record.task.id.clone() }
}

impl MemoryTasks {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Tasks of an owner, newest status first.
    fn of(&self, agent: &str, owner: &str) -> Vec<&TaskRecord> {
        let mine = |record: &&TaskRecord| record.agent == agent && record.owner == owner;
        let mut found: Vec<&TaskRecord> = self.tasks.values().filter(mine).collect();
        found.sort_by(|a, b| (b.updated_ms, &b.task.id).cmp(&(a.updated_ms, &a.task.id)));
        found
    }

    fn forget(&mut self, gone: Vec<Key>) {
        for key in gone {
            self.tasks.remove(&key);
            self.pushes.remove(&key);
        }
    }
}

fn fits(record: &TaskRecord, filter: &TaskFilter) -> bool {
    filter.context_id.as_ref().is_none_or(|it| record.task.context_id == *it)
        && filter.state.is_none_or(|it| record.state() == it)
        && filter.since_ms.is_none_or(|it| record.updated_ms >= it)
}

#[async_trait]
impl TaskStore for MemoryTasks {
    async fn put(&self, record: &TaskRecord, replaces: Option<i64>) -> Result<bool, Fault> {
        let mut kept = self.lock();
        let key = key(&record.agent, &record.owner, &record.task.id);
        if kept.tasks.get(&key).map(|it| it.version) != replaces {
            return Ok(false);
        }
        kept.tasks.insert(key, record.clone());
        Ok(true)
    }

    async fn get(&self, agent: &str, owner: &str, id: &str) -> Result<Option<TaskRecord>, Fault> {
        Ok(self.lock().tasks.get(&key(agent, owner, id)).cloned())
    }

    async fn list(&self, agent: &str, owner: &str, filter: &TaskFilter) -> Result<TaskPage, Fault> {
        let kept = self.lock();
        let mut found = kept.of(agent, owner);
        found.retain(|record| fits(record, filter));
        let total = found.len() as u64;
        let before = |record: &&TaskRecord| {
            let Some(after) = &filter.after else { return true };
            let at = place(record);
            (at.updated_ms, &at.id) < (after.updated_ms, &after.id)
        };
        let page = found.into_iter().filter(before).take(filter.limit);
        Ok(TaskPage { tasks: page.cloned().collect(), total })
    }

    async fn renew(&self, record: &TaskRecord, lease: &Lease) -> Result<bool, Fault> {
        let mut kept = self.lock();
        let key = key(&record.agent, &record.owner, &record.task.id);
        let found = kept.tasks.get_mut(&key).filter(|it| it.version == record.version);
        let ours = found.is_some();
        if let Some(found) = found {
            found.lease = Some(lease.clone());
        }
        Ok(ours)
    }

    async fn abandoned(
        &self,
        agent: &str,
        owner: Option<&str>,
        now_ms: i64,
        limit: usize,
    ) -> Result<Vec<TaskRecord>, Fault> {
        let kept = self.lock();
        let gone = kept.tasks.values().filter(|record| {
            record.agent == agent
                && owner.is_none_or(|owner| record.owner == owner)
                && record.is_abandoned(now_ms)
        });
        Ok(gone.take(limit).cloned().collect())
    }

    async fn bound(&self, agent: &str, owner: &str, keep: usize) -> Result<(), Fault> {
        let mut kept = self.lock();
        let gone = kept.of(agent, owner).into_iter().skip(keep);
        let gone = gone.filter(|record| !record.state().is_running());
        let gone = gone.map(|record| key(agent, owner, &record.task.id)).collect();
        kept.forget(gone);
        Ok(())
    }

    async fn forget_before(&self, agent: &str, updated_ms: i64) -> Result<(), Fault> {
        let mut kept = self.lock();
        let old = |record: &&TaskRecord| {
            record.agent == agent && record.updated_ms < updated_ms && !record.state().is_running()
        };
        let gone = kept.tasks.values().filter(old);
        let gone = gone.map(|record| key(agent, &record.owner, &record.task.id)).collect();
        kept.forget(gone);
        Ok(())
    }

    async fn put_push(&self, agent: &str, owner: &str, push: &PushConfig) -> Result<(), Fault> {
        let mut kept = self.lock();
        let of_task = kept.pushes.entry(key(agent, owner, &push.task_id)).or_default();
        of_task.insert(push.id.clone(), push.clone());
        Ok(())
    }

    async fn pushes(&self, agent: &str, owner: &str, task: &str) -> Result<Vec<PushConfig>, Fault> {
        let kept = self.lock();
        let of_task = kept.pushes.get(&key(agent, owner, task));
        Ok(of_task.into_iter().flat_map(BTreeMap::values).cloned().collect())
    }

    async fn delete_push(
        &self,
        agent: &str,
        owner: &str,
        task: &str,
        id: &str,
    ) -> Result<(), Fault> {
        if let Some(of_task) = self.lock().pushes.get_mut(&key(agent, owner, task)) {
            of_task.remove(id);
        }
        Ok(())
    }
}
