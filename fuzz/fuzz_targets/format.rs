//! The formatter: what it writes is formatted, and the same program.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| averment_fuzz::format::run(bytes));
