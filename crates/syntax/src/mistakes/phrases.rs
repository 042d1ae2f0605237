//! Sentences that a reader would understand and that are said otherwise here: `never delete unless confirm`, `all refund: …`.

use super::Find;
use super::view::{View, Write};
use crate::token::Kind;
use crate::words;
use averment_base::diagnostic::{Diagnostic, Edit};
use averment_base::source::Span;

/// Asked before an open string is told.
pub(super) const FIRST: &[Find] = &[apostrophe];

pub(super) const TABLE: &[Find] = &[
    unless_step,
    step_if,
    by_another,
    quantified_step,
    failed_calls,
    status_word,
    between_numbers,
    tested_entry,
    spaced_sign,
    any_of,
    named_module,
    colon_behind_word,
    if_then_two,
    when_then,
    within_in_front,
    within_in,
    or_in_group,
    optional_in_brackets,
];

/// A statement of its own in place of the whole line, with its modifiers.
fn rewritten(view: &View<'_, '_>, at: (usize, usize), message: &str, text: String, rest: usize) -> Diagnostic {
    let rest = view.source(rest, view.len());
    let text = if rest.is_empty() { text } else { format!("{text} {rest}") };
    view.wrong(at.0, at.1, message).write(text.clone(), vec![view.edit(0, view.len(), text)])
}

/// `output doesn't contain "x"`.
fn apostrophe(view: &View<'_, '_>) -> Option<Diagnostic> {
    let word = |at: usize| match view.word(at) {
        "doesn" => Some("does not"),
        "isn" => Some("is not"),
        _ => None,
    };
    let at = (1..view.len()).find(|&at| {
        matches!(view.kind(at), Kind::OpenText | Kind::Text)
            && view.word(at).starts_with("'t ")
            && view.touches(at)
            && word(at - 1).is_some()
    })?;
    let right = word(at - 1)?;
    let start = view.span(at - 1);
    let place = Span { end: view.span(at).start + 2, ..start };
    let mut diagnostic = view.wrong(at - 1, at, format!("`{}'t` is written `{right}`", view.word(at - 1)));
    diagnostic.span = place;
    Some(diagnostic.write(right, vec![Edit { span: place, text: right.to_owned() }]))
}

/// `never delete_* unless confirm`, `never refund without approve`.
fn unless_step(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "never") {
        return None;
    }
    let at = view.find_any(2, &["unless", "without", "except"])?;
    let step = at + 1 + usize::from(view.is_any(at + 1, &["a", "an", "prior", "first", "after"]));
    let end = view.behind_pattern(step);
    if end == step || end < view.len() && view.modifiers(end) != end || view.behind_pattern(1) == 1 {
        return None;
    }
    let text = format!("before {} -> {}", view.source(step, end), view.source(1, at));
    let message = format!("`never` has no `{}`: what has to come first is said with `before`", view.word(at));
    Some(rewritten(view, (at, at + 1), &message, text, end))
}

/// `never refund if cancel`, `require notify if refund`.
fn step_if(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is_any(0, &["never", "require"]) {
        return None;
    }
    let end = view.behind_pattern(1);
    if end == 1 || !view.is(end, "if") {
        return None;
    }
    let other = view.behind_pattern(end + 1);
    if other == end + 1 || other < view.len() && view.modifiers(other) != other {
        let message = "a statement has no `if` behind it";
        return Some(view.wrong(end, end + 1, message).help("for a condition on the run write `when` in its place"));
    }
    let (left, right) = (view.source(1, end), view.source(end + 1, other));
    if view.is(0, "require") {
        let message = "an implication between steps begins with `if`";
        return Some(rewritten(view, (end, end + 1), message, format!("if {right} then {left}"), other));
    }
    Some(
        view.wrong(end, end + 1, "`never` takes no `if`")
            .help(format!("write `never {left} after {right}`, or `not both {left}, {right}` for any order of them")),
    )
}

/// `refund must be preceded by approve`, `open is followed by close`.
fn by_another(view: &View<'_, '_>) -> Option<Diagnostic> {
    let end = view.behind_step(0);
    if end == 0 || words::STATEMENTS.contains(&view.word(0)) {
        return None;
    }
    const FILLERS: &[&str] =
        &["must", "should", "has", "have", "to", "always", "be", "is", "been", "immediately", "directly"];
    let mut at = end;
    while view.is_any(at, FILLERS) {
        at += 1;
    }
    if !view.is_any(at, &["preceded", "followed", "guarded"]) || !view.is(at + 1, "by") {
        return None;
    }
    let other = view.behind_pattern(at + 2);
    if other == at + 2 {
        return None;
    }
    let immediately =
        if (end..at).any(|at| view.is_any(at, &["immediately", "directly"])) { "immediately " } else { "" };
    let (left, right) = (view.source(0, end), view.source(at + 2, other));
    let text = match view.word(at) {
        "followed" => format!("{immediately}after {left} -> {right}"),
        _ => format!("{immediately}before {right} -> {left}"),
    };
    Some(rewritten(view, (end, at + 2), "a statement about an order begins with `before` or `after`", text, other))
}

