//! The limits of a child process that the operating system enforces: memory, processor time, and
//! the size of a written file. The parent enforces the wall-clock limit ([`crate::run`]).

use std::io;

use serde::{Deserialize, Serialize};

/// The limits that a child process sets for itself and for the tools that it starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildLimits {
    /// Processor seconds of the child itself.
    pub cpu_seconds: u32,
    /// Processor seconds of each tool that the child starts.
    pub tool_cpu_seconds: u32,
    /// Address space of the child and, separately, of each tool. It must be far above the memory
    /// that is used, because allocators reserve a gigabyte at a time.
    pub memory_bytes: u64,
    /// The largest file that is written.
    pub file_bytes: u64,
}

#[cfg(unix)]
pub(crate) fn apply(limits: &ChildLimits) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    let set = |resource, soft: u64, hard: u64| {
        setrlimit(resource, Rlimit { current: Some(soft), maximum: Some(hard) })
    };
    let most = u64::from(limits.tool_cpu_seconds.max(limits.cpu_seconds));
    // The hard limit is the limit of tools and 5 s more, from which `with_tool_cpu_limit` reads it.
    set(Resource::Cpu, u64::from(limits.cpu_seconds), most + 5)?;
    set(Resource::Core, 0, 0)?;
    set(Resource::Fsize, limits.file_bytes, limits.file_bytes)?;
    // macOS refuses to bound the address space.
    #[cfg(not(target_os = "macos"))]
    set(Resource::As, limits.memory_bytes, limits.memory_bytes)?;
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn apply(_: &ChildLimits) -> io::Result<()> {
    Ok(())
}

/// Runs `start`, which starts a tool, under the processor-time limit of tools. A tool inherits the
/// limit that is in force when it starts, and the child's own limit may be lower, because it
/// depends on the size of the child's file.
#[cfg(unix)]
pub fn with_tool_cpu_limit<T>(start: impl FnOnce() -> T) -> T {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let own = getrlimit(Resource::Cpu);
    let tools = own.maximum.map(|it| it.saturating_sub(5));
    setrlimit(Resource::Cpu, Rlimit { current: tools, maximum: own.maximum }).ok();
    let started = start();
    setrlimit(Resource::Cpu, own).ok();
    started
}

/// Runs `start`; this system has no limit of processor time.
#[cfg(not(unix))]
pub fn with_tool_cpu_limit<T>(start: impl FnOnce() -> T) -> T {
    start()
}
