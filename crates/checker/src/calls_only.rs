//! Statements that speak of calls alone, and how the same is said of other steps.

use super::Checker;
use super::patterns::LoweredPattern;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_runs::run::StepKind;
use averment_syntax::ast::{Atom, AtomSubject, KindText, PatternForm, StepPattern, StepWord};
use averment_syntax::glob_test::test_of_glob;

impl Checker<'_> {
    /// `statement` is named by its words, and for its second step with an arrow in front: `immediately after ->`.
    pub(super) fn check_calls_only(&mut self, lowered: &LoweredPattern, step: &StepPattern, statement: &str) {
        let Some(other) = lowered.shape.kinds.iter().find(|kind| **kind != StepKind::Call) else { return };
        let named = kind_atom(step);
        let place = named.as_ref().map_or(step.span, |named| named.word);
        let word = self.source_line(place);
        let whole = self.source_line(step.span);
        let is = if *other == StepKind::Message { "is a message" } else { "is none" };
        let help = match statement {
            "first" | "last" => self.help_for_end(statement, named.as_ref(), &word),
            "sequence exactly" | "flow" => "use `sequence`".to_owned(),
            // Between a call and what comes behind it there is always that call.
            "immediately before" => format!("write `before {whole} -> … within 0 calls`: no call in between"),
            "immediately after" => format!("write `after {whole} -> … within 0 calls`: no call in between"),
            "immediately before ->" => format!("write `before … -> {whole} within 1 call`: no other call in between"),
            "immediately after ->" => format!("write `after … -> {whole} within 1 call`: no other call in between"),
            "never repeat" => format!("count them: `count {word} <= 3`"),
            "only" => self.help_for_only(named.as_ref(), &word),
            _ => "name tools".to_owned(),
        };
        let statement = statement.trim_end_matches(" ->");
        self.report_diagnostic(
            Diagnostic::new(Slug::CallsOnly, place, format!("`{statement}` works only on calls, and `{word}` {is}"))
                .with_help(help),
        );
    }

    /// `first assistant /hello/`: messages are looked at in the list of their texts.
    fn help_for_end(&self, end: &str, named: Option<&KindAtom<'_>>, word: &str) -> String {
        let text = match named {
            Some(KindAtom { kind: StepWord::User | StepWord::Assistant, text: Some(text), .. }) => *text,
            _ => return format!("write `before {word} -> …` or name a tool"),
        };
        let test = match text {
            KindText::Regex(regex) => format!("matches {}", self.source_line(regex.span)),
            KindText::Text(text) => format!("contains {}", self.source_line(text.span)),
            KindText::Command(_) => return "name a tool".to_owned(),
        };
        format!("write `{end}(text of {word}) {test}` or `before {word} -> …`, or name a tool")
    }

    /// `only write "src/**"`: where all other steps of the kind are forbidden, each of them is looked at.
    fn help_for_only(&self, named: Option<&KindAtom<'_>>, word: &str) -> String {
        let text = match named.and_then(|named| named.text) {
            Some(KindText::Text(text)) => text.literal_text(),
            _ => None,
        };
        let condition = match (named.map(|named| named.kind), text) {
            (Some(StepWord::Read | StepWord::Write), Some(glob)) => condition_of_glob(glob),
            (Some(StepWord::Command), Some(command)) => {
                let program = command.split_whitespace().next().unwrap_or_default();
                format!("all p in parts: p.program == \"{program}\"")
            }
            (Some(StepWord::Http), Some(part)) => format!("url contains \"{part}\""),
            (Some(StepWord::Handover), Some(agent)) => format!("to == \"{agent}\""),
            (Some(StepWord::Skill), Some(skill)) => format!("name == \"{skill}\""),
            (Some(StepWord::Read | StepWord::Write), None) => "path starts with \"src/\"".to_owned(),
            _ => return "name the tools that may be called".to_owned(),
        };
        format!("write `each {word}: {condition}`; `only` names the tools that may be called")
    }
}

/// The test of a path that says what a glob says, as far as a plain test can.
fn condition_of_glob(glob: &str) -> String {
    let is_plain = !glob.is_empty() && !glob.contains(['*', '?', '[', '{', '"', '\\', '$']);
    match test_of_glob(glob) {
        Some(test) => format!("path {test}"),
        None if is_plain && glob.ends_with('/') => format!("path starts with \"{glob}\""),
        // A name without an ending is that of a folder.
        None if is_plain && !glob.rsplit('/').next().unwrap_or(glob).contains('.') => {
            format!("path starts with \"{glob}/\"")
        }
        None if is_plain => format!("path == \"{glob}\""),
        None => "path matches /…/".to_owned(),
    }
}

struct KindAtom<'a> {
    kind: StepWord,
    word: Span,
    text: Option<&'a KindText>,
}

/// The first step of a pattern that is no call.
fn kind_atom(step: &StepPattern) -> Option<KindAtom<'_>> {
    match &step.kind {
        PatternForm::Atom(Atom { subject: AtomSubject::Kind { kind, word, text }, .. }) => {
            Some(KindAtom { kind: *kind, word: word.unwrap_or(step.span), text: text.as_ref() })
        }
        PatternForm::Atom(_) => None,
        PatternForm::Choice(steps) => steps.iter().find_map(kind_atom),
        PatternForm::Where { step, .. } => kind_atom(step),
        PatternForm::Proposed(step) => kind_atom(step),
    }
}
