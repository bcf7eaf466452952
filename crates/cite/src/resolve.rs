//! Which source each citation means. (In the making.)
use crate::citation::Citation;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source;
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resolutions;

#[must_use]
pub fn resolve(_citations: &[Citation<'_>]) -> Resolutions {
    Resolutions
}