/// `all refund: args.amount <= 100`, `any fetch: ok`.
fn quantified_step(view: &View<'_, '_>) -> Option<Diagnostic> {
    let word = match view.word(0) {
        "all" => "each",
        "any" => "some",
        _ => return None,
    };
    let end = view.behind_pattern(1);
    if end == 1 || !view.is(end, ":") || view.is_any(1, &["of", "x"]) || view.is(end + 1, "{") || end + 1 >= view.len()
    {
        return None;
    }
    let step = if view.is_any(1, &["calls", "call"]) && end == 2 { "any".to_owned() } else { view.source(1, end) };
    let message = format!("`{}` quantifies the values of a list; steps are taken with `{word}`", view.word(0));
    let text = format!("{word} {step}: {}", view.source(end + 1, view.len()));
    Some(view.wrong(0, 1, message).write(text, vec![view.edit(0, end, format!("{word} {step}"))]))
}

/// `no call failed`, `no failed calls`.
fn failed_calls(view: &View<'_, '_>) -> Option<Diagnostic> {
    const CALLS: &[&str] = &["call", "calls", "tool", "tools", "step", "steps"];
    const FAILED: &[&str] = &["failed", "fails", "fail", "errors", "errored"];
    let mut end = 1 + usize::from(view.is(1, "tool") && view.is_any(2, &["call", "calls"]));
    if !view.is_any(0, &["no", "never"]) {
        return None;
    }
    let found = view.is_any(end, CALLS) && view.is_any(end + 1, FAILED)
        || view.is(end, "failed") && view.is_any(end + 1, CALLS);
    end += 2;
    if !found || end < view.len() && view.modifiers(end) != end {
        return None;
    }
    Some(rewritten(view, (0, end), "calls that failed are `any failed`", "never any failed".to_owned(), end))
}

/// `require refund succeeded`, `never deploy error`.
fn status_word(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = view.failed;
    let right = match view.word(at) {
        "succeeded" | "succeeds" | "success" | "successful" | "successfully" | "passed" => "ok",
        "error" | "errors" | "errored" | "fails" | "failing" | "failure" | "unsuccessful" => "failed",
        _ => return None,
    };
    let world = view.is_any(0, &["run", "file", "env", "tool", "http", "test"]) || at > 0 && view.is(at - 1, "expect");
    let steps = !world && (words::STATEMENTS.contains(&view.word(0)) || view.find(0, "iff").is_some());
    let ends_step = at > 0 && (1..at).any(|from| view.behind_step(from) == at);
    if !steps || !ends_step || view.is_any(at + 1, &["==", "!=", ".", "is", "exists", "contains", "matches"]) {
        return None;
    }
    let message = format!("how a call ended is `ok` or `failed`, not `{}`", view.word(at));
    Some(view.wrong(at, at + 1, message).write(right, vec![view.edit(at, at + 1, right)]))
}

/// `amount between 1 and 100`.
fn between_numbers(view: &View<'_, '_>) -> Option<Diagnostic> {
    let value = |at: usize| view.is_number(at);
    let at = (1..view.len()).find(|&at| {
        view.is(at, "between")
            && view.ends_operand(at - 1)
            && value(at + 1)
            && view.is_any(at + 2, &["and", "to", "-", ","])
            && value(at + 3)
    })?;
    let range = format!("in {}..{}", view.word(at + 1), view.word(at + 3));
    Some(view.wrong(at, at + 1, "a range is written `1..100`").write(range.clone(), vec![view.edit(at, at + 4, range)]))
}

