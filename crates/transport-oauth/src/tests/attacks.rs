//! Attacks: on codes, on refresh tokens, on the form, on passwords and on the registration.

use std::time::Duration;

use super::*;

#[tokio::test]
async fn a_code_is_exchanged_once_by_its_own_client_with_its_own_verifier() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let (client, other) = (fixture.client().await, fixture.client().await);
        let code = fixture.code(&client).await;
        let form = exchange(&client, &code);
        let long = "x".repeat(43);
        for (name, value, error) in [
            ("code_verifier", Some(long.as_str()), "invalid_grant"),
            ("code_verifier", None, "invalid_request"),
            ("redirect_uri", Some("https://claude.ai/cb"), "invalid_grant"),
            ("redirect_uri", None, "invalid_request"),
            ("client_id", Some(other.as_str()), "invalid_grant"),
            ("client_id", None, "invalid_request"),
            ("code", Some("code_stoa1_made-up"), "invalid_grant"),
            ("resource", Some("http://stoa.example/mcp/quotes"), "invalid_target"),
            ("resource", Some("http://evil.example/mcp"), "invalid_target"),
            ("grant_type", Some("password"), "unsupported_grant_type"),
        ] {
            let answer = fixture.post("/oauth/token", &but(&form, name, value), None).await;
            answer.refused(error);
        }
        let (access, refresh) = pair(&fixture.exchange(&client, &code).await);
        assert_eq!(fixture.verified(&access).await, "ok");
        // The second use ends what the first one gave.
        fixture.exchange(&client, &code).await.refused("invalid_grant");
        assert_eq!(fixture.verified(&access).await, "token_revoked");
        fixture.refresh(&client, &refresh).await.refused("invalid_grant");
    })
    .await;
}

#[tokio::test]
async fn a_code_lives_for_a_minute() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let client = fixture.client().await;
        let code = fixture.code(&client).await;
        fixture.clock.advance(Duration::from_secs(60));
        fixture.exchange(&client, &code).await.refused("invalid_grant");
    })
    .await;
}

#[tokio::test]
async fn a_refresh_token_used_twice_ends_the_grant() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let (client, other) = (fixture.client().await, fixture.client().await);
        let (_, first) = fixture.tokens(&client).await;
        fixture.refresh(&other, &first).await.refused("invalid_grant");
        let (access, second) = pair(&fixture.refresh(&client, &first).await);
        // The tool `auth` would give more scopes for it.
        assert!(fixture.accounts.refresh(&second).await.is_err());
        fixture.clock.advance(Duration::from_secs(11));
        fixture.refresh(&client, &first).await.refused("invalid_grant");
        assert_eq!(fixture.verified(&access).await, "token_revoked");
        fixture.refresh(&client, &second).await.refused("invalid_grant");
        // A refresh token of the tool `auth` is none of a client.
        let session = fixture.accounts.login("ada", PASSWORD, None).await.unwrap();
        fixture.refresh(&client, session.refresh.reveal()).await.refused("invalid_grant");
        assert!(fixture.accounts.refresh(session.refresh.reveal()).await.is_ok());
    })
    .await;
}

#[tokio::test]
async fn a_request_that_cannot_be_trusted_is_not_redirected() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let client = fixture.client().await;
        let challenge = random::hash(VERIFIER);
        let good = request(&client, &challenge);
        for (name, value) in [
            ("client_id", Some("client_made-up")),
            ("client_id", None),
            ("redirect_uri", Some("http://127.0.0.1:3000/callback/")),
            ("redirect_uri", Some("http://127.0.0.1:3001/callback")),
            ("redirect_uri", Some("https://evil.example/")),
            ("redirect_uri", None),
        ] {
            let (answer, _) = fixture.page(&but(&good, name, value)).await;
            assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{name} {value:?}");
            assert!(!answer.headers.contains_key(LOCATION), "{name} {value:?}");
        }
        for (name, value, error) in [
            ("response_type", Some("token"), "unsupported_response_type"),
            ("code_challenge_method", Some("plain"), "invalid_request"),
            ("code_challenge_method", None, "invalid_request"),
            ("code_challenge", None, "invalid_request"),
            ("code_challenge", Some("short"), "invalid_request"),
            ("scope", Some("admin"), "invalid_scope"),
            ("resource", Some("https://evil.example/mcp"), "invalid_target"),
        ] {
            let (answer, _) = fixture.page(&but(&good, name, value)).await;
            assert_eq!(answer.sent("error").as_deref(), Some(error), "{name} {value:?}");
            assert_eq!(answer.sent("state").as_deref(), Some("s & t"));
        }
        let twice = [good.clone(), vec![("client_id", "x")]].concat();
        assert_eq!(fixture.page(&twice).await.0.status, StatusCode::BAD_REQUEST);
    })
    .await;
}

