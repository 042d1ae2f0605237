//! Hints for mistakes in modifiers and settings.

use super::hint::{Hint, ask, not};
use super::places::can_stand;
use super::view::{View, Write};
use crate::near;
use crate::words;
use averment_base::diagnostic::suggest::nearest;
use averment_base::diagnostic::{Diagnostic, Slug};

/// Modifiers and settings with the wrong thing behind them.
pub(super) const VALUES: &[Hint] = &[
    ask("require search weight: 2", modifier_sign),
    not("classify \"alias\" when output contains \"cursr\"", "classify T T? when < !message X > ...")
        .says("`classify` asks for words of the failure itself: its `message`")
        .help("write `classify \"id\" \"Label\" when message contains \"…\"`; what the run says is asked by an assertion with `class \"id\"` behind it"),
    not("classify \"alias\" when message == \"cursr\"", "classify T T? when message < !contains|matches X > ...")
        .says("the message of a failure is asked by `contains \"…\"` or `matches /…/`")
        .help("write `classify \"id\" \"Label\" when message contains \"…\"`"),
    not("require search weight high", ".. @modifier weight < !N|- X? >")
        .says("`weight` needs a number")
        .help("write `weight 2`"),
    not("require search threshold high", ".. @modifier threshold < !N|- X? >")
        .says("`threshold` needs a number between 0 and 1")
        .help("write `threshold 0.8` or `threshold 80%`"),
    not("require search severity \"warn\"", ".. @modifier severity < v:QUOTED >")
        .says("`severity` needs a word without quotes: error, warn or info")
        .write("severity {v|bare}"),
    not("require search severity", ".. @modifier severity <> @end")
        .says("`severity` needs one of error, warn, info")
        .help("write `severity warn`"),
    not("require search as \"metric\"", ".. @modifier w:as|id < v:QUOTED >")
        .says("`{w}` needs a name without quotes")
        .write("{w} {v|bare}"),
    not("require search as \"a metric\"", ".. @modifier w:as|id < T >")
        .says("`{w}` needs a name of letters, digits, `_`, `-` and `.`")
        .help("write `{w|modifier}`"),
    not("require search id", "X .. @modifier w:as|id <> @end").says("`{w}` needs a name").help("write `{w|modifier}`"),
    not("require search message what it is", ".. @modifier w:message|class v[ < !T @content X > B? ]")
        .says("`{w}` needs a text in quotes")
        .write("{w} \"{v}\""),
    not("require search message", ".. @modifier w:message|class < !T X? >")
        .says("`{w}` needs a text in quotes")
        .help("write `{w|modifier}`"),
    not("require search tags [a, b]", ".. @modifier tags < '[' > v:IN ']'")
        .says("tags are named without brackets")
        .write("tags {v|unquoted}"),
    not("require search tags \"a\"", ".. @modifier tags .. ^tags|, < v:T >")
        .says("a tag is a name without quotes")
        .write("tags {v|bare}")
        .swap("{v|bare}"),
    not("require search tags", ".. @modifier tags <> @end")
        .says("`tags` needs names")
        .help("write `tags smoke, nightly`"),
    not("require search tags a b", ".. @modifier a[ tags LABEL ALSO* ] b[ < &W !MODIFIER X > ... ]")
        .says("tags are joined with commas")
        .write("{a}, {b}"),
    not("require search expect fail because \"slow\"", ".. @modifier @known expect fail < !T @content X > .. v:T B?")
        .says("a known failure is marked with `expect fail`")
        .write("expect fail {v}"),
    not("require search expect fail soon", ".. @modifier @known expect fail < !T @content X > B?")
        .says("a known failure is marked with `expect fail`")
        .write("expect fail"),
    not("require search expect failure \"slow\"", ".. @modifier @known expect < !fail @content X > .. v:T B?")
        .says("a known failure is marked with `expect fail`")
        .write("expect fail {v}"),
    not("require search expect to fail", ".. @modifier @known expect < !fail @content X? > B?")
        .says("a known failure is marked with `expect fail`")
        .write("expect fail"),
    not("require search when", ".. @modifier when <> @end")
        .says("`when` needs a condition")
        .help("write `when inputs.vip == true`"),
    not("case find {\n  timeout \"60s\"\n}", "timeout !TEST|.|'[' < v:X >")
        .says("`timeout` needs a duration")
        .write("timeout {v|bare}"),
    not("case one { prompt Find a skill }", "w:prompt|template|bootstrap|model !TEST|.|'['|T < ... >")
        .says("`{w}` needs a text in quotes")
        .write("{w} \"{...}\""),
];

/// Words behind an assertion that are none of the language.
pub(super) const UNKNOWN: &[Hint] = &[ask("require search priority 2", unknown_modifier)];

const ALL: &str =
    "the modifiers are weight, severity, must, threshold, message, as, class, tags, when, id, expect fail";

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
