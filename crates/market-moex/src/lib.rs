//! Moscow Exchange over its ISS interface.

mod answer;
mod client;
mod config;
mod number;
mod observer;
mod pace;
mod shelf;
mod tables;
mod zone;

pub use self::config::MoexConfig;
pub use self::observer::{Observer, Unobserved};
