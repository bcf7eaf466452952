//! The login of a session: once a sign-in tool has succeeded in a session of the older protocol or
//! over stdio, the later calls of that session to the tool's service carry the token it gave.
//!
//! A request of the 2026 protocol over HTTP has no session, so it carries its own token.

use std::net::IpAddr;
use std::sync::Arc;

use contract::{Credential, LoginChange};
use http::request::Parts;
use parking_lot::Mutex;
use rmcp::RoleServer;
use rmcp::service::RequestContext as Cx;

use crate::sessions::SessionEnd;
use crate::tasks::is_modern;

/// The token of one session; it ends with the session.
#[derive(Default)]
pub(crate) struct SessionLogin(Mutex<Option<HeldLogin>>);

struct HeldLogin {
    service: Arc<str>,
    credential: Credential,
    /// The address that logged in: a session id that another address has learned opens nothing.
    client: Option<IpAddr>,
}

impl SessionLogin {
    /// The token for calls of `service` from this address.
    pub(crate) fn credential(&self, service: &str, client: Option<IpAddr>) -> Option<Credential> {
        let held = self.0.lock();
        let held = held.as_ref()?;
        (*held.service == *service && held.client == client).then(|| held.credential.clone())
    }

    /// Applies what a tool of `service` changed, and returns a sentence about it for the model.
    pub(crate) fn apply(
        &self,
        change: LoginChange,
        service: &Arc<str>,
        client: Option<IpAddr>,
        in_session: bool,
    ) -> Option<String> {
        let mut held = self.0.lock();
        match change {
            LoginChange::LoggedIn(credential) if in_session => {
                *held = Some(HeldLogin { service: Arc::clone(service), credential, client });
                Some(format!(
                    "This session is logged in: call the tools of the {service} as they are, \
                     without a token, until a logout or until the token expires."
                ))
            }
            LoginChange::LoggedIn(_) => Some(
                "Requests of this protocol version have no session, so the login does not last: \
                 send the token with every call, in the header Authorization: Bearer, or as \
                 auth.token in _meta."
                    .to_owned(),
            ),
            LoginChange::LoggedOut => {
                *held = None;
                None
            }
        }
    }
}

/// Whether a request is part of a session: every one over stdio, and those of the older protocol
/// over HTTP.
pub(crate) fn is_in_session(cx: &Cx<RoleServer>) -> bool {
    match cx.extensions.get::<Parts>() {
        Some(parts) => parts.extensions.get::<SessionEnd>().is_some() && !is_modern(cx),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logged_in(token: &str) -> LoginChange {
        LoginChange::LoggedIn(Credential::Bearer(Arc::from(token)))
    }

    #[track_caller]
    fn check(login: &SessionLogin, service: &str, last: u8, expected: Option<&str>) {
        let found = login.credential(service, Some(IpAddr::from([192, 0, 2, last])));
        let token = found.as_ref().and_then(Credential::token).map(|token| &**token);
        assert_eq!(token, expected, "{service} {last}");
    }

    #[test]
    fn a_login_is_of_one_session_one_service_and_one_address() {
        let (login, other) = (SessionLogin::default(), SessionLogin::default());
        let archive: Arc<str> = Arc::from("archive");
        let here = Some(IpAddr::from([192, 0, 2, 1]));
        check(&login, "archive", 1, None);
        let said = login.apply(logged_in("one"), &archive, here, true).unwrap();
        assert!(said.contains("without a token"), "{said}");
        check(&login, "archive", 1, Some("one"));
        check(&login, "archive", 2, None);
        check(&login, "optimizer", 1, None);
        check(&other, "archive", 1, None);
        login.apply(logged_in("two"), &archive, here, true).unwrap();
        check(&login, "archive", 1, Some("two"));
        assert_eq!(login.apply(LoginChange::LoggedOut, &archive, here, true), None);
        check(&login, "archive", 1, None);
    }

    #[test]
    fn a_request_without_a_session_keeps_no_login() {
        let login = SessionLogin::default();
        let archive: Arc<str> = Arc::from("archive");
        let said = login.apply(logged_in("one"), &archive, None, false).unwrap();
        assert!(said.contains("auth.token in _meta"), "{said}");
        assert!(login.credential("archive", None).is_none());
    }
}
