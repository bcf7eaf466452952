//! Concurrent calls of many users: in any order, no caller receives an internal fault.

use super::*;
use crate::SharePermission;

/// The codes a caller may receive while other callers change the same rows.
const EXPECTED: [&str; 8] = [
    "wrong_credentials",
    "session_ended",
    "wrong_refresh_token",
    "refresh_raced",
    "unknown_user",
    "case_name_taken",
    "user_not_found",
    "case_read_only",
];

#[track_caller]
fn fair<T>(answer: Result<T, Fault>) -> Option<T> {
    match answer {
        Ok(answer) => Some(answer),
        Err(fault) => {
            assert!(EXPECTED.contains(&fault.code()), "{fault:?}");
            None
        }
    }
}

#[tokio::test]
async fn concurrent_users_do_not_block_each_other() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let ann = fixture.user("ann").await;
        fixture.user("bob").await;
        fixture.case(&ann.owner(), "shared").await.unwrap();
        at_once(8, |number| {
            let accounts = accounts(&fixture.db, &fixture.clock, true);
            let (db, ann) = (fixture.db.clone(), ann.clone());
            async move {
                for round in 0..8_usize {
                    step(&accounts, &db, &ann, number, round).await;
                }
            }
        })
        .await;
        // A removed user sees nothing, and a case that two calls shared at once is shared once.
        let strangers = "SELECT COUNT(*) FROM archive_members WHERE own = FALSE AND \
             SUBSTR(member, 6) NOT IN (SELECT id FROM archive_users)";
        assert_eq!(fixture.count(strangers).await, 0);
        let members = "SELECT COUNT(*) FROM archive_members WHERE own = FALSE";
        assert!(fixture.count(members).await <= 1);
        assert_eq!(fixture.count("SELECT COUNT(*) FROM archive_users").await, 2);
    })
    .await;
}

async fn step(accounts: &Accounts, db: &Db, ann: &User, number: usize, round: usize) {
    match number {
        // One who comes and goes.
        0 if round.is_multiple_of(4) => {
            fair(accounts.remove("bob").await);
            accounts.add("bob", PASSWORD, None).await.unwrap();
        }
        // Two who share with that one, and take it back.
        1 | 2 => {
            let access = [SharePermission::Read, SharePermission::Write, SharePermission::None]
                [(number + round) % 3];
            fair(accounts.share(&ann.owner(), "shared", "bob", access).await);
        }
        // One who signs in as that one, and makes a case of the same name.
        3 => {
            if let Some(session) = fair(accounts.login("bob", PASSWORD, None).await) {
                fair(case(accounts, db, &session.user.owner(), "mine").await);
                fair(accounts.refresh(session.refresh.reveal()).await);
            }
        }
        // Users who sign in, refresh twice at once, and sign out.
        4..=6 => {
            let session = accounts.start(ann, None).await.unwrap();
            let (token, id) = (session.refresh.reveal(), &session.session_id);
            let (one, two, out) =
                tokio::join!(accounts.refresh(token), accounts.refresh(token), accounts.logout(id));
            fair(one);
            fair(two);
            out.unwrap();
        }
        _ => {
            fair(case(accounts, db, &ann.owner(), &format!("case {}", round % 3)).await);
            accounts.sweep().await.unwrap();
        }
    }
}
