#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tflock_fuzz::targets::bundle(bytes));
