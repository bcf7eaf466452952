//! What a store of tasks promises, held against both engines and the one in memory.

use testkit::on_every_engine;
use transport_a2a::{
    Lease, MemoryTaskStore, NextNotification, PENDING_NOTIFICATIONS_MAX, PushConfig,
    PushNotification, Task, TaskCursor, TaskFilter, TaskRecord, TaskState, TaskStatus, TaskStore,
};

use super::{MIGRATIONS, SqlTaskStore};

/// Runs a test on every store there is.
async fn everywhere(test: impl AsyncFn(&dyn TaskStore)) {
    test(&MemoryTaskStore::default()).await;
    on_every_engine(async |db| {
        db.migrate(&[MIGRATIONS]).await.unwrap();
        test(&SqlTaskStore(db.clone())).await;
    })
    .await;
}

fn record(owner: &str, id: &str, updated_ms: i64, state: TaskState) -> TaskRecord {
    let running = state.is_running();
    let lease = Lease { runner: "r".to_owned(), until_ms: updated_ms + 10 };
    TaskRecord {
        owner: owner.to_owned(),
        agent: "a".to_owned(),
        created_ms: 1,
        updated_ms,
        version: 1,
        lease: running.then_some(lease),
        task: Task {
            id: id.to_owned(),
            context_id: format!("c{}", updated_ms % 2),
            status: TaskStatus { state, message: None, timestamp: "t".to_owned() },
            artifacts: None,
            history: None,
        },
    }
}

fn ids(tasks: &[TaskRecord]) -> Vec<&str> {
    tasks.iter().map(|record| record.task.id.as_str()).collect()
}

#[tokio::test]
async fn a_version_is_written_once() {
    everywhere(async |store| {
        let first = record("o", "t", 1, TaskState::Working);
        assert!(store.put(&first, None, &[]).await.unwrap());
        assert!(!store.put(&first, None, &[]).await.unwrap());
        assert_eq!(store.get("a", "o", "t").await.unwrap(), Some(first.clone()));
        let second = TaskRecord { version: 2, ..record("o", "t", 2, TaskState::Completed) };
        assert!(store.put(&second, Some(1), &[]).await.unwrap());
        assert!(!store.put(&second, Some(1), &[]).await.unwrap());
        assert_eq!(store.get("a", "o", "t").await.unwrap(), Some(second));
        for (agent, owner) in [("a", "other"), ("b", "o")] {
            assert_eq!(store.get(agent, owner, "t").await.unwrap(), None);
        }
    })
    .await;
}

