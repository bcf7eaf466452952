//! A client finds the endpoints, gets tokens, refreshes them and loses them.

use super::*;

#[tokio::test]
async fn the_metadata_lead_from_the_resource_to_the_endpoints() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        for (path, resource) in
            [("", "mcp"), ("/mcp", "mcp"), ("/mcp/", "mcp"), ("/mcp/archive", "mcp/archive")]
        {
            let found = fixture.get(&format!("/.well-known/oauth-protected-resource{path}")).await;
            let json = found.json();
            assert_eq!(json["resource"], format!("http://stoa.example/{resource}"), "{path}");
            assert_eq!(json["authorization_servers"], json!(["http://stoa.example"]));
            assert_eq!(json["scopes_supported"], json!(["read", "write"]));
        }
        let unknown = fixture.get("/.well-known/oauth-protected-resource/mcp/nothing").await;
        assert_eq!(unknown.status, StatusCode::NOT_FOUND);
        let server = fixture.get("/.well-known/oauth-authorization-server").await.json();
        assert_eq!(server["issuer"], "http://stoa.example");
        assert_eq!(server["token_endpoint"], "http://stoa.example/oauth/token");
        assert_eq!(server["code_challenge_methods_supported"], json!(["S256"]));
    })
    .await;
}

#[tokio::test]
async fn a_client_gets_what_the_user_allowed_until_it_is_revoked() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let client = fixture.client().await;
        let challenge = random::hash(VERIFIER);
        let (page, _) = fixture.page(&request(&client, &challenge)).await;
        assert_eq!(page.status, StatusCode::OK);
        for said in [
            "Chat &lt;b&gt; asks for access",
            "the archive of this Stoa server",
            "read everything that a tool can show",
            "a program on your own machine",
        ] {
            assert!(page.text.contains(said), "{said}: {}", page.text);
        }
        assert!(!page.text.contains("<script") && !page.text.contains("set pricing policies"));
        let answer = fixture.allow(&request(&client, &challenge), PASSWORD).await;
        assert_eq!(answer.sent("state").as_deref(), Some("s & t"));
        assert_eq!(answer.sent("iss").as_deref(), Some("http://stoa.example"));
        let tokens = fixture.exchange(&client, &answer.sent("code").unwrap()).await;
        assert_eq!(
            (&tokens.json()["scope"], &tokens.json()["expires_in"]),
            (&json!("read"), &json!(3600))
        );
        let (access, refresh) = pair(&tokens);
        let now = fixture.clock.now().0 / 1000;
        let grant = fixture.authority.verify(&access, now).await.unwrap();
        assert_eq!(grant.scopes.to_string(), "read");
        assert_eq!(grant.limits.service.as_deref(), Some(&["archive".to_owned()][..]));
        let owner = fixture.accounts.owner(&grant.subject).await.unwrap();
        assert!(owner.starts_with("user:"), "{owner}");

        fixture.clock.advance(std::time::Duration::from_secs(3_601));
        assert_eq!(fixture.verified(&access).await, "token_expired");
        let (access, refresh) = pair(&fixture.refresh(&client, &refresh).await);
        assert_eq!(fixture.verified(&access).await, "ok");
        let wider = [
            ("grant_type", "refresh_token"),
            ("client_id", client.as_str()),
            ("refresh_token", refresh.as_str()),
            ("scope", "read write"),
        ];
        fixture.post("/oauth/token", &wider, None).await.refused("invalid_scope");
        let (access, refresh) = pair(&fixture.refresh(&client, &refresh).await);
        for token in ["unknown", access.as_str()] {
            let revoke = [("token", token), ("client_id", client.as_str())];
            assert_eq!(fixture.post("/oauth/revoke", &revoke, None).await.status, StatusCode::OK);
        }
        assert_eq!(fixture.verified(&access).await, "token_revoked");
        assert!(fixture.accounts.owner(&grant.subject).await.is_err());
        fixture.refresh(&client, &refresh).await.refused("invalid_grant");
    })
    .await;
}

#[tokio::test]
async fn removing_a_user_ends_the_access_of_the_clients() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let client = fixture.client().await;
        let (_, refresh) = fixture.tokens(&client).await;
        fixture.accounts.remove("ada").await.unwrap();
        fixture.refresh(&client, &refresh).await.refused("invalid_grant");
    })
    .await;
}

#[tokio::test]
async fn a_user_may_deny() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let client = fixture.client().await;
        let challenge = random::hash(VERIFIER);
        let request = request(&client, &challenge);
        let (_, cookie) = fixture.page(&request).await;
        let mut form = request.clone();
        form.extend([("decision", "deny"), ("csrf", cookie.as_str())]);
        let answer = fixture.post("/oauth/authorize", &form, Some(&cookie)).await;
        assert_eq!(answer.sent("error").as_deref(), Some("access_denied"));
        assert_eq!(answer.sent("code"), None);
    })
    .await;
}

#[tokio::test]
async fn an_unused_client_is_forgotten_after_a_day() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let (unused, used) = (fixture.client().await, fixture.client().await);
        fixture.tokens(&used).await;
        fixture.clock.advance(std::time::Duration::from_secs(86_401));
        let challenge = random::hash(VERIFIER);
        let (page, _) = fixture.page(&request(&used, &challenge)).await;
        assert_eq!(page.status, StatusCode::OK);
        let (page, _) = fixture.page(&request(&unused, &challenge)).await;
        assert_eq!(page.status, StatusCode::BAD_REQUEST, "{}", page.text);
    })
    .await;
}
