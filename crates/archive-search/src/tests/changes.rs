//! Files are deleted, replaced and moved, and segments are merged.

use store::sql;

use super::*;

/// The bytes of the whole index.
async fn everything(db: &Db) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (select, columns) in [
        ("SELECT files FROM search_segment", 1),
        ("SELECT terms FROM search_dictionary", 1),
        ("SELECT docs, positions FROM search_block", 2),
    ] {
        for row in db.fetch_all(sql(select)).await.unwrap() {
            for column in 0..columns {
                bytes.extend(row.bytes(column).unwrap());
            }
        }
    }
    bytes
}

fn has(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|it| it == word.as_bytes())
}

#[tokio::test]
async fn a_deleted_file_leaves_no_word() {
    on_every_engine(async |db| {
        let mut fixture = Fixture::new(db).await;
        let me = visibility("me", &[]);
        for (at, letter) in ('a'..='t').enumerate() {
            let text = format!("common {letter}zebra");
            fixture.put(file(&format!("f{at:02}"), "me", None, &[&text, "common page"])).await;
        }
        fixture.search.merge("me", None).await.unwrap();
        let count = db.fetch_all(sql("SELECT id FROM search_segment")).await.unwrap().len();
        assert!(count < 12, "{count} segments of 20 files");
        assert!(has(&everything(db).await, "hzebra"));
        // Nothing changes if the transaction is not committed.
        let mut tx = fixture.db.begin().await.unwrap();
        fixture.search.remove(&mut tx, "f07").await.unwrap();
        drop(tx);
        assert_eq!(fixture.found(&me, "hzebra").await, ["f07:1"]);
        fixture.remove("f07").await;
        fixture.remove("f07").await;
        assert!(!has(&everything(db).await, "hzebra") && !has(&everything(db).await, "f07"));
        assert_eq!(fixture.found(&me, "common").await.len(), 38);
        assert_eq!(fixture.found(&me, "izebra").await, ["f08:1"]);
        for at in 0..20 {
            fixture.remove(&format!("f{at:02}")).await;
        }
        assert!(everything(db).await.is_empty());
        assert!(db.fetch_all(sql("SELECT file_id FROM search_file")).await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_file_is_replaced_and_moved() {
    on_every_engine(async |db| {
        let mut fixture = Fixture::new(db).await;
        let me = visibility("me", &[]);
        fixture.put(file("a", "me", Some("c1"), &["old words", "second page"])).await;
        fixture.put(file("b", "me", Some("c1"), &["other words"])).await;
        fixture.put(file("a", "me", Some("c1"), &["new words"])).await;
        assert_eq!(fixture.found(&me, "old OR second").await, Vec::<String>::new());
        assert_eq!(fixture.found(&me, "words").await, ["a:1", "b:1"]);
        for at in 0..10 {
            fixture.put(file(&format!("x{at}"), "me", Some("c1"), &["filler"])).await;
        }
        fixture.search.merge("me", Some("c1")).await.unwrap();
        let mut tx = fixture.db.begin().await.unwrap();
        fixture.search.move_case(&mut tx, "a", "me", Some("c2")).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(fixture.found(&visibility("eve", &["c2"]), "words").await, ["a:1"]);
        assert_eq!(fixture.found(&visibility("eve", &["c1"]), "words").await, ["b:1"]);
        assert_eq!(fixture.found(&me, "\"new words\"").await, ["a:1"]);
        let known = ["a".to_owned(), "nobody".to_owned()];
        assert_eq!(fixture.search.indexed(&known).await.unwrap(), ["a"]);
    })
    .await;
}

#[tokio::test]
async fn changes_of_one_case_at_once_do_not_lose_pages() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let mut work = tokio::task::JoinSet::new();
        for at in 0..12 {
            let (db, search) = (db.clone(), fixture.search.clone());
            work.spawn(async move {
                for round in 0..4 {
                    let mut one =
                        Fixture { db: db.clone(), search: search.clone(), files: Vec::new() };
                    let text = format!("common round{round}");
                    one.put(file(&format!("f{at}"), "me", Some("c"), &[&text])).await;
                    search.merge("me", Some("c")).await.unwrap();
                    if at % 3 == 0 {
                        one.remove(&format!("f{at}")).await;
                    }
                }
            });
        }
        while let Some(task) = work.join_next().await {
            task.unwrap();
        }
        let me = visibility("me", &[]);
        assert_eq!(fixture.found(&me, "common").await.len(), 8);
        assert_eq!(fixture.found(&me, "round3").await.len(), 8);
        assert_eq!(fixture.found(&me, "round2").await.len(), 0);
    })
    .await;
}

#[tokio::test]
async fn facts_are_added_to_files_of_an_earlier_version() {
    on_every_engine(async |db| {
        let mut fixture = Fixture::new(db).await;
        let me = visibility("me", &[]);
        for at in 0..10 {
            fixture.put(file(&format!("f{at}"), "me", None, &["common page"])).await;
        }
        // As the version before left them.
        let ids: Vec<String> = (0..10).map(|at| format!("f{at}")).collect();
        db.execute(sql("UPDATE search_file SET has_facts = FALSE")).await.unwrap();
        let empty = sql("UPDATE search_segment SET facts = $1").bind(Vec::<u8>::new());
        db.execute(empty).await.unwrap();
        assert_eq!(fixture.search.with_facts(&ids).await.unwrap(), Vec::<String>::new());
        let orders = PageQuery { document_type: Some("order".to_owned()), ..all("common") };
        assert_eq!(fixture.query(&me, &orders).await.total, 0);
        // A merge keeps what is not known as it is.
        fixture.search.merge("me", None).await.unwrap();
        let facts = FileFacts { document_type: Some("Order".to_owned()), ..FileFacts::default() };
        for id in ["f3", "f7"] {
            let mut tx = db.begin().await.unwrap();
            fixture.search.set_facts(&mut tx, id, &facts).await.unwrap();
            tx.commit().await.unwrap();
        }
        assert_eq!(fixture.search.with_facts(&ids).await.unwrap(), ["f3", "f7"]);
        assert_eq!(fixture.query(&me, &orders).await.total, 2);
        assert_eq!(fixture.query(&me, &all("common")).await.total, 10);
        let mut tx = db.begin().await.unwrap();
        fixture.search.move_case(&mut tx, "f3", "me", Some("c1")).await.unwrap();
        tx.commit().await.unwrap();
        let in_case = PageQuery { case_id: Some("c1".to_owned()), ..orders };
        assert_eq!(fixture.query(&visibility("me", &["c1"]), &in_case).await.total, 1);
    })
    .await;
}
