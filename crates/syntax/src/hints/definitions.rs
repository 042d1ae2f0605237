//! Hints for mistakes in what gives a name to a value: `let`, `param`, `def`, `schema`, and in what brings names in: `tools`, `use`.

use super::hint::{Hint, function_hint, pattern_hint};
use super::view::{StatementView, SuggestText};
use averment_base::diagnostic::Diagnostic;

pub(super) const TABLE: &[Hint] = &[
    pattern_hint("let = 3", "w:let|param|def|schema < !W X? >")
        .with_message("a name is missing behind `{w}`")
        .with_help("write `{w|declared}`; a name is made of letters, digits and `_`, and starts with a letter"),
    pattern_hint("let x =", "let n:W = <> @end").with_message("a value is missing behind `=`").with_help("write `let {n} = …`"),
    pattern_hint("let x := 3", "let n:W < : = > ...")
        .with_message("`=` stands between a name and its value")
        .with_rewrite("let {n} = {...}"),
    pattern_hint("let x: number = 3", "let n:W < : t:.. > = ...")
        .with_message("a `let` takes its type from its value")
        .with_rewrite("let {n} = {...}")
        .with_help("write `let {n} = {...}`, or `param {n}: {t} = {...}` for a value that can be set from outside"),
    pattern_hint("let x be 3", "let n:W < ==|<-|be|to|is > ...")
        .with_message("`=` stands between a name and its value")
        .with_rewrite("let {n} = {...}"),
    pattern_hint("let large(a) = a > 100", "< let > c[ W '(' ... ]")
        .with_message("a name with parameters is declared with `def`")
        .with_rewrite("def {c}"),
    pattern_hint("let x", "let n:W <> @end").with_message("a `let` needs `=` and a value").with_help("write `let {n} = …`"),
    pattern_hint("let x 3", "let n:W !'='|: @apart v[ < X > ... ]")
        .with_message("`=` stands between a name and its value")
        .with_rewrite("let {n} = {v}"),
    pattern_hint("param x = 3", "param n:W < = > ...")
        .with_message("a `param` names its type")
        .with_rewrite("param {n}: {...|type} = {...}"),
    pattern_hint("param x 3", "param n:W !: < X? >")
        .with_message("a `param` needs `:` and its type behind the name")
        .with_help(
            "write `param {n}: number`; the types are string, number, integer, boolean, duration, money, size, list, object, any",
        ),
    pattern_hint("param x: number =", "param n:W : t:X = <> @end")
        .with_message("a value is missing behind `=`")
        .with_help("write `param {n}: {t} = …`"),
    pattern_hint("param x: number default 3", "param n:W : t:W @apart < :|==|default > ...")
        .with_message("`=` stands between a name and its value")
        .with_rewrite("param {n}: {t} = {...}"),
    pattern_hint("param x: number 3", "param n:W : t:W @apart !'=' v[ < X > ... ]")
        .with_message("`=` stands between a name and its value")
        .with_rewrite("param {n}: {t} = {v}"),
    pattern_hint("def f = 3", "h[ def step? n:W ] < = > ...")
        .with_message("a `def` has parameters in parentheses; a value without any is a `let`")
        .with_rewrite("let {n} = {...}")
        .with_help("write `let {n} = {...}`, or `{h}() = …`"),
    pattern_hint("def f a, b = a > b", "h[ def DEFINED ] !'(' p[ < X > .. ] v[ = ... ]")
        .with_message("the parameters of a `def` stand in parentheses")
        .with_rewrite("{h}({p|parameters}) {v}"),
    pattern_hint("def f(x) =", "h[ def DEFINED &'(' G ] = <> @end")
        .with_message("a value is missing behind `=`")
        .with_help("write `{h} = …`"),
    pattern_hint("def f(x) { x }", "h[ def DEFINED &'(' G ] < '{' >")
        .with_message("the value of a `def` stands behind `=`, not in braces")
        .with_help("write `{h} = …`"),
    pattern_hint("def f(x): x > 3", "h[ def DEFINED &'(' G ] < :|->|=>|return|== > ...")
        .with_message("`=` stands between a name and its value")
        .with_rewrite("{h} = {...}"),
    pattern_hint("def f(x)", "h[ def DEFINED &'(' G ] <> @end")
        .with_message("a `def` needs `=` and its value")
        .with_help("write `{h} = …`"),
    pattern_hint("def f(x) x > 3", "h[ def DEFINED &'(' G ] !'=' v[ < X > ... ]")
        .with_message("`=` stands between a name and its value")
        .with_rewrite("{h} = {v}"),
    pattern_hint("schema Refund { type: \"object\" }", "schema n:W < '{' >")
        .with_message("`=` stands between the name of a schema and its body")
        .with_rewrite("schema {n} = { … }")
        .with_swap("= {wrong}"),
    pattern_hint("schema Refund: { type: \"object\" }", "schema n:W < :|== > ...")
        .with_message("`=` stands between a name and its value")
        .with_rewrite("schema {n} = {...}"),
    pattern_hint("schema Refund \"refund.json\"", "schema n:W < p:T >")
        .with_message("a schema in a file is read with `from`")
        .with_rewrite("schema {n} from {p}"),
    pattern_hint("schema Refund = \"refund.json\"", "schema n:W < = > p:T")
        .with_message("a schema in a file is read with `from`")
        .with_rewrite("schema {n} from {p}"),
    pattern_hint("tools \"tools.json\"", "tools < p:T >")
        .with_message("the catalogue of tools is read with `from`")
        .with_rewrite("tools from {p}"),
    pattern_hint("tools = \"tools.json\"", "tools < !from|contains|==|!=|. X > p:T")
        .with_message("the catalogue of tools is read with `from`")
        .with_rewrite("tools from {p}"),
    function_hint("use std/secrets", use_declaration),
];

