//! Cases and sharing.

use super::*;
use crate::{CASES_MAX, CaseAccess, CaseMember, MEMBERS_MAX, SharePermission};

fn member(username: &str, may_write: bool) -> CaseMember {
    CaseMember { username: username.to_owned(), may_write }
}

#[tokio::test]
async fn a_name_is_a_case_of_ones_own() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let (ann, bob) = ("user:ann", "token:bob");
        let hers = fixture.case(ann, "Smith v. Jones").await.unwrap();
        assert_eq!(fixture.case(ann, "Smith v. Jones").await.unwrap(), hers);
        let his = fixture.case(bob, "Smith v. Jones").await.unwrap();
        assert_ne!(hers, his);
        let visibility = fixture.accounts.visibility(ann).await.unwrap();
        let name = "Smith v. Jones".to_owned();
        assert_eq!(
            visibility.cases,
            [CaseAccess { id: hers.clone(), name, own: true, may_write: true }]
        );
        assert!(visibility.sees(bob, Some(&hers)) && !visibility.sees(bob, Some(&his)));
        refused(fixture.case(ann, " ").await, Kind::Invalid, "invalid_case");

        // A transaction that never was made no case.
        let mut tx = db.begin().await.unwrap();
        fixture.accounts.case_for_writing(&mut tx, ann, "never").await.unwrap();
        drop(tx);
        assert!(fixture.accounts.visibility(ann).await.unwrap().case_named("never").is_none());
    })
    .await;
}

#[tokio::test]
async fn the_record_of_a_case_names_its_owner_and_counts_its_members() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let accounts = &fixture.accounts;
        let (ann, bob) = (fixture.user("Ann").await.owner(), fixture.user("Bob").await.owner());
        let shared = fixture.case(&ann, "x").await.unwrap();
        let other = fixture.case(&bob, "y").await.unwrap();
        let of_token = fixture.case("token:cli", "z").await.unwrap();
        accounts.share(&ann, "x", "bob", SharePermission::Read).await.unwrap();
        let ids = [shared.as_str(), other.as_str(), of_token.as_str(), "none"];
        let records = async |owner: &str| {
            let visibility = accounts.visibility(owner).await.unwrap();
            accounts.case_records(&visibility, &ids).await.unwrap()
        };
        let hers = records(&ann).await;
        assert_eq!(hers.len(), 1, "a case of another owner is left out: {hers:?}");
        assert_eq!((hers[&shared].owner_name.as_deref(), hers[&shared].members), (Some("Ann"), 1));
        let his = records(&bob).await;
        assert_eq!(his[&shared], hers[&shared]);
        assert_eq!((his[&other].owner_name.as_deref(), his[&other].members), (Some("Bob"), 0));
        assert_eq!(records("token:cli").await[&of_token].owner_name, None);
        assert!(records("user:nobody").await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn sharing_is_by_username_and_can_be_taken_back() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let accounts = &fixture.accounts;
        let (ann, bob) = (fixture.user("Ann").await.owner(), fixture.user("Bob").await.owner());
        fixture.user("cid").await;
        let id = fixture.case(&ann, "x").await.unwrap();

        let read = accounts.share(&ann, "x", "bob", SharePermission::Read).await.unwrap();
        assert_eq!(read, [member("Bob", false)]);
        let visibility = accounts.visibility(&bob).await.unwrap();
        assert!(visibility.sees(&ann, Some(&id)) && !visibility.may_write(&ann, Some(&id)));
        refused(fixture.case(&bob, "x").await, Kind::Forbidden, "case_read_only");

        let write = accounts.share(&ann, "x", "BOB", SharePermission::Write).await.unwrap();
        assert_eq!(write, [member("Bob", true)]);
        assert_eq!(fixture.case(&bob, "x").await.unwrap(), id);
        let visibility = accounts.visibility(&bob).await.unwrap();
        assert!(visibility.may_write(&ann, Some(&id)) && !visibility.may_delete(&ann, Some(&id)));
        refused(
            accounts.share(&bob, "x", "cid", SharePermission::Read).await,
            Kind::Forbidden,
            "case_not_yours",
        );
        let both = accounts.share(&ann, "x", "cid", SharePermission::Read).await.unwrap();
        assert_eq!(both, [member("Bob", true), member("cid", false)]);

        for _ in 0..2 {
            let left = accounts.share(&ann, "x", "bob", SharePermission::None).await.unwrap();
            assert_eq!(left, [member("cid", false)]);
        }
        assert!(accounts.visibility(&bob).await.unwrap().cases.is_empty());
        assert!(
            accounts.visibility(&ann).await.unwrap().case_named("x").is_some_and(|case| case.own)
        );
        assert_ne!(fixture.case(&bob, "x").await.unwrap(), id);
    })
    .await;
}

