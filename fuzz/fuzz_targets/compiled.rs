//! Compiled programs: the reader, the verifier, and the machine behind them.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| averment_fuzz::compiled::run(bytes));
