//! Mistakes in declarations: names, quotes, signs that are missing, bodies.

use super::Find;
use super::view::{View, Write};
use crate::diagnostic::{Diagnostic, Edit, Slug};
use crate::syntax::words;

pub(super) const TABLE: &[Find] = &[
    call_outside,
    text_for_a_name,
    quoted_name,
    name_missing,
    name_of_two_words,
    let_declaration,
    param_declaration,
    def_declaration,
    schema_declaration,
    tools_declaration,
    use_declaration,
    test_declaration,
    dashed_key,
    object_entry,
];

/// `call refund`, `call search 2 times`.
fn call_outside(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "call") || view.find(1, "{").is_some() || view.find(1, "generate").is_some() {
        return None;
    }
    let rest = view.source(1, view.len());
    if view.behind_step(1) == 1 {
        return None;
    }
    let message = "`call` exists only in an invariant";
    let times = view.find(1, "times").is_some();
    let text = format!("require {rest}");
    let diagnostic = Diagnostic::new(Slug::Misplaced, view.span(0), message);
    let edits = vec![view.edit(0, 1, "require")];
    Some(if times {
        diagnostic.write(text, edits)
    } else {
        let mut diagnostic = diagnostic.write(text.clone(), edits);
        diagnostic.help = Some(format!(
            "write `{text}` to say that the tool was called; in an invariant `call` needs its arguments: `call {rest} {{ }}`"
        ));
        diagnostic
    })
}

/// `suite nightly {`, `test approval expect …`: the name is a text.
fn text_for_a_name(view: &View<'_, '_>) -> Option<Diagnostic> {
    let word = view.word(0);
    if !matches!(word, "suite" | "test")
        || !view.is_word(1)
        || view.is_any(1, &["expect", "expects"]) && !view.is(2, "expect")
    {
        return None;
    }
    let end = view.find_any(1, &["{", "expect"]).unwrap_or_else(|| view.behind_name(1)).max(2);
    let name = view.source(1, end);
    let edits = vec![view.insert(1, "\""), view.append(end - 1, "\"")];
    let text = if word == "suite" {
        format!("suite \"{name}\" {{ … }}")
    } else {
        format!("test \"{name}\" {}", view.source(end, view.len()))
    };
    Some(view.wrong(1, end, format!("the name of a {word} is text")).write(text, edits))
}

/// `rule "approval" {`, `case "x" {`: the name is bare.
fn quoted_name(view: &View<'_, '_>) -> Option<Diagnostic> {
    let word = view.word(0);
    if !matches!(word, "rule" | "case" | "invariant" | "runner" | "workspace") || !view.is_text(1) {
        return None;
    }
    let inner = view.word(1).trim_matches(['"', '\'']);
    let name = label_of(inner);
    let sentence = matches!(word, "rule" | "invariant") && inner.contains(' ') && !view.is_text(2);
    let instead = if sentence { format!("{name} {}", view.word(1)) } else { name };
    let text = format!("{word} {instead} {{ … }}");
    Some(
        view.wrong(1, 2, format!("the name of a {word} stands without quotes"))
            .write(text, vec![view.edit(1, 2, instead)]),
    )
}

/// A name made of any text.
fn label_of(text: &str) -> String {
    let mut name = String::new();
    for part in text
        .split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.' | '-'))
        .filter(|part| !part.is_empty())
    {
        if !name.is_empty() {
            name.push('-');
        }
        name.push_str(&part.to_ascii_lowercase());
    }
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if starts_well { name } else { format!("the-{name}") }
}

/// `rule {`.
fn name_missing(view: &View<'_, '_>) -> Option<Diagnostic> {
    let word = view.word(0);
    let needs = matches!(word, "rule" | "case" | "invariant" | "suite" | "runner" | "workspace");
    if !needs || !view.is(1, "{") {
        return None;
    }
    let name = if word == "suite" { "\"nightly\"" } else { "approval" };
    Some(view.wrong(1, 2, format!("a name is missing behind `{word}`")).help(format!("write `{word} {name} {{ … }}`")))
}

