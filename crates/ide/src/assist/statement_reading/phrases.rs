//! Phrases that several statements share.

use super::*;

/// Returns the path and the binding of `id: $id` or `id == $id`.
pub(super) fn entry_binding(entry: &PatternArgument) -> Option<(&Expr, String)> {
    match entry {
        PatternArgument::Matches { path, value: Expr { kind: ExprKind::Binding(name), .. }, .. } => {
            Some((path, name.clone()))
        }
        PatternArgument::Test(Expr { kind: ExprKind::Test { subject, test }, .. }) => match test.operand.as_deref() {
            Some(Expr { kind: ExprKind::Binding(name), .. })
                if !test.negated && test.kind == averment_syntax::ast::TestKind::Equal =>
            {
                Some((subject, name.clone()))
            }
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn bound_names(step: &StepPattern) -> Vec<String> {
    match &step.kind {
        PatternForm::Atom(atom) => {
            atom.arguments.iter().flatten().filter_map(entry_binding).map(|(_, binding)| binding).collect()
        }
        PatternForm::Choice(all) => all.iter().flat_map(bound_names).collect(),
        PatternForm::Where { step, .. } | PatternForm::Proposed(step) => bound_names(step),
    }
}

pub(super) fn join_words(all: &[String], word: &str) -> String {
    match all {
        [] => String::new(),
        [one] => one.clone(),
        [front @ .., last] if matches!(word, "or" | "and") => format!("{} {word} {last}", front.join(", ")),
        all => all.join(&format!(" {word} ")),
    }
}

pub(super) fn with_article(noun: &str) -> String {
    let vowel = noun.starts_with(|c: char| "aeiouAEIOU".contains(c));
    format!("{} {noun}", if vowel { "an" } else { "a" })
}

pub(super) fn times_words(times: &StepCount) -> String {
    match (&times.least, &times.most) {
        (Some(least), Some(most)) if least.value == most.value => format!(" {} times", least.text),
        (Some(least), Some(most)) => format!(" {} to {} times", least.text, most.text),
        (Some(least), None) => format!(" at least {} times", least.text),
        (None, Some(most)) => format!(" at most {} times", most.text),
        (None, None) => String::new(),
    }
}

pub(super) fn within_words(within: &WithinBound) -> String {
    let unit = match within.unit {
        Some(WithinUnit::Calls) => " calls",
        Some(WithinUnit::Turns) => " turns",
        None => "",
    };
    format!("within {}{unit}", within.number.text)
}

pub(super) fn args_valid(step: Option<String>, strict: bool) -> String {
    let whose = step.map_or("every call".to_owned(), |step| format!("every {step}"));
    let strict = if strict { ", and every tool is declared" } else { "" };
    format!("the arguments of {whose} fit the declared schema{strict}")
}

/// The words of `calls match`.
#[derive(Debug, Clone, Copy)]
pub(super) struct MatchWords {
    pub(super) extent: MatchExtent,
    pub(super) order: Option<MatchOrder>,
    pub(super) arguments: ArgumentMatch,
    pub(super) folded: bool,
}

pub(super) fn calls_match(expected: &str, words: MatchWords, ignored: &[&str], least: Option<&str>) -> String {
    let what = match words.extent {
        MatchExtent::Exactly => format!("the calls are exactly those of `{expected}`"),
        MatchExtent::Subset => format!("every call is one of `{expected}`"),
        MatchExtent::Superset => format!("every call of `{expected}` is made"),
    };
    let order = match words.order {
        Some(MatchOrder::Repeated) => ", however often",
        Some(MatchOrder::Any) => ", in any order",
        None if words.extent != MatchExtent::Exactly => ", in any order",
        Some(MatchOrder::Kept) | None => ", in this order",
    };
    let arguments = match words.arguments {
        ArgumentMatch::Exact => "with equal arguments",
        ArgumentMatch::Named => "with the arguments that are named there",
        ArgumentMatch::Optional => "with arguments of which some may be absent",
        ArgumentMatch::Accepted => "each argument being one of the accepted values",
        ArgumentMatch::Ignored => "by the names of the tools alone",
    };
    let folded = if words.folded { ", letter case and white space left aside" } else { "" };
    let ignored = if ignored.is_empty() { String::new() } else { format!(", `{}` left aside", ignored.join("`, `")) };
    let least = least.map_or_else(String::new, |least| format!("; a share of {least} is enough"));
    format!("{what}{order}, {arguments}{folded}{ignored}{least}")
}
