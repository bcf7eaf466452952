//! Runs a part of this program in a child process with limits of memory and time, without network
//! and with few files, so that what a hostile document does there reaches nothing else.
//!
//! [`run`] starts the child and follows its messages. The child calls [`confine`] before it reads a
//! byte of what it does not trust; the tools that it starts inherit all of it. The parent is never
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
pub use limits::{ChildLimits, with_whole_cpu_time};