/// `rule my rule {`, `rule 2nd {`.
fn name_of_two_words(view: &View<'_, '_>) -> Option<Diagnostic> {
    let word = view.word(0);
    if !matches!(word, "rule" | "case" | "invariant") {
        return None;
    }
    let end = view.find_any(1, &["{", ":"]).unwrap_or(view.len());
    let colon = view.is(end, ":");
    let one = view.behind_name(1);
    if view.is_number(1) {
        let name = view.source(1, one);
        let text = format!("{word} the-{name} {{ … }}");
        return Some(
            view.wrong(1, 2, format!("the name of a {word} starts with a letter"))
                .write(text, vec![view.insert(1, "the-")]),
        );
    }
    if colon && end == one {
        let text = format!("{word} {} {{ … }}", view.source(1, end));
        return Some(
            view.wrong(end, end + 1, format!("the body of a {word} stands in braces, not behind a colon"))
                .help(format!("write `{text}`")),
        );
    }
    let sentence = view.is_text(one);
    if sentence || one >= end || words::MODIFIERS.contains(&view.word(one)) || !view.is_word(one) {
        return None;
    }
    let name = label_of(&view.source(1, end));
    Some(
        view.wrong(one, end, format!("the name of a {word} is one word"))
            .write(format!("{word} {name} {{ … }}"), vec![view.edit(1, end, name.clone())]),
    )
}

/// `let x 3`, `let x: number = 3`, `let x == 3`.
fn let_declaration(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "let") {
        return None;
    }
    if !view.is_word(1) {
        return Some(name_expected(view, "let", "let limit = 100"));
    }
    let name = view.word(1);
    let help = |value: &str| format!("let {name} = {value}");
    match view.word(2) {
        "=" => value_missing(view, 2, &help("100")),
        ":" => {
            let equals = view.find(2, "=")?;
            let value = view.source(equals + 1, view.len());
            let ty = view.source(3, equals);
            let diagnostic = view.wrong(2, equals, "a `let` takes its type from its value");
            Some(diagnostic.write(help(&value), vec![view.edit(2, equals, "")])).map(|mut diagnostic| {
                diagnostic.help = Some(format!(
                    "write `{}`, or `param {name}: {ty} = {value}` for a value that can be set from outside",
                    help(&value)
                ));
                diagnostic
            })
        }
        "==" | ":=" | "<-" | "be" | "to" | "is" => {
            Some(equals_expected(view, 2, 3, &help(&view.source(3, view.len()))))
        }
        "(" => {
            let text = format!("def {}", view.source(1, view.len()));
            Some(
                view.wrong(0, 1, "a name with parameters is declared with `def`")
                    .write(text, vec![view.edit(0, 1, "def")]),
            )
        }
        "" => Some(view.missing_at_end("a `let` needs `=` and a value").help(format!("write `{}`", help("100")))),
        _ if view.touches(2) => None,
        _ => Some(equals_expected(view, 2, 2, &help(&view.source(2, view.len())))),
    }
}

fn equals_expected(view: &View<'_, '_>, from: usize, to: usize, text: &str) -> Diagnostic {
    let edit = if from == to { view.insert(from, "= ") } else { view.edit(from, to, "=") };
    view.wrong(from, to.max(from + 1), "`=` stands between a name and its value").write(text, vec![edit])
}

fn name_expected(view: &View<'_, '_>, word: &str, example: &str) -> Diagnostic {
    let message = format!("a name is missing behind `{word}`");
    let diagnostic = if view.len() > 1 { view.wrong(1, 2, message) } else { view.missing_at_end(message) };
    diagnostic.help(format!("write `{example}`; a name is made of letters, digits and `_`, and starts with a letter"))
}

fn value_missing(view: &View<'_, '_>, equals: usize, text: &str) -> Option<Diagnostic> {
    if equals + 1 < view.len() {
        return None;
    }
    Some(view.missing_at_end("a value is missing behind `=`").help(format!("write `{text}`")))
}

