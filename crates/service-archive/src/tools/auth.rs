//! `auth`: registers, logs in, refreshes and logs out. Accounts keep users and sessions; the
//! [`TokenIssuer`] signs the tokens.

use std::sync::Arc;
use std::time::Duration;

use archive_accounts::{Secret, Session};
use async_trait::async_trait;
use clock::Millis;
use contract::{Credential, Cx, JsonReply, LoginChange, next_step};
use fault::Fault;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Archive;
use crate::wire::{put, reply};

const TOKEN_LIFE: Duration = Duration::from_secs(24 * 3600);

#[derive(Debug)]
pub struct IssuedToken {
    pub token: Secret,
    pub expires_at: Millis,
}

/// Issues the tokens of the archive's users, and of their upload links.
#[async_trait]
pub trait TokenIssuer: Send + Sync {
    /// A token with read and write access to the archive and nothing else.
    async fn issue(&self, subject: &str, ttl: Duration) -> Result<IssuedToken, Fault>;

    /// A token that can send the bytes of this one upload and do nothing else.
    async fn issue_upload(
        &self,
        subject: &str,
        upload_id: &str,
        ttl: Duration,
    ) -> Result<IssuedToken, Fault>;

    /// The subject of a token that is for this upload; a fault for every other token.
    async fn verify_upload(&self, token: &str, upload_id: &str) -> Result<String, Fault>;
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    action: Action,
    username: Option<String>,
    password: Option<String>,
    email: Option<String>,
    refresh_token: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Register,
    Login,
    Refresh,
    Logout,
}

pub(crate) async fn call(cx: Cx<Archive>, args: Args) -> Result<JsonReply, Fault> {
    let accounts = &cx.service.accounts;
    match args.action {
        Action::Register => {
            let (username, password) = credentials(&args)?;
            let email = args.email.as_deref().filter(|it| !it.is_empty());
            let user = accounts.register(username, password, email, cx.client).await?;
            let session = accounts.start(&user, cx.client).await?;
            signed_in(&cx, session, "Registered and logged in").await
        }
        Action::Login => {
            let (username, password) = credentials(&args)?;
            let session = accounts.login(username, password, cx.client).await?;
            signed_in(&cx, session, "Login successful").await
        }
        Action::Refresh => {
            let token = args.refresh_token.as_deref();
            let token = token.ok_or_else(|| missing(&[("refreshToken", "refresh")]))?;
            let session = accounts.refresh(token).await?;
            signed_in(&cx, session, "Token refreshed").await
        }
        Action::Logout => {
            match (&args.refresh_token, archive_accounts::session_of(&cx.caller.subject)) {
                (Some(token), _) => accounts.logout_by_refresh(token).await?,
                (None, Some((_, session))) => accounts.logout(session).await?,
                (None, None) => {
                    let message = "logout needs the session's refreshToken, or its token in the \
                                   Authorization header";
                    return Err(Fault::invalid("invalid_input", message)
                        .problem("refreshToken", "the refresh token of the session to end"));
                }
            }
            let json = json!({ "success": true, "message": "Logged out" });
            Ok(reply(json, "Logged out.").with_login(LoginChange::LoggedOut))
        }
    }
}

fn credentials(args: &Args) -> Result<(&str, &str), Fault> {
    let action = if matches!(args.action, Action::Register) { "register" } else { "login" };
    match (&args.username, &args.password) {
        (Some(username), Some(password)) => Ok((username, password)),
        (None, Some(_)) => Err(missing(&[("username", action)])),
        (Some(_), None) => Err(missing(&[("password", action)])),
        (None, None) => Err(missing(&[("username", action), ("password", action)])),
    }
}

fn missing(fields: &[(&str, &str)]) -> Fault {
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let action = fields.first().map_or("", |it| it.1);
    let message = format!("the action {action} needs {}", names.join(" and "));
    fields.iter().fold(Fault::invalid("invalid_input", message), |fault, (name, _)| {
        fault.problem(*name, "a value")
    })
}

async fn signed_in(cx: &Cx<Archive>, session: Session, message: &str) -> Result<JsonReply, Fault> {
    let issued = cx.service.tokens.issue(&session.subject(), TOKEN_LIFE).await?;
    let now = cx.service.clock.now();
    let mut user = json!({ "userId": session.user.id, "username": session.user.username });
    put(&mut user, "email", session.user.email.as_deref());
    let json: Value = json!({
        "success": true,
        "message": message,
        "token": issued.token.reveal(),
        "tokenType": "Bearer",
        "expiresAt": issued.expires_at.to_rfc3339_millis(),
        "expiresIn": (issued.expires_at.0 - now.0).max(0) / 1000,
        "refreshToken": session.refresh.reveal(),
        "refreshExpiresAt": session.refresh_expires.to_rfc3339_millis(),
        "user": user,
    });
    let next = next_step("arkiver_list_files", &json!({}));
    // Clients that show no structured content read the tokens from the text.
    let text = format!(
        "{message}. Token: {} (until {}). Refresh token, good once: {}{next}",
        issued.token.reveal(),
        issued.expires_at,
        session.refresh.reveal()
    );
    let session_text = format!("{message}, until {}.{next}", issued.expires_at);
    let token = Credential::Bearer(Arc::from(issued.token.reveal()));
    Ok(reply(json, text).with_session_text(session_text).with_login(LoginChange::LoggedIn(token)))
}
