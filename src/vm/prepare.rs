//! What is built from a program once per process, each part when it is first used.

use crate::bytecode::program::Program;
use regex::Regex;
use std::sync::OnceLock;

/// The parts of a program that have to be built: regular expressions, validators, number constants.
#[derive(Debug, Default)]
pub struct Prepared {
    regexes: Vec<(String, OnceLock<Option<Regex>>)>,
}

impl Prepared {
    /// Prepares a program; nothing is compiled before it is used.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        Self { regexes: program.regexes.iter().map(|regex| (regex.pattern.clone(), OnceLock::new())).collect() }
    }

    /// A regular expression of the program; `None` for a number or pattern that is not good (a checked program has none).
    #[must_use]
    pub fn regex(&self, number: u32) -> Option<&Regex> {
        let (pattern, cell) = self.regexes.get(number as usize)?;
        cell.get_or_init(|| Regex::new(pattern).ok()).as_ref()
    }
}
