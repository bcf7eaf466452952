//! Programs that a benchmark starts.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::Command;

use crate::outcome::Outcome;

/// A program without the settings in our environment, because they would change what is measured.
pub fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    clear_environment(&mut command);
    command
}

/// Removes all but the usual variables from a command's environment.
pub fn clear_environment(command: &mut Command) {
    command.env_clear();
    for name in ["PATH", "HOME", "TMPDIR", "LANG"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
}

/// A port of this machine that is free at this moment.
pub fn free_address() -> Outcome<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}