/// `param x = 3`, `param x: number 3`, `param number x = 3`.
fn param_declaration(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "param") {
        return None;
    }
    if !view.is_word(1) {
        return Some(name_expected(view, "param", "param limit: number = 100"));
    }
    let name = view.word(1);
    if view.is(2, "=") {
        let value = view.source(3, view.len());
        let ty = type_of(view, 3);
        let text = format!("param {name}: {ty} = {value}");
        return Some(view.wrong(2, 3, "a `param` names its type").write(text, vec![view.append(1, format!(": {ty}"))]));
    }
    if !view.is(2, ":") {
        let message = "a `param` needs `:` and its type behind the name";
        let text = format!("param {name}: number");
        let diagnostic = if view.len() > 2 { view.wrong(2, 3, message) } else { view.missing_at_end(message) };
        return Some(diagnostic.help(format!(
            "write `{text}`; the types are string, number, integer, boolean, duration, money, size, list, object, any"
        )));
    }
    if view.is(4, "=") {
        return value_missing(view, 4, &format!("param {name}: {} = 100", view.word(3)));
    }
    if view.is_word(3) && view.len() > 4 && !view.touches(4) {
        let skip = usize::from(view.is_any(4, &[":", "==", "default", ":="]));
        let text = format!("param {name}: {} = {}", view.word(3), view.source(4 + skip, view.len()));
        return Some(equals_expected(view, 4, 4 + skip, &text));
    }
    None
}

/// The type that a written value suggests.
fn type_of(view: &View<'_, '_>, at: usize) -> &'static str {
    let word = view.word(at);
    if view.is_text(at) {
        return "string";
    }
    if view.is_number(at) {
        return match crate::syntax::number::read(word).map(|reading| reading.unit) {
            Ok(crate::syntax::ast::Unit::Duration) => "duration",
            Ok(crate::syntax::ast::Unit::Money) => "money",
            Ok(crate::syntax::ast::Unit::Size) => "size",
            _ => "number",
        };
    }
    match word {
        "true" | "false" => "boolean",
        "[" => "list",
        "{" => "object",
        "-" => "number",
        _ => "any",
    }
}

/// `def f x = …`, `def f(x): …`, `def f = …`, `def f(x) { … }`.
fn def_declaration(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "def") {
        return None;
    }
    let name = if view.is(1, "step") && view.is_word(2) { 2 } else { 1 };
    if !view.is_word(name) {
        return Some(name_expected(view, "def", "def is_large(amount) = amount > 100"));
    }
    let head = view.source(0, name + 1);
    let open = name + 1;
    if view.is(open, "=") {
        let text = format!("let {}", view.source(name, view.len()));
        let mut diagnostic =
            view.wrong(open, open + 1, "a `def` has parameters in parentheses; a value without any is a `let`");
        diagnostic = diagnostic.write(text.clone(), vec![view.edit(0, name, "let ")]);
        diagnostic.help = Some(format!("write `{text}`, or `{head}() = …`"));
        return Some(diagnostic);
    }
    if !view.is(open, "(") {
        let equals = view.find(open, "=")?;
        let parameters = view.source(open, equals).replace(", ", " ").replace(' ', ", ");
        let text = format!("{head}({parameters}) {}", view.source(equals, view.len()));
        let edits = vec![view.edit(open, equals, format!("({parameters})"))];
        return Some(view.wrong(open, open + 1, "the parameters of a `def` stand in parentheses").write(text, edits));
    }
    let equals = view.behind_bracket(open);
    let signature = view.source(0, equals);
    match view.word(equals) {
        "=" if equals + 1 >= view.len() => value_missing(view, equals, &format!("{signature} = …")),
        "=" => None,
        "{" => Some(
            view.wrong(equals, equals + 1, "the value of a `def` stands behind `=`, not in braces")
                .help(format!("write `{signature} = …`")),
        ),
        ":" | "->" | "=>" | ":=" | "return" | "==" => {
            let text = format!("{signature} = {}", view.source(equals + 1, view.len()));
            Some(equals_expected(view, equals, equals + 1, &text))
        }
        "" => Some(view.missing_at_end("a `def` needs `=` and its value").help(format!("write `{signature} = …`"))),
        _ => Some(equals_expected(view, equals, equals, &format!("{signature} = {}", view.source(equals, view.len())))),
    }
}

/// `schema Refund { … }`, `schema Refund: …`, `schema Refund "file.json"`.
fn schema_declaration(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "schema") {
        return None;
    }
    if !view.is_word(1) {
        return Some(name_expected(view, "schema", "schema Refund from \"refund.schema.json\""));
    }
    let name = view.word(1);
    match view.word(2) {
        "{" => Some(
            view.wrong(2, 3, "`=` stands between the name of a schema and its body")
                .write(format!("schema {name} = {{ … }}"), vec![view.insert(2, "= ")]),
        ),
        ":" | ":=" | "==" => {
            Some(equals_expected(view, 2, 3, &format!("schema {name} = {}", view.source(3, view.len()))))
        }
        _ if view.is_text(2) || view.is(2, "=") && view.is_text(3) => {
            let path = if view.is_text(2) { 2 } else { 3 };
            let text = format!("schema {name} from {}", view.word(path));
            Some(
                view.wrong(2, 3, "a schema in a file is read with `from`")
                    .write(text, vec![view.edit(2, path + 1, format!("from {}", view.word(path)))]),
            )
        }
        _ => None,
    }
}

