//! Validates the code that a message offers before the message is reported.

use super::typo::{StatementTrial, TrialResult};
use crate::grammar::{self, GrammarFailure, Rule};
use averment_base::diagnostic::{Diagnostic, SourceEdit};

/// Maximum length in bytes of an offer that is validated.
const LONGEST: usize = 1_000;

/// Maximum number of parser steps for each byte of an offer, so that the messages of a file with many mistakes take no more time than parsing the
/// file.
const OFFER_STEPS: usize = 500;

/// Contexts in which a part of a statement may occur.
const PLACES: &[(&str, &str)] = &[
    ("", ""),
    ("require a ", ""),
    ("require a(", ")"),
    ("output.a ", ""),
    ("output.a ", " 1"),
    ("not ", ""),
    ("before a -> b ", ""),
    ("before a ", ""),
    ("each a: ", ""),
    ("never ", ""),
    ("", " b"),
    ("", " { }"),
    ("test \"a\" ", ""),
    ("call a ", ""),
    ("tool a ", ""),
    ("", " a.b == 1"),
    ("invariant a { ", " }"),
    ("case a { ", " }"),
    ("flow (a)", ""),
    ("flow (a", ""),
];

/// True if a text is code of the language, as a whole or in one of the contexts.
pub(crate) fn can_be_read(code: &str) -> bool {
    // The placeholder is a name or a number.
    ["x", "1"].iter().any(|chosen| {
        let code = code.replace("{ … }", "{ }").replace('…', chosen);
        PLACES.iter().any(|(before, behind)| reads_at(&format!("{before}{code}{behind}"), before.is_empty()))
    })
}

/// A setting or a step is valid only without context.
fn reads_at(text: &str, alone: bool) -> bool {
    let rules = [Rule::file, Rule::lone_setting, Rule::lone_step];
    rules
        .iter()
        .take(if alone { rules.len() } else { 1 })
        .any(|rule| grammar::parse_rule(*rule, text, OFFER_STEPS).is_ok())
}

/// True for a word, a sign or a short text, which are validated by the fix.
fn is_part(code: &str) -> bool {
    !code.trim().contains(' ')
}

/// Replaces a help whose code does not parse, neither alone nor in place of the underlined text.
pub(super) fn replace_unreadable_offer(
    mut diagnostic: Diagnostic,
    trial: &StatementTrial<'_>,
    failure: &GrammarFailure,
) -> Diagnostic {
    let offered = diagnostic.help.as_deref().and_then(|help| help.strip_prefix("write `")?.split('`').next());
    let Some(code) = offered.filter(|code| !is_part(code) && code.len() <= LONGEST) else { return diagnostic };
    let edit = SourceEdit { span: diagnostic.span, text: code.to_owned() };
    let reads = diagnostic.fix.is_some()
        || can_be_read(code)
        || matches!(trial.try_edits(&[edit], failure), Some(TrialResult::Whole));
    if !reads {
        diagnostic.help = super::expected::expected_text(&failure.expected);
    }
    diagnostic
}
