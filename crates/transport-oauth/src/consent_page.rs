//! The consent page: it names the client and what it asks for, and has a form for the user's
//! password. It has no script, no frame may show it, and everything that a client chose is escaped.

use std::fmt::Write as _;
use std::sync::LazyLock;

use auth::KNOWN_SCOPES;
use axum::response::{Html, IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use http::{HeaderValue, StatusCode, Uri};
use sha2::{Digest as _, Sha256};

use crate::authorization_request::AuthorizationRequest;
use crate::endpoint::AUTHORIZE;
use crate::redirect_uri::Destination;
use crate::storage::{Client, ClientKind};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:30rem;margin:3rem auto;\
padding:0 1rem;color:#1c1c1c;background:#fafaf7}h1{font-size:1.3rem}label{display:block;\
margin:.8rem 0 .2rem}input{font:inherit;width:100%;box-sizing:border-box;padding:.4rem}\
button{font:inherit;padding:.5rem 1.2rem;margin:1.2rem .6rem 0 0}.problem{color:#a00000}";

/// The style is allowed by its hash.
static STYLE_HASH: LazyLock<String> =
    LazyLock::new(|| STANDARD.encode(Sha256::digest(STYLE.as_bytes())));

pub(crate) struct ConsentPage<'a> {
    pub(crate) request: &'a AuthorizationRequest,
    pub(crate) csrf: &'a str,
    pub(crate) problem: Option<&'a str>,
}

impl ConsentPage<'_> {
    pub(crate) fn response(&self, status: StatusCode) -> Response {
        let mut response = (status, Html(self.html())).into_response();
        add_headers(&mut response, Some(&self.request.destination));
        response
    }

    fn html(&self) -> String {
        let request = self.request;
        let name = match request.client.name.as_str() {
            "" => "An application",
            name => name,
        };
        let mut body = format!(
            "<h1>{} asks for access</h1><p>{} After you answer, your browser goes to <b>{}</b>.</p>",
            escaped(name),
            client_origin(&request.client),
            escaped(&destination_text(&request.destination))
        );
        let reach = match &request.service {
            Some(service) => format!("the {service} of this Stoa server"),
            None => "this Stoa server".to_owned(),
        };
        _ = write!(
            body,
            "<p>If you allow it, it may do this at {}, in your name:</p><ul>",
            escaped(&reach)
        );
        for (scope, opens) in KNOWN_SCOPES {
            if request.scopes.contains(scope) {
                _ = write!(body, "<li>{} (<code>{scope}</code>)</li>", escaped(opens));
            }
        }
        body.push_str("</ul><p>Allow it only if you have just asked it to connect.</p>");
        if let Some(problem) = self.problem {
            _ = write!(body, "<p class=\"problem\" role=\"alert\">{}</p>", escaped(problem));
        }
        body.push_str(&self.form());
        document(&body)
    }

    fn form(&self) -> String {
        let request = self.request;
        let scope = request.scopes.to_string().replace(',', " ");
        let mut form = format!("<form method=\"post\" action=\"{AUTHORIZE}\" autocomplete=\"on\">");
        for (name, value) in [
            ("csrf", Some(self.csrf)),
            ("response_type", Some("code")),
            ("client_id", Some(request.client.id.as_str())),
            ("redirect_uri", Some(request.redirect_uri.as_str())),
            ("state", request.state.as_deref()),
            ("scope", Some(scope.as_str())),
            ("resource", request.resource.as_deref()),
            ("code_challenge", Some(request.challenge.as_str())),
            ("code_challenge_method", Some("S256")),
        ] {
            if let Some(value) = value {
                let value = escaped(value);
                _ = write!(form, "<input type=\"hidden\" name=\"{name}\" value=\"{value}\">");
            }
        }
        form.push_str(
            "<label for=\"username\">Username</label>\
             <input id=\"username\" name=\"username\" autocomplete=\"username\">\
             <label for=\"password\">Password</label>\
             <input id=\"password\" name=\"password\" type=\"password\" \
             autocomplete=\"current-password\">\
             <button name=\"decision\" value=\"allow\">Log in and allow</button>\
             <button name=\"decision\" value=\"deny\">Deny</button></form>",
        );
        form
    }
}

/// What is known about who runs the client, as HTML.
fn client_origin(client: &Client) -> String {
    let uri = match client.kind {
        ClientKind::Registered => None,
        ClientKind::Document => client.id.parse::<Uri>().ok(),
    };
    match uri.as_ref().and_then(Uri::authority) {
        Some(site) => format!(
            "<b>{}</b> describes it; nothing else is checked about who runs it.",
            escaped(site.as_str())
        ),
        None => "It is not checked who runs it.".to_owned(),
    }
}

/// The destination in words for the user.
fn destination_text(destination: &Destination) -> String {
    match destination {
        Destination::Site(origin) => origin.clone(),
        Destination::Loopback => "a program on your own machine".to_owned(),
        Destination::Scheme(scheme) => format!("the program that opens {scheme}: links"),
    }
}

/// A page that only says what is wrong.
pub(crate) fn error(status: StatusCode, message: &str) -> Response {
    let body = format!(
        "<h1>This request cannot be answered</h1><p class=\"problem\">{}</p>",
        escaped(message)
    );
    let mut response = (status, Html(document(&body))).into_response();
    add_headers(&mut response, None);
    response
}

fn document(body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>Stoa</title>\
         <style>{STYLE}</style></head><body>{body}</body></html>"
    )
}

/// The headers of every page: nothing is loaded, framed or cached. The form may lead to this server
/// and on to the client, because browsers apply the policy to the redirect after a form too.
pub(crate) fn add_headers(response: &mut Response, destination: Option<&Destination>) {
    let next = match destination {
        Some(Destination::Site(_)) => " https:".to_owned(),
        // A policy cannot name the address [::1].
        Some(Destination::Loopback) => " http:".to_owned(),
        Some(Destination::Scheme(scheme)) => format!(" {scheme}:"),
        None => String::new(),
    };
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; form-action 'self'{next}; frame-ancestors \
         'none'; base-uri 'none'",
        *STYLE_HASH
    );
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    for (name, value) in [
        (X_FRAME_OPTIONS, "DENY"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // With `no-referrer` a browser would send the form with the origin `null`.
        (REFERRER_POLICY, "same-origin"),
        (CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// Text for HTML, also inside a quoted attribute.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}
