//! Registering, and what the operator does.

use super::*;

#[tokio::test]
async fn names_and_addresses_are_taken_once() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let accounts = &fixture.accounts;
        let ann = accounts.register("Ann", PASSWORD, Some("ann@example.org"), None).await.unwrap();
        assert_eq!((ann.username.as_str(), ann.email.as_deref()), ("Ann", Some("ann@example.org")));
        assert_eq!(ann.owner(), format!("user:{}", ann.id));
        let again = accounts.register("aNN", PASSWORD, None, None).await;
        refused(again, Kind::Conflict, "username_taken");
        let again = accounts.register("bob", PASSWORD, Some("ANN@example.org"), None).await;
        refused(again, Kind::Conflict, "email_taken");
        // Several users may have no address.
        fixture.user("bob").await;
        fixture.user("cid").await;
        refused(
            accounts.register("b", PASSWORD, None, None).await,
            Kind::Invalid,
            "invalid_username",
        );
        refused(
            accounts.register("dan", "short", None, None).await,
            Kind::Invalid,
            "invalid_password",
        );
        let email = accounts.register("dan", PASSWORD, Some("at home"), None).await;
        refused(email, Kind::Invalid, "invalid_email");
        let names: Vec<_> =
            accounts.list().await.unwrap().into_iter().map(|it| it.user.username).collect();
        assert_eq!(names, ["Ann", "bob", "cid"]);
    })
    .await;
}

#[tokio::test]
async fn one_of_many_at_once_gets_the_name() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        // Each as a process of its own would do it.
        let made = at_once(6, |number| {
            let accounts = accounts(&fixture.db, &fixture.clock, true);
            let name = if number % 2 == 0 { "ann" } else { "ANN" };
            async move { accounts.register(name, PASSWORD, None, None).await }
        })
        .await;
        let (good, bad): (Vec<_>, Vec<_>) = made.into_iter().partition(Result::is_ok);
        assert_eq!(good.len(), 1);
        for one in bad {
            refused(one, Kind::Conflict, "username_taken");
        }
        assert_eq!(fixture.count("SELECT COUNT(*) FROM archive_users").await, 1);
    })
    .await;
}

#[tokio::test]
async fn where_registration_is_closed_the_operator_adds_users() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let closed = accounts(db, &fixture.clock, false);
        let fault = closed.register("ann", PASSWORD, None, None).await.unwrap_err();
        assert_eq!((fault.kind(), fault.code()), (Kind::Forbidden, "registration_closed"));
        assert!(fault.message().contains("stoa user add"), "{fault}");
        closed.add("ann", PASSWORD, None).await.unwrap();
        closed.login("ann", PASSWORD, None).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_removed_user_is_gone_and_their_cases_stay() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let accounts = &fixture.accounts;
        let (ann, bob) = (fixture.user("ann").await, fixture.user("bob").await);
        let session = fixture.login("ann").await;
        fixture.login("ann").await;
        let own = fixture.case(&ann.owner(), "hers").await.unwrap();
        fixture.case(&bob.owner(), "his").await.unwrap();
        accounts.share(&ann.owner(), "hers", "bob", crate::SharePermission::Read).await.unwrap();
        accounts.share(&bob.owner(), "his", "ann", crate::SharePermission::Read).await.unwrap();
        let listed = accounts.list().await.unwrap();
        assert_eq!(listed.iter().map(|it| it.sessions).collect::<Vec<_>>(), [2, 0]);

        let removed = accounts.remove("ANN").await.unwrap();
        assert_eq!((removed.user.id, removed.sessions_ended, removed.cases_left), (ann.id, 2, 1));
        refused(accounts.remove("ann").await, Kind::NotFound, "user_not_found");
        refused(accounts.owner(&session.subject()).await, Kind::Unauthenticated, "session_ended");
        let refreshed = accounts.refresh(session.refresh.reveal()).await;
        refused(refreshed, Kind::Unauthenticated, "wrong_refresh_token");
        refused(
            accounts.login("ann", PASSWORD, None).await,
            Kind::Unauthenticated,
            "wrong_credentials",
        );

        let visibility = accounts.visibility(&bob.owner()).await.unwrap();
        assert!(visibility.case(&own).is_some(), "what was shared is still there for others");
        assert_eq!(
            accounts
                .share(&bob.owner(), "his", "bob", crate::SharePermission::Read)
                .await
                .unwrap_err()
                .code(),
            "own_case"
        );
        // The name is free, and the next user with it inherits nothing.
        let other = fixture.user("ann").await;
        assert!(accounts.visibility(&other.owner()).await.unwrap().cases.is_empty());
        assert_eq!(
            fixture.count("SELECT COUNT(*) FROM archive_members WHERE own = FALSE").await,
            1
        );
    })
    .await;
}

#[tokio::test]
async fn a_new_password_ends_what_the_old_one_began() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let accounts = &fixture.accounts;
        fixture.user("ann").await;
        let session = fixture.login("ann").await;
        let short = accounts.set_password("ann", "short").await;
        refused(short, Kind::Invalid, "invalid_password");
        assert_eq!(accounts.owner(&session.subject()).await.unwrap(), session.user.owner());
        assert_eq!(accounts.set_password("ann", "another horse").await.unwrap(), 1);
        refused(accounts.owner(&session.subject()).await, Kind::Unauthenticated, "session_ended");
        let refreshed = accounts.refresh(session.refresh.reveal()).await;
        refused(refreshed, Kind::Unauthenticated, "session_ended");
        refused(
            accounts.login("ann", PASSWORD, None).await,
            Kind::Unauthenticated,
            "wrong_credentials",
        );
        accounts.login("ann", "another horse", None).await.unwrap();
        let nobody = accounts.set_password("nobody", "another horse").await;
        refused(nobody, Kind::NotFound, "user_not_found");
    })
    .await;
}
