//! Hints for mistakes in the first word of a line: near misses, words of other languages and of plain English.

use super::hint::{Hint, function_hint, pattern_hint};
use super::places::is_infix;
use super::view::{StatementView, SuggestText};
use crate::token::TokenKind;
use crate::words;
use averment_base::diagnostic::suggest::suggest_name;
use averment_base::diagnostic::{Diagnostic, Slug};

/// Asked before everything behind the first word.
pub(super) const FIRST: &[Hint] = &[
    function_hint("done deploy", lonely_word),
    function_hint("skill \"find\"", lone_step),
    pattern_hint("when output.ok == true { } else { }", "when c:.. '{' .. ^} < else|elif|otherwise >")
        .with_message("a body has no `{wrong}`")
        .with_help("write a second block: `when not ({c}) { … }`"),
    pattern_hint("after login until logout { } else { }", "..( ^} < else|elif|otherwise >")
        .with_message("a body has no `{wrong}`")
        .with_help("write a statement of its own below it"),
    pattern_hint("expect call refund", "< w:ASSERT > @asserting that|if|:? call|use|have ...")
        .with_slug(Slug::UnknownStatement)
        .with_message("unknown statement `{w}`: a line is an assertion by itself")
        .with_rewrite("require {...}"),
    pattern_hint("assert that refund", "< w:ASSERT > @asserting that|if|:? &W a[ P @end ]")
        .with_slug(Slug::UnknownStatement)
        .with_message("unknown statement `{w}`: a line is an assertion by itself")
        .with_rewrite("require {a}"),
    pattern_hint("assert output.ok == true", "< w:ASSERT > @asserting that|if|:? ...")
        .with_slug(Slug::UnknownStatement)
        .with_message("unknown statement `{w}`: a line is an assertion by itself")
        .with_rewrite("{...}"),
    function_hint("forbid deploy", other_word),
    function_hint("iff close", near_statement),
];

pub(super) const LAST: &[Hint] = &[
    function_hint("foobar deploy the thing", unknown_statement),
    pattern_hint("output.status:", "!STATEMENT a:L < : @unread > @end")
        .with_message("a condition compares with `==`; `:` joins a key and its value inside braces or parentheses")
        .with_help("write `{a} == \"ok\"`, or remove the line"),
    pattern_hint("output.status: \"ok\"", "!STATEMENT a:L < : @unread > ...")
        .with_message("a condition compares with `==`; `:` joins a key and its value inside braces or parentheses")
        .with_rewrite("{a} == {...}"),
];

/// `else`, `end`, `then`, `and` at a line start with nothing to continue.
fn lonely_word(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let word = view.token_text(0);
    let help = match word {
        "else" | "elif" | "elsif" | "elseif" => "blocks have no `else`: write a second block `when not (…) { … }`",
        "end" | "endif" | "done" | "fi" | "end_if" => "a body ends with `}`",
        "then" => "`then` follows the step of `if`: `if refund then notify`",
        "and" | "or" => "it goes on from a complete line above it, and that one is none",
        "where" => "`where` follows a step: `each (refund where result.code == 0): …`",
        "until" => "`until` follows `after`: `never write after lock until unlock`",
        "within" => "`within` follows before, after or sequence: `after open -> close within 3 calls`",
        "times" => "a number of times follows a step: `require search 2 times`",
        "return" | "yield" => "a `def` has its value behind `=`: `def is_large(a) = a > 100`",
        _ => return None,
    };
    let known_value = view.is_any(1, &["==", "!=", "<", ">", "<=", ">=", ".", "(", "["]);
    if known_value {
        return None;
    }
    Some(Diagnostic::new(Slug::UnknownStatement, view.span(0), format!("`{word}` begins no statement")).with_help(help))
}

/// `skill "find"`, `refund where amount > 3`: a step is no statement.
fn lone_step(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let end = view.behind_pattern(0);
    let kind =
        words::KINDS.contains(&view.token_text(0)) && matches!(view.token_kind(1), TokenKind::Text | TokenKind::Regex);
    let condition = (1..end).any(|at| view.token_is(at, "where") && view.is_outer(at))
        && !words::STATEMENTS.contains(&view.token_text(0));
    if end != view.modifiers_start(0) || end == 0 || !(kind || condition) {
        return None;
    }
    let text = format!("require {}", view.source_text(0, view.len()));
    Some(
        view.syntax_error(0, end, "a step alone is no statement")
            .suggest_text(text, vec![view.insert_before(0, "require ")]),
    )
}

