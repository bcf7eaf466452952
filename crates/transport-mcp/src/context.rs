//! Reads a request's id, credential and view from its extensions and headers.

use std::sync::Arc;

use contract::{Credential, RequestMeta, View};
use http::HeaderMap;
use http::request::Parts;
use rmcp::model::{Extensions, MetaObject};
use transport_http::fresh_request_id;

use crate::sessions::SessionEnd;

/// The request's id and credential: what [`crate::authentication`] attached to an HTTP request, or
/// a fresh id and `own` on a transport without headers.
pub(crate) fn request_meta(extensions: &Extensions, own: &Credential) -> RequestMeta {
    let parts = extensions.get::<Parts>();
    let known = parts.and_then(|parts| parts.extensions.get::<RequestMeta>());
    let fresh = || RequestMeta::new(fresh_request_id(), own.clone());
    known.cloned().unwrap_or_else(fresh)
}

/// Removes the credential from a call's `_meta`, where it is `{"auth": {"token": "…"}}`, so that
/// nothing can repeat it. A token that is not a string counts as an empty, invalid one.
pub(crate) fn take_meta_credential(meta: &mut MetaObject) -> Option<Credential> {
    let auth = meta.remove("auth")?;
    let token = auth.get("token")?;
    Some(Credential::Bearer(Arc::from(token.as_str().unwrap_or_default())))
}

/// Waits for the end of the request's session; for ever if it has none.
pub(crate) async fn session_over(extensions: &Extensions) {
    let parts = extensions.get::<Parts>();
    match parts.and_then(|parts| parts.extensions.get::<SessionEnd>()) {
        Some(SessionEnd(end)) => end.cancelled().await,
        None => std::future::pending().await,
    }
}

/// The view that a request's headers ask for. It is applied on top of the server's own view, so it
/// can only hide.
pub(crate) fn narrowing(extensions: &Extensions) -> Option<View> {
    let headers = &extensions.get::<Parts>()?.headers;
    let services = list(headers, "x-stoa-services");
    let tools = list(headers, "x-stoa-tools");
    let read_only = headers.get("x-stoa-read-only").is_some_and(|value| {
        // Any value but a plain "no" narrows, so that a misspelt "yes" is still safe.
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

    #[test]
    fn an_http_request_carries_its_own_meta() {
        let request_id = Arc::from("r-1");
        let known = RequestMeta::new(request_id, Credential::None);
        let own = Credential::Bearer(Arc::from("env"));
        let found = request_meta(&extensions(&[], Some(known)), &own);
        assert_eq!(&*found.request_id, "r-1");
        assert!(matches!(found.credential, Credential::None));
    }

    #[test]
    fn without_headers_the_transports_own_credential_counts_and_ids_differ() {
        let own = Credential::Bearer(Arc::from("env"));
        let [one, two] = [(); 2].map(|()| request_meta(&Extensions::new(), &own));
        assert!(matches!(&one.credential, Credential::Bearer(token) if &**token == "env"));
        assert_ne!(one.request_id, two.request_id);
    }

    #[track_caller]
    fn check_meta_credential(meta: Value, expected: Option<&str>) {
        let Value::Object(meta) = meta else { panic!("a context is an object") };
        let mut meta = MetaObject(meta);
        let found = take_meta_credential(&mut meta);
        let token = match &found {
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
