//! The language server: a document, edits and requests, well formed or not.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| averment_fuzz::protocol::run(bytes));
