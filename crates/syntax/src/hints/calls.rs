//! Hints for mistakes in invariants: `call`, generated inputs, what a call is expected to do; and in `for each tool`.

use super::hint::{Hint, ask, not};
use super::view::{View, Write};
use crate::statements::{Follows, head};
use crate::token::Kind;
use crate::{grammar, words};
use averment_base::diagnostic::{Diagnostic, Slug};

pub(super) const TABLE: &[Hint] = &[
    ask("call refund", call_outside),
    ask("never tool deploy", call_in_front),
    ask("invariant i { call add generate { a: integer 0..9 } }", generated),
    not("invariant i { expect success }", "expect < w:GOOD|err|errors|exception > @end")
        .says("a call is expected to be `ok` or an `error`")
        .write("expect {w|outcome}"),
    not("invariant i {\n  call add { a: 1 } expect success\n}", "call .. expect < w:GOOD|BAD >")
        .says("a call is expected to be `ok` or an `error`")
        .write("expect {w|outcome}")
        .swap("{w|outcome}"),
    not("invariant i { made = call add { a: 1 } }", "< n:X = > &call ...")
        .says("a call is named behind it")
        .write("{...} as {n}"),
    not("invariant i { call add { a: 1 } -> made }", "c[ call .. &'{' G ] < ->|=>|into|to > n:W")
        .says("a call is named with `as`")
        .write("{c} as {n}"),
    not("for each tool if x { }", "< for @foreign .. where|if c:.. > '{'")
        .says("the calls of every tool are made with `for each tool`")
        .write("for each tool where {c} { … }")
        .swap("for each tool where {c}"),
    not("for tool in tools { }", "< for @foreign .. > '{'")
        .says("the calls of every tool are made with `for each tool`")
        .write("for each tool { … }")
        .swap("for each tool"),
];

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

/// Words inside of statements behind which a step stands, beside those that begin one.
const BEFORE_STEPS: &[&str] = &["exactly", "both", "or", "and", "then", "iff", "until", "proposed", "->", ",", "|"];

/// Whether a step stands behind a word.
fn is_before_step(word: &str) -> bool {
    BEFORE_STEPS.contains(&word) || head(word).is_some_and(|head| head.follows == Follows::Step)
}

/// `before call read(path: $p) -> …`, `never tool deploy`: the name alone is the call.
fn call_in_front(view: &View<'_, '_>) -> Option<Diagnostic> {
    let begins = |at: usize| is_before_step(view.word(at - 1)) && (at == 1 || view.is_outer(at));
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
    let by_schema = view.is(at + 1, "from") && view.is(at + 2, "schema");
    if !by_schema && !view.is(at + 1, "{") {
        return Some(view.wrong_behind(at + 1, "`generate` needs the arguments in braces").help(format!(
            "write `{head} {{ a: integer 0..9 }} cases 50 seed 7`, or `{head} from schema cases 50 seed 7`"
        )));
    }
    let end = if by_schema { at + 3 } else { view.behind_bracket(at + 1) };
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
    let made_by = if by_schema { "from schema" } else { "{ … }" };
    Some(diagnostic.write(format!("{head} {made_by} {counts}"), vec![edit]))
}
