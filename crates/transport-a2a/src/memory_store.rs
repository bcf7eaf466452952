//! A task store in memory: for tests, and for the conformance agent. Its runs have no lease, because
//! they cannot outlive the process.

use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use async_trait::async_trait;
use fault::Fault;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::store::{
    NextNotification, PushNotification, RunRequest, TaskCursor, TaskFilter, TaskPage, TaskRecord,
    TaskRun, TaskRunner, TaskStore,
};
use crate::wire::PushConfig;

/// See the module.
#[derive(Debug, Default)]
pub struct MemoryTaskStore(Arc<SharedTasks>);

#[derive(Debug, Default)]
struct SharedTasks {
    state: Mutex<MemoryState>,
    /// Wakes the loops that hand out runs.
    queued: Notify,
}

#[derive(Debug, Default)]
struct MemoryState {
    tasks: HashMap<Key, TaskRecord>,
    push_configs: HashMap<Key, BTreeMap<String, PushConfig>>,
    notifications: BTreeMap<NotificationKey, PendingNotification>,
    queue: VecDeque<(Key, RunRequest)>,
    /// The runs that are queued or running; a token is cancelled when its run must stop.
    runs: HashMap<Key, CancellationToken>,
}

/// Agent, owner, task, webhook, version, part.
type NotificationKey = (String, String, String, String, i64, i64);

#[derive(Debug)]
struct PendingNotification {
    json: String,
    tries: u32,
    due_ms: i64,
}

fn notification_key(notification: &PushNotification) -> NotificationKey {
    let PushNotification { agent, owner, push, version, part, .. } = notification;
    (agent.clone(), owner.clone(), push.task_id.clone(), push.id.clone(), *version, *part)
}

/// Agent, owner, task.
type Key = (String, String, String);

fn key(agent: &str, owner: &str, id: &str) -> Key {
    (agent.to_owned(), owner.to_owned(), id.to_owned())
}

fn cursor(record: &TaskRecord) -> TaskCursor {
    TaskCursor { updated_ms: record.updated_ms, id: record.task.id.clone() }
}

fn record_key(record: &TaskRecord) -> Key {
    key(&record.agent, &record.owner, &record.task.id)
}

/// One run that was taken from the queue.
struct MemoryRun {
    shared: Arc<SharedTasks>,
    key: Key,
    request: RunRequest,
    stopped: CancellationToken,
}

#[async_trait]
impl TaskRun for MemoryRun {
    fn agent(&self) -> &str {
        &self.key.0
    }

    fn owner(&self) -> &str {
        &self.key.1
    }

    fn task_id(&self) -> &str {
        &self.key.2
    }

    fn resume(&self) -> Option<&str> {
        self.request.resume.as_deref()
    }

    async fn put(
        &self,
        record: &TaskRecord,
        replaces: i64,
        events: &[String],
    ) -> Result<bool, Fault> {
        let mut state = self.shared.state.lock();
        Ok(!self.stopped.is_cancelled() && state.replace(record, replaces, events))
    }

    async fn stopped(&self) {
        self.stopped.cancelled().await;
    }
}

impl Drop for MemoryRun {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        // A later run of the same task has a token of its own, which this one must not remove.
        if !self.stopped.is_cancelled() {
            state.runs.remove(&self.key);
        }
    }
}

impl MemoryTaskStore {
    fn next_run(&self, agents: &[String]) -> Option<MemoryRun> {
        let mut state = self.lock();
        let at = state.queue.iter().position(|(key, _)| agents.contains(&key.0))?;
        let (key, request) = state.queue.remove(at)?;
        let stopped = state.runs.get(&key)?.clone();
        Some(MemoryRun { shared: Arc::clone(&self.0), key, request, stopped })
    }

    fn lock(&self) -> MutexGuard<'_, MemoryState> {
        self.0.state.lock()
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

    fn read(&self, record: &TaskRecord) -> TaskRecord {
        record.clone().with_run(self.runs.contains_key(&record_key(record)))
    }

