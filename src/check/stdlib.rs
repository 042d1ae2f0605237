//! The library of the language, written in the language: `use std.NAME`.

/// The modules by name, with their text.
const MODULES: &[(&str, &str)] =
    &[("pii", include_str!("../../stdlib/pii.assert")), ("secrets", include_str!("../../stdlib/secrets.assert"))];

/// The text of a module.
#[must_use]
pub fn text(name: &str) -> Option<&'static str> {
    MODULES.iter().find(|(module, _)| *module == name).map(|(_, text)| *text)
}

/// The names of all modules, sorted.
pub fn names() -> impl Iterator<Item = &'static str> {
    MODULES.iter().map(|(name, _)| *name)
}
