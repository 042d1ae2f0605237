//! Hints for mistakes in modifiers and settings.

use super::hint::{Hint, function_hint, pattern_hint};
use super::places::can_stand;
use super::view::{StatementView, SuggestText};
use crate::near_keywords;
use crate::words;
use averment_base::diagnostic::suggest::suggest_name;
use averment_base::diagnostic::{Diagnostic, Slug};

pub(super) const VALUES: &[Hint] = &[
    function_hint("require search weight: 2", modifier_sign),
    pattern_hint("classify \"alias\" when output contains \"cursr\"", "classify T T? when < !message X > ...")
        .with_message("`classify` asks for words of the failure itself: its `message`")
        .with_help("write `classify \"…\" \"…\" when message contains \"…\"`; what the run says is asked by an assertion with `class \"…\"` behind it"),
    pattern_hint("classify \"alias\" when message == \"cursr\"", "classify T T? when message < !contains|matches X > ...")
        .with_message("the message of a failure is asked by `contains \"…\"` or `matches /…/`")
        .with_help("write `classify \"…\" \"…\" when message contains \"…\"`"),
    pattern_hint("require search weight high", ".. @modifier weight < !N|- X? >")
        .with_message("`weight` needs a number")
        .with_help("write `weight …`"),
    pattern_hint("require search threshold high", ".. @modifier threshold < !N|- X? >")
        .with_message("`threshold` needs a number between 0 and 1")
        .with_help("write `threshold …`"),
    pattern_hint("require search severity \"warn\"", ".. @modifier severity < v:QUOTED >")
        .with_message("`severity` needs a word without quotes: error, warn or info")
        .with_rewrite("severity {v|bare}"),
    pattern_hint("require search severity", ".. @modifier severity <> @end")
        .with_message("`severity` needs one of error, warn, info")
        .with_help("write `severity error`, `severity warn` or `severity info`"),
    pattern_hint("require search as \"metric\"", ".. @modifier w:as|id < v:QUOTED >")
        .with_message("`{w}` needs a name without quotes")
        .with_rewrite("{w} {v|bare}"),
    pattern_hint("require search as \"a metric\"", ".. @modifier w:as|id < T >")
        .with_message("`{w}` needs a name of letters, digits, `_`, `-` and `.`")
        .with_help("write `{w|modifier}`"),
    pattern_hint("require search id", "X .. @modifier w:as|id <> @end").with_message("`{w}` needs a name").with_help("write `{w|modifier}`"),
    pattern_hint("require search message what it is", ".. @modifier w:message|class v[ < !T @content X > B? ]")
        .with_message("`{w}` needs a text in quotes")
        .with_rewrite("{w} \"{v}\""),
    pattern_hint("require search message", ".. @modifier w:message|class < !T X? >")
        .with_message("`{w}` needs a text in quotes")
        .with_help("write `{w|modifier}`"),
    pattern_hint("require search tags [a, b]", ".. @modifier tags < '[' > v:IN ']'")
        .with_message("tags are named without brackets")
        .with_rewrite("tags {v|unquoted}"),
    pattern_hint("require search tags \"a\"", ".. @modifier tags .. ^tags|, < v:T >")
        .with_message("a tag is a name without quotes")
        .with_rewrite("tags {v|bare}")
        .with_swap("{v|bare}"),
    pattern_hint("require search tags", ".. @modifier tags <> @end")
        .with_message("`tags` needs names")
        .with_help("write `tags NAME, NAME`"),
    pattern_hint("require search tags a b", ".. @modifier a[ tags LABEL ALSO* ] b[ < &W !MODIFIER X > ... ]")
        .with_message("tags are joined with commas")
        .with_rewrite("{a}, {b}"),
    pattern_hint("require search expect fail because \"slow\"", ".. @modifier @known expect fail < !T @content X > .. v:T B?")
        .with_message("a known failure is marked with `expect fail`")
        .with_rewrite("expect fail {v}"),
    pattern_hint("require search expect fail soon", ".. @modifier @known expect fail < !T @content X > B?")
        .with_message("a known failure is marked with `expect fail`")
        .with_rewrite("expect fail"),
    pattern_hint("require search expect failure \"slow\"", ".. @modifier @known expect < !fail @content X > .. v:T B?")
        .with_message("a known failure is marked with `expect fail`")
        .with_rewrite("expect fail {v}"),
    pattern_hint("require search expect to fail", ".. @modifier @known expect < !fail @content X? > B?")
        .with_message("a known failure is marked with `expect fail`")
        .with_rewrite("expect fail"),
    pattern_hint("require search when", ".. @modifier when <> @end")
        .with_message("`when` needs a condition")
        .with_help("write `when COND`"),
    pattern_hint("case find {\n  timeout \"60s\"\n}", "timeout !TEST|.|'[' < v:X >")
        .with_message("`timeout` needs a duration")
        .with_rewrite("timeout {v|bare}"),
    pattern_hint("case one { prompt Find a skill }", "w:prompt|template|bootstrap|model !TEST|.|'['|T < ... >")
        .with_message("`{w}` needs a text in quotes")
        .with_rewrite("{w} \"{...}\""),
];

