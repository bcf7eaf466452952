//! The agent card: the description, the capabilities and the addresses of an agent.

use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, HOST, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};
use http_wire::EntityTag;
use serde_json::{Map, Value, json};

use crate::agent::Agent;
use crate::tool_agent::{JSON, TEXT};

pub(crate) const PROTOCOL_VERSION: &str = "1.0";

/// Builds the card of an agent.
#[derive(Debug, Clone)]
pub(crate) struct CardBuilder {
    /// Scheme and authority for clients; taken from the request where it is not set.
    pub(crate) public_url: Option<String>,
    /// The prefix of the agent's path.
    pub(crate) prefix: String,
    /// Whether callers need no credential.
    pub(crate) open: bool,
}

impl CardBuilder {
    fn origin(&self, headers: &HeaderMap) -> String {
        if let Some(url) = &self.public_url {
            return url.trim_end_matches('/').to_owned();
        }
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let host = text(HOST.as_str()).unwrap_or("localhost");
        let secure = text("x-forwarded-proto").is_some_and(|it| it.eq_ignore_ascii_case("https"));
        format!("{}://{host}", if secure { "https" } else { "http" })
    }

    pub(crate) fn card(&self, agent: &dyn Agent, headers: &HeaderMap) -> Value {
        let spec = agent.spec();
        let origin = self.origin(headers);
        let base = format!("{origin}{}{}", self.prefix, spec.path);
        let interface = |url: &str, binding: &str| json!({ "url": url, "protocolBinding": binding, "protocolVersion": PROTOCOL_VERSION });
        let skills: Vec<Value> = spec
            .skills
            .iter()
            .map(|skill| {
                json!({ "id": skill.id, "name": skill.name, "description": skill.description,
                    "tags": skill.tags, "examples": skill.examples })
            })
            .collect();
        let mut card = json!({
            "name": spec.name,
            "description": spec.description,
            "version": agent.version(),
            "documentationUrl": format!("{origin}/docs"),
            "supportedInterfaces": [
                interface(&base, "JSONRPC"),
                interface(&format!("{base}/rest"), "HTTP+JSON"),
            ],
            "capabilities": {
                "streaming": true, "pushNotifications": true, "extendedAgentCard": true,
            },
            "defaultInputModes": [TEXT, JSON],
            "defaultOutputModes": [TEXT, JSON],
            "skills": skills,
            "securitySchemes": { "bearer": { "httpAuthSecurityScheme": {
                "scheme": "Bearer",
                "description": "A token from `stoa token mint`, or the server's own.",
            } } },
        });
        if !self.open {
            card["securityRequirements"] = json!([{ "schemes": { "bearer": { "list": [] } } }]);
        }
        self.add_fields_of_0_3(&mut card, &base);
        card
    }

    /// Adds the fields by which clients of A2A 0.3 read a card; clients of 1.0 ignore them.
    fn add_fields_of_0_3(&self, card: &mut Value, base: &str) {
        let interface = |url: &str, transport: &str| json!({ "url": url, "transport": transport });
        card["protocolVersion"] = json!(PROTOCOL_VERSION);
        card["url"] = json!(base);
        card["preferredTransport"] = json!("JSONRPC");
        card["additionalInterfaces"] =
            json!([interface(base, "JSONRPC"), interface(&format!("{base}/rest"), "HTTP+JSON")]);
        card["supportsAuthenticatedExtendedCard"] = json!(true);
        card["securitySchemes"]["bearer"]["type"] = json!("http");
        card["securitySchemes"]["bearer"]["scheme"] = json!("bearer");
        if !self.open {
            card["security"] = json!([{ "bearer": [] }]);
        }
    }

    /// The card as a cacheable response.
    pub(crate) fn page(&self, agent: &dyn Agent, headers: &HeaderMap) -> Response {
        let body = self.card(agent, headers).to_string();
        let tag = EntityTag::of(body.as_bytes());
        let mut response = match tag.matches_if_none_match(headers) {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => ([(CONTENT_TYPE, JSON)], body).into_response(),
        };
        let response_headers = response.headers_mut();
        response_headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
        response_headers
            .insert(VARY, HeaderValue::from_static("host, x-forwarded-proto, accept-encoding"));
        if let Some(tag) = tag.strong() {
            response_headers.insert(ETAG, tag);
        }
        response
    }

    /// The card for authenticated callers: the public one with the limits.
    pub(crate) fn extended(
        &self,
        agent: &dyn Agent,
        headers: &HeaderMap,
        limits: Map<String, Value>,
    ) -> Value {
        let mut card = self.card(agent, headers);
        card["capabilities"]["extensions"] = json!([{
            "uri": "urn:stoa:a2a:limits",
            "description": "How much is kept and taken for each caller.",
            "required": false,
            "params": limits,
        }]);
        card
    }
}
