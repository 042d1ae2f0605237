//! Hints for mistakes in the first word of a line: near misses, words of other languages and of plain English.

use super::hint::{Hint, ask, not};
use super::places::is_infix;
use super::view::{View, Write};
use crate::token::Kind;
use crate::words;
use averment_base::diagnostic::suggest::nearest;
use averment_base::diagnostic::{Diagnostic, Slug};

/// Asked before everything that stands behind the first word.
pub(super) const FIRST: &[Hint] = &[
    ask("done deploy", lonely_word),
    ask("skill \"find\"", lone_step),
    not("when output.ok == true { } else { }", "when c:.. '{' .. ^} < else|elif|otherwise >")
        .says("a body has no `{wrong}`")
        .help("write a second block: `when not ({c}) { … }`"),
    not("after login until logout { } else { }", "..( ^} < else|elif|otherwise >")
        .says("a body has no `{wrong}`")
        .help("write a statement of its own below it"),
    not("expect call refund", "< w:ASSERT > @asserting that|if|:? call|use|have ...")
        .slug(Slug::UnknownStatement)
        .says("unknown statement `{w}`: a line is an assertion by itself")
        .write("require {...}"),
    not("assert that refund", "< w:ASSERT > @asserting that|if|:? &W a[ P @end ]")
        .slug(Slug::UnknownStatement)
        .says("unknown statement `{w}`: a line is an assertion by itself")
        .write("require {a}"),
    not("assert output.ok == true", "< w:ASSERT > @asserting that|if|:? ...")
        .slug(Slug::UnknownStatement)
        .says("unknown statement `{w}`: a line is an assertion by itself")
        .write("{...}"),
    ask("forbid deploy", other_word),
    ask("iff close", near_statement),
];

/// Asked when nothing else is known.
pub(super) const LAST: &[Hint] = &[
    ask("foobar deploy the thing", unknown_statement),
    not("output.status:", "!STATEMENT a:L < : @unread > @end")
        .says("a condition compares with `==`; `:` joins a key and its value inside braces or parentheses")
        .help("write `{a} == \"ok\"`, or remove the line"),
    not("output.status: \"ok\"", "!STATEMENT a:L < : @unread > ...")
        .says("a condition compares with `==`; `:` joins a key and its value inside braces or parentheses")
        .write("{a} == {...}"),
];

/// `else`, `end`, `then`, `and` at the start of a line with nothing that they go on from.
fn lonely_word(view: &View<'_, '_>) -> Option<Diagnostic> {
    let word = view.word(0);
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
    Some(Diagnostic::new(Slug::UnknownStatement, view.span(0), format!("`{word}` begins no statement")).help(help))
}

/// `skill "find"`, `refund where amount > 3`: a step is no statement.
fn lone_step(view: &View<'_, '_>) -> Option<Diagnostic> {
    let end = view.behind_pattern(0);
    let kind = words::KINDS.contains(&view.word(0)) && matches!(view.kind(1), Kind::Text | Kind::Regex);
    let condition =
        (1..end).any(|at| view.is(at, "where") && view.is_outer(at)) && !words::STATEMENTS.contains(&view.word(0));
    if end != view.modifiers(0) || end == 0 || !(kind || condition) {
        return None;
    }
    let text = format!("require {}", view.source(0, view.len()));
    Some(view.wrong(0, end, "a step alone is no statement").write(text, vec![view.insert(0, "require ")]))
}

/// A word that another language, or a person, uses for a statement: the word, the statement, and how it is written.
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

/// True for a word of [`OTHERS`].
pub(super) fn is_other(word: &str) -> bool {
    OTHERS.iter().any(|(other, ..)| other.eq_ignore_ascii_case(word))
}

fn other_word(view: &View<'_, '_>) -> Option<Diagnostic> {
    let word = view.word(0);
    if !is_head(view) {
        return None;
    }
    let (_, meant, example) = OTHERS.iter().find(|(other, ..)| other.eq_ignore_ascii_case(word))?;
    let diagnostic = Diagnostic::new(Slug::UnknownStatement, view.span(0), format!("unknown statement `{word}`"));
    if !example.is_empty() {
        let shown = if example.contains('`') { (*example).to_owned() } else { format!("`{example}`") };
        return Some(diagnostic.help(format!("did you mean `{meant}`? write {shown}")));
    }
    let text = format!("{meant} {}", view.source(1, view.len()));
    Some(replaced(diagnostic, view, meant, &text))
}

fn replaced(diagnostic: Diagnostic, view: &View<'_, '_>, meant: &str, text: &str) -> Diagnostic {
    let mut diagnostic = diagnostic.write(text, vec![view.edit(0, 1, meant)]);
    diagnostic.help = Some(format!("did you mean `{meant}`? write `{text}`"));
    diagnostic
}

/// True when the first word stands where a statement word would: something that is no operator follows.
fn is_head(view: &View<'_, '_>) -> bool {
    let next = view.kind(1);
    let follows = matches!(next, Kind::Word | Kind::Text | Kind::Regex)
        || view.is_number(1)
        || view.is_any(1, &["{", "*", "?"])
        || view.is(1, "(") && !view.touches(1);
    view.is_word(0) && follows && !words::is_joining(view.word(1)) && !is_infix(view) && view.failed <= 3
}

/// True for a word with which a line may begin in some other way.
fn is_known(word: &str) -> bool {
    [words::STATEMENTS, words::DECLARATIONS, words::MODIFIERS, words::SETTINGS, words::ROOTS]
        .iter()
        .any(|known| known.contains(&word))
}

/// `nevr deploy`.
fn near_statement(view: &View<'_, '_>) -> Option<Diagnostic> {
    let word = view.word(0);
    if is_known(word)
        || !is_head(view)
        || view.is_any(1, &["exists", "starts", "ends", "does", "where", "ok", "failed", "of"])
    {
        return None;
    }
    let lower = word.to_ascii_lowercase();
    let all =
        words::STATEMENTS.iter().chain(words::DECLARATIONS).chain(words::MODIFIERS).chain(words::SETTINGS).copied();
    let meant = nearest(&lower, all)?;
    Some(
        Diagnostic::new(Slug::UnknownStatement, view.span(0), format!("unknown statement `{word}`"))
            .help(format!("did you mean `{meant}`?"))
            .fix(format!("write `{meant}`"), view.span(0), meant),
    )
}

/// A first word that is like no other.
fn unknown_statement(view: &View<'_, '_>) -> Option<Diagnostic> {
    let word = view.word(0);
    if is_known(word) || !is_head(view) || view.failed > 1 {
        return None;
    }
    Some(Diagnostic::new(Slug::UnknownStatement, view.span(0), format!("unknown statement `{word}`")).help(
        "a line is a condition such as `output.status == \"ok\"`, or begins with a statement: require, never, only, count, before, after, sequence, each, …",
    ))
}