/// `tools "tools.json"`, `tools = "…"`.
fn tools_declaration(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "tools") {
        return None;
    }
    let path = (1..view.len()).find(|&at| view.is_text(at))?;
    if path > 2 || view.is(1, "from") || view.is_any(1, &["contains", "==", "!=", "."]) {
        return None;
    }
    let text = format!("tools from {}", view.word(path));
    Some(
        view.wrong(1, path.max(2), "the catalogue of tools is read with `from`")
            .write(text, vec![view.edit(1, path + 1, format!("from {}", view.word(path)))]),
    )
}

/// `use std/secrets`, `use ./other.assert`, `use std.secrets secrets`.
fn use_declaration(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "use") {
        return None;
    }
    let paren = view.find(1, "(").unwrap_or(view.len());
    let target = view.source(1, paren);
    if target.is_empty() {
        return Some(
            view.wrong_behind(1, "`use` needs a module or a path")
                .help("write `use std.secrets` or `use \"./other.assert\"`"),
        );
    }
    let compact: String = target.split_whitespace().collect();
    let module = compact.replace("::", ".").replace('/', ".");
    if compact.ends_with(".assert") || compact.starts_with('.') {
        let edits = vec![view.insert(1, "\""), view.append(paren - 1, "\"")];
        return Some(
            view.wrong(1, paren, "the path of a file stands in quotes").write(format!("use \"{compact}\""), edits),
        );
    }
    if compact == target && compact.starts_with("std") && (compact.contains('/') || compact.contains("::")) {
        return Some(
            view.wrong(1, paren, "the parts of a module are joined with `.`")
                .write(format!("use {module}"), vec![view.edit(1, paren, module.clone())]),
        );
    }
    let end = if view.is_text(1) { 2 } else { view.behind_name(1) };
    if end < paren && view.is_any(end, &["import", ":", "as", "{", "["]) || view.is_word(end) {
        let skip = usize::from(view.is_any(end, &["import", ":"]));
        let names = view.source(end + skip, view.len()).replace(['{', '}', '[', ']'], "");
        let head = view.source(0, end);
        if view.is(end, "as") {
            return Some(
                view.wrong(end, end + 1, "an import keeps its names")
                    .help(format!("write `{head}`, or choose names in parentheses: `{head} (name)`")),
            );
        }
        let text = format!("{head} ({})", names.trim());
        return Some(
            view.wrong(end, end + 1, "chosen names stand in parentheses")
                .write(text, vec![view.edit(end, view.len(), format!("({})", names.trim()))]),
        );
    }
    None
}

/// `test "x" fail { … }`, `test "x" { … }`, `test "x" expect { … }`, a test without a run.
fn test_declaration(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "test") || !view.is_text(1) {
        return None;
    }
    let (name, run) = (view.word(1), view.find_any(2, &["{", "from"]).unwrap_or(view.len()));
    if !view.is(2, "expect") {
        let skip = usize::from(view.is_any(2, &["expects", "should", "must", "->", ":", "is"]));
        let verdict = words::meant_verdict(view.word(2 + skip)).unwrap_or("fail");
        let known = words::meant_verdict(view.word(2 + skip)).is_some();
        let edit = match (skip, known) {
            (0, true) => view.insert(2, "expect "),
            (0, false) => view.append(1, format!(" expect {verdict}")),
            (_, true) => view.edit(2, 3, "expect"),
            _ => view.edit(2, 3, format!("expect {verdict}")),
        };
        let message = "`expect` and a verdict are missing behind the name of the test";
        let diagnostic = if view.len() > 2 { view.wrong(2, 3, message) } else { view.missing_at_end(message) };
        return Some(diagnostic.write(format!("test {name} expect {verdict} {{ … }}"), vec![edit]));
    }
    if view.is_any(3, &["{", "from"]) {
        return Some(
            view.wrong(3, 4, "a verdict is missing behind `expect`")
                .write(format!("test {name} expect fail {{ … }}"), vec![view.append(2, " fail")]),
        );
    }
    if run >= view.len() {
        let message = "a test needs a run: in braces, or `from` a file";
        return Some(
            view.missing_at_end(message)
                .help(format!("write `{} {{ calls: [{{ tool: \"refund\" }}] }}`", view.source(0, view.len()))),
        );
    }
    test_rules(view, run)
}

