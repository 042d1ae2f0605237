//! Mistakes in invariants: `call`, generated inputs, what a call is expected to do; and in `for each tool`.

use super::Find;
use super::view::{View, Write};
use crate::token::Kind;
use crate::{grammar, words};
use averment_base::diagnostic::{Diagnostic, Slug};

pub(super) const TABLE: &[Find] = &[call_outside, call_in_front, generated, expectation, call_alias, for_each_tool];

/// `call refund`, `call search 2 times`, `call add(a: 1)`.
fn call_outside(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "call") || view.find(1, "{").is_some() || view.find(1, "generate").is_some() {
        return None;
    }
    let start = 1 + usize::from(view.is(1, "tool") && view.is_word(2));
    let end = view.behind_step(start);
    if end == start {
        return None;
    }
    let rest = view.source(start, view.len());
    let text = format!("require {rest}");
    let mut diagnostic = Diagnostic::new(Slug::Misplaced, view.span(0), "`call` exists only in an invariant")
        .write(text.clone(), vec![view.edit(0, start, "require")]);
    if view.find(1, "times").is_none() {
        let open = (start..end).find(|&at| view.is(at, "("));
        let name = view.source(start, open.unwrap_or(end));
        let inner = open.map(|open| view.source(open + 1, end - 1)).filter(|inner| !inner.is_empty());
        let input = inner.map_or("{}".to_owned(), |inner| format!("{{ {inner} }}"));
        let invariant = format!("in an invariant the arguments stand in braces: `call {name} {input}`");
        diagnostic.help = Some(format!("write `{text}` to say that the tool was called; {invariant}"));
    }
    Some(diagnostic)
}

/// Words behind which a step stands.
const BEFORE_STEPS: &[&str] = &[
    "require", "never", "only", "count", "first", "last", "before", "after", "each", "sequence", "exactly", "together",
    "apart", "both", "either", "or", "and", "if", "then", "iff", "flow", "some", "no", "between", "until", "proposed",
    "->", ",", "|",
];

/// `before call read(path: $p) -> …`, `never tool deploy`: the name alone is the call.
fn call_in_front(view: &View<'_, '_>) -> Option<Diagnostic> {
    let begins = |at: usize| view.is_any(at - 1, BEFORE_STEPS) && (at == 1 || view.is_outer(at));
    let is_name = |at: usize| {
        let word = view.word(at);
        (view.is_word(at) && (!grammar::is_keyword(word) || words::KINDS.contains(&word)) || view.is_text(at))
            && !view.touches(at)
    };
    let at = (1..view.len().min(view.failed + 1)).find(|&at| {
        view.is_any(at, &["call", "calls", "tool", "tools"])
            && begins(at)
            && is_name(at + 1 + usize::from(view.is(at + 1, "to")))
    })?;
    let steps = words::STATEMENTS.contains(&view.word(0)) || view.find(0, "iff").is_some();
    let name = at + 1 + usize::from(view.is(at + 1, "to"));
    let end = view.behind_step(name);
    if !steps || end == name {
        return None;
    }
    let word = view.word(name);
    let quoted = words::KINDS.contains(&word) && !matches!(view.kind(name + 1), Kind::Text | Kind::Regex);
    let shown = if quoted { format!("\"{word}\"") } else { word.to_owned() };
    let step = format!("{shown}{}", view.source(name + 1, end));
    let message = format!("a call is named by its tool alone, without `{}`", view.word(at));
    let diagnostic = view.wrong(at, at + 1, message).write(step.clone(), vec![view.edit(at, name + 1, shown)]);
    if !quoted {
        return Some(diagnostic);
    }
    let help = format!("write `{step}`: in quotes it is the tool, and `{word}` alone is a kind of step");
    Some(Diagnostic { help: Some(help), ..diagnostic })
}

/// `call add generate { … }` without `cases` and `seed`.
fn generated(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = view.find(1, "generate").filter(|_| view.is(0, "call"))?;
    let head = view.source(0, at + 1);
    if !view.is(at + 1, "{") {
        return Some(
            view.wrong_behind(at + 1, "`generate` needs the arguments in braces")
                .help(format!("write `{head} {{ a: integer 0..9 }} cases 50 seed 7`")),
        );
    }
    let end = view.behind_bracket(at + 1);
    if view.failed < end {
        return None;
    }
    let number = |word: &str, other: &str| {
        let at = view.find(end, word).map(|at| at + 1).filter(|&at| view.is_number(at));
        at.map_or(other.to_owned(), |at| view.word(at).to_owned())
    };
    let counts = format!("cases {} seed {}", number("cases", "50"), number("seed", "7"));
    let rest = view.find_any(end, &["as", "expect"]).unwrap_or(view.len());
    let place = view.failed;
    let message = "generated inputs need `cases` and `seed`";
    let diagnostic =
        if place >= view.len() { view.missing_at_end(message) } else { view.wrong(place, place + 1, message) };
    let edit =
        if rest > end { view.edit(end, rest, counts.clone()) } else { view.append(end - 1, format!(" {counts}")) };
    Some(diagnostic.write(format!("{head} {{ … }} {counts}"), vec![edit]))
}

/// `expect success`, `call add { … } expect fail`.
fn expectation(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = if view.is(0, "call") { view.find(1, "expect")? } else { 0 };
    let alone = view.is(0, "expect") && view.len() == 2;
    if !alone && at == 0 {
        return None;
    }
    let meant = match view.word(at + 1) {
        "success" | "pass" | "okay" | "good" | "succeeds" | "passes" | "OK" | "true" | "result" => "ok",
        "fail" | "failure" | "fails" | "failed" | "err" | "errors" | "exception" | "false" if !alone => "error",
        "err" | "errors" | "exception" => "error",
        _ => return None,
    };
    Some(
        view.wrong(at + 1, at + 2, "a call is expected to be `ok` or an `error`")
            .write(format!("expect {meant}"), vec![view.edit(at + 1, at + 2, meant)]),
    )
}

/// `call add { … } -> made`, `made = call add { … }`.
fn call_alias(view: &View<'_, '_>) -> Option<Diagnostic> {
    if view.is(1, "=") && view.is(2, "call") {
        let text = format!("{} as {}", view.source(2, view.len()), view.word(0));
        return Some(
            view.wrong(0, 2, "a call is named behind it").write(text.clone(), vec![view.edit(0, view.len(), text)]),
        );
    }
    let open = view.find(1, "{").filter(|_| view.is(0, "call"))?;
    let end = view.behind_bracket(open);
    if !view.is_any(end, &["->", "=>", "into", "to"]) || !view.is_word(end + 1) {
        return None;
    }
    let name = view.word(end + 1);
    Some(
        view.wrong(end, end + 1, "a call is named with `as`")
            .write(format!("{} as {name}", view.source(0, end)), vec![view.edit(end, end + 1, "as")]),
    )
}

/// `for tool in tools { … }`, `for each tool in tools { … }`.
fn for_each_tool(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "for")
        || view.are(0, &["for", "each", "tool", "{"])
        || view.are(0, &["for", "each", "tool", "where"])
    {
        return None;
    }
    let open = view.find(1, "{")?;
    let condition = view.find(1, "where").or_else(|| view.find(1, "if")).filter(|&at| at < open);
    let text = match condition {
        Some(at) => format!("for each tool where {} {{ … }}", view.source(at + 1, open)),
        None => "for each tool { … }".to_owned(),
    };
    let edit = view.edit(0, open, text.trim_end_matches("{ … }"));
    Some(view.wrong(0, open, "the calls of every tool are made with `for each tool`").write(text, vec![edit]))
}
