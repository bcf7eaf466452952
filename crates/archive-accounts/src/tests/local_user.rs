//! The user of this machine, who does not log in.

use super::*;

#[tokio::test]
async fn the_local_user_is_created_once_and_has_no_login() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let accounts = &fixture.accounts;
        let subject = accounts.local_subject().await.unwrap();
        assert_eq!(accounts.local_subject().await.unwrap(), subject);
        let owner = accounts.owner(&subject).await.unwrap();
        assert!(owner.starts_with("user:") && !owner.contains('/'), "{owner}");
        assert_eq!(accounts.owner_name(&owner).await.unwrap(), "local");
        assert_eq!(accounts.list().await.unwrap().len(), 1);
        let again = accounts.register("Local", PASSWORD, None, None).await;
        refused(again, Kind::Conflict, "username_taken");
        for password in ["", "local", PASSWORD] {
            let login = accounts.login("local", password, None).await;
            refused(login, Kind::Unauthenticated, "wrong_credentials");
        }
        // With a password from the operator, the same user logs in over the network.
        accounts.set_password("local", PASSWORD).await.unwrap();
        let session = fixture.login("local").await;
        assert_eq!(accounts.owner(&session.subject()).await.unwrap(), owner);
        accounts.remove("local").await.unwrap();
        refused(accounts.owner(&subject).await, Kind::Unauthenticated, "session_ended");
    })
    .await;
}

#[tokio::test]
async fn a_user_of_the_same_name_is_not_the_local_user() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let other = fixture.user("local").await;
        let subject = fixture.accounts.local_subject().await.unwrap();
        let owner = fixture.accounts.owner(&subject).await.unwrap();
        assert_ne!(owner, other.owner());
        let name = fixture.accounts.owner_name(&owner).await.unwrap();
        assert!(name.starts_with("local-"), "{name}");
        assert_eq!(fixture.accounts.owner_name("token:cli").await.unwrap(), "cli");
        // Other subjects of that form are those of tokens.
        let made_up = format!("{}/local", other.owner());
        let owner = fixture.accounts.owner(&made_up).await.unwrap();
        assert_eq!(owner, format!("token:{made_up}"));
    })
    .await;
}

#[tokio::test]
async fn many_processes_at_once_make_one_local_user() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let subjects = at_once(8, |_| {
            let accounts = fixture.accounts.clone();
            async move { accounts.local_subject().await.unwrap() }
        })
        .await;
        assert!(subjects.windows(2).all(|pair| pair[0] == pair[1]), "{subjects:?}");
        assert_eq!(fixture.accounts.list().await.unwrap().len(), 1);
    })
    .await;
}