/// Names of rules without commas, in quotes, in parentheses; a path without quotes.
fn test_rules(view: &View<'_, '_>, run: usize) -> Option<Diagnostic> {
    if view.is(run, "from") && !view.is_text(run + 1) && run + 1 < view.len() {
        let path = view.source(run + 1, view.len());
        let edits = vec![view.insert(run + 1, "\""), view.append(view.len() - 1, "\"")];
        return Some(
            view.wrong(run + 1, view.len(), "the path of a file stands in quotes")
                .write(format!("from \"{path}\""), edits),
        );
    }
    let quoted = (4..run).find(|&at| view.is_text(at));
    if let Some(at) = quoted {
        let name = label_of(view.word(at).trim_matches(['"', '\'']));
        return Some(
            view.wrong(at, at + 1, "the names of rules stand without quotes")
                .write(name.clone(), vec![view.edit(at, at + 1, name)]),
        );
    }
    let mut end = view.behind_name(4);
    while view.is(end, ",") {
        end = view.behind_name(end + 1);
    }
    if end >= run || view.len() <= 4 || run <= 4 {
        return None;
    }
    let filler = usize::from(view.is_any(end, &["and", "for", "or", "in"]));
    let text = format!("{}, {}", view.source(4, end), view.source(end + filler, run));
    let edit = if filler == 1 { view.edit(end, end + 1, ",") } else { view.append(end - 1, ",") };
    Some(view.wrong(end, end + 1, "the names of rules are joined with commas").write(text, vec![edit]))
}

/// `{ user-id: 3 }`; the strict grammar reads it, so this serves objects that have another mistake as well.
fn dashed_key(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = view.failed;
    if view.is_outer(at) || !view.is(at, "-") || !view.is_word(at - 1) || !view.is_word(at + 1) {
        return None;
    }
    let end = view.behind_name(at - 1);
    if !view.is(end, ":") {
        return None;
    }
    let key = view.source(at - 1, end);
    Some(
        view.wrong(at, at + 1, format!("a key with `-` is quoted: `\"{key}\"`"))
            .write(format!("\"{key}\": …"), vec![Edit { span: view.span_of(at - 1, end), text: format!("\"{key}\"") }]),
    )
}

/// `{ a = 1 }`, `{ a 1 }`, `{ 1: 2 }` in an object.
fn object_entry(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = view.failed;
    if view.is_outer(at) || at == 0 {
        return None;
    }
    let opener = enclosing(view, at)?;
    let key = at - 1;
    let begins = view.is_any(key.checked_sub(1)?, &["{", ","]) || opener + 1 == key;
    if !view.is(opener, "{") || !begins || !(view.is_word(key) || view.is_text(key)) {
        return None;
    }
    let name = view.word(key);
    match view.word(at) {
        "=" | "=>" | "->" | ":=" | "==" => {
            let text = format!("{name}: {}", view.word(at + 1));
            Some(
                view.wrong(
                    at,
                    at + 1,
                    format!("a key and its value are joined with `:`, not with `{}`", view.word(at)),
                )
                .write(text, vec![view.edit(key, at + 1, format!("{name}:"))]),
            )
        }
        _ if view.is_text(at) || view.is_number(at) || view.is_any(at, &["{", "[", "true", "false", "null"]) => {
            let text = format!("{name}: {}", view.word(at));
            Some(
                view.wrong(at, at + 1, format!("a `:` is missing behind the key `{name}`"))
                    .write(text, vec![view.append(key, ":")]),
            )
        }
        _ => None,
    }
}

/// The bracket that a token stands in.
pub(super) fn enclosing(view: &View<'_, '_>, at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for here in (0..at).rev() {
        match view.word(here) {
            ")" | "]" | "}" => depth += 1,
            "(" | "[" | "{" if depth == 0 => return Some(here),
            "(" | "[" | "{" => depth -= 1,
            _ => {}
        }
    }
    None
}
