//! Tasks that last as long as the process: for tests, and for servers without a store.

use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;
use fault::Fault;

use crate::store::{
    Lease, NextNotification, PENDING_NOTIFICATIONS_MAX, PushNotification, TaskCursor, TaskFilter,
    TaskPage, TaskRecord, TaskStore,
};
use crate::wire::PushConfig;

#[derive(Debug, Default)]
pub struct MemoryTaskStore(Mutex<MemoryState>);

#[derive(Debug, Default)]
struct MemoryState {
    tasks: HashMap<Key, TaskRecord>,
    push_configs: HashMap<Key, BTreeMap<String, PushConfig>>,
    notifications: BTreeMap<NotificationKey, PendingNotification>,
}

/// Agent, owner, task, webhook, version, part.
type NotificationKey = (String, String, String, String, i64, i64);

#[derive(Debug)]
struct PendingNotification {
    json: String,
    tries: u32,
    due_ms: i64,
}

fn spot(notification: &PushNotification) -> NotificationKey {
    let PushNotification { agent, owner, push, version, part, .. } = notification;
    (agent.clone(), owner.clone(), push.task_id.clone(), push.id.clone(), *version, *part)
}

/// Agent, owner, task.
type Key = (String, String, String);

fn key(agent: &str, owner: &str, id: &str) -> Key {
    (agent.to_owned(), owner.to_owned(), id.to_owned())
}

fn place(record: &TaskRecord) -> TaskCursor {
    TaskCursor { updated_ms: record.updated_ms, id: record.task.id.clone() }
}

impl MemoryTaskStore {
    fn lock(&self) -> MutexGuard<'_, MemoryState> {
        self.0.lock()
    }
}

