//! A2A tasks in the database: the task records, their webhooks and notifications, and their runs,
//! which are jobs. A record and the job behind it change in one transaction.

mod notifications;
mod runs;
mod schema;
mod tasks;
#[cfg(test)]
mod tests;

pub use schema::MIGRATIONS;
pub use tasks::SqlTaskStore;
