//! The protected resources: `/mcp` with every service, and `/mcp/{service}` with one. A token for
//! one service's endpoint is limited to that service.

use std::sync::Arc;

use http::HeaderMap;
use transport_http::public_origin;

use crate::error::OAuthError;

/// The services that have an endpoint, and the public address of the server if it is set.
#[derive(Debug, Clone)]
pub(crate) struct Resources {
    pub(crate) public_url: Option<String>,
    pub(crate) services: Vec<Arc<str>>,
}

impl Resources {
    /// The issuer: scheme and authority of this server, as this client reaches it.
    pub(crate) fn issuer(&self, headers: &HeaderMap) -> String {
        public_origin(headers, self.public_url.as_deref())
    }

    /// The service of an endpoint's path: `Some(None)` for `mcp`, which has all services, and `None` for a
    /// path that is not an endpoint.
    pub(crate) fn service_of_path(&self, path: &str) -> Option<Option<Arc<str>>> {
        let path = path.trim_matches('/');
        if path == "mcp" {
            return Some(None);
        }
        let name = path.strip_prefix("mcp/")?;
        self.services.iter().find(|service| ***service == *name).cloned().map(Some)
    }

    /// The service that a `resource` parameter names; `None` for all services, also without the
    /// parameter.
    pub(crate) fn service(
        &self,
        resource: Option<&str>,
        headers: &HeaderMap,
    ) -> Result<Option<Arc<str>>, OAuthError> {
        let Some(resource) = resource else { return Ok(None) };
        let path = resource.strip_prefix(&self.issuer(headers));
        let path = path.ok_or_else(OAuthError::invalid_target)?;
        if path.trim_matches('/').is_empty() {
            return Ok(None);
        }
        let found = path.starts_with('/').then(|| self.service_of_path(path)).flatten();
        found.ok_or_else(OAuthError::invalid_target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(resource: Option<&str>, expected: Result<Option<&str>, &str>) {
        let services = vec![Arc::from("archive"), Arc::from("quotes")];
        let public_url = Some("https://stoa.example/".to_owned());
        let resources = Resources { public_url, services };
        let found = resources.service(resource, &HeaderMap::new());
        let found = found.as_ref().map(Option::as_deref).map_err(OAuthError::code);
        assert_eq!(found, expected, "{resource:?}");
    }

    #[test]
    fn a_resource_is_an_endpoint_of_this_server() {
        check(None, Ok(None));
        check(Some("https://stoa.example"), Ok(None));
        check(Some("https://stoa.example/"), Ok(None));
        check(Some("https://stoa.example/mcp"), Ok(None));
        check(Some("https://stoa.example/mcp/"), Ok(None));
        check(Some("https://stoa.example/mcp/archive"), Ok(Some("archive")));
        for other in [
            "https://stoa.example/mcp/nothing",
            "https://stoa.example/v1",
            "https://other.example/mcp",
            "https://stoa.example.evil/mcp",
            "http://stoa.example/mcp",
            "mcp",
            "",
            "https://stoa.examplemcp",
        ] {
            check(Some(other), Err("invalid_target"));
        }
    }
}