#[tokio::test]
async fn a_lease_is_renewed_by_those_who_know_the_version() {
    everywhere(async |store| {
        let kept = record("o", "t", 1, TaskState::Working);
        store.put(&kept, None, &[]).await.unwrap();
        let lease = Lease { runner: "r2".to_owned(), until_ms: 50 };
        assert!(store.renew(&kept, &lease).await.unwrap());
        assert_eq!(store.get("a", "o", "t").await.unwrap().unwrap().lease, Some(lease.clone()));
        let stale = TaskRecord { version: 9, ..kept };
        assert!(!store.renew(&stale, &lease).await.unwrap());
        store.put(&record("o", "done", 1, TaskState::Completed), None, &[]).await.unwrap();
        assert!(store.abandoned("a", None, 50, 9).await.unwrap().is_empty());
        assert_eq!(ids(&store.abandoned("a", None, 51, 9).await.unwrap()), ["t"]);
        assert_eq!(ids(&store.abandoned("a", Some("o"), 51, 9).await.unwrap()), ["t"]);
        assert!(store.abandoned("a", Some("p"), 51, 9).await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn lists_are_in_order_and_go_on_from_a_place() {
    everywhere(async |store| {
        for (at, state) in
            [TaskState::Completed, TaskState::Failed].iter().cycle().enumerate().take(6)
        {
            let id = format!("t{at}");
            let updated_ms = i64::try_from(at).unwrap() / 2;
            store.put(&record("o", &id, updated_ms, *state), None, &[]).await.unwrap();
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
async fn the_oldest_go_first_and_the_running_stay() {
    everywhere(async |store| {
        let webhook = |task: &str| PushConfig {
            id: "w".to_owned(),
            task_id: task.to_owned(),
            url: "https://a.b".to_owned(),
            ..PushConfig::default()
        };
        store.put(&record("o", "t0", 0, TaskState::Working), None, &[]).await.unwrap();
        store.put(&record("p", "t0", 0, TaskState::Completed), None, &[]).await.unwrap();
        for at in 1..5 {
            let id = format!("t{at}");
            store.put(&record("o", &id, at, TaskState::Completed), None, &[]).await.unwrap();
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
async fn webhooks_are_kept_with_their_secrets_and_replaced_by_name() {
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

fn text(words: &[&str]) -> Vec<String> {
    words.iter().map(|it| (*it).to_owned()).collect()
}

#[tokio::test]
async fn notices_are_kept_with_their_change_and_come_in_order() {
    everywhere(async |store| {
        let first = record("o", "t", 1, TaskState::Working);
        store.put(&first, None, &text(&["nobody listens"])).await.unwrap();
        assert_eq!(store.next_notification(9, 99, &[]).await.unwrap(), NextNotification::Nothing);
        store.put_push_config("a", "o", &push("w")).await.unwrap();
        let second = TaskRecord { version: 2, ..record("o", "t", 5, TaskState::Working) };
        assert!(store.put(&second, Some(1), &text(&["one", "two"])).await.unwrap());
        // A version that was not kept says nothing.
        assert!(!store.put(&second, Some(1), &text(&["never"])).await.unwrap());
        let third = TaskRecord { version: 3, ..record("o", "t", 6, TaskState::Completed) };
        store.put(&third, Some(2), &text(&["three"])).await.unwrap();

        assert_eq!(store.next_notification(4, 99, &[]).await.unwrap(), NextNotification::Later(5));
        assert_eq!(
            store.next_notification(9, 99, &["o".to_owned()]).await.unwrap(),
            NextNotification::Nothing,
            "a busy owner waits"
        );
        let one = due(store, 10).await;
        assert_eq!((one.json.as_str(), one.tries, one.push.id.as_str()), ("one", 0, "w"));
        // It is taken, and what follows waits for it.
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
        // Whoever took it died: it is told again.
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
async fn notices_go_with_their_webhook_and_their_task_and_are_bounded() {
    everywhere(async |store| {
        let first = record("o", "t", 1, TaskState::Working);
        store.put(&first, None, &[]).await.unwrap();
        for id in ["v", "w"] {
            store.put_push_config("a", "o", &push(id)).await.unwrap();
        }
        let second = TaskRecord { version: 2, ..record("o", "t", 5, TaskState::Completed) };
        store.put(&second, Some(1), &text(&["one"])).await.unwrap();
        store.delete_push_config("a", "o", "t", "v").await.unwrap();
        let one = due(store, 9).await;
        assert_eq!(one.push.id, "w");
        assert_eq!(
            store.next_notification(9, 99, &[]).await.unwrap(),
            NextNotification::Later(109)
        );

        let many: Vec<String> = (0..PENDING_NOTIFICATIONS_MAX).map(|it| it.to_string()).collect();
        let third = TaskRecord { version: 3, ..second.clone() };
        assert!(store.put(&third, Some(2), &many).await.unwrap(), "the task is kept all the same");
        assert_eq!(
            store.drop_notifications(&one).await.unwrap(),
            1,
            "what does not fit is not kept"
        );
        let fourth = TaskRecord { version: 4, ..second };
        store.put(&fourth, Some(3), &many).await.unwrap();
        store.delete_older("a", 1_000).await.unwrap();
        assert_eq!(
            store.next_notification(9_999, 19_999, &[]).await.unwrap(),
            NextNotification::Nothing
        );
        assert_eq!(store.drop_notifications(&one).await.unwrap(), 0);
    })
    .await;
}
