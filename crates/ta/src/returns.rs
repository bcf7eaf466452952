//! Returns of holding the instrument.

mod close_change;
pub(crate) mod cumulative;
pub(crate) mod daily;
pub(crate) mod log;

pub use close_change::CloseChange;
pub use cumulative::CumulativeReturn;
pub use daily::DailyReturn;
pub use log::LogReturn;
