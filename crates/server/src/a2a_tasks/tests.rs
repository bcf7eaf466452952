//! What a store of tasks promises, held against both engines and the one in memory.

use testkit::on_every_engine;
use transport_a2a::{
    Lease, MemoryTasks, Place, PushConfig, Task, TaskFilter, TaskRecord, TaskState, TaskStatus,
    TaskStore,
};

use super::{MIGRATIONS, SqlTasks};

/// Runs a test on every store there is.
async fn everywhere(test: impl AsyncFn(&dyn TaskStore)) {
    test(&MemoryTasks::default()).await;
    on_every_engine(async |db| {
        db.migrate(&[MIGRATIONS]).await.unwrap();
        test(&SqlTasks(db.clone())).await;
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
        assert!(store.put(&first, None).await.unwrap());
        assert!(!store.put(&first, None).await.unwrap());
        assert_eq!(store.get("a", "o", "t").await.unwrap(), Some(first.clone()));
        let second = TaskRecord { version: 2, ..record("o", "t", 2, TaskState::Completed) };
        assert!(store.put(&second, Some(1)).await.unwrap());
        assert!(!store.put(&second, Some(1)).await.unwrap());
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
        store.put(&kept, None).await.unwrap();
        let lease = Lease { runner: "r2".to_owned(), until_ms: 50 };
        assert!(store.renew(&kept, &lease).await.unwrap());
        assert_eq!(store.get("a", "o", "t").await.unwrap().unwrap().lease, Some(lease.clone()));
        let stale = TaskRecord { version: 9, ..kept };
        assert!(!store.renew(&stale, &lease).await.unwrap());
        store.put(&record("o", "done", 1, TaskState::Completed), None).await.unwrap();
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
            store.put(&record("o", &id, updated_ms, *state), None).await.unwrap();
        }
        let all = TaskFilter { limit: 9, ..TaskFilter::default() };
        let page = store.list("a", "o", &all).await.unwrap();
        assert_eq!((ids(&page.tasks), page.total), (vec!["t5", "t4", "t3", "t2", "t1", "t0"], 6));
        let after = Some(Place { updated_ms: 2, id: "t4".to_owned() });
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
        store.put(&record("o", "t0", 0, TaskState::Working), None).await.unwrap();
        store.put(&record("p", "t0", 0, TaskState::Completed), None).await.unwrap();
        for at in 1..5 {
            let id = format!("t{at}");
            store.put(&record("o", &id, at, TaskState::Completed), None).await.unwrap();
            store.put_push("a", "o", &webhook(&id)).await.unwrap();
        }
        store.bound("a", "o", 9).await.unwrap();
        store.bound("a", "o", 2).await.unwrap();
        let all = TaskFilter { limit: 9, ..TaskFilter::default() };
        assert_eq!(ids(&store.list("a", "o", &all).await.unwrap().tasks), ["t4", "t3", "t0"]);
        assert!(store.pushes("a", "o", "t1").await.unwrap().is_empty());
        assert_eq!(store.pushes("a", "o", "t4").await.unwrap().len(), 1);
        store.forget_before("a", 4).await.unwrap();
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
        store.put_push("a", "o", &webhook).await.unwrap();
        webhook.url.push('c');
        store.put_push("a", "o", &webhook).await.unwrap();
        assert_eq!(store.pushes("a", "o", "t").await.unwrap(), [webhook]);
        assert!(store.pushes("a", "p", "t").await.unwrap().is_empty());
        for _ in 0..2 {
            store.delete_push("a", "o", "t", "w").await.unwrap();
        }
        assert!(store.pushes("a", "o", "t").await.unwrap().is_empty());
    })
    .await;
}
