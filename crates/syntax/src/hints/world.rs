//! Hints for mistakes in the checks on the world around a run.

use super::hint::{Hint, function_hint, pattern_hint};
use super::view::{StatementView, SuggestText};
use averment_base::diagnostic::Diagnostic;

pub(super) const TABLE: &[Hint] = &[
    pattern_hint("command \"make\" exits 0", "command c:T < exits|exit|succeeds|returns|fails > n:N?")
        .with_message("`command \"…\"` is a step pattern")
        .with_help("to run a command now write `run {c} exits {n?0}`, or `require command {c}` for one in the trace"),
    pattern_hint("run make test exits 0", "run < &W !contains|matches|is|in c:.. > v[ exits ... ]")
        .with_message("the command of `run` stands in quotes")
        .with_rewrite("run \"{c}\" {v}"),
    pattern_hint("run make test", "run < &W !contains|matches|is|in ... >")
        .with_message("the command of `run` stands in quotes")
        .with_rewrite("run \"{...}\" exits 0"),
    function_hint("run \"make\"", run_check),
    pattern_hint("file \"a.txt\"", "f[ file T ] <> @end")
        .with_message("`file` needs a test behind it")
        .with_rewrite("{f} exists"),
    pattern_hint("file \"a.txt\" exists and file \"b.txt\" exists", "f[ file T .. ] < @read and > ...")
        .with_message("a check of `file` is a statement of its own and is not joined with `{wrong}`")
        .with_help("write `{f}` and `{...}` on two lines"),
    pattern_hint("file \"a.txt\" exists or file \"b.txt\" exists", "f[ file T .. ] < @read or > ...")
        .with_message("a check of `file` is a statement of its own and is not joined with `{wrong}`")
        .with_help("write `any of { {f}; {...} }`"),
    pattern_hint("file out.txt exists", "file < &W|/|. !CHECK p:.. > v[ CHECK ... ]")
        .with_message("the path of a file stands in quotes")
        .with_rewrite("file \"{p}\" {v}"),
    function_hint("env HOME exists", env_check),
    pattern_hint("tool exec = { type: \"object\" }", "tool &W|T !contains|in|matches|is|starts|ends n:S < = > ...")
        .with_message("the schema of a tool stands behind its name without `=`")
        .with_rewrite("tool {n} {...}"),
    pattern_hint("tool exec exists", "tool &W|T !contains|in|matches|is|starts|ends n:S !'{' < ... >")
        .with_message("`tool` needs a schema of its arguments, or `is available`")
        .with_help("write `tool {n} is available` to ask for it, or `tool {n} { type: \"object\" }` to declare it"),
    function_hint("http \"https://a.b\" 200", http_check),
];

fn run_check(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    if !view.token_is(0, "run") || !view.is_text(1) {
        return None;
    }
    let command = view.token_text(1);
    let at = view.failed.clamp(2, view.len());
    let code = (2..view.len()).find(|&at| view.is_number(at)).map_or("0", |at| view.token_text(at));
    let text = format!("run {command} exits {code}");
    let message = "`run` needs `exits` and a number behind its command";
    if at >= view.len() {
        let diagnostic = view.missing_at_end(message);
        return Some(if view.len() == 2 {
            diagnostic.suggest_text(text, vec![view.insert_after(1, " exits 0")])
        } else {
            diagnostic.with_help(format!("write `{text}`"))
        });
    }
    Some(
        view.syntax_error(at, at + 1, message)
            .suggest_text(text.clone(), vec![view.replace_tokens(0, view.modifiers_start(2), text)]),
    )
}

fn env_check(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    if !view.token_is(0, "env")
        || !(view.is_word(1) || view.is_text(1))
        || view.is_any(1, &["contains", "is", "in", "matches"])
    {
        return None;
    }
    let name = view.token_text(1).trim_matches(['"', '\'']).to_owned();
    let not = if view.find_word(2, "not").is_some() || view.find_word(2, "missing").is_some() { "not " } else { "" };
    let compared = (2..view.len()).find(|&at| view.is_any(at, &["==", "!=", "contains", "matches", "="]));
    if let Some(at) = compared {
        let test = view.source_text(at, view.len()).replacen("= ", "== ", usize::from(view.token_is(at, "=")));
        let text = format!("env.{name} {test}");
        return Some(
            view.syntax_error(at, at + 1, "`env NAME is set` only asks whether a variable is set")
                .suggest_text(text.clone(), vec![view.replace_tokens(0, view.len(), text)]),
        );
    }
    let text = format!("env {name} is {not}set");
    let at = if view.is_text(1) { 1 } else { view.failed.max(2) };
    let edit = view.replace_tokens(0, view.modifiers_start(2), text.clone());
    let diagnostic = if at >= view.len() {
        view.missing_at_end("`env` needs `is set` behind the name of the variable")
    } else if view.is_text(1) {
        view.syntax_error(1, 2, "the name of a variable stands without quotes")
    } else {
        view.syntax_error(at, at + 1, "`env` needs `is set` behind the name of the variable")
    };
    Some(diagnostic.suggest_text(text, vec![edit]))
}

/// `http "x" 200`, `http "x" status 200`.
fn http_check(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    if !view.token_is(0, "http") || !view.is_text(1) {
        return None;
    }
    let url = view.token_text(1);
    let number = (2..view.len()).find(|&at| view.is_number(at)).map_or("200", |at| view.token_text(at));
    let text = format!("http {url} status == {number}");
    let at = view.failed.clamp(2, view.len());
    let edit = view.replace_tokens(0, view.modifiers_start(2), text.clone());
    let message = "`http` needs `status` and a comparison behind the URL";
    let help = format!("write `{text}`, or `require http {url}` for any request to it");
    if at >= view.len() && view.len() == 2 {
        return Some(view.missing_at_end(message).with_help(help));
    }
    Some(if at >= view.len() {
        view.missing_at_end(message).with_help(help)
    } else {
        view.syntax_error(at, at + 1, message).suggest_text(text, vec![edit])
    })
}
