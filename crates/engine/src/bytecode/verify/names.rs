//! Ids and tags of a program from a file: only what rule text can say. They go into command lines, reports and the scripts of shells.

use super::VerifyError;
use crate::bytecode::program::{CompiledAssertion, Program};
use averment_base::diagnostic::render::is_steering;
use averment_syntax::words::{is_joined_words, is_label};

pub(super) fn verify_names(program: &Program) -> Result<(), VerifyError> {
    for rule in &program.rules {
        verify_label("rule id", &rule.id)?;
        rule.tags.iter().try_for_each(|tag| verify_label("tag", tag))?;
        rule.metric.iter().try_for_each(|metric| verify_label("metric", metric))?;
    }
    program.assertions.iter().try_for_each(verify_assertion)
}

fn verify_assertion(assertion: &CompiledAssertion) -> Result<(), VerifyError> {
    if !is_assertion_id(&assertion.id) {
        return Err(refused_label("assertion id", &assertion.id));
    }
    assertion.settings.tags.iter().try_for_each(|tag| verify_label("tag", tag))?;
    assertion.settings.metric.iter().try_for_each(|metric| verify_label("metric", metric))
}

fn verify_label(what: &str, text: &str) -> Result<(), VerifyError> {
    if is_label(text) { Ok(()) } else { Err(refused_label(what, text)) }
}

/// The text is escaped: a hostile program must not steer the terminal.
fn refused_label(what: &str, text: &str) -> VerifyError {
    VerifyError::new(format!("{text:?} is no {what}"))
}

/// A name, or `FILE:WORDS` for an unnamed assertion.
fn is_assertion_id(id: &str) -> bool {
    let Some((stem, words)) = id.rsplit_once(':') else { return is_label(id) };
    !stem.contains(|letter: char| letter.is_control() || is_steering(letter)) && is_joined_words(words)
}

#[cfg(test)]
mod tests {
    use super::is_assertion_id;

    #[test]
    fn an_assertion_id_is_a_name_or_a_file_with_words() {
        for good in ["refund", "refund.1", "refund.1-2", "refunds:3f9a1c20", "my $file (2):cost-at-most-0.05-2"] {
            assert!(is_assertion_id(good), "{good}");
        }
        for bad in [
            "",
            "$(touch PWNED)",
            "a b",
            "a.",
            "-a",
            "1a",
            "a\nb",
            "refunds:",
            "refunds:a-",
            "refunds:a b",
            "refunds:$(x)",
            "a\u{1b}[2J:never-x",
        ] {
            assert!(!is_assertion_id(bad), "{bad:?}");
        }
    }
}
