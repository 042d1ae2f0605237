//! Classification of failures by their messages: `classify "id" when message contains "…"`.

use super::redact::redact;
use averment_base::limits::{FuelMeter, Limits};
use averment_builtins::matcher::RegexMatcher;
use averment_checker::ir;
use averment_engine::bytecode::program::Program;
use serde::Serialize;
use std::sync::Arc;

/// A failure class.
#[derive(Debug, Clone, Serialize)]
pub struct FailureClass {
    /// Its id.
    pub id: String,
    /// Its label.
    pub label: Option<String>,
}

impl FailureClass {
    /// Returns its display name: the label, otherwise the id.
    #[must_use]
    pub fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.id)
    }
}

/// A class, with the condition on the message of a failure.
#[derive(Debug)]
pub struct FailureClassifier {
    /// The class.
    pub class: FailureClass,
    test: ClassTest,
}

#[derive(Debug)]
enum ClassTest {
    Contains(String),
    Matches(RegexMatcher),
}

impl FailureClassifier {
    /// Returns the classifiers by number; `None` if an expression is invalid, which a checked program never has.
    pub(super) fn of_program(program: &Program) -> Vec<Option<Arc<Self>>> {
        program.classifiers.iter().map(|one| Self::new(program, one).map(Arc::new)).collect()
    }

    fn new(program: &Program, one: &ir::MessageClassifier) -> Option<Self> {
        let test = match &one.test {
            ir::MessageTest::Contains(text) => ClassTest::Contains(text.clone()),
            ir::MessageTest::Matches(number) => {
                let regex = program.regexes.get(*number as usize)?;
                let limit = Limits::default().regex_bytes;
                ClassTest::Matches(RegexMatcher::new(
                    *number,
                    &regex.pattern,
                    regex.backtracks,
                    program.regexes.len(),
                    limit,
                )?)
            }
        };
        let hidden = |text: &str| redact(text).into_owned();
        Some(Self { class: FailureClass { id: hidden(&one.id), label: one.label.as_deref().map(hidden) }, test })
    }

    /// True if the displayed message or reason of a failure matches. False if the search exceeds the work limit.
    #[must_use]
    pub fn fits_failure(&self, message: Option<&str>, reason: &str) -> bool {
        message.into_iter().chain([reason]).any(|said| match &self.test {
            ClassTest::Contains(text) => said.contains(text.as_str()),
            ClassTest::Matches(matcher) => {
                matcher.is_match(said, &mut FuelMeter::new(&Limits::default())).unwrap_or(false)
            }
        })
    }
}
