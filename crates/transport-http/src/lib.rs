//! transport-http
