//! Hints for mistakes in what gives a name to a value: `let`, `param`, `def`, `schema`, and in what brings names in: `tools`, `use`.

use super::hint::{Hint, ask, not};
use super::view::{View, Write};
use averment_base::diagnostic::Diagnostic;

pub(super) const TABLE: &[Hint] = &[
    not("let = 3", "w:let|param|def|schema < !W X? >")
        .says("a name is missing behind `{w}`")
        .help("write `{w|declared}`; a name is made of letters, digits and `_`, and starts with a letter"),
    not("let x =", "let n:W = <> @end").says("a value is missing behind `=`").help("write `let {n} = 100`"),
    not("let x := 3", "let n:W < : = > ...")
        .says("`=` stands between a name and its value")
        .write("let {n} = {...}"),
    not("let x: number = 3", "let n:W < : t:.. > = ...")
        .says("a `let` takes its type from its value")
        .write("let {n} = {...}")
        .help("write `let {n} = {...}`, or `param {n}: {t} = {...}` for a value that can be set from outside"),
    not("let x be 3", "let n:W < ==|<-|be|to|is > ...")
        .says("`=` stands between a name and its value")
        .write("let {n} = {...}"),
    not("let large(a) = a > 100", "< let > c[ W '(' ... ]")
        .says("a name with parameters is declared with `def`")
        .write("def {c}"),
    not("let x", "let n:W <> @end").says("a `let` needs `=` and a value").help("write `let {n} = 100`"),
    not("let x 3", "let n:W !'='|: @apart v[ < X > ... ]")
        .says("`=` stands between a name and its value")
        .write("let {n} = {v}"),
    not("param x = 3", "param n:W < = > ...")
        .says("a `param` names its type")
        .write("param {n}: {...|type} = {...}"),
    not("param x 3", "param n:W !: < X? >")
        .says("a `param` needs `:` and its type behind the name")
        .help(
            "write `param {n}: number`; the types are string, number, integer, boolean, duration, money, size, list, object, any",
        ),
    not("param x: number =", "param n:W : t:X = <> @end")
        .says("a value is missing behind `=`")
        .help("write `param {n}: {t} = 100`"),
    not("param x: number default 3", "param n:W : t:W @apart < :|==|default > ...")
        .says("`=` stands between a name and its value")
        .write("param {n}: {t} = {...}"),
    not("param x: number 3", "param n:W : t:W @apart !'=' v[ < X > ... ]")
        .says("`=` stands between a name and its value")
        .write("param {n}: {t} = {v}"),
    not("def f = 3", "h[ def step? n:W ] < = > ...")
        .says("a `def` has parameters in parentheses; a value without any is a `let`")
        .write("let {n} = {...}")
        .help("write `let {n} = {...}`, or `{h}() = …`"),
    not("def f a, b = a > b", "h[ def DEFINED ] !'(' p[ < X > .. ] v[ = ... ]")
        .says("the parameters of a `def` stand in parentheses")
        .write("{h}({p|parameters}) {v}"),
    not("def f(x) =", "h[ def DEFINED &'(' G ] = <> @end")
        .says("a value is missing behind `=`")
        .help("write `{h} = …`"),
    not("def f(x) { x }", "h[ def DEFINED &'(' G ] < '{' >")
        .says("the value of a `def` stands behind `=`, not in braces")
        .help("write `{h} = …`"),
    not("def f(x): x > 3", "h[ def DEFINED &'(' G ] < :|->|=>|return|== > ...")
        .says("`=` stands between a name and its value")
        .write("{h} = {...}"),
    not("def f(x)", "h[ def DEFINED &'(' G ] <> @end")
        .says("a `def` needs `=` and its value")
        .help("write `{h} = …`"),
    not("def f(x) x > 3", "h[ def DEFINED &'(' G ] !'=' v[ < X > ... ]")
        .says("`=` stands between a name and its value")
        .write("{h} = {v}"),
    not("schema Refund { type: \"object\" }", "schema n:W < '{' >")
        .says("`=` stands between the name of a schema and its body")
        .write("schema {n} = { … }")
        .swap("= {wrong}"),
    not("schema Refund: { type: \"object\" }", "schema n:W < :|== > ...")
        .says("`=` stands between a name and its value")
        .write("schema {n} = {...}"),
    not("schema Refund \"refund.json\"", "schema n:W < p:T >")
        .says("a schema in a file is read with `from`")
        .write("schema {n} from {p}"),
    not("schema Refund = \"refund.json\"", "schema n:W < = > p:T")
        .says("a schema in a file is read with `from`")
        .write("schema {n} from {p}"),
    not("tools \"tools.json\"", "tools < p:T >")
        .says("the catalogue of tools is read with `from`")
        .write("tools from {p}"),
    not("tools = \"tools.json\"", "tools < !from|contains|==|!=|. X > p:T")
        .says("the catalogue of tools is read with `from`")
        .write("tools from {p}"),
    ask("use std/secrets", use_declaration),
];

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
