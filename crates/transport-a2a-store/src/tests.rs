//! The contract of a task store, tested on both engines and on the store in memory; and the runs of
//! tasks, tested on both engines.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use clock::{Millis, SystemClock};
use jobs::{Jobs, QueueLimits};
use store::Db;
use testkit::{FakeClock, on_every_engine};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;
use transport_a2a::{
    MemoryTaskStore, NextNotification, PENDING_NOTIFICATIONS_MAX, PushConfig, PushNotification,
    RunRequest, Task, TaskCursor, TaskFilter, TaskRecord, TaskRun, TaskRunner, TaskState,
    TaskStatus, TaskStore,
};

use super::{MIGRATIONS, SqlTaskStore};

/// Runs a test on every kind of store.
async fn everywhere(test: impl AsyncFn(&dyn TaskStore)) {
    test(&MemoryTaskStore::default()).await;
    on_every_engine(async |db| {
        migrate(db).await;
        let jobs = Jobs::new(db.clone(), Arc::new(SystemClock), QueueLimits::default());
        test(&SqlTaskStore::new(db.clone(), jobs)).await;
    })
    .await;
}

async fn migrate(db: &Db) {
    db.migrate(&[MIGRATIONS, jobs::MIGRATIONS]).await.unwrap();
}

fn record(owner: &str, id: &str, updated_ms: i64, state: TaskState) -> TaskRecord {
    TaskRecord {
        owner: owner.to_owned(),
        agent: "a".to_owned(),
        created_ms: 1,
        updated_ms,
        version: 1,
        lost: false,
        task: Task {
            id: id.to_owned(),
            context_id: format!("c{}", updated_ms % 2),
            status: TaskStatus { state, message: None, timestamp: "t".to_owned() },
            artifacts: None,
            history: None,
        },
    }
}

/// Stores a new task in any state; a task that does not run is submitted as version 0 first.
async fn insert(store: &dyn TaskStore, record: &TaskRecord) {
    let run = RunRequest::default();
    if record.state().is_running() {
        assert!(store.submit(record, None, &run).await.unwrap());
        return;
    }
    let mut submitted = TaskRecord { version: 0, ..record.clone() };
    submitted.task.status.state = TaskState::Submitted;
    assert!(store.submit(&submitted, None, &run).await.unwrap());
    assert!(store.put(record, 0, &[]).await.unwrap());
}

fn ids(tasks: &[TaskRecord]) -> Vec<&str> {
    tasks.iter().map(|record| record.task.id.as_str()).collect()
}

#[tokio::test]
async fn a_version_is_written_once() {
    everywhere(async |store| {
        let first = record("o", "t", 1, TaskState::Working);
        let run = RunRequest::default();
        assert!(store.submit(&first, None, &run).await.unwrap());
        assert!(!store.submit(&first, None, &run).await.unwrap());
        assert_eq!(store.get("a", "o", "t").await.unwrap(), Some(first.clone()));
        let second = TaskRecord { version: 2, ..record("o", "t", 2, TaskState::Completed) };
        assert!(store.put(&second, 1, &[]).await.unwrap());
        assert!(!store.put(&second, 1, &[]).await.unwrap());
        assert_eq!(store.get("a", "o", "t").await.unwrap(), Some(second));
        for (agent, owner) in [("a", "other"), ("b", "o")] {
            assert_eq!(store.get(agent, owner, "t").await.unwrap(), None);
        }
    })
    .await;
}

/// Passes on every run and never ends it.
struct Holding(UnboundedSender<Arc<dyn TaskRun>>);

#[async_trait]
impl TaskRunner for Holding {
    async fn run(&self, run: Arc<dyn TaskRun>) {
        self.0.send(run).unwrap();
        std::future::pending().await
    }
}

fn holding() -> (Arc<Holding>, UnboundedReceiver<Arc<dyn TaskRun>>) {
    let (sender, receiver) = unbounded_channel();
    (Arc::new(Holding(sender)), receiver)
}

/// Takes one run and then stops working without ending it, as a killed process does.
async fn take_and_die(store: &dyn TaskStore) -> Arc<dyn TaskRun> {
    let (runner, mut runs) = holding();
    let agents = ["a".to_owned()];
    tokio::select! {
        () = store.run_tasks(&agents, runner, 4, CancellationToken::new()) => unreachable!(),
        run = runs.recv() => run.unwrap(),
    }
}

