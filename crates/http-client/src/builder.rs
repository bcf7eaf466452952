//! The settings that all our HTTP clients share: TLS by ring and the system's root certificates, no
//! redirects, no proxy from the environment.

use reqwest::redirect::Policy;

use crate::system_roots;

/// A client builder for requests to other servers. The caller adds its timeouts and headers, and the
/// resolver of `ssrf-guard` if users choose the addresses.
pub fn builder(user_agent: &str) -> reqwest::ClientBuilder {
    // Fails only if a provider is installed already; every caller installs the same one.
    drop(rustls::crypto::ring::default_provider().install_default());
    let builder =
        reqwest::Client::builder().redirect(Policy::none()).no_proxy().user_agent(user_agent);
    match system_roots::tls_config() {
        Ok(tls) => builder.tls_backend_preconfigured(tls),
        // The library's own settings fail for the same reason when the client is built.
        Err(_) => builder,
    }
}
