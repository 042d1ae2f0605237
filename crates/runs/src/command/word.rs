//! A word of a command line, and what of it is known before the line runs.

/// A word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ShellWord {
    /// Its text without quotes; what a shell would put in is there as it was written.
    pub(super) text: String,
    /// The end of the last part that only the running shell knows; 0 where there is none.
    unknown_end: usize,
    /// A sign outside of quotes makes several words or other names of it: `*`, `?`, `[`, `{`.
    pub(super) is_pattern: bool,
}

/// Programs that print where another one is.
const FINDERS: [&str; 5] = ["command -v ", "type -P ", "type -p ", "which ", "where "];

impl ShellWord {
    /// A word as it is.
    pub(super) fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// A part that only the running shell knows.
    pub(super) fn push_unknown(&mut self, text: &str) {
        self.text.push_str(text);
        self.unknown_end = self.text.len();
    }

    /// Whether all of it is known.
    pub(super) fn is_known(&self) -> bool {
        self.unknown_end == 0
    }

    /// The name of the program that it is, without folders; `None` where only the running shell knows it.
    pub(super) fn program(&self) -> Option<&str> {
        let name = base_name(&self.text);
        if self.unknown_end > self.text.len().saturating_sub(name.len()) {
            return self.found_program();
        }
        let is_test = matches!(name, "[" | "[[" | "?");
        let makes_words = |name: &str| name.contains(['*', '?', '[']) || name.starts_with('{') && name.len() > 1;
        (is_test || !self.is_pattern || !makes_words(name)).then_some(name)
    }

    /// `$(which rm)`: the program that is looked for.
    fn found_program(&self) -> Option<&str> {
        let script = match self.text.strip_prefix("$(") {
            Some(script) => script.strip_suffix(')'),
            None => self.text.strip_prefix('`').and_then(|script| script.strip_suffix('`')),
        }?;
        let name = FINDERS.iter().find_map(|finder| script.trim().strip_prefix(finder))?.trim();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+');
        (!name.is_empty() && name.chars().all(is_plain)).then_some(name)
    }

    /// `NAME=value`: both.
    pub(super) fn assignment(&self) -> Option<(&str, &str)> {
        let (name, value) = self.text.split_once('=')?;
        let is_name = !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        is_name.then_some((name, value))
    }

    /// `$name` in front of `=`, and `$env:NAME=value`: how PowerShell writes that a variable is set.
    pub(super) fn is_variable_of_powershell(&self) -> bool {
        let Some(name) = self.text.strip_prefix('$') else { return false };
        let name = name.split('=').next().unwrap_or(name);
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ':'))
    }
}

/// The name of a program without its folder.
pub(super) fn base_name(program: &str) -> &str {
    program.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(program)
}

/// The words as one text, as a program gets them that makes a line of them again.
pub(super) fn joined(words: &[ShellWord]) -> String {
    words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}
