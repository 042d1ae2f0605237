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
    pattern_hint("Scenario: no refunds", "< Scenario|Feature|Background|Example|scenario|feature > : n[ X ... ]")
        .with_slug(Slug::UnknownStatement)
        .with_message("unknown statement `{wrong}`: what belongs together is a rule")
        .with_help("write `rule {n|label} { … }`"),
    pattern_hint("rule: no-refund", "rule < : > n:LABEL @end")
        .with_message("no `:` stands behind `rule`, and its statements stand in braces")
        .with_help("write `rule {n} { … }`"),
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
        .with_help("write `{a} == …`, or remove the line"),
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
        "then" => "`then` follows the step of `if`: `if A then B`",
        "and" | "or" => "it goes on from a complete line above it, and that one is none",
        "where" => "`where` follows a step: `each (A where COND): COND`",
        "until" => "`until` follows `after`: `never A after B until C`",
        "within" => "`within` follows before, after or sequence: `after A -> B within … calls`",
        "times" => "a number of times follows a step: `require A … times`",
        "return" | "yield" => "a `def` has its value behind `=`: `def NAME(x) = …`",
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
    ("forall", "each", ""),
    ("for_each", "each", ""),
    ("for_all", "each", ""),
    ("eventually", "require", ""),
    ("sometimes", "require", ""),
    ("requires", "require", ""),
    ("required", "require", ""),
    ("needs", "require", ""),
    ("use_tool", "require", ""),
    ("import", "use", "use \"…\""),
    ("include", "use", "use \"…\""),
    ("from", "use", "use \"…\" (NAME)"),
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
    ("scenario", "test", "test \"…\" expect pass { calls: […] }"),
    ("describe", "suite", "suite \"…\" { … }"),
    ("it", "rule", "rule NAME { … }"),
    ("spec", "rule", "rule NAME { … }"),
    ("policy", "rule", "rule NAME { … }"),
    ("given", "when", "when COND { … }"),
    ("unless", "when", "when not (…) { … }"),
    ("while", "when", "when COND { … }"),
    ("followed", "after", "after A -> B"),
    ("order", "sequence", "sequence A -> B"),
    ("ordered", "sequence", "sequence A -> B"),
    ("workflow", "flow", "flow A -> (B)* -> C"),
    ("always", "each", "each A: COND"),
    ("limit", "count", "count A <= …"),
    ("max", "count", "count A <= …"),
    ("min", "count", "count A >= …"),
    ("parallel", "together", "together A, B"),
    ("both", "together", "`require A` and `require B` on two lines"),
    ("neither", "never", "never A, B"),
    ("whenever", "after", "after A -> B"),
    ("once", "require", "require A 1 times"),
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
        "a line is a condition, as `output.NAME == …`, or begins with a statement: require, never, only, count, before, after, sequence, each, …",
    ))
}
