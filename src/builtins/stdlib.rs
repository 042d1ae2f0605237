//! The modules of `use std.NAME`, written in the language itself.

/// A module of the standard set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Module {
    /// Its name behind `std.`.
    pub name: &'static str,
    /// Its file name in messages.
    pub file: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! modules {
    ($($name:literal),*) => {
        /// All modules, by name.
        pub const MODULES: &[Module] = &[$(Module {
            name: $name,
            file: concat!("std/", $name, ".assert"),
            text: include_str!(concat!("../../stdlib/", $name, ".assert")),
        }),*];
    };
}

modules!("agents", "pii", "secrets", "text");

/// The module of a name.
#[must_use]
pub fn module(name: &str) -> Option<Module> {
    MODULES.iter().find(|module| module.name == name).copied()
}

/// The names of all modules.
pub fn names() -> impl Iterator<Item = &'static str> {
    MODULES.iter().map(|module| module.name)
}
