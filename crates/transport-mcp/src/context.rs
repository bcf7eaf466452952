//! Who asks and under which id, and how far a request's headers narrow the view.

use std::sync::Arc;
use std::time::Duration;

use contract::{Credential, RequestMeta, View};
use http::HeaderMap;
use http::header::AUTHORIZATION;
use http::request::Parts;
use rmcp::model::{Extensions, MetaObject};

use crate::sessions::SessionEnd;

/// What the edge found out about a request. Where no edge stood in front, the request id is made
/// here and the credential is the `Authorization` header's, or `own` on a transport without headers.
pub(crate) fn arrival(extensions: &Extensions, own: &Credential) -> RequestMeta {
    let parts = extensions.get::<Parts>();
    if let Some(known) = parts.and_then(|parts| parts.extensions.get::<RequestMeta>()) {
        return known.clone();
    }
    let credential = parts.and_then(|parts| bearer(&parts.headers));
    RequestMeta {
        request_id: fresh_id(),
        retry_after_rate: None,
        credential: credential.unwrap_or_else(|| own.clone()),
    }
}

/// The credential that a call shows in its own context, as `{"auth": {"token": "…"}}`. Taken out, so
/// that nothing after this can repeat it. One that is no text is a credential all the same, and a
/// bad one.
pub(crate) fn take_meta_credential(meta: &mut MetaObject) -> Option<Credential> {
    let auth = meta.remove("auth")?;
    let token = auth.get("token")?;
    Some(Credential::Bearer(Arc::from(token.as_str().unwrap_or_default())))
}

/// How long the client must wait, where it has used up its rate.
pub(crate) fn retry_after_rate(extensions: &Extensions) -> Option<Duration> {
    extensions.get::<Parts>()?.extensions.get::<RequestMeta>()?.retry_after_rate
}

/// Waits for the end of the session that a request belongs to; for ever, where it has none.
pub(crate) async fn session_over(extensions: &Extensions) {
    let parts = extensions.get::<Parts>();
    match parts.and_then(|parts| parts.extensions.get::<SessionEnd>()) {
        Some(SessionEnd(end)) => end.cancelled().await,
        None => std::future::pending().await,
    }
}

/// The view a request's headers ask for, where they ask for any. It is applied on top of the
/// server's own view, so it can only hide.
pub(crate) fn narrowing(extensions: &Extensions) -> Option<View> {
    let headers = &extensions.get::<Parts>()?.headers;
    let services = list(headers, "x-stoa-services");
    let tools = list(headers, "x-stoa-tools");
    let read_only = headers.get("x-stoa-read-only").is_some_and(|value| {
        // Anything but a plain "no" narrows: a misspelt wish for safety is still one.
        !matches!(value.as_bytes(), b"false" | b"0" | b"")
    });
    (services.is_some() || tools.is_some() || read_only).then_some(View {
        service: None,
        services,
        tools,
        read_only,
        http: false,
    })
}

fn list(headers: &HeaderMap, name: &str) -> Option<Vec<String>> {
    let mut named = headers.get_all(name).iter().peekable();
    named.peek()?;
    let words = named.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    Some(words.map(str::trim).filter(|word| !word.is_empty()).map(ToOwned::to_owned).collect())
}

fn bearer(headers: &HeaderMap) -> Option<Credential> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty())
        .then(|| Credential::Bearer(Arc::from(token)))
}

