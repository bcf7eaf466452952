//! The connector against a server on loopback that is now polite and now hostile.
