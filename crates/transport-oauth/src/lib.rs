//! OAuth 2.1 for clients that cannot be given a token by hand: the users of the archive log in on a
//! consent page, and the client gets capability tokens with the scopes that the operator allows.
//!
//! Authorization code with PKCE, public clients that register themselves or are described by a
//! document at their id, rotating refresh tokens, revocation, and the metadata documents that the MCP
//! specification asks for.
#![warn(missing_docs)]

mod authorization;
mod authorization_request;
mod client_document;
mod client_metadata;
mod consent_page;
mod document_fetcher;
mod endpoint;
mod error;
mod form;
mod metadata;
mod pkce;
mod random;
mod redirect_uri;
mod registration;
mod resource;
mod revocation;
mod storage;
mod tokens;

#[cfg(test)]
mod tests;

pub use client_document::{DocumentFetcher, FetchedDocument};
pub use document_fetcher::HttpsDocumentFetcher;
pub use endpoint::{OAuthOptions, router};
pub use storage::MIGRATIONS;
