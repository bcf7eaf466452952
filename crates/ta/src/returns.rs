//! What holding would have earned.

pub(crate) mod cumulative;
pub(crate) mod daily;
pub(crate) mod log;
mod since;

pub use cumulative::CumulativeReturn;
pub use daily::DailyReturn;
pub use log::LogReturn;
pub use since::Since;
