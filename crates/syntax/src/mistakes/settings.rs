//! Mistakes in modifiers and settings.

use super::Find;
use super::view::{View, Write};
use crate::near;
use crate::words;
use averment_base::diagnostic::suggest::nearest;
use averment_base::diagnostic::{Diagnostic, Slug};

/// Modifiers and settings with the wrong thing behind them.
pub(super) const VALUES: &[Find] = &[modifier_sign, modifier_value, setting_value];
/// Words behind an assertion that are none of the language.
pub(super) const UNKNOWN: &[Find] = &[unknown_modifier];

const ALL: &str =
    "the modifiers are weight, severity, must, threshold, message, as, class, tags, when, id, expect fail";

/// How a modifier is written, for help.
fn example(word: &str) -> &'static str {
    match word {
        "weight" => "weight 2",
        "severity" => "severity warn",
        "threshold" => "threshold 0.8",
        "message" => "message \"what is wrong\"",
        "as" => "as metric_name",
        "class" => "class \"policy\" \"Refund policy\"",
        "tags" => "tags smoke, nightly",
        "when" => "when inputs.vip == true",
        "id" => "id first-refund",
        "expect" => "expect fail \"why it is known\"",
        _ => "must",
    }
}

/// True where a modifier or setting can stand: at the start, or behind a complete statement.
fn can_stand(view: &View<'_, '_>, at: usize) -> bool {
    at == 0 || view.failed <= at + 2 && view.ends_operand(at - 1)
}

/// `weight: 2`, `severity = error`, `tags: [a, b]`.
fn modifier_sign(view: &View<'_, '_>) -> Option<Diagnostic> {
    let known = |at: usize| words::MODIFIERS.contains(&view.word(at)) || words::SETTINGS.contains(&view.word(at));
    let at = (0..view.len())
        .find(|&at| view.is_outer(at) && known(at) && view.is_any(at + 1, &[":", "="]) && can_stand(view, at))?;
    if view.is(0, "param") || view.is(0, "let") || view.is(0, "def") {
        return None;
    }
    let (word, sign) = (view.word(at), view.word(at + 1));
    let list = view.is(at + 2, "[");
    let end = if list { view.behind_bracket(at + 2) } else { view.len() };
    let value = if list && word == "tags" { view.source(at + 3, end - 1) } else { view.source(at + 2, end) };
    let value = if word == "tags" { value.replace(['"', '\''], "") } else { value };
    let text = format!("{word} {value}");
    let edits = vec![view.edit(at + 1, end, if view.touches(at + 1) { format!(" {value}") } else { value.clone() })];
    Some(view.wrong(at + 1, at + 2, format!("`{word}` takes its value without `{sign}`")).write(text, edits))
}

