//! Login, refresh and logout.

use super::*;
use crate::{SESSION_LIFE, SESSIONS_MAX, session_of};

#[tokio::test]
async fn wrong_users_and_wrong_passwords_get_the_same_error() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let ann = fixture.user("Ann").await;
        let session = fixture.login("aNn").await;
        assert_eq!(session.user, ann);
        assert_eq!(fixture.accounts.owner(&session.subject()).await.unwrap(), ann.owner());
        let long = "x".repeat(10_000);
        let wrong = [
            ("Ann", "wrong horse"),
            ("Ann", ""),
            ("Ann", &long),
            ("nobody", PASSWORD),
            ("not a name", PASSWORD),
            ("a\0b", PASSWORD),
            (&long, &long),
        ];
        let mut words = Vec::new();
        for (username, password) in wrong {
            let fault = fixture.accounts.login(username, password, None).await.unwrap_err();
            assert_eq!((fault.kind(), fault.code()), (Kind::Unauthenticated, "wrong_credentials"));
            assert!(!format!("{fault:?}").contains("wrong horse"));
            words.push(fault.message().to_owned());
        }
        words.dedup();
        assert_eq!(words.len(), 1, "{words:?}");
        assert!(!format!("{session:?}").contains(session.refresh.reveal()));
    })
    .await;
}

#[tokio::test]
async fn guessers_are_slowed_and_others_are_not() {
    let folder = testkit::TempFolder::new();
    let db = Db::open(&store::StoreConfig::sqlite(folder.path())).await.unwrap();
    let fixture = Fixture::new(&db).await;
    fixture.user("ann").await;
    fixture.user("bob").await;
    for _ in 0..10 {
        let wrong = fixture.accounts.login("ann", "a wrong one", None).await;
        refused(wrong, Kind::Unauthenticated, "wrong_credentials");
    }
    let fault = fixture.accounts.login("ann", PASSWORD, None).await.unwrap_err();
    assert_eq!((fault.kind(), fault.code()), (Kind::RateLimited, "too_many_attempts"));
    assert_eq!(fault.retry_wait(), Some(seconds(6)));
    for _ in 0..12 {
        fixture.login("bob").await;
    }
    fixture.clock.advance(seconds(6));
    fixture.login("ann").await;
}

#[tokio::test]
async fn every_login_computes_a_hash_for_unknown_users_too() {
    let folder = testkit::TempFolder::new();
    let db = Db::open(&store::StoreConfig::sqlite(folder.path())).await.unwrap();
    let fixture = Fixture::new(&db).await;
    fixture.user("ann").await;
    let line = fixture.accounts.0.passwords.fill_login_queues();
    let long = "x".repeat(10_000);
    let tries = [("ann", PASSWORD), ("ann", &long), ("nobody", PASSWORD), ("not a name", PASSWORD)];
    for (username, password) in tries.iter().cycle().take(80) {
        let busy = fixture.accounts.login(username, password, None).await;
        refused(busy, Kind::Unavailable, "busy");
    }
    drop(line);
    // Nothing was guessed, so nothing is held against anybody.
    fixture.login("ann").await;
}

#[tokio::test]
async fn a_refresh_token_is_good_once() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let accounts = &fixture.accounts;
        fixture.user("ann").await;
        let first = fixture.login("ann").await;
        let other = fixture.login("ann").await;
        fixture.clock.advance(seconds(3600));
        let second = accounts.refresh(first.refresh.reveal()).await.unwrap();
        assert_eq!((&second.session_id, &second.user), (&first.session_id, &first.user));
        assert_eq!(second.refresh_expires.0 - first.refresh_expires.0, 3_600_000);
        assert_ne!(second.refresh, first.refresh);
        let third = accounts.refresh(second.refresh.reveal()).await.unwrap();

        // Within a moment it is a race, later a theft, and that ends the session for both sides.
        fixture.clock.advance(seconds(10));
        let raced = accounts.refresh(second.refresh.reveal()).await;
        refused(raced, Kind::Unauthenticated, "refresh_raced");
        assert_eq!(accounts.owner(&third.subject()).await.unwrap(), third.user.owner());
        fixture.clock.advance(seconds(1));
        let reused = accounts.refresh(first.refresh.reveal()).await.unwrap_err();
        assert_eq!((reused.kind(), reused.code()), (Kind::Unauthenticated, "refresh_reused"));
        assert!(reused.message().contains("the session has been ended"), "{reused}");
        let thief = accounts.refresh(third.refresh.reveal()).await;
        refused(thief, Kind::Unauthenticated, "session_ended");
        refused(accounts.owner(&third.subject()).await, Kind::Unauthenticated, "session_ended");
        accounts.refresh(other.refresh.reveal()).await.unwrap();

        let long = "x".repeat(100_000);
        for rubbish in ["", "refresh_stoa1_", &long, crate::refresh::new_token().unwrap().reveal()]
        {
            let fault = accounts.refresh(rubbish).await;
            refused(fault, Kind::Unauthenticated, "wrong_refresh_token");
            let fault = accounts.logout_by_refresh(rubbish).await;
            refused(fault, Kind::Unauthenticated, "wrong_refresh_token");
        }
    })
    .await;
}

