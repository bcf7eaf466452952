//! Routes as a transport hands them to the edge: a router, and what the edge must know about its
//! paths before it routes a request.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use axum::Router;
use axum::response::Response;
use contract::Service;
use http::{HeaderName, Method};

use crate::refusal::Refusal;

/// Builds the response to a request that the edge refuses, from the refusal and the request id.
pub type RefusalResponder = Arc<dyn Fn(&Refusal, &str) -> Response + Send + Sync>;

/// What the edge must know about one path.
#[derive(Clone, Default)]
pub struct EdgeRoute {
    /// Whether the edge reads the body.
    pub body: BodyHandling,
    /// The form of what the edge refuses.
    pub refusals: RefusalForm,
    /// Which pages of browsers may change something.
    pub origins: OriginCheck,
}

/// Which layer checks the `Origin` of a request that can change or cost something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OriginCheck {
    /// The edge allows this server's own origin and the listed ones.
    #[default]
    Edge,
    /// The route has a rule of its own.
    Route,
}

/// Whether the edge reads a request's body before it routes the request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum BodyHandling {
    /// The edge reads the body within its limits.
    #[default]
    Read,
    /// The route reads the body itself.
    LeaveUnread,
    /// The route reads the body of these methods itself.
    LeaveUnreadFor(Vec<Method>),
}

impl BodyHandling {
    pub(crate) fn is_read_for(&self, method: &Method) -> bool {
        match self {
            Self::Read => true,
            Self::LeaveUnread => false,
            Self::LeaveUnreadFor(unread) => !unread.contains(method),
        }
    }
}

/// The form of a response that the edge sends instead of the route.
#[derive(Clone, Default)]
pub enum RefusalForm {
    /// The server's own error object.
    #[default]
    Plain,
    /// The envelope of this service's contract.
    Service(Arc<Service>),
    /// What this function builds, for protocols with a form of their own.
    Custom(RefusalResponder),
}

impl EdgeRoute {
    /// A path of a service's contract.
    pub fn of_service(service: &Arc<Service>) -> Self {
        let refusals = RefusalForm::Service(Arc::clone(service));
        Self { refusals, ..Self::default() }
    }
}

/// An address at which another protocol than plain HTTP offers the tools.
#[derive(Debug, Clone)]
pub struct ToolEndpoint {
    /// The name of the protocol, such as `MCP`.
    pub protocol: &'static str,
    /// The path that has the tools of all services.
    pub path: String,
    /// The path of each service that has one of its own, by the service's name.
    pub service_paths: BTreeMap<Arc<str>, String>,
}

/// A transport's router, with the paths that need more than the edge's defaults, the headers of its
/// protocol and the addresses of its tools.
#[derive(Clone, Default)]
pub struct MountedRoutes {
    pub(crate) router: Router,
    pub(crate) routes: EdgeRoutes,
    pub(crate) cors: CorsHeaders,
    tool_endpoints: Vec<ToolEndpoint>,
}

/// Headers of a protocol that a page of another origin may send, and those that it may read.
#[derive(Debug, Clone, Default)]
pub(crate) struct CorsHeaders {
    pub(crate) allowed: Vec<HeaderName>,
    pub(crate) exposed: Vec<HeaderName>,
}

/// The declared paths, by the pattern they were routed with.
#[derive(Clone, Default)]
pub(crate) struct EdgeRoutes {
    by_pattern: HashMap<String, EdgeRoute>,
    by_prefix: Vec<(String, EdgeRoute)>,
}

impl EdgeRoutes {
    /// The declaration of a route pattern; `None` for the defaults.
    pub(crate) fn get(&self, pattern: &str) -> Option<&EdgeRoute> {
        let exact = self.by_pattern.get(pattern);
        let within = || self.by_prefix.iter().find(|(prefix, _)| pattern.starts_with(prefix));
        exact.or_else(|| within().map(|(_, route)| route))
    }
}

impl MountedRoutes {
    /// Routes that need nothing but the edge's defaults.
    pub fn new(router: Router) -> Self {
        Self { router, ..Self::default() }
    }

    /// Declares a path, by the pattern it is routed with. Of two declarations of one path the
    /// first words the refusals, and either can leave the body unread.
    #[must_use]
    pub fn declare(mut self, pattern: impl Into<String>, route: EdgeRoute) -> Self {
        let declared = self.routes.by_pattern.entry(pattern.into()).or_insert(route.clone());
        if declared.body == BodyHandling::Read {
            declared.body = route.body;
        }
        self
    }

    /// Declares every path whose pattern begins with `prefix` and that is not declared itself.
    #[must_use]
    pub fn declare_prefix(mut self, prefix: impl Into<String>, route: EdgeRoute) -> Self {
        self.routes.by_prefix.push((prefix.into(), route));
        self
    }

    /// Declares headers of requests that pages of allowed origins may send.
    #[must_use]
    pub fn allow_headers(mut self, names: impl IntoIterator<Item = HeaderName>) -> Self {
        self.cors.allowed.extend(names);
        self
    }

    /// Declares headers of responses that pages of allowed origins may read.
    #[must_use]
    pub fn expose_headers(mut self, names: impl IntoIterator<Item = HeaderName>) -> Self {
        self.cors.exposed.extend(names);
        self
    }

    /// Declares an address at which this protocol offers the tools.
    #[must_use]
    pub fn offer_tools(mut self, endpoint: ToolEndpoint) -> Self {
        self.tool_endpoints.push(endpoint);
        self
    }

    /// The addresses at which the tools are offered beside plain HTTP.
    pub fn tool_endpoints(&self) -> &[ToolEndpoint] {
        &self.tool_endpoints
    }

    /// Both sets of routes.
    #[must_use]
    pub fn merge(mut self, other: impl Into<Self>) -> Self {
        let other = other.into();
        self.router = self.router.merge(other.router);
        self.routes.by_pattern.extend(other.routes.by_pattern);
        self.routes.by_prefix.extend(other.routes.by_prefix);
        self.cors.allowed.extend(other.cors.allowed);
        self.cors.exposed.extend(other.cors.exposed);
        self.tool_endpoints.extend(other.tool_endpoints);
        self
    }

    /// Adds routes under a prefix, with the edge's defaults.
    #[must_use]
    pub fn nest(mut self, prefix: &str, router: Router) -> Self {
        self.router = self.router.nest(prefix, router);
        self
    }

    /// The router alone, for tests without an edge.
    pub fn into_router(self) -> Router {
        self.router
    }
}

impl From<Router> for MountedRoutes {
    fn from(router: Router) -> Self {
        Self::new(router)
    }
}
