//! Tasks that last as long as the process: for tests, and for servers without a store.

use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;
use fault::Fault;

use crate::store::{
    Lease, NOTICES_MAX, Next, Notice, Place, TaskFilter, TaskPage, TaskRecord, TaskStore,
};
use crate::wire::PushConfig;

#[derive(Debug, Default)]
pub struct MemoryTasks(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    tasks: HashMap<Key, TaskRecord>,
    pushes: HashMap<Key, BTreeMap<String, PushConfig>>,
    notices: BTreeMap<Spot, Waiting>,
}

/// Agent, owner, task, webhook, version, part.
type Spot = (String, String, String, String, i64, i64);

#[derive(Debug)]
struct Waiting {
    json: String,
    tries: u32,
    due_ms: i64,
}

fn spot(notice: &Notice) -> Spot {
    let Notice { agent, owner, push, version, part, .. } = notice;
    (agent.clone(), owner.clone(), push.task_id.clone(), push.id.clone(), *version, *part)
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
        self.0.lock()
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
            self.notices.retain(|at, _| (&at.0, &at.1, &at.2) != (&key.0, &key.1, &key.2));
        }
    }

    fn announce(&mut self, record: &TaskRecord, news: &[String]) {
        let (agent, owner, id) = (&record.agent, &record.owner, &record.task.id);
        let webhooks = self.pushes.get(&key(agent, owner, id));
        let webhooks: Vec<String> =
            webhooks.into_iter().flat_map(|it| it.keys().cloned()).collect();
        let waiting = self.notices.keys().filter(|it| (&it.0, &it.1) == (agent, owner)).count();
        if waiting + webhooks.len() * news.len() > NOTICES_MAX {
            tracing::warn!(task = id, "too many notices wait; webhooks are not told of a change");
            return;
        }
        for webhook in webhooks {
            for (part, json) in (0..).zip(news) {
                let at = (
                    agent.clone(),
                    owner.clone(),
                    id.clone(),
                    webhook.clone(),
                    record.version,
                    part,
                );
                let due_ms = record.updated_ms;
                self.notices.insert(at, Waiting { json: json.clone(), tries: 0, due_ms });
            }
        }
    }

    /// The first notice of each task and webhook, those of busy owners left out.
    fn heads(&self, busy: &[String]) -> Vec<(i64, Spot)> {
        let mut heads: Vec<(i64, Spot)> = Vec::new();
        for (at, waiting) in self.notices.iter().filter(|(at, _)| !busy.contains(&at.1)) {
            let same = |it: &(i64, Spot)| {
                (&it.1.0, &it.1.1, &it.1.2, &it.1.3) == (&at.0, &at.1, &at.2, &at.3)
            };
            // They are in order, so that what follows a head follows it at once.
            if !heads.last().is_some_and(same) {
                heads.push((waiting.due_ms, at.clone()));
            }
        }
        heads
    }
}

fn fits(record: &TaskRecord, filter: &TaskFilter) -> bool {
    filter.context_id.as_ref().is_none_or(|it| record.task.context_id == *it)
        && filter.state.is_none_or(|it| record.state() == it)
        && filter.since_ms.is_none_or(|it| record.updated_ms >= it)
}

#[async_trait]
impl TaskStore for MemoryTasks {
    async fn put(
        &self,
        record: &TaskRecord,
        replaces: Option<i64>,
        news: &[String],
    ) -> Result<bool, Fault> {
        let mut kept = self.lock();
        let key = key(&record.agent, &record.owner, &record.task.id);
        if kept.tasks.get(&key).map(|it| it.version) != replaces {
            return Ok(false);
        }
        kept.tasks.insert(key, record.clone());
        kept.announce(record, news);
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
        let mut kept = self.lock();
        if let Some(of_task) = kept.pushes.get_mut(&key(agent, owner, task)) {
            of_task.remove(id);
        }
        kept.notices.retain(|at, _| {
            (at.0.as_str(), at.1.as_str(), at.2.as_str(), at.3.as_str()) != (agent, owner, task, id)
        });
        Ok(())
    }

    async fn next_notice(
        &self,
        now_ms: i64,
        lease_ms: i64,
        busy: &[String],
    ) -> Result<Next, Fault> {
        let mut kept = self.lock();
        let Some((due_ms, at)) = kept.heads(busy).into_iter().min() else {
            return Ok(Next::Nothing);
        };
        if due_ms > now_ms {
            return Ok(Next::Later(due_ms));
        }
        let push = kept.pushes.get(&key(&at.0, &at.1, &at.2)).and_then(|it| it.get(&at.3)).cloned();
        let (Some(push), Some(waiting)) = (push, kept.notices.get_mut(&at)) else {
            return Ok(Next::Nothing);
        };
        waiting.due_ms = lease_ms;
        Ok(Next::Due(Box::new(Notice {
            agent: at.0,
            owner: at.1,
            push,
            version: at.4,
            part: at.5,
            json: waiting.json.clone(),
            tries: waiting.tries,
        })))
    }

    async fn notice_done(&self, notice: &Notice) -> Result<(), Fault> {
        self.lock().notices.remove(&spot(notice));
        Ok(())
    }

    async fn notice_failed(&self, notice: &Notice, due_ms: i64) -> Result<(), Fault> {
        if let Some(waiting) = self.lock().notices.get_mut(&spot(notice)) {
            waiting.tries += 1;
            waiting.due_ms = due_ms;
        }
        Ok(())
    }

    async fn drop_notices(&self, notice: &Notice) -> Result<u64, Fault> {
        let mut kept = self.lock();
        let before = kept.notices.len();
        let gone = spot(notice);
        kept.notices
            .retain(|at, _| (&at.0, &at.1, &at.2, &at.3) != (&gone.0, &gone.1, &gone.2, &gone.3));
        Ok((before - kept.notices.len()) as u64)
    }
}
