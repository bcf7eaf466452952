//! Files to text.
