//! Runs a part of this program in a child process with limits of memory and time, without network
//! and with access to few files, so that a hostile document can harm that process alone.
//!
//! [`run`] starts the child and receives its messages. The child calls [`confine`] before it reads
//! a byte of the document; the tools that it starts inherit every restriction. The parent is never
//! restricted.

mod child;
mod confine;
mod frames;
mod limits;
#[cfg(target_os = "linux")]
mod linux;

pub use child::{ChildCommand, ChildEnd, run};
pub use confine::{Confinement, FileAccess, confine, supported};
pub use frames::{receive, send};
pub use limits::{ChildLimits, with_tool_cpu_limit};
