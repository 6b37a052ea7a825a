//! `tflock`: arguments in, exit code out.

use std::process::ExitCode;

use tflock::cli::{Environment, Streams, run};

fn main() -> ExitCode {
    run(std::env::args_os(), &Environment::of_process(), &mut Streams::of_process()).into()
}
