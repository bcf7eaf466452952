//! Authenticates an MCP request before its JSON-RPC is parsed, so that a refusal is plain HTTP 401,
//! and hands the verified credential to the pipeline, which does not verify it again.
//!
//! Exceptions: services that take the token inside the call, messages that need no token at `/mcp`,
//! and a server where anonymous callers may read. No more than 64 KiB of a body are read before its
//! credential is verified.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use contract::{Caller, Credential, Pipeline, RequestMeta, Scope};
use fault::{Fault, Kind};
use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, Method, StatusCode};
use transport_http::{
    AuthorizationChallenge, BodyLimits, HeldMemory, INLINE_PARSE_BYTES, IncomingBody, JsonCost,
    Refusal, RequestMemory, SMALL_BODY_BYTES, find_string, request_meta,
};

use crate::{anonymous, http as endpoints};

/// What rmcp builds from one value or key of a message at its peak, in bytes: 300 were measured for
/// an array of 16.7 million numbers.
const VALUE_BYTES: usize = 300;
/// The same for the rows of an import: 100,000 rows of seven fields are 1.5 million values and keys,
/// and took 350 MB.
const ROW_VALUE_BYTES: usize = 256;
const ORDINARY: JsonCost = JsonCost { value_bytes: VALUE_BYTES, budget_divisor: 3 };

/// Authenticates the requests of one endpoint, then reads their bodies.
pub(crate) struct EndpointAuthentication {
    pub(crate) pipeline: Arc<Pipeline>,
    /// The service of `/mcp/{service}`; `None` for `/mcp`, which has all services.
    pub(crate) service: Option<Arc<str>>,
    pub(crate) body: BodyLimits,
    /// The larger body that this endpoint reads of some callers.
    pub(crate) raised: Option<RaisedLimit>,
    pub(crate) memory: RequestMemory,
    pub(crate) challenge: Option<AuthorizationChallenge>,
}

/// A contract's own limit of a body, for callers with a scope.
pub(crate) struct RaisedLimit {
    pub(crate) bytes_max: usize,
    /// The most that building its JSON may cost.
    pub(crate) cost: JsonCost,
    pub(crate) scope: Scope,
}

impl RaisedLimit {
    /// A limit whose JSON may take the whole budget, so that the largest import is one request.
    pub(crate) fn new(bytes_max: usize, scope: Scope) -> Self {
        let cost = JsonCost { value_bytes: ROW_VALUE_BYTES, budget_divisor: 1 };
        Self { bytes_max, cost, scope }
    }
}

