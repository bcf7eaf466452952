//! Authenticates an MCP request before its JSON-RPC is parsed, so that a refusal is plain HTTP 401,
//! and hands the verified credential to the pipeline, which does not verify it again.
//!
//! Exceptions: services that take the token inside the call, and `/mcp` for messages that need no
//! token or on a server where anonymous callers may read.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use contract::{Credential, Pipeline, RequestMeta};
use fault::Fault;
use http::{Method, StatusCode};
use transport_http::{BodyLimits, Refusal, request_meta};

use crate::anonymous;

/// The largest body that is read from a client without a valid credential.
const ANONYMOUS_BYTES_MAX: usize = 64 * 1024;

/// Authenticates the requests of one endpoint, then reads their bodies.
pub(crate) struct EndpointAuthentication {
    pub(crate) pipeline: Arc<Pipeline>,
    /// The service of `/mcp/{service}`; `None` for `/mcp`, which has all services.
    pub(crate) service: Option<Arc<str>>,
    pub(crate) body: BodyLimits,
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
    match endpoint.admit(request, meta).await {
        Ok(request) => next.run(request).await,
        Err(refusal) => refusal.response(&request_id),
    }
}

impl EndpointAuthentication {
    async fn admit(&self, request: Request, mut meta: RequestMeta) -> Result<Request, Refusal> {
        let authenticator = self.pipeline.authenticator();
        let is_in_call = |service: &Arc<str>| authenticator.accepts_in_call_credentials(service);
        // The tool checks the credential of its call; that of the header says whose session it is.
        if self.service.as_ref().is_some_and(is_in_call)
            && let Ok(verified) = authenticator.verify(&meta.credential).await
        {
            meta.credential = verified;
        }
        let request = if self.service.as_ref().is_some_and(is_in_call) {
            self.body.read(request).await?
        } else {
            match authenticator.verify(&meta.credential).await {
                Ok(verified) => {
                    meta.credential = verified;
                    self.body.read(request).await?
                }
                // The tool refuses the credential if it needs one.
                Err(_) if self.allows_anonymous_readers().await => self.body.read(request).await?,
                Err(fault) => self.admit_anonymous(request, &fault).await?,
            }
        };
        let mut request = request;
        request.extensions_mut().insert(meta);
        Ok(request)
    }

    async fn allows_anonymous_readers(&self) -> bool {
        let authenticator = self.pipeline.authenticator();
        self.service.is_none() && authenticator.verify(&Credential::None).await.is_ok()
    }

    /// Lets a request without a valid credential through if its message needs none.
    async fn admit_anonymous(&self, request: Request, fault: &Fault) -> Result<Request, Refusal> {
        let refusal = || Refusal::new(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED", fault.message());
        if self.service.is_some() || request.method() != Method::POST {
            return Err(refusal());
        }
        let bytes_max = ANONYMOUS_BYTES_MAX.min(self.body.bytes_max);
        let read = BodyLimits { bytes_max, ..self.body }.read(request).await;
        let (parts, body) = read.map_err(|_| refusal())?.into_parts();
        let message = axum::body::to_bytes(body, bytes_max).await.map_err(|_| refusal())?;
        match anonymous::is_allowed(&self.pipeline, fault, &message) {
            true => Ok(Request::from_parts(parts, Body::from(message))),
            false => Err(refusal()),
        }
    }
}
