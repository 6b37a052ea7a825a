//! What is delivered around the program: the action, hooks, recipes for CI, first steps.

mod action;
mod documents;
mod expression;
mod first_run;
mod history;
mod pre_commit;
mod release;
