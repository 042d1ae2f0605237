//! A guard: events of hooks, messages to an MCP server, and requests to the resident guard.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| averment_fuzz::guard::run(bytes));