impl MemoryState {
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
            self.push_configs.remove(&key);
            self.notifications.retain(|at, _| (&at.0, &at.1, &at.2) != (&key.0, &key.1, &key.2));
        }
    }

    fn announce(&mut self, record: &TaskRecord, events: &[String]) {
        let (agent, owner, id) = (&record.agent, &record.owner, &record.task.id);
        let webhooks = self.push_configs.get(&key(agent, owner, id));
        let webhooks: Vec<String> =
            webhooks.into_iter().flat_map(|it| it.keys().cloned()).collect();
        let waiting =
            self.notifications.keys().filter(|it| (&it.0, &it.1) == (agent, owner)).count();
        if waiting + webhooks.len() * events.len() > PENDING_NOTIFICATIONS_MAX {
            tracing::warn!(
                task = id,
                "too many notifications wait; webhooks are not told of a change"
            );
            return;
        }
        for webhook in webhooks {
            for (part, json) in (0..).zip(events) {
                let at = (
                    agent.clone(),
                    owner.clone(),
                    id.clone(),
                    webhook.clone(),
                    record.version,
                    part,
                );
                let due_ms = record.updated_ms;
                self.notifications
                    .insert(at, PendingNotification { json: json.clone(), tries: 0, due_ms });
            }
        }
    }

    /// The first notice of each task and webhook, those of busy owners left out.
    fn heads(&self, busy: &[String]) -> Vec<(i64, NotificationKey)> {
        let mut heads: Vec<(i64, NotificationKey)> = Vec::new();
        for (at, waiting) in self.notifications.iter().filter(|(at, _)| !busy.contains(&at.1)) {
            let same = |it: &(i64, NotificationKey)| {
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
impl TaskStore for MemoryTaskStore {
    async fn put(
        &self,
        record: &TaskRecord,
        replaces: Option<i64>,
        events: &[String],
    ) -> Result<bool, Fault> {
        let mut kept = self.lock();
        let key = key(&record.agent, &record.owner, &record.task.id);
        if kept.tasks.get(&key).map(|it| it.version) != replaces {
            return Ok(false);
        }
        kept.tasks.insert(key, record.clone());
        kept.announce(record, events);
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

    async fn delete_oldest(&self, agent: &str, owner: &str, keep: usize) -> Result<(), Fault> {
        let mut kept = self.lock();
        let gone = kept.of(agent, owner).into_iter().skip(keep);
        let gone = gone.filter(|record| !record.state().is_running());
        let gone = gone.map(|record| key(agent, owner, &record.task.id)).collect();
        kept.forget(gone);
        Ok(())
    }

    async fn delete_older(&self, agent: &str, updated_ms: i64) -> Result<(), Fault> {
        let mut kept = self.lock();
        let old = |record: &&TaskRecord| {
            record.agent == agent && record.updated_ms < updated_ms && !record.state().is_running()
        };
        let gone = kept.tasks.values().filter(old);
        let gone = gone.map(|record| key(agent, &record.owner, &record.task.id)).collect();
        kept.forget(gone);
        Ok(())
    }

    async fn put_push_config(
        &self,
        agent: &str,
        owner: &str,
        push: &PushConfig,
    ) -> Result<(), Fault> {
        let mut kept = self.lock();
        let of_task = kept.push_configs.entry(key(agent, owner, &push.task_id)).or_default();
        of_task.insert(push.id.clone(), push.clone());
        Ok(())
    }

    async fn push_configs(
        &self,
        agent: &str,
        owner: &str,
        task: &str,
    ) -> Result<Vec<PushConfig>, Fault> {
        let kept = self.lock();
        let of_task = kept.push_configs.get(&key(agent, owner, task));
        Ok(of_task.into_iter().flat_map(BTreeMap::values).cloned().collect())
    }

    async fn delete_push_config(
        &self,
        agent: &str,
        owner: &str,
        task: &str,
        id: &str,
    ) -> Result<(), Fault> {
        let mut kept = self.lock();
        if let Some(of_task) = kept.push_configs.get_mut(&key(agent, owner, task)) {
            of_task.remove(id);
        }
        kept.notifications.retain(|at, _| {
            (at.0.as_str(), at.1.as_str(), at.2.as_str(), at.3.as_str()) != (agent, owner, task, id)
        });
        Ok(())
    }

    async fn next_notification(
        &self,
        now_ms: i64,
        lease_ms: i64,
        busy: &[String],
    ) -> Result<NextNotification, Fault> {
        let mut kept = self.lock();
        let Some((due_ms, at)) = kept.heads(busy).into_iter().min() else {
            return Ok(NextNotification::Nothing);
        };
        if due_ms > now_ms {
            return Ok(NextNotification::Later(due_ms));
        }
        let push =
            kept.push_configs.get(&key(&at.0, &at.1, &at.2)).and_then(|it| it.get(&at.3)).cloned();
        let (Some(push), Some(waiting)) = (push, kept.notifications.get_mut(&at)) else {
            return Ok(NextNotification::Nothing);
        };
        waiting.due_ms = lease_ms;
        Ok(NextNotification::Due(Box::new(PushNotification {
            agent: at.0,
            owner: at.1,
            push,
            version: at.4,
            part: at.5,
            json: waiting.json.clone(),
            tries: waiting.tries,
        })))
    }

    async fn notification_delivered(&self, notification: &PushNotification) -> Result<(), Fault> {
        self.lock().notifications.remove(&spot(notification));
        Ok(())
    }

    async fn notification_failed(
        &self,
        notification: &PushNotification,
        due_ms: i64,
    ) -> Result<(), Fault> {
        if let Some(waiting) = self.lock().notifications.get_mut(&spot(notification)) {
            waiting.tries += 1;
            waiting.due_ms = due_ms;
        }
        Ok(())
    }

    async fn drop_notifications(&self, notification: &PushNotification) -> Result<u64, Fault> {
        let mut kept = self.lock();
        let before = kept.notifications.len();
        let gone = spot(notification);
        kept.notifications
            .retain(|at, _| (&at.0, &at.1, &at.2, &at.3) != (&gone.0, &gone.1, &gone.2, &gone.3));
        Ok((before - kept.notifications.len()) as u64)
    }
}
