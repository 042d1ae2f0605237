//! A limit for nested values while a compiled program is read: its format nests without brackets that a parser would count.

use serde::{Deserialize, Deserializer, de::Error};
use std::cell::Cell;

/// Maximum nesting of a compiled program. The bracket limit of rule files is lower.
pub const DEPTH: u32 = 1024;

thread_local! {
    static OPEN: Cell<u32> = const { Cell::new(0) };
}

struct NestingLevel;

impl NestingLevel {
    fn enter_level() -> Option<Self> {
        OPEN.with(|open| {
            (open.get() < DEPTH).then(|| {
                open.set(open.get().saturating_add(1));
                Self
            })
        })
    }
}

impl Drop for NestingLevel {
    fn drop(&mut self) {
        OPEN.with(|open| open.set(open.get().saturating_sub(1)));
    }
}

/// Reads a part that can hold itself, for `#[serde(deserialize_with = …)]`.
pub fn nested<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    let _level = NestingLevel::enter_level().ok_or_else(|| D::Error::custom("nested too deep"))?;
    stacker::maybe_grow(64 * 1024, 1024 * 1024, || T::deserialize(deserializer))
}