/// Sixteen random bytes in hexadecimal. Without a source of randomness ids repeat, which spoils
/// correlation and nothing else.
fn fresh_id() -> Arc<str> {
    let mut bytes = [0_u8; 16];
    if getrandom::fill(&mut bytes).is_err() {
        return Arc::from("unknown");
    }
    Arc::from(format!("{:032x}", u128::from_be_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn extensions(headers: &[(&str, &str)], known: Option<RequestMeta>) -> Extensions {
        let mut request = http::Request::new(());
        for (name, value) in headers {
            let name: http::HeaderName = name.parse().unwrap();
            request.headers_mut().append(name, value.parse().unwrap());
        }
        if let Some(known) = known {
            request.extensions_mut().insert(known);
        }
        let mut extensions = Extensions::new();
        extensions.insert(request.into_parts().0);
        extensions
    }

    #[track_caller]
    fn check_bearer(header: &str, expected: Option<&str>) {
        let own = Credential::None;
        let found = arrival(&extensions(&[("authorization", header)], None), &own);
        let token = match &found.credential {
            Credential::Bearer(token) => Some(&**token),
            Credential::None => None,
        };
        assert_eq!(token, expected, "{header}");
    }

    #[test]
    fn a_bearer_header_is_the_credential() {
        check_bearer("Bearer abc", Some("abc"));
        check_bearer("bearer  abc ", Some("abc"));
        check_bearer("Basic abc", None);
        check_bearer("Bearer", None);
        check_bearer("Bearer ", None);
    }

    #[test]
    fn what_the_edge_knows_wins_over_the_headers() {
        let known = RequestMeta {
            request_id: Arc::from("r-1"),
            retry_after_rate: Some(Duration::from_secs(3)),
            credential: Credential::None,
        };
        let extensions = extensions(&[("authorization", "Bearer abc")], Some(known));
        let found = arrival(&extensions, &Credential::None);
        assert_eq!(&*found.request_id, "r-1");
        assert!(matches!(found.credential, Credential::None));
        assert_eq!(retry_after_rate(&extensions), Some(Duration::from_secs(3)));
    }

    #[test]
    fn without_headers_the_transports_own_credential_counts_and_ids_differ() {
        let own = Credential::Bearer(Arc::from("env"));
        let [one, two] = [(); 2].map(|()| arrival(&Extensions::new(), &own));
        assert!(matches!(&one.credential, Credential::Bearer(token) if &**token == "env"));
        assert_ne!(one.request_id, two.request_id);
    }

    #[track_caller]
    fn check_meta_credential(meta: Value, expected: Option<&str>) {
        let Value::Object(meta) = meta else { panic!("a context is an object") };
        let mut meta = MetaObject(meta);
        let told = take_meta_credential(&mut meta);
        let token = match &told {
            Some(Credential::Bearer(token)) => Some(&**token),
            _ => None,
        };
        assert_eq!(token, expected);
        assert!(meta.get("auth").is_none());
    }

    #[test]
    fn a_token_in_the_context_is_taken_out_of_it() {
        check_meta_credential(json!({ "auth": { "token": "t" }, "other": 1 }), Some("t"));
        check_meta_credential(json!({ "auth": { "token": 5 } }), Some(""));
        check_meta_credential(json!({ "auth": { "token": "" } }), Some(""));
        check_meta_credential(json!({ "auth": {} }), None);
        check_meta_credential(json!({ "auth": "t" }), None);
        check_meta_credential(json!({}), None);
    }

    #[track_caller]
    fn check_narrowing(headers: &[(&str, &str)], expected: Option<(Option<&[&str]>, bool)>) {
        let found = narrowing(&extensions(headers, None));
        let seen = found.as_ref().map(|view| {
            let services = view.services.as_ref();
            (services.map(|list| list.iter().map(String::as_str).collect()), view.read_only)
        });
        let expected =
            expected.map(|(services, read_only)| (services.map(<[_]>::to_vec), read_only));
        assert_eq!(seen, expected, "{headers:?}");
    }

    #[test]
    fn headers_name_what_stays_visible() {
        check_narrowing(&[], None);
        check_narrowing(&[("x-stoa-services", "a, b")], Some((Some(&["a", "b"]), false)));
        check_narrowing(&[("x-stoa-services", "")], Some((Some(&[]), false)));
        check_narrowing(&[("x-stoa-read-only", "true")], Some((None, true)));
        check_narrowing(&[("x-stoa-read-only", "yes")], Some((None, true)));
        check_narrowing(&[("x-stoa-read-only", "false")], None);
        check_narrowing(
            &[("x-stoa-services", "a"), ("x-stoa-services", "b")],
            Some((Some(&["a", "b"]), false)),
        );
    }
}
