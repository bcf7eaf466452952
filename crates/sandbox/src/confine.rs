//! Restricts the process that calls it: limits, no new privileges, few files, no network.

use std::io;
use std::path::PathBuf;

use crate::limits::{self, ChildLimits};

/// The files a confined process may use. Paths that do not exist are left out.
#[derive(Debug, Clone, Default)]
pub struct FileAccess {
    /// Files and folders that are read, and whose programs may be run.
    pub read: Vec<PathBuf>,
    /// Folders that are read and written.
    pub write: Vec<PathBuf>,
}

/// Which restrictions are in force, or which of them this kernel supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Confinement {
    /// Started programs cannot gain privileges (`no_new_privs`).
    pub no_new_privileges: bool,
    /// Only the allowed files can be opened (Landlock, Linux 5.13).
    pub files: bool,
    /// Sockets, tracing, mounts and the like are refused (seccomp).
    pub system_calls: bool,
}

/// Restricts this process and every process that it starts; the restriction cannot be lifted. Call
/// it before the document is read and while the process has one thread. Returns the restrictions
/// that the kernel has put in force. A limit that cannot be set is an error, because the child must
/// not run without it.
pub fn confine(limits: &ChildLimits, files: &FileAccess) -> io::Result<Confinement> {
    limits::apply(limits)?;
    Ok(restrict(files))
}

#[cfg(target_os = "linux")]
fn restrict(files: &FileAccess) -> Confinement {
    crate::linux::restrict(files)
}

#[cfg(not(target_os = "linux"))]
fn restrict(_: &FileAccess) -> Confinement {
    Confinement::default()
}

/// The restrictions that [`confine`] can put in force on this kernel. It restricts nothing itself.
#[must_use]
pub fn supported() -> Confinement {
    #[cfg(target_os = "linux")]
    return crate::linux::supported();
    #[cfg(not(target_os = "linux"))]
    Confinement::default()
}