/// `use std/secrets`, `use ./other.assert`, `use std.secrets secrets`.
fn use_declaration(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    if !view.token_is(0, "use") {
        return None;
    }
    let paren = view.find_word(1, "(").unwrap_or(view.len());
    let target = view.source_text(1, paren);
    if target.is_empty() {
        return Some(
            view.wrong_behind(1, "`use` needs a module or a path").with_help("write `use std.secrets` or `use \"…\"`"),
        );
    }
    let compact: String = target.split_whitespace().collect();
    let module = compact.replace("::", ".").replace('/', ".");
    if compact.ends_with(".assert") || compact.starts_with('.') {
        let edits = vec![view.insert_before(1, "\""), view.insert_after(paren - 1, "\"")];
        return Some(
            view.syntax_error(1, paren, "the path of a file stands in quotes")
                .suggest_text(format!("use \"{compact}\""), edits),
        );
    }
    if compact == target && compact.starts_with("std") && (compact.contains('/') || compact.contains("::")) {
        return Some(
            view.syntax_error(1, paren, "the parts of a module are joined with `.`")
                .suggest_text(format!("use {module}"), vec![view.replace_tokens(1, paren, module.clone())]),
        );
    }
    let end = if view.is_text(1) { 2 } else { view.behind_name(1) };
    if end < paren && view.is_any(end, &["import", ":", "as", "{", "["]) || view.is_word(end) {
        let skip = usize::from(view.is_any(end, &["import", ":"]));
        let names = view.source_text(end + skip, view.len()).replace(['{', '}', '[', ']'], "");
        let head = view.source_text(0, end);
        if view.token_is(end, "as") {
            return Some(
                view.syntax_error(end, end + 1, "an import keeps its names")
                    .with_help(format!("write `{head}`, or choose names in parentheses: `{head} (name)`")),
            );
        }
        let text = format!("{head} ({})", names.trim());
        return Some(
            view.syntax_error(end, end + 1, "chosen names stand in parentheses")
                .suggest_text(text, vec![view.replace_tokens(end, view.len(), format!("({})", names.trim()))]),
        );
    }
    None
}