    /// Replaces one version of a task; a task that no longer runs loses its run.
    fn replace(&mut self, record: &TaskRecord, replaces: i64, events: &[String]) -> bool {
        let key = record_key(record);
        if self.tasks.get(&key).is_none_or(|stored| stored.version != replaces) {
            return false;
        }
        if !record.state().is_running() {
            self.queue.retain(|(queued, _)| *queued != key);
            if let Some(run) = self.runs.remove(&key) {
                run.cancel();
            }
        }
        self.tasks.insert(key, record.clone());
        self.queue_notifications(record, events);
        true
    }

    fn delete(&mut self, gone: Vec<Key>) {
        for key in gone {
            self.tasks.remove(&key);
            self.push_configs.remove(&key);
            self.notifications.retain(|at, _| (&at.0, &at.1, &at.2) != (&key.0, &key.1, &key.2));
        }
    }

    fn queue_notifications(&mut self, record: &TaskRecord, events: &[String]) {
        let (agent, owner, id) = (&record.agent, &record.owner, &record.task.id);
        let webhooks = self.push_configs.get(&key(agent, owner, id));
        let webhooks: Vec<String> =
            webhooks.into_iter().flat_map(|it| it.keys().cloned()).collect();
        let waiting =
            self.notifications.keys().filter(|it| (&it.0, &it.1) == (agent, owner)).count();
        let new = webhooks.len() * events.len();
        if !record.has_room_for_notifications(waiting as u64, new as u64) {
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

    /// The first notification of each task and webhook, without those of busy owners.
    fn heads(&self, busy: &[String]) -> Vec<(i64, NotificationKey)> {
        let mut heads: Vec<(i64, NotificationKey)> = Vec::new();
        for (at, waiting) in self.notifications.iter().filter(|(at, _)| !busy.contains(&at.1)) {
            let same = |it: &(i64, NotificationKey)| {
                (&it.1.0, &it.1.1, &it.1.2, &it.1.3) == (&at.0, &at.1, &at.2, &at.3)
            };
            // The map is sorted, so notifications of one task and webhook follow each other.
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
    async fn submit(
        &self,
        record: &TaskRecord,
        replaces: Option<i64>,
        run: &RunRequest,
    ) -> Result<bool, Fault> {
        let mut state = self.lock();
        let key = record_key(record);
        if state.tasks.get(&key).map(|it| it.version) != replaces {
            return Ok(false);
        }
        if let Some(push) = &run.push {
            let configs = state.push_configs.entry(key.clone()).or_default();
            configs.insert(push.id.clone(), push.clone());
        }
        state.tasks.insert(key.clone(), record.clone());
        state.runs.insert(key.clone(), CancellationToken::new());
        state.queue.push_back((key, run.clone()));
        drop(state);
        self.0.queued.notify_waiters();
        Ok(true)
    }

    async fn run_tasks(
        &self,
        agents: &[String],
        runner: Arc<dyn TaskRunner>,
        concurrency: usize,
        stop: CancellationToken,
    ) {
        let mut running = JoinSet::new();
        loop {
            // Registered before the queue is read, so that no submission in between is missed.
            let queued = self.0.queued.notified();
            while running.len() < concurrency
                && !stop.is_cancelled()
                && let Some(run) = self.next_run(agents)
            {
                let runner = Arc::clone(&runner);
                running.spawn(async move { runner.run(Arc::new(run)).await });
            }
            tokio::select! {
                () = queued => {}
                Some(_) = running.join_next() => {}
                () = stop.cancelled() => break,
            }
        }
        while running.join_next().await.is_some() {}
    }

    async fn put(
        &self,
        record: &TaskRecord,
        replaces: i64,
        events: &[String],
    ) -> Result<bool, Fault> {
        Ok(self.lock().replace(record, replaces, events))
    }

    async fn get(&self, agent: &str, owner: &str, id: &str) -> Result<Option<TaskRecord>, Fault> {
        let state = self.lock();
        Ok(state.tasks.get(&key(agent, owner, id)).map(|record| state.read(record)))
    }

    async fn list(&self, agent: &str, owner: &str, filter: &TaskFilter) -> Result<TaskPage, Fault> {
        let state = self.lock();
        let mut found = state.of(agent, owner);
        found.retain(|record| fits(record, filter));
        let total = found.len() as u64;
        let before = |record: &&TaskRecord| {
            let Some(after) = &filter.after else { return true };
            let at = cursor(record);
            (at.updated_ms, &at.id) < (after.updated_ms, &after.id)
        };
        let page = found.into_iter().filter(before).take(filter.limit);
        Ok(TaskPage { tasks: page.map(|record| state.read(record)).collect(), total })
    }

    async fn lost(
        &self,
        agent: &str,
        owner: Option<&str>,
        limit: usize,
    ) -> Result<Vec<TaskRecord>, Fault> {
        let state = self.lock();
        let of_owner = |record: &&TaskRecord| owner.is_none_or(|owner| record.owner == owner);
        let records = state.tasks.values().filter(|record| record.agent == agent);
        let read = records.filter(of_owner).map(|record| state.read(record));
        Ok(read.filter(|record| record.lost).take(limit).collect())
    }

    async fn delete_oldest(&self, agent: &str, owner: &str, keep: usize) -> Result<(), Fault> {
        let mut state = self.lock();
        let gone = state.of(agent, owner).into_iter().skip(keep);
        let gone = gone.filter(|record| !record.state().is_running());
        let gone = gone.map(|record| key(agent, owner, &record.task.id)).collect();
        state.delete(gone);
        Ok(())
    }

    async fn delete_older(&self, agent: &str, updated_ms: i64) -> Result<(), Fault> {
        let mut state = self.lock();
        let old = |record: &&TaskRecord| {
            record.agent == agent && record.updated_ms < updated_ms && !record.state().is_running()
        };
        let gone = state.tasks.values().filter(old);
        let gone = gone.map(|record| key(agent, &record.owner, &record.task.id)).collect();
        state.delete(gone);
        Ok(())
    }

    async fn put_push_config(
        &self,
        agent: &str,
        owner: &str,
        push: &PushConfig,
    ) -> Result<(), Fault> {
        let mut state = self.lock();
        let of_task = state.push_configs.entry(key(agent, owner, &push.task_id)).or_default();
        of_task.insert(push.id.clone(), push.clone());
        Ok(())
    }

    async fn push_configs(
        &self,
        agent: &str,
        owner: &str,
        task: &str,
    ) -> Result<Vec<PushConfig>, Fault> {
        let state = self.lock();
        let of_task = state.push_configs.get(&key(agent, owner, task));
        Ok(of_task.into_iter().flat_map(BTreeMap::values).cloned().collect())
    }

    async fn delete_push_config(
        &self,
        agent: &str,
        owner: &str,
        task: &str,
        id: &str,
    ) -> Result<(), Fault> {
        let mut state = self.lock();
        if let Some(of_task) = state.push_configs.get_mut(&key(agent, owner, task)) {
            of_task.remove(id);
        }
        state.notifications.retain(|at, _| {
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
        let mut state = self.lock();
        let Some((due_ms, at)) = state.heads(busy).into_iter().min() else {
            return Ok(NextNotification::Nothing);
        };
        if due_ms > now_ms {
            return Ok(NextNotification::Later(due_ms));
        }
        let push =
            state.push_configs.get(&key(&at.0, &at.1, &at.2)).and_then(|it| it.get(&at.3)).cloned();
        let (Some(push), Some(waiting)) = (push, state.notifications.get_mut(&at)) else {
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
        self.lock().notifications.remove(&notification_key(notification));
        Ok(())
    }

    async fn notification_failed(
        &self,
        notification: &PushNotification,
        due_ms: i64,
    ) -> Result<(), Fault> {
        if let Some(waiting) = self.lock().notifications.get_mut(&notification_key(notification)) {
            waiting.tries += 1;
            waiting.due_ms = due_ms;
        }
        Ok(())
    }

    async fn drop_notifications(&self, notification: &PushNotification) -> Result<u64, Fault> {
        let mut state = self.lock();
        let before = state.notifications.len();
        let gone = notification_key(notification);
        state
            .notifications
            .retain(|at, _| (&at.0, &at.1, &at.2, &at.3) != (&gone.0, &gone.1, &gone.2, &gone.3));
        Ok((before - state.notifications.len()) as u64)
    }
}
