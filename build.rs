//! Links the development program at a fixed address: the tests start it thousands of times, and to move its tables to
//! another address costs each start two thirds of its time. Released programs keep random addresses.
#![expect(clippy::disallowed_methods, reason = "cargo tells a build script what it builds by variables")]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, wanted: &str| std::env::var(name).is_ok_and(|value| value == wanted);
    if is("PROFILE", "debug") && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
