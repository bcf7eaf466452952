//! The settings that all our HTTP clients share: TLS by ring, no redirects, no proxy from the
//! environment.

use reqwest::redirect::Policy;

/// A client builder for requests to other servers. The caller adds its timeouts and headers, and the
/// resolver of `ssrf-guard` if users choose the addresses.
pub fn builder(user_agent: &str) -> reqwest::ClientBuilder {
    // Fails only if a provider is installed already; every caller installs the same one.
    drop(rustls::crypto::ring::default_provider().install_default());
    reqwest::Client::builder().redirect(Policy::none()).no_proxy().user_agent(user_agent)
}
