//! Files over real connections, with a service that counts what it gets.

mod files;
mod fixture;
mod sending;