#[tokio::test]
async fn cancelling_a_task_stops_its_run() {
    everywhere(async |store| {
        store
            .submit(&record("o", "t", 1, TaskState::Submitted), None, &RunRequest::default())
            .await
            .unwrap();
        let (runner, mut runs) = holding();
        let agents = ["a".to_owned()];
        let cancel = async {
            let run = runs.recv().await.unwrap();
            assert_eq!((run.agent(), run.owner(), run.task_id()), ("a", "o", "t"));
            let canceled = TaskRecord { version: 2, ..record("o", "t", 2, TaskState::Canceled) };
            assert!(store.put(&canceled, 1, &[]).await.unwrap());
            run.stopped().await;
            let late = TaskRecord { version: 3, ..record("o", "t", 3, TaskState::Completed) };
            assert!(!run.put(&late, 2, &[]).await.unwrap(), "a stopped run writes nothing");
        };
        tokio::select! {
            () = store.run_tasks(&agents, runner, 4, CancellationToken::new()) => unreachable!(),
            () = cancel => {}
        }
        let stored = store.get("a", "o", "t").await.unwrap().unwrap();
        assert_eq!((stored.state(), stored.lost), (TaskState::Canceled, false));
    })
    .await;
}

/// Two processes with one database and one clock.
async fn two_processes(test: impl AsyncFn(SqlTaskStore, SqlTaskStore, &FakeClock)) {
    on_every_engine(async |db| {
        migrate(db).await;
        let clock = Arc::new(FakeClock::new(Millis(1_800_000_000_000)));
        let process = || {
            let jobs = Jobs::new(db.clone(), Arc::clone(&clock) as _, QueueLimits::default());
            SqlTaskStore::new(db.clone(), jobs)
        };
        test(process(), process(), &clock).await;
    })
    .await;
}