/// `weight high`, `message what`, `tags [a, b]`, `severity "warn"`.
fn modifier_value(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = (0..view.len())
        .rev()
        .find(|&at| view.is_outer(at) && words::MODIFIERS.contains(&view.word(at)) && can_stand(view, at))?;
    // Whether it is a modifier at all: an operator behind it makes it a name.
    if view.failed > at + 2
        || view.is_any(
            at + 1,
            &["==", "!=", "<", ">", "<=", ">=", ".", "contains", "is", "in", "matches", "exists", "+", "and", "or"],
        )
    {
        return None;
    }
    if at == 0 && view.is_any(0, &["when", "as", "class"]) && view.len() > 3 {
        return None;
    }
    let word = view.word(at);
    let next = at + 1;
    let inner = view.word(next).trim_matches(['"', '\'']).to_owned();
    let quoted = view.is_text(next);
    let diagnostic = |what: &str| {
        if next >= view.len() {
            view.missing_at_end(format!("`{word}` needs {what}"))
        } else {
            view.wrong(next, next + 1, format!("`{word}` needs {what}"))
        }
    };
    let unquoted = |what: &str, text: &str| {
        diagnostic(what).write(format!("{word} {text}"), vec![view.edit(next, next + 1, text)])
    };
    let is_label =
        !inner.is_empty() && inner.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    Some(match word {
        "weight" if !view.is_number(next) && !view.is(next, "-") => diagnostic("a number").help("write `weight 2`"),
        "threshold" if !view.is_number(next) && !view.is(next, "-") => {
            diagnostic("a number between 0 and 1").help("write `threshold 0.8` or `threshold 80%`")
        }
        "severity" if quoted && is_label => unquoted("a word without quotes: error, warn or info", &inner),
        "severity" if next >= view.len() => diagnostic("one of error, warn, info").help("write `severity warn`"),
        "as" | "id" if quoted && is_label => unquoted("a name without quotes", &inner),
        "as" | "id" if quoted => {
            diagnostic("a name of letters, digits, `_`, `-` and `.`").help(format!("write `{}`", example(word)))
        }
        "as" | "id" if next >= view.len() && at > 0 => diagnostic("a name").help(format!("write `{}`", example(word))),
        "message" | "class" if !quoted => {
            let end = view.modifiers(next).max(next);
            let rest = view.source(next, end);
            if rest.is_empty() {
                diagnostic("a text in quotes").help(format!("write `{}`", example(word)))
            } else {
                let edits = vec![view.insert(next, "\""), view.append(end - 1, "\"")];
                diagnostic("a text in quotes").write(format!("{word} \"{rest}\""), edits)
            }
        }
        "tags" => return tags(view, at),
        "expect" if at > 0 || view.is_any(next, &["failure", "failed", "fails", "fail", "to", "error", "pass"]) => {
            return expect(view, at);
        }
        "when" if next >= view.len() => diagnostic("a condition").help(format!("write `{}`", example(word))),
        _ => return None,
    })
}

/// `tags [a, b]`, `tags "a"`, `tags a b`.
fn tags(view: &View<'_, '_>, at: usize) -> Option<Diagnostic> {
    let next = at + 1;
    if view.is(next, "[") {
        let end = view.behind_bracket(next);
        let inner = view.source(next + 1, end.saturating_sub(1)).replace(['"', '\''], "");
        return Some(
            view.wrong(next, next + 1, "tags are named without brackets")
                .write(format!("tags {inner}"), vec![view.edit(next, end, inner.clone())]),
        );
    }
    let text = (next..view.len()).find(|&here| view.is_text(here) && (here == next || view.is(here - 1, ",")));
    if let Some(here) = text {
        let inner = view.word(here).trim_matches(['"', '\'']).to_owned();
        return Some(
            view.wrong(here, here + 1, "a tag is a name without quotes")
                .write(format!("tags {inner}"), vec![view.edit(here, here + 1, inner.clone())]),
        );
    }
    let mut end = view.behind_name(next);
    while view.is(end, ",") {
        end = view.behind_name(end + 1);
    }
    if next >= view.len() {
        return Some(view.missing_at_end("`tags` needs names").help(format!("write `{}`", example("tags"))));
    }
    if !view.is_word(end) || words::MODIFIERS.contains(&view.word(end)) {
        return None;
    }
    let text = format!("{}, {}", view.source(at, end), view.source(end, view.len()));
    Some(view.wrong(end, end + 1, "tags are joined with commas").write(text, vec![view.append(end - 1, ",")]))
}

/// `expect failure`, `expect to fail`, `expect fail because "…"`.
fn expect(view: &View<'_, '_>, at: usize) -> Option<Diagnostic> {
    let text = (at..view.len()).find(|&here| view.is_text(here));
    let why = text.map(|here| format!(" {}", view.word(here))).unwrap_or_default();
    let end = view.modifiers(at + 1).max(at + 1);
    if view.is(at + 1, "fail") && text.is_none() && end == at + 2 {
        return None;
    }
    let text = format!("expect fail{why}");
    let wrong = if view.is(at + 1, "fail") { at + 2 } else { at + 1 };
    Some(
        view.wrong(wrong, (wrong + 1).min(view.len()).max(wrong), "a known failure is marked with `expect fail`")
            .write(text.clone(), vec![view.edit(at, end, text)]),
    )
}

