//! Root modules whose configuration is not that of a module: Terraform stacks and units of Terragrunt.

mod cases;
mod changes;
mod plain;
mod second;
mod stacks;
mod stacks_random;
mod stacks_remote;
mod units;
mod unread;
