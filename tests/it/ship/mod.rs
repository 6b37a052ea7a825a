//! What is delivered around the program: the action, hooks, recipes for CI, first steps.

mod action;
mod expression;
mod history;
mod pre_commit;
