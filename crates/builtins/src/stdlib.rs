//! The modules of `use std.NAME`, written in the language itself.

/// A module of the standard set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StdModule {
    /// Its name after `std.`.
    pub name: &'static str,
    /// Its file name in messages.
    pub file: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! modules {
    ($doc:literal $list:ident: $($name:literal at $path:literal),*) => {
        #[doc = $doc]
        pub const $list: &[StdModule] = &[$(StdModule {
            name: $name,
            file: concat!("std/", $path, ".assert"),
            text: include_str!(concat!("../stdlib/", $path, ".assert")),
        }),*];
    };
}

modules!("The modules that define functions and steps, by name." MODULES:
    "actions" at "actions",
    "agents" at "agents",
    "pii" at "pii",
    "secrets" at "secrets",
    "text" at "text"
);

modules!("The packs: modules whose rules are judged where they are used." PACKS:
    "packs.coding-agent" at "packs/coding-agent",
    "packs.data-handling" at "packs/data-handling",
    "packs.mcp-server" at "packs/mcp-server",
    "packs.owasp-agentic" at "packs/owasp-agentic",
    "packs.payments" at "packs/payments"
);

/// Returns all modules: those with definitions, then the packs.
pub fn all_modules() -> impl Iterator<Item = StdModule> {
    MODULES.iter().chain(PACKS).copied()
}

/// Returns the module with a name.
#[must_use]
pub fn find_module(name: &str) -> Option<StdModule> {
    all_modules().find(|module| module.name == name)
}

/// True if a module is a pack.
#[must_use]
pub fn is_pack(name: &str) -> bool {
    PACKS.iter().any(|module| module.name == name)
}

/// True if a file name belongs to a module.
#[must_use]
pub fn is_module_file(name: &str) -> bool {
    all_modules().any(|module| module.file == name)
}

/// Returns the names of all modules.
pub fn module_names() -> impl Iterator<Item = &'static str> {
    all_modules().map(|module| module.name)
}

impl StdModule {
    /// Returns its reference in Markdown: the comment at its top, then every definition, parameter and rule with its doc comment.
    #[must_use]
    pub fn reference_page(&self) -> String {
        let mut page = format!("## std.{}\n\n", self.name);
        let head = self.text.lines().take_while(|line| line.starts_with('#') && !line.starts_with("##"));
        let name = format!("std.{}: ", self.name);
        for line in head.map(|line| line.trim_start_matches('#').trim_start()) {
            // The first line starts with `std.text: …`. The rest of it starts a sentence below the title.
            let (first, rest) = line
                .strip_prefix(&name)
                .map_or(("", line), |rest| rest.split_at(rest.chars().next().map_or(0, char::len_utf8)));
            page.push_str(&format!("{}{rest}\n", first.to_uppercase()));
        }
        for entry in self.documented_entries() {
            page.push('\n');
            page.push_str(&entry.text);
        }
        page
    }

    fn documented_entries(&self) -> Vec<DocumentedEntry> {
        let (mut entries, mut doc) = (Vec::<DocumentedEntry>::new(), Vec::new());
        for line in self.text.lines() {
            if let (Some(test), Some(entry)) = (line.strip_prefix("test \""), entries.last_mut()) {
                entry.add_test(test);
            }
            if let Some(said) = line.strip_prefix("##") {
                doc.push(said.strip_prefix(' ').unwrap_or(said));
                continue;
            }
            if !doc.is_empty() {
                let doc = doc.join("\n");
                entries.extend(["def ", "param ", "rule "].iter().find_map(|word| {
                    let declared = line.strip_prefix(word)?;
                    DocumentedEntry::parse(word, declared, doc.trim_end())
                }));
            }
            doc.clear();
        }
        entries
    }
}

struct DocumentedEntry {
    name: &'static str,
    /// Its page in Markdown.
    text: String,
}

impl DocumentedEntry {
    /// Parses a declaration. `declared` is the rest of the line after the word.
    fn parse(word: &str, declared: &'static str, doc: &str) -> Option<Self> {
        let signature = declared.split(" =").next()?;
        Some(match word {
            "def " => Self {
                name: signature.trim_start_matches("step ").split('(').next()?,
                text: format!("### `{signature}`\n\n{doc}\n"),
            },
            "param " => {
                Self { name: signature.split(':').next()?, text: format!("### `param {signature}`\n\n{doc}\n") }
            }
            // A rule has a name and a sentence.
            _ => {
                let (name, rest) = declared.split_once(' ')?;
                let sentence = rest.strip_prefix('"')?.split_once('"')?.0;
                Self { name, text: format!("### {name}\n\n**{sentence}** {doc}\n") }
            }
        })
    }

    /// Adds a test to the entry. `test` is the rest of its line after the first quote: `RULE: what the run does" expect VERDICT RULE {`.
    fn add_test(&mut self, test: &str) {
        let tried = test.split_once('"').and_then(|(name, rest)| {
            let what = name.strip_prefix(self.name)?.strip_prefix(": ")?;
            Some((what, rest.split_whitespace().nth(1)?))
        });
        if let Some((what, verdict)) = tried {
            let before = if self.text.contains("\n- ") { "" } else { "\n" };
            self.text.push_str(&format!("{before}- {verdict}: {what}\n"));
        }
    }
}

/// Returns the module of a definition, parameter or rule in the standard set, and its documentation in Markdown.
#[must_use]
pub fn find_definition(name: &str) -> Option<(&'static str, String)> {
    all_modules().find_map(|module| {
        let entry = module.documented_entries().into_iter().find(|entry| entry.name == name);
        entry.map(|entry| (module.name, entry.text))
    })
}

/// Returns the names of all definitions, parameters and rules of the standard set.
pub fn definition_names() -> impl Iterator<Item = &'static str> {
    all_modules().flat_map(|module| module.documented_entries().into_iter().map(|entry| entry.name))
}

/// Returns the page of the modules with definitions.
#[must_use]
pub fn modules_page() -> String {
    let mut page = "# The standard set\n\nModules written in the language itself: `use std.secrets`, or `use std.secrets (secrets)` for one name. Their \
                    examples are run by the test suite. Modules of rules are [packs](../packs.md).\n"
        .to_owned();
    add_pages(&mut page, MODULES);
    page
}

/// Returns the reference of the packs, with all their rules.
#[must_use]
pub fn packs_reference() -> String {
    let mut page = String::new();
    add_pages(&mut page, PACKS);
    page
}

fn add_pages(page: &mut String, modules: &[StdModule]) {
    for module in modules {
        page.push('\n');
        page.push_str(&module.reference_page());
    }
}