#[tokio::test]
async fn a_form_is_accepted_only_from_the_browser_that_showed_it() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let client = fixture.client().await;
        let challenge = random::hash(VERIFIER);
        let request = request(&client, &challenge);
        let (page, cookie) = fixture.page(&request).await;
        let set = page.headers[SET_COOKIE].to_str().unwrap();
        assert!(set.ends_with("; Path=/oauth/authorize; HttpOnly; SameSite=Strict"), "{set}");
        let policy = page.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
        assert_eq!(page.headers["x-frame-options"], "DENY");
        let mut form = request.clone();
        form.extend([("username", "ada"), ("password", PASSWORD), ("decision", "allow")]);
        let other = "x".repeat(43);
        for (field, sent) in [
            (None, Some(cookie.as_str())),
            (Some(cookie.as_str()), None),
            (Some(other.as_str()), Some(cookie.as_str())),
            (Some(""), Some("")),
        ] {
            let mut form = form.clone();
            form.extend(field.map(|field| ("csrf", field)));
            let answer = fixture.post("/oauth/authorize", &form, sent).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{field:?} {sent:?}");
            assert!(!answer.headers.contains_key(LOCATION));
        }
    })
    .await;
}

#[tokio::test]
async fn failed_logins_on_the_page_count_with_those_of_the_archive() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let client = fixture.client().await;
        let challenge = random::hash(VERIFIER);
        let request = request(&client, &challenge);
        let here = Some(IpAddr::from([192, 0, 2, 1]));
        for _ in 0..5 {
            let answer = fixture.allow(&request, "wrong horse").await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{}", answer.text);
            assert!(answer.text.contains("the username or the password is wrong"));
            assert!(!answer.text.contains("wrong horse"));
            assert!(fixture.accounts.login("ada", "wrong horse", here).await.is_err());
        }
        let answer = fixture.allow(&request, PASSWORD).await;
        assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS, "{}", answer.text);
        assert!(answer.headers.contains_key("retry-after"));
    })
    .await;
}

#[tokio::test]
async fn registrations_are_checked_and_have_a_rate() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        for (metadata, error) in [
            (json!({}), "invalid_redirect_uri"),
            (json!([]), "invalid_client_metadata"),
            (json!({ "redirect_uris": "https://a.example" }), "invalid_client_metadata"),
            (json!({ "redirect_uris": [] }), "invalid_redirect_uri"),
            (json!({ "redirect_uris": vec!["https://a.example"; 11] }), "invalid_redirect_uri"),
            (json!({ "redirect_uris": ["http://a.example/cb"] }), "invalid_redirect_uri"),
            (json!({ "redirect_uris": ["javascript:alert(1)"] }), "invalid_redirect_uri"),
        ] {
            fixture.register(&metadata).await.refused(error);
        }
        let good = json!({ "redirect_uris": ["https://a.example/cb"] });
        let mut made = 7;
        let refused = loop {
            let answer = fixture.register(&good).await;
            match answer.status {
                StatusCode::CREATED => made += 1,
                _ => break answer,
            }
        };
        assert_eq!((refused.status, made), (StatusCode::TOO_MANY_REQUESTS, 20));
        assert!(refused.headers.contains_key("retry-after"));
        fixture.clock.advance(Duration::from_secs(31));
        assert_eq!(fixture.register(&good).await.status, StatusCode::CREATED);
    })
    .await;
}
