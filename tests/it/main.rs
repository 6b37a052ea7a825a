//! One binary for all tests of commands.