pub(super) const UNKNOWN: &[Hint] = &[function_hint("require search priority 2", unknown_modifier)];

const ALL: &str =
    "the modifiers are weight, severity, must, threshold, message, as, class, tags, when, id, expect fail";

/// `weight: 2`, `severity = error`, `tags: [a, b]`.
fn modifier_sign(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let known =
        |at: usize| words::MODIFIERS.contains(&view.token_text(at)) || words::SETTINGS.contains(&view.token_text(at));
    let at = (0..view.len())
        .find(|&at| view.is_outer(at) && known(at) && view.is_any(at + 1, &[":", "="]) && can_stand(view, at))?;
    if view.token_is(0, "param") || view.token_is(0, "let") || view.token_is(0, "def") {
        return None;
    }
    let (word, sign) = (view.token_text(at), view.token_text(at + 1));
    let list = view.token_is(at + 2, "[");
    let end = if list { view.behind_bracket(at + 2) } else { view.len() };
    let value = if list && word == "tags" { view.source_text(at + 3, end - 1) } else { view.source_text(at + 2, end) };
    let bare = matches!(word, "tags" | "severity" | "as" | "id");
    let value = if bare { value.replace(['"', '\''], "") } else { value };
    let text = format!("{word} {value}");
    let edits = vec![view.replace_tokens(
        at + 1,
        end,
        if view.touches_previous(at + 1) { format!(" {value}") } else { value.clone() },
    )];
    Some(
        view.syntax_error(at + 1, at + 2, format!("`{word}` takes its value without `{sign}`"))
            .suggest_text(text, edits),
    )
}

fn unknown_modifier(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let at = view.failed;
    if at == 0
        || !view.is_word(at)
        || !view.is_outer(at)
        || !view.ends_operand(at - 1) && !view.is_any(at - 1, &["exists", "json", "empty", "*"])
    {
        return None;
    }
    let word = view.token_text(at);
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
    if meant.is_none() && (!modifier_like(view, at) || !near_keywords::near_words(word).is_empty()) {
        return None;
    }
    let diagnostic = Diagnostic::new(Slug::UnknownModifier, view.span(at), format!("unknown modifier `{word}`"));
    Some(match meant {
        Some(meant) => diagnostic.with_help(format!("did you mean `{meant}`?")).with_fix(
            format!("write `{meant}`"),
            view.span(at),
            meant,
        ),
        None => diagnostic.with_help(ALL),
    })
}

const STATEMENT_WORDS: &[&str] = &["until", "within", "times", "where", "iff", "only", "between", "of", "than", "more"];

fn modifier_like(view: &StatementView<'_, '_>, at: usize) -> bool {
    let valued = view.is_number(at + 1)
        || view.is_text(at + 1)
        || (view.is_word(at + 1) && !words::is_joining(view.token_text(at + 1)));
    let end = at + 1 + usize::from(valued && at + 1 < view.len());
    end >= view.len() || words::MODIFIERS.contains(&view.token_text(end))
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
        _ => suggest_name(word, words::MODIFIERS.iter().copied()),
    }
}