/// `refund(amount: > 100)`.
fn tested_entry(view: &View<'_, '_>) -> Option<Diagnostic> {
    const TESTS: &[&str] =
        &[">", "<", ">=", "<=", "==", "!=", "contains", "icontains", "matches", "in", "is", "exists", "starts", "ends"];
    let at = (2..view.len()).find(|&at| {
        let ends = view.is_any(at + 2, &["(", ".", ",", ")", "=="]);
        view.is(at, ":") && !view.is_outer(at) && view.is_word(at - 1) && view.is_any(at + 1, TESTS) && !ends
    })?;
    if at > view.failed {
        return None;
    }
    let (name, test) = (view.word(at - 1), view.word(at + 1));
    let value = if view.is_any(test_end(view, at + 1), &[",", ")"]) {
        view.source(at + 1, test_end(view, at + 1))
    } else {
        format!("{test} …")
    };
    let gap = if view.touches(at + 1) { " " } else { "" };
    Some(
        view.wrong(at, at + 1, "a test stands behind its argument without `:`")
            .write(format!("{name} {value}"), vec![view.edit(at, at + 1, gap)]),
    )
}

fn test_end(view: &View<'_, '_>, from: usize) -> usize {
    let mut here = from;
    while here < view.len() && !view.is_any(here, &[",", ")"]) {
        here = if view.is_any(here, &["(", "[", "{"]) { view.behind_bracket(here) } else { here + 1 };
    }
    here
}

/// `count a < = 3`, `output.a ! = 3`.
fn spaced_sign(view: &View<'_, '_>) -> Option<Diagnostic> {
    let declares = words::DECLARATIONS.contains(&view.word(0));
    let at = (1..view.len()).find(|&at| {
        (view.is_any(at, &["<", ">", "!"]) || view.is(at, "=") && !declares)
            && view.is(at + 1, "=")
            && !view.touches(at + 1)
            && at <= view.failed
    })?;
    let sign = format!("{}=", view.word(at));
    Some(
        view.wrong(at, at + 2, format!("`{sign}` is one sign, without a space"))
            .write(sign.clone(), vec![view.edit(at, at + 2, sign)]),
    )
}

/// `contains any of ["a", "b"]`, `contains one of "a", "b"`.
fn any_of(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = (1..view.len()).find(|&at| {
        view.is_any(at, &["contains", "contain"])
            && view.is_any(at + 1, &["any", "all", "none", "one", "either"])
            && view.is(at + 2, "of")
    })?;
    let word = match view.word(at + 1) {
        "one" | "either" => "any",
        word => word,
    };
    let start = at + 3;
    let mut end = start;
    let value = |at: usize| view.is_text(at) || view.is_number(at);
    while value(end) && view.is_any(end + 1, &[",", "or", "and"]) && value(end + 2) {
        end += 2;
    }
    let mut edits = vec![view.edit(at + 1, at + 3, word)];
    let mut shown = view.source(start, view.modifiers(start));
    if value(end) {
        let list: Vec<&str> = (start..=end).step_by(2).map(|at| view.word(at)).collect();
        shown = format!("[{}]", list.join(", "));
        edits.push(view.edit(start, end + 1, shown.clone()));
    }
    let text = format!("{} {word} {shown}", view.word(at));
    Some(view.wrong(at + 1, at + 3, format!("this test is written `contains {word}` with a list")).write(text, edits))
}

/// `no std.secrets in output`.
fn named_module(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "no") || !view.is_word(1) || !view.is(2, ".") || !view.is_word(3) || !view.is(4, "in") {
        return None;
    }
    let (module, name) = (view.source(1, 4), view.word(3));
    Some(
        view.wrong(1, 4, "a predicate is named without its module")
            .write(name, vec![view.edit(1, 4, name)])
            .help(format!("write `{name}`, and `use {module}` at the top of the file")),
    )
}

/// `sequence: plan -> search`, `require: search`.
fn colon_behind_word(view: &View<'_, '_>) -> Option<Diagnostic> {
    const WORDS: &[&str] = &[
        "require", "never", "only", "count", "before", "after", "sequence", "flow", "together", "apart", "either",
        "first", "last",
    ];
    if !view.is_any(0, WORDS) || !view.is(1, ":") || view.behind_step(2) == 2 {
        return None;
    }
    let text = format!("{} {}", view.word(0), view.source(2, view.len()));
    let gap = if view.touches(2) { " " } else { "" };
    Some(view.wrong(1, 2, format!("no `:` stands behind `{}`", view.word(0))).write(text, vec![view.edit(1, 2, gap)]))
}