#[tokio::test]
async fn of_two_refreshes_at_once_one_wins_and_the_session_stays() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        fixture.user("ann").await;
        let session = fixture.login("ann").await;
        let answers = at_once(8, |_| {
            let (accounts, token) =
                (accounts(&fixture.db, &fixture.clock, true), session.refresh.clone());
            async move { accounts.refresh(token.reveal()).await }
        })
        .await;
        let (good, bad): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
        assert_eq!(good.len(), 1);
        for one in bad {
            refused(one, Kind::Unauthenticated, "refresh_raced");
        }
        let winner = good.into_iter().next().unwrap().unwrap();
        fixture.accounts.refresh(winner.refresh.reveal()).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn sessions_end_by_logout_and_by_time_and_are_swept() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let accounts = &fixture.accounts;
        let user = fixture.user("ann").await;
        let by_id = fixture.login("ann").await;
        let by_refresh = accounts.start(&user, None).await.unwrap();
        let by_time = fixture.login("ann").await;
        accounts.logout(&by_id.session_id).await.unwrap();
        accounts.logout(&by_id.session_id).await.unwrap();
        accounts.logout("nothing").await.unwrap();
        accounts.logout_by_refresh(by_refresh.refresh.reveal()).await.unwrap();
        for ended in [&by_id, &by_refresh] {
            refused(accounts.owner(&ended.subject()).await, Kind::Unauthenticated, "session_ended");
            let refreshed = accounts.refresh(ended.refresh.reveal()).await;
            refused(refreshed, Kind::Unauthenticated, "session_ended");
        }
        assert_eq!(accounts.sweep().await.unwrap(), 0, "what ended today is remembered");
        fixture.clock.advance(SESSION_LIFE - seconds(1));
        assert_eq!(accounts.owner(&by_time.subject()).await.unwrap(), user.owner());
        assert_eq!(accounts.sweep().await.unwrap(), 2);
        fixture.clock.advance(seconds(1));
        refused(accounts.owner(&by_time.subject()).await, Kind::Unauthenticated, "session_ended");
        let late = accounts.refresh(by_time.refresh.reveal()).await;
        refused(late, Kind::Unauthenticated, "session_ended");
        assert_eq!(accounts.sweep().await.unwrap(), 1);
        assert_eq!(fixture.count("SELECT COUNT(*) FROM archive_refreshes").await, 0);
    })
    .await;
}

#[tokio::test]
async fn sessions_and_their_tokens_are_bounded() {
    let folder = testkit::TempFolder::new();
    let db = Db::open(&store::StoreConfig::sqlite(folder.path())).await.unwrap();
    let fixture = Fixture::new(&db).await;
    let user = fixture.user("ann").await;
    let first = fixture.accounts.start(&user, None).await.unwrap();
    fixture.clock.advance(seconds(1));
    let mut latest = fixture.accounts.start(&user, None).await.unwrap();
    for _ in 1..SESSIONS_MAX - 1 {
        fixture.accounts.start(&user, None).await.unwrap();
    }
    fixture.accounts.owner(&first.subject()).await.unwrap();
    fixture.accounts.start(&user, None).await.unwrap();
    refused(fixture.accounts.owner(&first.subject()).await, Kind::Unauthenticated, "session_ended");
    assert_eq!(fixture.accounts.list().await.unwrap()[0].sessions, u64::from(SESSIONS_MAX));

    for _ in 0..150 {
        latest = fixture.accounts.refresh(latest.refresh.reveal()).await.unwrap();
    }
    let tokens = fixture.count(
        "SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM archive_refreshes GROUP BY session_id)",
    );
    assert_eq!(tokens.await, 101);
}

#[test]
fn a_subject_with_a_session_is_recognized() {
    let (user, session) =
        ("0192f3a4-b5c6-7000-8000-000000000001", "0192f3a4-b5c6-7000-8000-000000000002");
    assert_eq!(session_of(&format!("user:{user}/{session}")), Some((user, session)));
    for other in [
        "cli",
        "user:ann",
        "user:ann/1",
        "",
        "user:/",
        &format!("user:{user}"),
        &format!("token:{user}/{session}"),
    ] {
        assert_eq!(session_of(other), None, "{other}");
    }
}

#[tokio::test]
async fn tokens_without_a_session_own_by_their_subject() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let accounts = &fixture.accounts;
        for subject in ["cli", "user:ann", "user:1/2"] {
            assert_eq!(accounts.owner(subject).await.unwrap(), format!("token:{subject}"));
        }
        let (ann, bob) = (fixture.user("ann").await, fixture.user("bob").await);
        let session = fixture.login("ann").await;
        let swapped = format!("user:{}/{}", bob.id, session.session_id);
        refused(accounts.owner(&swapped).await, Kind::Unauthenticated, "session_ended");
        assert_eq!(accounts.owner(&session.subject()).await.unwrap(), ann.owner());
    })
    .await;
}