/// Statement words of other languages or of English: word, statement, how to write it.
const OTHERS: &[(&str, &str, &str)] = &[
    ("forbid", "never", ""),
    ("forbids", "never", ""),
    ("forbidden", "never", ""),
    ("deny", "never", ""),
    ("disallow", "never", ""),
    ("prohibit", "never", ""),
    ("avoid", "never", ""),
    ("block", "never", ""),
    ("ban", "never", ""),
    ("must_not", "never", ""),
    ("dont", "never", ""),
    ("allow", "only", ""),
    ("permit", "only", ""),
    ("allowed", "only", ""),
    ("every", "each", ""),
    ("foreach", "each", ""),
    ("eventually", "require", ""),
    ("sometimes", "require", ""),
    ("requires", "require", ""),
    ("required", "require", ""),
    ("needs", "require", ""),
    ("use_tool", "require", ""),
    ("import", "use", "use \"./other.assert\""),
    ("include", "use", "use \"./other.assert\""),
    ("from", "use", "use std.secrets (secrets)"),
    ("const", "let", ""),
    ("var", "let", ""),
    ("set", "let", ""),
    ("define", "def", ""),
    ("function", "def", ""),
    ("func", "def", ""),
    ("fn", "def", ""),
    ("macro", "def", ""),
    ("predicate", "def", ""),
    ("parameter", "param", ""),
    ("arg", "param", ""),
    ("input", "param", ""),
    ("scenario", "test", "test \"name\" expect pass { calls: [] }"),
    ("describe", "suite", "suite \"name\" { … }"),
    ("it", "rule", "rule name { … }"),
    ("spec", "rule", "rule name { … }"),
    ("policy", "rule", "rule name { … }"),
    ("given", "when", "when COND { … }"),
    ("unless", "when", "when not (…) { … }"),
    ("while", "when", "when COND { … }"),
    ("followed", "after", "after approve -> refund"),
    ("order", "sequence", "sequence plan -> search"),
    ("ordered", "sequence", "sequence plan -> search"),
    ("workflow", "flow", "flow plan -> (search)* -> answer"),
    ("always", "each", "each refund: args.amount <= 100"),
    ("limit", "count", "count search <= 10"),
    ("max", "count", "count search <= 10"),
    ("min", "count", "count search >= 1"),
    ("parallel", "together", "together fetch_a, fetch_b"),
    ("both", "together", "`require a` and `require b` on two lines"),
    ("neither", "never", "never a, b"),
    ("whenever", "after", "after open -> close"),
    ("once", "require", "require search 1 times"),
];

pub(super) fn is_other(word: &str) -> bool {
    OTHERS.iter().any(|(other, ..)| other.eq_ignore_ascii_case(word))
}

fn other_word(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let word = view.token_text(0);
    if !is_head(view) {
        return None;
    }
    let (_, meant, example) = OTHERS.iter().find(|(other, ..)| other.eq_ignore_ascii_case(word))?;
    let diagnostic = Diagnostic::new(Slug::UnknownStatement, view.span(0), format!("unknown statement `{word}`"));
    if !example.is_empty() {
        let shown = if example.contains('`') { (*example).to_owned() } else { format!("`{example}`") };
        return Some(diagnostic.with_help(format!("did you mean `{meant}`? write {shown}")));
    }
    let text = format!("{meant} {}", view.source_text(1, view.len()));
    Some(with_replacement(diagnostic, view, meant, &text))
}

fn with_replacement(diagnostic: Diagnostic, view: &StatementView<'_, '_>, meant: &str, text: &str) -> Diagnostic {
    let mut diagnostic = diagnostic.suggest_text(text, vec![view.replace_tokens(0, 1, meant)]);
    diagnostic.help = Some(format!("did you mean `{meant}`? write `{text}`"));
    diagnostic
}

/// True if no operator follows the first word.
fn is_head(view: &StatementView<'_, '_>) -> bool {
    let next = view.token_kind(1);
    let follows = matches!(next, TokenKind::Word | TokenKind::Text | TokenKind::Regex)
        || view.is_number(1)
        || view.is_any(1, &["{", "*", "?"])
        || view.token_is(1, "(") && !view.touches_previous(1);
    view.is_word(0) && follows && !words::is_joining(view.token_text(1)) && !is_infix(view) && view.failed <= 3
}

fn is_known(word: &str) -> bool {
    [words::STATEMENTS, words::DECLARATIONS, words::MODIFIERS, words::SETTINGS, words::ROOTS]
        .iter()
        .any(|known| known.contains(&word))
}

/// `nevr deploy`.
fn near_statement(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let word = view.token_text(0);
    if is_known(word)
        || !is_head(view)
        || view.is_any(1, &["exists", "starts", "ends", "does", "where", "ok", "failed", "of"])
    {
        return None;
    }
    let lower = word.to_ascii_lowercase();
    let all =
        words::STATEMENTS.iter().chain(words::DECLARATIONS).chain(words::MODIFIERS).chain(words::SETTINGS).copied();
    let meant = suggest_name(&lower, all)?;
    Some(
        Diagnostic::new(Slug::UnknownStatement, view.span(0), format!("unknown statement `{word}`"))
            .with_help(format!("did you mean `{meant}`?"))
            .with_fix(format!("write `{meant}`"), view.span(0), meant),
    )
}

fn unknown_statement(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let word = view.token_text(0);
    if is_known(word) || !is_head(view) || view.failed > 1 {
        return None;
    }
    Some(Diagnostic::new(Slug::UnknownStatement, view.span(0), format!("unknown statement `{word}`")).with_help(
        "a line is a condition such as `output.status == \"ok\"`, or begins with a statement: require, never, only, count, before, after, sequence, each, …",
    ))
}
