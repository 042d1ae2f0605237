//! Mistakes in what gives a name to a value: `let`, `param`, `def`, `schema`, and in what brings names in: `tools`, `use`.

use super::Find;
use super::view::{View, Write};
use averment_base::diagnostic::Diagnostic;

pub(super) const TABLE: &[Find] =
    &[let_declaration, param_declaration, def_declaration, schema_declaration, tools_declaration, use_declaration];

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
        return match crate::number::read(word).map(|reading| reading.unit) {
            Ok(crate::ast::Unit::Duration) => "duration",
            Ok(crate::ast::Unit::Money) => "money",
            Ok(crate::ast::Unit::Size) => "size",
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
