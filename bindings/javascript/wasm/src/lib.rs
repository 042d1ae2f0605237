//! The compiled part of the npm package `averment`.
//!
//! Only numbers are passed between JavaScript and WebAssembly. JavaScript requests an [`exchange::Slot`] of some bytes, writes text into it, calls
//! one of these functions and reads the text of the answer. `bindings/javascript/lib/core.js` is the JavaScript side.
//!
//! A panic ends in a trap, after which the module's memory cannot be trusted. JavaScript then reads the message, throws an error, and creates a new
//! instance.

#![allow(missing_docs, reason = "what JavaScript sees is documented in `bindings/javascript/lib/index.d.ts`")]
#![allow(unsafe_code, reason = "the names of exported functions, and the one buffer that `getrandom` gives away")]

mod answer;
mod exchange;
mod kept_guards;
mod kept_rules;
#[cfg(target_arch = "wasm32")]
mod randomness;
mod settings;
mod texts;

use answer::AnswerKind;
use exchange::Slot;

/// Resizes a slot for the bytes to be written. Returns its address, or 0 if there is not enough memory.
#[unsafe(no_mangle)]
pub extern "C" fn averment_open(slot: u32, bytes: usize) -> *mut u8 {
    exchange::note_panics();
    Slot::from_number(slot).map_or(std::ptr::null_mut(), |slot| slot.open(bytes))
}

#[unsafe(no_mangle)]
pub extern "C" fn averment_address(slot: u32) -> *const u8 {
    Slot::from_number(slot).map_or(std::ptr::null(), Slot::address)
}

#[unsafe(no_mangle)]
pub extern "C" fn averment_length(slot: u32) -> usize {
    Slot::from_number(slot).map_or(0, Slot::length)
}

/// Compiles the rules in the settings and keeps them. The answer contains their number.
#[unsafe(no_mangle)]
pub extern "C" fn averment_compile() -> u32 {
    AnswerKind::give(settings::read_settings().and_then(kept_rules::compile_rules))
}

/// Judges a trace of exactly one run.
#[unsafe(no_mangle)]
pub extern "C" fn averment_check(rules: u32) -> u32 {
    AnswerKind::give(kept_rules::check_one(rules))
}

/// Judges all runs of a trace.
#[unsafe(no_mangle)]
pub extern "C" fn averment_check_all(rules: u32) -> u32 {
    AnswerKind::give(kept_rules::check_all(rules))
}

#[unsafe(no_mangle)]
pub extern "C" fn averment_explain(rules: u32) -> u32 {
    AnswerKind::give(kept_rules::explain_one(rules))
}

#[unsafe(no_mangle)]
pub extern "C" fn averment_run_tests(rules: u32) -> u32 {
    AnswerKind::give(kept_rules::run_tests(rules))
}

#[unsafe(no_mangle)]
pub extern "C" fn averment_forget(rules: u32) {
    kept_rules::forget_rules(rules);
}

/// Begins a guard session with compiled rules. The answer contains its number.
#[unsafe(no_mangle)]
pub extern "C" fn averment_guard(rules: u32) -> u32 {
    AnswerKind::give(kept_guards::begin_guard(rules))
}

#[unsafe(no_mangle)]
pub extern "C" fn averment_guard_ask(guard: u32) -> u32 {
    AnswerKind::give(kept_guards::ask_guard(guard))
}

#[unsafe(no_mangle)]
pub extern "C" fn averment_guard_trace(guard: u32) -> u32 {
    AnswerKind::give(kept_guards::guard_trace(guard))
}

#[unsafe(no_mangle)]
pub extern "C" fn averment_guard_forget(guard: u32) {
    kept_guards::forget_guard(guard);
}

#[unsafe(no_mangle)]
pub extern "C" fn averment_lint() -> u32 {
    AnswerKind::give(settings::read_settings().and_then(|settings| texts::lint_rules(&settings)))
}

#[unsafe(no_mangle)]
pub extern "C" fn averment_format() -> u32 {
    AnswerKind::give(texts::format_rules())
}
