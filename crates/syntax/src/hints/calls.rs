//! Hints for mistakes in invariants: `call`, generated inputs, what a call is expected to do; and in `for each tool`.

use super::hint::{Hint, function_hint, pattern_hint};
use super::view::{StatementView, SuggestText};
use crate::statements::{HeadOperand, find_head};
use crate::token::TokenKind;
use crate::{grammar, words};
use averment_base::diagnostic::{Diagnostic, Slug};

pub(super) const TABLE: &[Hint] = &[
    function_hint("call refund", call_outside),
    function_hint("never tool deploy", call_in_front),
    function_hint("invariant i { call add generate { a: integer 0..9 } }", incomplete_generate),
    pattern_hint("invariant i { expect success }", "expect < w:GOOD|err|errors|exception > @end")
        .with_message("a call is expected to be `ok` or an `error`")
        .with_rewrite("expect {w|outcome}"),
    pattern_hint("invariant i {\n  call add { a: 1 } expect success\n}", "call .. expect < w:GOOD|BAD >")
        .with_message("a call is expected to be `ok` or an `error`")
        .with_rewrite("expect {w|outcome}")
        .with_swap("{w|outcome}"),
    pattern_hint("invariant i { made = call add { a: 1 } }", "< n:X = > &call ...")
        .with_message("a call is named behind it")
        .with_rewrite("{...} as {n}"),
    pattern_hint("invariant i { call add { a: 1 } -> made }", "c[ call .. &'{' G ] < ->|=>|into|to > n:W")
        .with_message("a call is named with `as`")
        .with_rewrite("{c} as {n}"),
    pattern_hint("for each tool if x { }", "< for @foreign .. where|if c:.. > '{'")
        .with_message("the calls of every tool are made with `for each tool`")
        .with_rewrite("for each tool where {c} { … }")
        .with_swap("for each tool where {c}"),
    pattern_hint("for tool in tools { }", "< for @foreign .. > '{'")
        .with_message("the calls of every tool are made with `for each tool`")
        .with_rewrite("for each tool { … }")
        .with_swap("for each tool"),
];

/// `call refund`, `call search 2 times`, `call add(a: 1)`.
fn call_outside(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    if !view.token_is(0, "call") || view.find_word(1, "{").is_some() || view.find_word(1, "generate").is_some() {
        return None;
    }
    let start = 1 + usize::from(view.token_is(1, "tool") && view.is_word(2));
    let end = view.behind_step(start);
    if end == start {
        return None;
    }
    let rest = view.source_text(start, view.len());
    let text = format!("require {rest}");
    let mut diagnostic = Diagnostic::new(Slug::Misplaced, view.span(0), "`call` exists only in an invariant")
        .suggest_text(text.clone(), vec![view.replace_tokens(0, start, "require")]);
    if view.find_word(1, "times").is_none() {
        let open = (start..end).find(|&at| view.token_is(at, "("));
        let name = view.source_text(start, open.unwrap_or(end));
        let inner = open.map(|open| view.source_text(open + 1, end - 1)).filter(|inner| !inner.is_empty());
        let input = inner.map_or("{}".to_owned(), |inner| format!("{{ {inner} }}"));
        let invariant = format!("in an invariant the arguments stand in braces: `call {name} {input}`");
        diagnostic.help = Some(format!("write `{text}` to say that the tool was called; {invariant}"));
    }
    Some(diagnostic)
}

/// Words inside statements that precede a step, besides statement words.
const BEFORE_STEPS: &[&str] = &["exactly", "both", "or", "and", "then", "iff", "until", "proposed", "->", ",", "|"];

fn is_before_step(word: &str) -> bool {
    BEFORE_STEPS.contains(&word) || find_head(word).is_some_and(|head| head.follows == HeadOperand::Step)
}

