//! JSON and the readers of all trace formats, each way of judging what they read.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| averment_fuzz::traces::run(bytes));