#[tokio::test]
async fn a_task_whose_process_died_is_finished_by_another() {
    two_processes(async |first, second, clock| {
        let submitted = record("o", "t", 1, TaskState::Submitted);
        let run = RunRequest { resume: Some("{}".to_owned()), push: None };
        first.submit(&submitted, None, &run).await.unwrap();
        let dead = take_and_die(&first).await;
        let working = TaskRecord { version: 2, ..record("o", "t", 2, TaskState::Working) };
        assert!(dead.put(&working, 1, &[]).await.unwrap());

        clock.advance(Duration::from_secs(60));
        let heir = take_and_die(&second).await;
        assert_eq!((heir.task_id(), heir.resume()), ("t", Some("{}")));
        let done = TaskRecord { version: 3, ..record("o", "t", 3, TaskState::Completed) };
        assert!(!dead.put(&done, 2, &[]).await.unwrap(), "the first process has lost the lease");
        assert!(heir.put(&done, 2, &[]).await.unwrap());
        assert_eq!(second.get("a", "o", "t").await.unwrap(), Some(done));
        assert!(second.lost("a", None, 9).await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_task_that_cannot_be_repeated_is_lost_with_its_process() {
    two_processes(async |first, second, clock| {
        let submitted = record("o", "t", 1, TaskState::Submitted);
        first.submit(&submitted, None, &RunRequest::default()).await.unwrap();
        let dead = take_and_die(&first).await;
        assert!(second.lost("a", None, 9).await.unwrap().is_empty());

        clock.advance(Duration::from_secs(60));
        let (runner, _runs) = holding();
        let agents = ["a".to_owned()];
        let lost = async {
            loop {
                let lost = second.lost("a", Some("o"), 9).await.unwrap();
                if !lost.is_empty() {
                    return lost;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let lost = tokio::select! {
            () = second.run_tasks(&agents, runner, 4, CancellationToken::new()) => unreachable!(),
            lost = lost => lost,
        };
        assert_eq!(ids(&lost), ["t"]);
        assert!(second.lost("a", Some("p"), 9).await.unwrap().is_empty());
        assert!(second.get("a", "o", "t").await.unwrap().unwrap().lost);
        let failed = TaskRecord { version: 2, ..record("o", "t", 2, TaskState::Failed) };
        assert!(second.put(&failed, 1, &[]).await.unwrap());
        assert!(!dead.put(&failed, 2, &[]).await.unwrap());
        assert!(second.lost("a", None, 9).await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn tasks_that_ran_before_the_queue_are_lost() {
    on_every_engine(async |db| {
        let before = store::Migrations {
            sqlite: &MIGRATIONS.sqlite[..2],
            postgres: &MIGRATIONS.postgres[..2],
            ..MIGRATIONS
        };
        db.migrate(&[before, jobs::MIGRATIONS]).await.unwrap();
        let task = serde_json::to_string(&record("o", "t", 1, TaskState::Working).task).unwrap();
        let insert = store::sql(
            "INSERT INTO a2a_task (agent, owner, id, context_id, state, created_ms, updated_ms, \
             version, runner, lease_until, task) VALUES ('a', 'o', 't', 'c1', \
             'TASK_STATE_WORKING', 1, 1, 1, 'r', 99, $1)",
        );
        db.execute(insert.bind(task)).await.unwrap();
        migrate(db).await;
        let jobs = Jobs::new(db.clone(), Arc::new(SystemClock), QueueLimits::default());
        let store = SqlTaskStore::new(db.clone(), jobs);
        assert_eq!(ids(&store.lost("a", None, 9).await.unwrap()), ["t"]);
    })
    .await;
}

#[tokio::test]
async fn a_list_is_ordered_and_continues_after_a_cursor() {
    everywhere(async |store| {
        for (at, state) in
            [TaskState::Completed, TaskState::Failed].iter().cycle().enumerate().take(6)
        {
            let id = format!("t{at}");
            let updated_ms = i64::try_from(at).unwrap() / 2;
            insert(store, &record("o", &id, updated_ms, *state)).await;
        }
        let all = TaskFilter { limit: 9, ..TaskFilter::default() };
        let page = store.list("a", "o", &all).await.unwrap();
        assert_eq!((ids(&page.tasks), page.total), (vec!["t5", "t4", "t3", "t2", "t1", "t0"], 6));
        let after = Some(TaskCursor { updated_ms: 2, id: "t4".to_owned() });
        let next = TaskFilter { after, limit: 2, ..TaskFilter::default() };
        let page = store.list("a", "o", &next).await.unwrap();
        assert_eq!((ids(&page.tasks), page.total), (vec!["t3", "t2"], 6));
        let narrow = TaskFilter {
            context_id: Some("c0".to_owned()),
            state: Some(TaskState::Failed),
            since_ms: Some(1),
            ..all.clone()
        };
        let page = store.list("a", "o", &narrow).await.unwrap();
        assert_eq!((ids(&page.tasks), page.total), (vec!["t5"], 1));
        assert_eq!(store.list("a", "p", &all).await.unwrap().total, 0);
    })
    .await;
}

#[tokio::test]
async fn the_oldest_tasks_are_deleted_and_running_ones_stay() {
    everywhere(async |store| {
        let webhook = |task: &str| PushConfig {
            id: "w".to_owned(),
            task_id: task.to_owned(),
            url: "https://a.b".to_owned(),
            ..PushConfig::default()
        };
        insert(store, &record("o", "t0", 0, TaskState::Working)).await;
        insert(store, &record("p", "t0", 0, TaskState::Completed)).await;
        for at in 1..5 {
            let id = format!("t{at}");
            insert(store, &record("o", &id, at, TaskState::Completed)).await;
            store.put_push_config("a", "o", &webhook(&id)).await.unwrap();
        }
        store.delete_oldest("a", "o", 9).await.unwrap();
        store.delete_oldest("a", "o", 2).await.unwrap();
        let all = TaskFilter { limit: 9, ..TaskFilter::default() };
        assert_eq!(ids(&store.list("a", "o", &all).await.unwrap().tasks), ["t4", "t3", "t0"]);
        assert!(store.push_configs("a", "o", "t1").await.unwrap().is_empty());
        assert_eq!(store.push_configs("a", "o", "t4").await.unwrap().len(), 1);
        store.delete_older("a", 4).await.unwrap();
        assert_eq!(ids(&store.list("a", "o", &all).await.unwrap().tasks), ["t4", "t0"]);
        assert_eq!(store.list("a", "p", &all).await.unwrap().total, 0);
    })
    .await;
}

#[tokio::test]
async fn webhooks_are_stored_with_their_secrets_and_replaced_by_id() {
    everywhere(async |store| {
        let mut webhook = PushConfig {
            id: "w".to_owned(),
            task_id: "t".to_owned(),
            url: "https://a.b".to_owned(),
            token: Some("secret".to_owned()),
            ..PushConfig::default()
        };
        store.put_push_config("a", "o", &webhook).await.unwrap();
        webhook.url.push('c');
        store.put_push_config("a", "o", &webhook).await.unwrap();
        assert_eq!(store.push_configs("a", "o", "t").await.unwrap(), [webhook]);
        assert!(store.push_configs("a", "p", "t").await.unwrap().is_empty());
        for _ in 0..2 {
            store.delete_push_config("a", "o", "t", "w").await.unwrap();
        }
        assert!(store.push_configs("a", "o", "t").await.unwrap().is_empty());
    })
    .await;
}

fn push(id: &str) -> PushConfig {
    PushConfig {
        id: id.to_owned(),
        task_id: "t".to_owned(),
        url: "https://a.b".to_owned(),
        ..PushConfig::default()
    }
}

async fn due(store: &dyn TaskStore, now_ms: i64) -> Box<PushNotification> {
    match store.next_notification(now_ms, now_ms + 100, &[]).await.unwrap() {
        NextNotification::Due(notification) => notification,
        other => panic!("{other:?}"),
    }
}

fn events(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|it| (*it).to_owned()).collect()
}

#[tokio::test]
async fn notifications_are_stored_with_their_change_and_taken_in_order() {
    everywhere(async |store| {
        let first = record("o", "t", 1, TaskState::Working);
        insert(store, &first).await;
        assert_eq!(store.next_notification(9, 99, &[]).await.unwrap(), NextNotification::Nothing);
        store.put_push_config("a", "o", &push("w")).await.unwrap();
        let second = TaskRecord { version: 2, ..record("o", "t", 5, TaskState::InputRequired) };
        assert!(store.put(&second, 1, &events(&["one", "two"])).await.unwrap());
        // A version that was not stored queues no notification.
        assert!(!store.put(&second, 1, &events(&["never"])).await.unwrap());
        let third = TaskRecord { version: 3, ..record("o", "t", 6, TaskState::Completed) };
        store.put(&third, 2, &events(&["three"])).await.unwrap();

        assert_eq!(store.next_notification(4, 99, &[]).await.unwrap(), NextNotification::Later(5));
        assert_eq!(
            store.next_notification(9, 99, &["o".to_owned()]).await.unwrap(),
            NextNotification::Nothing,
            "notifications of a busy owner wait"
        );
        let one = due(store, 10).await;
        assert_eq!((one.json.as_str(), one.tries, one.push.id.as_str()), ("one", 0, "w"));
        // It is taken, and the next one waits for it.
        assert_eq!(
            store.next_notification(11, 99, &[]).await.unwrap(),
            NextNotification::Later(110)
        );
        store.notification_failed(&one, 50).await.unwrap();
        assert_eq!(
            store.next_notification(49, 99, &[]).await.unwrap(),
            NextNotification::Later(50)
        );
        let again = due(store, 50).await;
        assert_eq!((again.json.as_str(), again.tries), ("one", 1));
        // Its process died, so it is taken again.
        let again = due(store, 151).await;
        store.notification_delivered(&again).await.unwrap();
        let two = due(store, 152).await;
        assert_eq!(two.json, "two");
        store.notification_delivered(&two).await.unwrap();
        assert_eq!(due(store, 153).await.json, "three");
        assert_eq!(store.drop_notifications(&two).await.unwrap(), 1);
        assert_eq!(
            store.next_notification(999, 1_099, &[]).await.unwrap(),
            NextNotification::Nothing
        );
    })
    .await;
}

#[tokio::test]
async fn notifications_are_deleted_with_their_webhook_and_task_and_are_bounded() {
    everywhere(async |store| {
        let first = record("o", "t", 1, TaskState::Working);
        insert(store, &first).await;
        for id in ["v", "w"] {
            store.put_push_config("a", "o", &push(id)).await.unwrap();
        }
        let second = TaskRecord { version: 2, ..record("o", "t", 5, TaskState::Completed) };
        store.put(&second, 1, &events(&["one"])).await.unwrap();
        store.delete_push_config("a", "o", "t", "v").await.unwrap();
        let one = due(store, 9).await;
        assert_eq!(one.push.id, "w");
        assert_eq!(
            store.next_notification(9, 99, &[]).await.unwrap(),
            NextNotification::Later(109)
        );

        let many: Vec<String> = (0..PENDING_NOTIFICATIONS_MAX).map(|it| it.to_string()).collect();
        let third = TaskRecord { version: 3, ..second.clone() };
        assert!(store.put(&third, 2, &many).await.unwrap(), "the task is stored all the same");
        assert_eq!(
            store.drop_notifications(&one).await.unwrap(),
            1,
            "events beyond the limit are not stored"
        );
        let fourth = TaskRecord { version: 4, ..second };
        store.put(&fourth, 3, &many).await.unwrap();
        store.delete_older("a", 1_000).await.unwrap();
        assert_eq!(
            store.next_notification(9_999, 19_999, &[]).await.unwrap(),
            NextNotification::Nothing
        );
        assert_eq!(store.drop_notifications(&one).await.unwrap(), 0);
    })
    .await;
}
