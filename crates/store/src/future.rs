//! The type of the futures that this crate returns.

use std::pin::Pin;

use fault::Fault;

/// A statement under way. It is boxed, so that the code of `sqlx` below it is compiled in this crate
/// alone; the body of an `async fn` is compiled again in every crate that awaits it.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + Send + 'a>>;