/// `if refund then notify and log`.
fn if_then_two(view: &View<'_, '_>) -> Option<Diagnostic> {
    let then = view.find(1, "then").filter(|_| view.is(0, "if"))?;
    let joint = view.behind_pattern(then + 1);
    if view.behind_pattern(1) != then || joint == then + 1 || !view.is_any(joint, &["and", "or", ","]) {
        return None;
    }
    let end = view.behind_pattern(joint + 1);
    if end != view.len() {
        return None;
    }
    let (left, first, second) = (view.source(0, then), view.source(then + 1, joint), view.source(joint + 1, end));
    let message = format!("one step stands behind `then`, and `{}` adds a second", view.word(joint));
    let diagnostic = view.wrong(joint, joint + 1, message);
    if view.is(joint, "or") {
        return Some(
            diagnostic.write(format!("{left} then {first} | {second}"), vec![view.edit(joint, joint + 1, "|")]),
        );
    }
    let text = format!("{left} then {first}; {left} then {second}");
    let edit = view.edit(joint, joint + 1, format!("; {left} then"));
    Some(diagnostic.write(text, vec![edit]))
}

/// `when output.ok == true then require a`.
fn when_then(view: &View<'_, '_>) -> Option<Diagnostic> {
    let then = view.find(1, "then").filter(|_| view.is(0, "when") && view.find(1, "if").is_none())?;
    if then == 1 || then + 1 >= view.len() {
        return None;
    }
    let statement = words::STATEMENTS.contains(&view.word(then + 1)) || view.behind_pattern(then + 1) != view.len();
    let require = if statement { "" } else { "require " };
    let body = format!("{{ {require}{} }}", view.source(then + 1, view.len()));
    let text = format!("{} {body}", view.source(0, then));
    Some(
        view.wrong(then, then + 1, "the body of `when` stands in braces")
            .write(text, vec![view.edit(then, view.len(), body)]),
    )
}

/// `never b within 3 calls after a`.
fn within_in_front(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = view.find(1, "within").filter(|_| view.is(0, "never"))?;
    let end = at + 2 + usize::from(view.is_any(at + 2, &["call", "calls", "turn", "turns"]));
    let step = view.behind_pattern(end + 1);
    if !view.is_number(at + 1) || !view.is_any(end, &["after", "of"]) || step == end + 1 {
        return None;
    }
    let text = format!("{} after {} {}", view.source(0, at), view.source(end + 1, step), view.source(at, end));
    Some(rewritten(view, (at, at + 1), "`within` stands behind the steps that it bounds", text, step))
}

/// `after a -> b in 3 calls`.
fn within_in(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = view.failed;
    let bounded = view.is_any(0, &["before", "after", "sequence", "immediately", "never"]);
    let bound =
        view.is_number(at + 1) && (view.is_any(at + 2, &["call", "calls", "turn", "turns"]) || at + 2 >= view.len());
    if !bounded || !view.is_any(at, &["in", "inside", "under", "for"]) || !bound {
        return None;
    }
    let text = format!("within {}", view.source(at + 1, view.modifiers(at + 1)));
    Some(
        view.wrong(at, at + 1, "how far apart steps may be is said with `within`")
            .write(text, vec![view.edit(at, at + 1, "within")]),
    )
}

/// `before (a or b) -> c`.
fn or_in_group(view: &View<'_, '_>) -> Option<Diagnostic> {
    let stepped =
        view.is_any(0, &["require", "never", "only", "count", "before", "after", "sequence", "first", "last", "flow"]);
    let at = (2..view.len())
        .find(|&at| view.is_any(at, &["or", "||"]) && !view.is_outer(at) && view.behind_step(at + 1) > at + 1)?;
    let open = (1..at).rev().find(|&open| view.is(open, "(") && view.behind_bracket(open) > at)?;
    let group =
        open > 0 && !view.touches(open) && view.behind_step(open + 1) == at && view.is(view.behind_step(at + 1), ")");
    if !stepped || !group {
        return None;
    }
    let text = format!("({} | {})", view.source(open + 1, at), view.source(at + 1, view.behind_bracket(open) - 1));
    Some(view.wrong(at, at + 1, "a choice of steps is written with `|`").write(text, vec![view.edit(at, at + 1, "|")]))
}

/// `flow plan -> [search] -> answer`.
fn optional_in_brackets(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = (1..view.len()).find(|&at| view.is(at, "[") && view.is_any(at - 1, &["->", "flow", "|"]))?;
    let end = view.behind_bracket(at);
    if !view.is(0, "flow") || !view.is(end.checked_sub(1)?, "]") {
        return None;
    }
    let text = format!("({})?", view.source(at + 1, end - 1));
    let edits = vec![view.edit(at, at + 1, "("), view.edit(end - 1, end, ")?")];
    Some(view.wrong(at, at + 1, "what may be left out stands in parentheses with `?`").write(text, edits))
}
