//! Attacks on a running server, one file for each way in: what the server must refuse, bound or
//! survive.

mod a2a;
mod closed_server;
mod config_file;
mod cross_site;
#[cfg(target_os = "linux")]
mod documents;
mod forwarded;
mod invalid_tokens;
mod large_answers;
mod logins;
mod memory;
mod secret_logs;
mod sessions;
mod silent_connections;
mod unread_answers;
mod unread_streams;
