//! The class that a failure has by its own message: `classify "id" when message contains "…"`.

use super::redact::redact;
use averment_base::limits::{Limits, Meter};
use averment_builtins::matcher::Matcher;
use averment_engine::bytecode::program::Program;
use averment_engine::ir;
use serde::Serialize;
use std::sync::Arc;

/// A failure class.
#[derive(Debug, Clone, Serialize)]
pub struct Class {
    /// Its id.
    pub id: String,
    /// Its label.
    pub label: Option<String>,
}

impl Class {
    /// What people call it: its label, otherwise its id.
    #[must_use]
    pub fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.id)
    }
}

/// A class, and what has to be found in the message of a failure that has it.
#[derive(Debug)]
pub struct Classifier {
    /// The class.
    pub class: Class,
    test: Test,
}

#[derive(Debug)]
enum Test {
    Contains(String),
    Matches(Matcher),
}

impl Classifier {
    /// Those of a program, by number; `None` for one whose expression is not good (a checked program has none).
    pub(super) fn of(program: &Program) -> Vec<Option<Arc<Self>>> {
        program.classifiers.iter().map(|one| Self::new(program, one).map(Arc::new)).collect()
    }

    fn new(program: &Program, one: &ir::Classifier) -> Option<Self> {
        let test = match &one.test {
            ir::MessageTest::Contains(text) => Test::Contains(text.clone()),
            ir::MessageTest::Matches(number) => {
                let regex = program.regexes.get(*number as usize)?;
                let limit = Limits::default().regex_bytes;
                Test::Matches(Matcher::new(*number, &regex.pattern, regex.backtracks, program.regexes.len(), limit)?)
            }
        };
        let hidden = |text: &str| redact(text).into_owned();
        Some(Self { class: Class { id: hidden(&one.id), label: one.label.as_deref().map(hidden) }, test })
    }

    /// Whether a failure says that: the author's message, or the reason, each as reports show it. What cannot be found with the work that an
    /// assertion may take is not found.
    #[must_use]
    pub fn fits(&self, message: Option<&str>, reason: &str) -> bool {
        message.into_iter().chain([reason]).any(|said| match &self.test {
            Test::Contains(text) => said.contains(text.as_str()),
            Test::Matches(matcher) => matcher.is_match(said, &mut Meter::new(&Limits::default())).unwrap_or(false),
        })
    }
}