/// `before call read(path: $p) -> …`, `never tool deploy`: the name alone is the call.
fn call_in_front(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let begins = |at: usize| is_before_step(view.token_text(at - 1)) && (at == 1 || view.is_outer(at));
    let is_name = |at: usize| {
        let word = view.token_text(at);
        (view.is_word(at) && (!grammar::is_keyword(word) || words::KINDS.contains(&word)) || view.is_text(at))
            && !view.touches_previous(at)
    };
    let at = (1..view.len().min(view.failed + 1)).find(|&at| {
        view.is_any(at, &["call", "calls", "tool", "tools"])
            && begins(at)
            && is_name(at + 1 + usize::from(view.token_is(at + 1, "to")))
    })?;
    let steps = words::STATEMENTS.contains(&view.token_text(0)) || view.find_word(0, "iff").is_some();
    let name = at + 1 + usize::from(view.token_is(at + 1, "to"));
    let end = view.behind_step(name);
    if !steps || end == name {
        return None;
    }
    let word = view.token_text(name);
    let quoted =
        words::KINDS.contains(&word) && !matches!(view.token_kind(name + 1), TokenKind::Text | TokenKind::Regex);
    let shown = if quoted { format!("\"{word}\"") } else { word.to_owned() };
    let step = format!("{shown}{}", view.source_text(name + 1, end));
    let message = format!("a call is named by its tool alone, without `{}`", view.token_text(at));
    let diagnostic = view
        .syntax_error(at, at + 1, message)
        .suggest_text(step.clone(), vec![view.replace_tokens(at, name + 1, shown)]);
    if !quoted {
        return Some(diagnostic);
    }
    let help = format!("write `{step}`: in quotes it is the tool, and `{word}` alone is a kind of step");
    Some(Diagnostic { help: Some(help), ..diagnostic })
}

/// `call add generate { … }` without `cases` and `seed`.
fn incomplete_generate(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let at = view.find_word(1, "generate").filter(|_| view.token_is(0, "call"))?;
    let head = view.source_text(0, at + 1);
    let by_schema = view.token_is(at + 1, "from") && view.token_is(at + 2, "schema");
    if !by_schema && !view.token_is(at + 1, "{") {
        return Some(
            view.wrong_behind(at + 1, "`generate` needs the arguments in braces")
                .with_help(format!("write `{head} {{ … }} cases … seed …`, or `{head} from schema cases … seed …`")),
        );
    }
    let end = if by_schema { at + 3 } else { view.behind_bracket(at + 1) };
    if view.failed < end {
        return None;
    }
    let number = |word: &str, other: &str| {
        let at = view.find_word(end, word).map(|at| at + 1).filter(|&at| view.is_number(at));
        at.map_or(other.to_owned(), |at| view.token_text(at).to_owned())
    };
    let is_counted =
        |word: &str| view.find_word(end, word).is_some_and(|at| at + 1 < view.failed && view.is_number(at + 1));
    if is_counted("cases") && is_counted("seed") && view.failed < view.len() {
        return missing_line_end(view, view.failed);
    }
    let counts = format!("cases {} seed {}", number("cases", "…"), number("seed", "…"));
    let rest = view.find_any(end, &["as", "expect"]).unwrap_or(view.len());
    let place = view.failed;
    let message = match (is_counted("cases"), is_counted("seed")) {
        (true, false) => "generated inputs need a `seed`, too",
        (false, true) => "generated inputs need `cases`, too: how many are made",
        _ => "generated inputs need `cases` and `seed`",
    };
    let diagnostic =
        if place >= view.len() { view.missing_at_end(message) } else { view.syntax_error(place, place + 1, message) };
    let edit = if rest > end {
        view.replace_tokens(end, rest, counts.clone())
    } else {
        view.insert_after(end - 1, format!(" {counts}"))
    };
    let text = format!("{head} {} {counts}", if by_schema { "from schema" } else { "{ … }" });
    // How many and which are made is for the author to say.
    Some(if counts.contains('…') {
        diagnostic.with_help(format!("write `{text}`"))
    } else {
        diagnostic.suggest_text(text, vec![edit])
    })
}

/// `call add generate { … } cases 5 seed 7 call …`: the call is complete, and something follows on its line.
fn missing_line_end(view: &StatementView<'_, '_>, end: usize) -> Option<Diagnostic> {
    let at = view.failed;
    if at < end || at >= view.len() {
        return None;
    }
    let starts = words::STATEMENTS.contains(&view.token_text(at)) || words::DECLARATIONS.contains(&view.token_text(at));
    let word = view.token_text(at);
    let diagnostic =
        view.syntax_error(at, at + 1, format!("the call is complete before `{word}`: a line end is missing"));
    Some(if starts {
        let help = format!("put `{}` on a line of its own", view.source_text(at, view.len()));
        let mut diagnostic = diagnostic.suggest_text(help.clone(), vec![view.insert_before(at, "\n")]);
        diagnostic.help = Some(help);
        diagnostic
    } else {
        diagnostic.with_help("behind its seed a call takes `for \"…\"`, `as NAME`, `expect ok` or `expect error`; all else stands on the next line")
    })
}
