//! Rules that nobody vouches for: parse, check, lint, compile, evaluate.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| averment_fuzz::rules::run(bytes));
