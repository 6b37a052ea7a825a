//! Root modules whose configuration is not that of a module: Terraform stacks and units of Terragrunt.

mod attackers;
mod cache_server;
mod cases;
mod changes;
mod covered;
mod honest_units;
mod influence;
mod overlay;
mod overridden;
mod passed;
mod plain;
mod reasons;
mod recorded;
mod second;
mod sources;
mod stacks;
mod stacks_random;
mod stacks_remote;
mod units;
mod unlocked;
mod unread;
mod world;

pub use unread::denied as unread_denied;
