//! Rule files of other systems that nobody vouches for: read, lowered, compiled and judged.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| averment_fuzz::foreign::run(bytes));
