//! Attacks on a running server, one file for each way in: what the server must refuse, bound or
//! survive.

mod a2a;
mod invalid_tokens;
