//! The transport over real sockets and pipes, with a small service of its own behind it.

mod double;
mod http;
mod stdio;
mod wire;
