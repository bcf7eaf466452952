//! Attacks on a running server, one file for each way in: what the server must refuse, bound or
//! survive. The findings of the security audit have their tests here:
//!
//! | finding | test |
//! |---|---|
//! | 1, 5: memory of bodies and of parsed JSON | `memory.rs` |
//! | 2: silent connections | `silent_connections.rs` |
//! | 3: memory of a document | `documents.rs` |
//! | 4: configuration of the current folder | `config_file.rs` |
//! | 6: crafted PDF files block the queue | `pdf_queue.rs`; turns of owners in `crates/jobs/src/tests/turns.rs` |
//! | 7: logins locked by others | `logins.rs` |
//! | 8, 10: a closed server | `closed_server.rs` |
//! | 9, 14: sessions of others | `sessions.rs` |
//! | 11: a token of one market | `market_token.rs` |
//! | 12: secrets in logs | `secret_logs.rs` |
//! | 13: pages of other sites | `cross_site.rs` |
//! | 15: webhook secrets | `webhook_secrets.rs` |
//! | 16: a blank token | `blank_token.rs` |
//! | 17: the confined child | `crates/sandbox/tests/confined.rs`, `crates/archive-extract/tests/isolated.rs` |
//! | 18: blank passwords; addresses behind a proxy | `logins.rs`; `forwarded.rs` |

mod a2a;
mod blank_token;
mod closed_server;
mod config_file;
mod cross_site;
#[cfg(target_os = "linux")]
mod documents;
mod forwarded;
mod invalid_tokens;
mod large_answers;
mod logins;
mod market_token;
mod memory;
mod pdf_queue;
mod secret_logs;
mod sessions;
mod silent_connections;
mod unread_answers;
mod unread_streams;
mod webhook_secrets;