/// A word behind a complete assertion that is no modifier.
fn unknown_modifier(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = view.failed;
    if at == 0
        || !view.is_word(at)
        || !view.is_outer(at)
        || !view.ends_operand(at - 1) && !view.is_any(at - 1, &["exists", "json", "empty", "*"])
    {
        return None;
    }
    let word = view.word(at);
    let taken = !view.expected.iter().any(|rule| format!("{rule:?}").starts_with("modifier"));
    if taken
        || words::is_joining(word)
        || STATEMENT_WORDS.contains(&word)
        || words::STATEMENTS.contains(&word) && view.is_word(at + 1)
    {
        return None;
    }
    let simple = at + 1 >= view.len()
        || view.is_number(at + 1)
        || view.is_text(at + 1)
        || view.is_word(at + 1)
        || view.is_any(at + 1, &[":", "=", "-", "["]);
    if !simple || words::MODIFIERS.contains(&word) {
        return None;
    }
    let meant = meant_modifier(word);
    if meant.is_none() && (!modifier_like(view, at) || !near::meant(word).is_empty()) {
        return None;
    }
    let diagnostic = Diagnostic::new(Slug::UnknownModifier, view.span(at), format!("unknown modifier `{word}`"));
    Some(match meant {
        Some(meant) => {
            diagnostic.help(format!("did you mean `{meant}`?")).fix(format!("write `{meant}`"), view.span(at), meant)
        }
        None => diagnostic.help(ALL),
    })
}

/// Words of the language that stand behind a step and are no modifiers.
const STATEMENT_WORDS: &[&str] = &["until", "within", "times", "where", "iff", "only", "between", "of", "than", "more"];

/// One word, or a word with one value, at the end of the statement or before a modifier.
fn modifier_like(view: &View<'_, '_>, at: usize) -> bool {
    let valued = view.is_number(at + 1)
        || view.is_text(at + 1)
        || (view.is_word(at + 1) && !words::is_joining(view.word(at + 1)));
    let end = at + 1 + usize::from(valued && at + 1 < view.len());
    end >= view.len() || words::MODIFIERS.contains(&view.word(end))
}

pub(super) fn meant_modifier(word: &str) -> Option<&'static str> {
    match word {
        "label" | "name" | "metric" => Some("as"),
        "tag" | "labels" => Some("tags"),
        "level" | "sev" => Some("severity"),
        "required" | "mandatory" | "critical" => Some("must"),
        "because" | "msg" | "reason" | "description" => Some("message"),
        "unless" | "provided" => Some("when"),
        "xfail" => Some("expect fail"),
        _ => nearest(word, words::MODIFIERS.iter().copied()),
    }
}

/// `prompt Find a skill`, `timeout "60s"`, `model gpt`.
fn setting_value(view: &View<'_, '_>) -> Option<Diagnostic> {
    let word = view.word(0);
    if !words::SETTINGS.contains(&word)
        || view.is_any(1, &["==", "!=", ".", "contains", "is", "in", "matches", "[", "<", ">", "<=", ">="])
    {
        return None;
    }
    let needs = match word {
        "timeout" => "a duration",
        "prompt" | "template" | "bootstrap" | "model" => "a text in quotes",
        "command" => "a list of words",
        _ => return None,
    };
    let message = format!("`{word}` needs {needs}");
    let rest = view.source(1, view.len());
    if rest.is_empty() {
        let example = if word == "timeout" { "60s" } else { "\"…\"" };
        return Some(view.missing_at_end(message).help(format!("write `{word} {example}`")));
    }
    if word == "timeout" {
        let value = view.word(1).trim_matches(['"', '\'']).to_owned();
        return Some(view.wrong(1, 2, message).write(format!("timeout {value}"), vec![view.edit(1, 2, value.clone())]));
    }
    if word == "command" || view.is_text(1) {
        return None;
    }
    let edits = vec![view.insert(1, "\""), view.append(view.len() - 1, "\"")];
    Some(view.wrong(1, view.len(), message).write(format!("{word} \"{rest}\""), edits))
}