#[tokio::test]
async fn sharing_that_cannot_be_is_refused() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let accounts = &fixture.accounts;
        let (ann, bob) = (fixture.user("ann").await.owner(), fixture.user("bob").await.owner());
        fixture.case(&ann, "x").await.unwrap();
        fixture.case(&bob, "x").await.unwrap();
        for (username, code) in
            [("nobody", "unknown_user"), ("a\0", "unknown_user"), ("Ann", "own_case")]
        {
            let fault =
                accounts.share(&ann, "x", username, SharePermission::Read).await.unwrap_err();
            assert_eq!((fault.kind(), fault.code()), (Kind::Invalid, code));
            assert_eq!(fault.problems()[0].field, "username");
        }
        let taken = accounts.share(&ann, "x", "bob", SharePermission::Read).await;
        refused(taken, Kind::Conflict, "case_name_taken");
        let unknown = accounts.share(&ann, "y", "bob", SharePermission::Read).await;
        refused(unknown, Kind::NotFound, "case_not_found");
        let shapeless = accounts.share(&ann, "", "bob", SharePermission::Read).await;
        refused(shapeless, Kind::Invalid, "invalid_case");
        assert_eq!(accounts.visibility(&bob).await.unwrap().cases.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn at_once_is_as_one_after_another() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let (ann, bob) = (fixture.user("ann").await.owner(), fixture.user("bob").await.owner());
        let mine = |_| {
            let (accounts, db) = (accounts(&fixture.db, &fixture.clock, true), fixture.db.clone());
            let owner = ann.clone();
            async move { case(&accounts, &db, &owner, "x").await.unwrap() }
        };
        let mut ids = at_once(8, mine).await;
        ids.dedup();
        assert_eq!(ids.len(), 1, "one name, one case");
        assert_eq!(fixture.count("SELECT COUNT(*) FROM archive_cases").await, 1);

        let share = |number: usize| {
            let (accounts, owner) = (accounts(&fixture.db, &fixture.clock, true), ann.clone());
            let access = if number.is_multiple_of(2) {
                SharePermission::Read
            } else {
                SharePermission::Write
            };
            async move { accounts.share(&owner, "x", "bob", access).await.unwrap().len() }
        };
        assert_eq!(at_once(8, share).await, [1; 8]);
        assert_eq!(fixture.accounts.visibility(&bob).await.unwrap().cases.len(), 1);

        // Bob makes a case of the name that Ann shares with him: one of the two comes first.
        for round in 0..8 {
            let name = format!("round {round}");
            fixture.case(&ann, &name).await.unwrap();
            let (accounts, sharing) = (fixture.accounts.clone(), fixture.accounts.clone());
            let (own, shared) = tokio::join!(
                case(&accounts, db, &bob, &name),
                sharing.share(&ann, &name, "bob", SharePermission::Read)
            );
            match (own, shared) {
                (Ok(_), shared) => refused(shared, Kind::Conflict, "case_name_taken"),
                (own, Ok(_)) => refused(own, Kind::Forbidden, "case_read_only"),
                (own, shared) => panic!("{own:?} {shared:?}"),
            }
        }
        assert_eq!(fixture.accounts.visibility(&bob).await.unwrap().cases.len(), 9);
    })
    .await;
}

/// Inserts many rows into an account's case list, or into a case, with one statement.
async fn fill(db: &Db, statement: &'static str, count: u64) {
    let count = i64::try_from(count).unwrap();
    assert_eq!(db.execute(sql(statement).bind(count)).await.unwrap(), count.unsigned_abs());
}

#[tokio::test]
async fn cases_and_members_are_bounded() {
    let folder = testkit::TempFolder::new();
    let db = Db::open(&store::StoreConfig::sqlite(folder.path())).await.unwrap();
    let fixture = Fixture::new(&db).await;
    let accounts = &fixture.accounts;
    let (ann, bob) = (fixture.user("ann").await.owner(), fixture.user("bob").await.owner());
    fixture.case(&ann, "x").await.unwrap();
    accounts.share(&ann, "x", "bob", SharePermission::Read).await.unwrap();
    fill(
        &db,
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1) \
         INSERT INTO archive_members SELECT 'c' || i, u, 'case ' || i, 1, 1 \
         FROM n, (SELECT member AS u FROM archive_members WHERE own = 1)",
        CASES_MAX - 1,
    )
    .await;
    refused(fixture.case(&ann, "one more").await, Kind::Invalid, "too_many_cases");
    fixture.case(&ann, "x").await.unwrap();
    assert_eq!(accounts.visibility(&ann).await.unwrap().cases.len() as u64, CASES_MAX);

    fill(
        &db,
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1) \
         INSERT INTO archive_members SELECT c, 'user:' || i, 'x', 0, 0 \
         FROM n, (SELECT case_id AS c FROM archive_members WHERE own = 0)",
        MEMBERS_MAX - 1,
    )
    .await;
    fixture.user("cid").await;
    let full = accounts.share(&ann, "x", "cid", SharePermission::Read).await;
    refused(full, Kind::Invalid, "too_many_members");
    accounts.share(&ann, "x", "bob", SharePermission::Write).await.unwrap();
    assert!(
        fixture
            .accounts
            .visibility(&bob)
            .await
            .unwrap()
            .case_named("x")
            .is_some_and(|it| it.may_write)
    );
}