/// Request extension: the body is so large that it is parsed on a blocking thread. It holds the
/// memory of the body and of its JSON until the call is answered.
#[derive(Clone)]
pub(crate) struct LargeBody(#[expect(dead_code, reason = "held for its drop")] Arc<HeldMemory>);

/// A refusal, and whether it is worded as a JSON-RPC error.
pub(crate) enum EndpointRefusal {
    Http(Refusal),
    JsonRpc(Refusal),
    /// A call that needs a token with this scope.
    Scope(Refusal, Scope),
}

impl From<Refusal> for EndpointRefusal {
    fn from(refusal: Refusal) -> Self {
        Self::JsonRpc(refusal)
    }
}

/// The middleware of an endpoint.
pub(crate) async fn authenticate(
    State(endpoint): State<Arc<EndpointAuthentication>>,
    request: Request,
    next: Next,
) -> Response {
    // The edge has read the headers already, unless a test mounts the endpoint without one.
    let known = request.extensions().get::<RequestMeta>().cloned();
    let meta = known.unwrap_or_else(|| request_meta(request.headers()));
    let request_id = Arc::clone(&meta.request_id);
    let has_token = meta.credential.token().is_some();
    let headers = endpoint.challenge.is_some().then(|| request.headers().clone());
    let (mut response, scope) = match endpoint.admit(request, meta).await {
        // The memory of a small body is held until the answer begins.
        Ok((request, _held)) => return next.run(request).await,
        Err(EndpointRefusal::Http(refusal)) => (refusal.response(&request_id), None),
        Err(EndpointRefusal::JsonRpc(refusal)) => (endpoints::refused(&refusal), None),
        Err(EndpointRefusal::Scope(refusal, scope)) => (refusal.response(&request_id), Some(scope)),
    };
    if let Some(headers) = headers {
        endpoint.add_challenge(&mut response, &headers, has_token, scope);
    }
    response
}

type Admitted = (Request, HeldMemory);

impl EndpointAuthentication {
    async fn admit(
        &self,
        request: Request,
        mut meta: RequestMeta,
    ) -> Result<Admitted, EndpointRefusal> {
        let authenticator = self.pipeline.authenticator();
        let is_in_call = |service: &Arc<str>| authenticator.accepts_in_call_credentials(service);
        let in_call = self.service.as_ref().filter(|service| is_in_call(service));
        // The tool checks the credential of its call; that of the header says whose session it is.
        if in_call.is_some()
            && let Ok(verified) = authenticator.verify(&meta.credential).await
        {
            meta.credential = verified;
        }
        let (mut request, held) = if let Some(service) = in_call {
            self.read_in_call(request, &meta, service).await?
        } else {
            match authenticator.verify(&meta.credential).await {
                Ok(verified) => {
                    meta.credential = verified;
                    self.read(request, &meta).await?
                }
                // What is open stays open, and a tool that needs a credential refuses this one.
                Err(_) if authenticator.verify(&Credential::None).await.is_ok() => {
                    self.read(request, &meta).await?
                }
                Err(fault) => self.admit_anonymous(request, meta.client, fault).await?,
            }
        };
        request.extensions_mut().insert(meta);
        Ok((request, held))
    }

    /// Reads the body of a verified client.
    async fn read(
        &self,
        request: Request,
        meta: &RequestMeta,
    ) -> Result<Admitted, EndpointRefusal> {
        if http_body::Body::is_end_stream(request.body()) {
            return Ok((request, HeldMemory::default()));
        }
        let (parts, mut body) = IncomingBody::new(request, self.body, &self.memory, meta.client)?;
        body.read_whole(self.body.bytes_max).await?;
        self.refuse_call(&parts.headers, body.arrived(), meta).await?;
        Ok(self.admitted(parts, body, ORDINARY).await?)
    }

    /// Reads the body of a client whose credential may be inside it: at most 64 KiB, unless the
    /// credential was found in them or in the header.
    async fn read_in_call(
        &self,
        request: Request,
        meta: &RequestMeta,
        service: &str,
    ) -> Result<Admitted, EndpointRefusal> {
        if http_body::Body::is_end_stream(request.body()) {
            return Ok((request, HeldMemory::default()));
        }
        let raised = self.raised.as_ref();
        let bytes_max = raised.map_or(self.body.bytes_max, |raised| raised.bytes_max);
        let limits = BodyLimits { bytes_max, ..self.body };
        let (parts, mut body) = IncomingBody::new(request, limits, &self.memory, meta.client)?;
        let mut cost = ORDINARY;
        if !body.read(SMALL_BODY_BYTES).await? {
            let caller = self.caller_of_large(body.arrived(), meta, service).await?;
            let raised = raised.filter(|raised| caller.may(raised.scope));
            cost = raised.map_or(cost, |raised| raised.cost);
            let bytes_max = raised.map_or(self.body.bytes_max, |raised| raised.bytes_max);
            let read = body.read_whole(bytes_max).await;
            read.map_err(|refusal| self.explained(refusal, raised.is_some()))?;
        }
        self.refuse_call(&parts.headers, body.arrived(), meta).await?;
        Ok(self.admitted(parts, body, cost).await?)
    }

    async fn admitted(
        &self,
        parts: http::request::Parts,
        body: IncomingBody,
        cost: JsonCost,
    ) -> Result<Admitted, Refusal> {
        let (bytes, mut held) = body.finish();
        self.memory.reserve_json(&mut held, &bytes, cost).await?;
        let is_large = bytes.len() > INLINE_PARSE_BYTES;
        let mut request = Request::from_parts(parts, Body::from(bytes));
        if is_large {
            request.extensions_mut().insert(LargeBody(Arc::new(held)));
            return Ok((request, HeldMemory::default()));
        }
        Ok((request, held))
    }

    /// The caller of a body over 64 KiB, by the credential in its first 64 KiB or in the header.
    async fn caller_of_large(
        &self,
        arrived: &[u8],
        meta: &RequestMeta,
        service: &str,
    ) -> Result<Caller, Refusal> {
        let found = self.pipeline.catalog().service(service);
        let argument = found.and_then(|service| service.access.credential_argument.as_deref());
        let in_arguments = ["params", "arguments", argument.unwrap_or_default()];
        let in_meta = ["params", "_meta", "auth", "token"];
        let in_call = find_string(arrived, &[&in_arguments, &in_meta]);
        let credential = match in_call {
            Some(token) => Credential::Bearer(Arc::from(token)),
            None => meta.credential.clone(),
        };
        let caller = self.pipeline.authenticator().identify(&credential, service).await;
        caller.ok_or_else(credential_first)
    }

    /// Says which scope a larger body needs, where that is why it was refused.
    fn explained(&self, refusal: Refusal, is_raised: bool) -> Refusal {
        let Some(raised) = self.raised.as_ref().filter(|_| !is_raised) else { return refusal };
        if refusal.status != StatusCode::PAYLOAD_TOO_LARGE {
            return refusal;
        }
        let (message, RaisedLimit { bytes_max, scope, .. }) = (refusal.fault.message(), raised);
        let scope = scope.as_str();
        let message = format!("{message}; up to {bytes_max} need a token with the scope {scope:?}");
        Refusal::new(refusal.status, Fault::invalid("body_too_large", message))
    }

    /// Refuses a call whose token has not the scope of its tool, on a server where the client can
    /// get another one. A call without a token in a session is left to the tool, because the
    /// session may be logged in.
    async fn refuse_call(
        &self,
        headers: &HeaderMap,
        message: &[u8],
        meta: &RequestMeta,
    ) -> Result<(), EndpointRefusal> {
        if self.challenge.is_none() || message.len() > SMALL_BODY_BYTES {
            return Ok(());
        }
        let service = self.service.as_deref();
        let Some(tool) = anonymous::called_tool(&self.pipeline, service, message) else {
            return Ok(());
        };
        let (scope, service) = (tool.row().scope, &tool.service().name);
        let authenticator = self.pipeline.authenticator();
        let caller = authenticator.authenticate_for(&meta.credential, service, scope).await;
        match caller {
            Ok(caller) if !caller.may(scope) => {
                let message = format!("this call needs the scope {:?}", scope.as_str());
                let fault = Fault::new(Kind::Forbidden, "insufficient_scope", message);
                Err(EndpointRefusal::Scope(Refusal::new(StatusCode::FORBIDDEN, fault), scope))
            }
            Err(fault)
                if fault.kind() == Kind::Unauthenticated
                    && !headers.contains_key("mcp-session-id") =>
            {
                Err(EndpointRefusal::Scope(Refusal::new(StatusCode::UNAUTHORIZED, fault), scope))
            }
            _ => Ok(()),
        }
    }

    /// Says in `WWW-Authenticate` how to get another token.
    fn add_challenge(
        &self,
        response: &mut Response,
        headers: &HeaderMap,
        has_token: bool,
        scope: Option<Scope>,
    ) {
        let error = match response.status() {
            StatusCode::UNAUTHORIZED => has_token.then_some("invalid_token"),
            StatusCode::FORBIDDEN if scope.is_some() => Some("insufficient_scope"),
            _ => return,
        };
        let Some(challenge) = &self.challenge else { return };
        let path = self.service.as_ref().map_or("/mcp".to_owned(), |name| format!("/mcp/{name}"));
        let scope = scope.unwrap_or(Scope::Read).as_str();
        if let Some(value) = challenge.header(headers, &path, error, Some(scope)) {
            response.headers_mut().insert(WWW_AUTHENTICATE, value);
        }
    }

    /// Lets a request without a valid credential through if its message needs none.
    async fn admit_anonymous(
        &self,
        request: Request,
        client: Option<IpAddr>,
        fault: Fault,
    ) -> Result<Admitted, EndpointRefusal> {
        if self.service.is_some() || request.method() != Method::POST {
            return Err(unauthorized(fault));
        }
        let bytes_max = SMALL_BODY_BYTES.min(self.body.bytes_max);
        let limits = BodyLimits { bytes_max, ..self.body };
        let incoming = IncomingBody::new(request, limits, &self.memory, client);
        let Ok((parts, mut body)) = incoming else { return Err(unauthorized(fault)) };
        match body.read_whole(bytes_max).await {
            Ok(()) if anonymous::is_allowed(&self.pipeline, &fault, body.arrived()) => {
                let (bytes, held) = body.finish();
                Ok((Request::from_parts(parts, Body::from(bytes)), held))
            }
            _ => Err(unauthorized(fault)),
        }
    }
}

fn unauthorized(fault: Fault) -> EndpointRefusal {
    EndpointRefusal::Http(Refusal::new(StatusCode::UNAUTHORIZED, fault))
}

fn credential_first() -> Refusal {
    let message = format!(
        "a body over {SMALL_BODY_BYTES} bytes needs a valid token in the Authorization header, or \
         inside its first {SMALL_BODY_BYTES} bytes"
    );
    let fault = Fault::new(Kind::Unauthenticated, "credential_first", message);
    Refusal::new(StatusCode::UNAUTHORIZED, fault)
}
