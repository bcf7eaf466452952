//! Fixtures for the conformance suite.
