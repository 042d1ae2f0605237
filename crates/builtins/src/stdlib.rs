//! The modules of `use std.NAME`, written in the language itself.

/// A module of the standard set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StdModule {
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
        pub const MODULES: &[StdModule] = &[$(StdModule {
            name: $name,
            file: concat!("std/", $name, ".assert"),
            text: include_str!(concat!("../stdlib/", $name, ".assert")),
        }),*];
    };
}

modules!("agents", "pii", "secrets", "text");

/// The module of a name.
#[must_use]
pub fn find_module(name: &str) -> Option<StdModule> {
    MODULES.iter().find(|module| module.name == name).copied()
}

/// The names of all modules.
pub fn module_names() -> impl Iterator<Item = &'static str> {
    MODULES.iter().map(|module| module.name)
}

impl StdModule {
    /// Its reference in Markdown: what its head says, then every definition with its doc comment.
    #[must_use]
    pub fn reference_page(&self) -> String {
        let mut page = format!("## std.{}\n\n", self.name);
        let head = self.text.lines().take_while(|line| line.starts_with('#') && !line.starts_with("##"));
        let name = format!("std.{}: ", self.name);
        for line in head.map(|line| line.trim_start_matches('#').trim_start()) {
            // The head says `std.text: what …`; under the title it is a sentence.
            let (first, rest) = line
                .strip_prefix(&name)
                .map_or(("", line), |rest| rest.split_at(rest.chars().next().map_or(0, char::len_utf8)));
            page.push_str(&format!("{}{rest}\n", first.to_uppercase()));
        }
        for (_, entry) in self.documented_entries() {
            page.push('\n');
            page.push_str(&entry);
        }
        page
    }

    fn documented_entries(&self) -> Vec<(&'static str, String)> {
        let (mut entries, mut doc) = (Vec::new(), Vec::new());
        for line in self.text.lines() {
            if let Some(said) = line.strip_prefix("##") {
                doc.push(said.strip_prefix(' ').unwrap_or(said));
                continue;
            }
            if let (Some(definition), false) = (line.strip_prefix("def "), doc.is_empty()) {
                let signature = definition.split(" =").next().unwrap_or(definition);
                let name = signature.trim_start_matches("step ").split('(').next().unwrap_or(signature);
                entries.push((name, format!("### `{signature}`\n\n{}\n", doc.join("\n").trim_end())));
            }
            doc.clear();
        }
        entries
    }
}

/// The definition of a name in the standard set: its module, and what is to be said of it in Markdown.
#[must_use]
pub fn find_definition(name: &str) -> Option<(&'static str, String)> {
    MODULES.iter().find_map(|module| {
        let entry = module.documented_entries().into_iter().find(|(known, _)| *known == name);
        entry.map(|(_, text)| (module.name, text))
    })
}

/// The names of all definitions of the standard set.
pub fn definition_names() -> impl Iterator<Item = &'static str> {
    MODULES.iter().flat_map(|module| module.documented_entries().into_iter().map(|(name, _)| name))
}

/// The page of all modules.
#[must_use]
pub fn modules_page() -> String {
    let mut page = "# The standard set\n\nModules written in the language itself: `use std.secrets`, or `use std.secrets (secrets)` for one name. Their \
                    examples are run by the test suite.\n"
        .to_owned();
    for module in MODULES {
        page.push('\n');
        page.push_str(&module.reference_page());
    }
    page
}
