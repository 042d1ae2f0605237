//! Hints for mistakes in the checks on the world around a run.

use super::hint::{Hint, ask, not};
use super::view::{View, Write};
use averment_base::diagnostic::Diagnostic;

pub(super) const TABLE: &[Hint] = &[
    not("command \"make\" exits 0", "command c:T < exits|exit|succeeds|returns|fails > n:N?")
        .says("`command \"…\"` is a step pattern")
        .help("to run a command now write `run {c} exits {n?0}`, or `require command {c}` for one in the trace"),
    not("run make test exits 0", "run < &W !contains|matches|is|in c:.. > v[ exits ... ]")
        .says("the command of `run` stands in quotes")
        .write("run \"{c}\" {v}"),
    not("run make test", "run < &W !contains|matches|is|in ... >")
        .says("the command of `run` stands in quotes")
        .write("run \"{...}\" exits 0"),
    ask("run \"make\"", run_check),
    not("file \"a.txt\"", "f[ file T ] <> @end").says("`file` needs a test behind it").write("{f} exists"),
    not("file \"a.txt\" exists and file \"b.txt\" exists", "f[ file T .. ] < @read and > ...")
        .says("a check of `file` is a statement of its own and is not joined with `{wrong}`")
        .help("write `{f}` and `{...}` on two lines"),
    not("file \"a.txt\" exists or file \"b.txt\" exists", "f[ file T .. ] < @read or > ...")
        .says("a check of `file` is a statement of its own and is not joined with `{wrong}`")
        .help("write `any of { {f}; {...} }`"),
    not("file out.txt exists", "file < &W|/|. !CHECK p:.. > v[ CHECK ... ]")
        .says("the path of a file stands in quotes")
        .write("file \"{p}\" {v}"),
    ask("env HOME exists", env_check),
    not("tool exec = { type: \"object\" }", "tool &W|T !contains|in|matches|is|starts|ends n:S < = > ...")
        .says("the schema of a tool stands behind its name without `=`")
        .write("tool {n} {...}"),
    not("tool exec exists", "tool &W|T !contains|in|matches|is|starts|ends n:S !'{' < ... >")
        .says("`tool` needs a schema of its arguments, or `is available`")
        .help("write `tool {n} is available` to ask for it, or `tool {n} { type: \"object\" }` to declare it"),
    ask("http \"https://a.b\" 200", http_check),
];

fn run_check(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "run") || !view.is_text(1) {
        return None;
    }
    let command = view.word(1);
    let at = view.failed.clamp(2, view.len());
    let code = (2..view.len()).find(|&at| view.is_number(at)).map_or("0", |at| view.word(at));
    let text = format!("run {command} exits {code}");
    let message = "`run` needs `exits` and a number behind its command";
    if at >= view.len() {
        let diagnostic = view.missing_at_end(message);
        return Some(if view.len() == 2 {
            diagnostic.write(text, vec![view.append(1, " exits 0")])
        } else {
            diagnostic.help(format!("write `{text}`"))
        });
    }
    Some(view.wrong(at, at + 1, message).write(text.clone(), vec![view.edit(0, view.modifiers(2), text)]))
}

fn env_check(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "env")
        || !(view.is_word(1) || view.is_text(1))
        || view.is_any(1, &["contains", "is", "in", "matches"])
    {
        return None;
    }
    let name = view.word(1).trim_matches(['"', '\'']).to_owned();
    let not = if view.find(2, "not").is_some() || view.find(2, "missing").is_some() { "not " } else { "" };
    let compared = (2..view.len()).find(|&at| view.is_any(at, &["==", "!=", "contains", "matches", "="]));
    if let Some(at) = compared {
        let test = view.source(at, view.len()).replacen("= ", "== ", usize::from(view.is(at, "=")));
        let text = format!("env.{name} {test}");
        return Some(
            view.wrong(at, at + 1, "`env NAME is set` only asks whether a variable is set")
                .write(text.clone(), vec![view.edit(0, view.len(), text)]),
        );
    }
    let text = format!("env {name} is {not}set");
    let at = if view.is_text(1) { 1 } else { view.failed.max(2) };
    let edit = view.edit(0, view.modifiers(2), text.clone());
    let diagnostic = if at >= view.len() {
        view.missing_at_end("`env` needs `is set` behind the name of the variable")
    } else if view.is_text(1) {
        view.wrong(1, 2, "the name of a variable stands without quotes")
    } else {
        view.wrong(at, at + 1, "`env` needs `is set` behind the name of the variable")
    };
    Some(diagnostic.write(text, vec![edit]))
}

/// `http "x" 200`, `http "x" status 200`.
fn http_check(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "http") || !view.is_text(1) {
        return None;
    }
    let url = view.word(1);
    let number = (2..view.len()).find(|&at| view.is_number(at)).map_or("200", |at| view.word(at));
    let text = format!("http {url} status == {number}");
    let at = view.failed.clamp(2, view.len());
    let edit = view.edit(0, view.modifiers(2), text.clone());
    let message = "`http` needs `status` and a comparison behind the URL";
    let help = format!("write `{text}`, or `require http {url}` for any request to it");
    if at >= view.len() && view.len() == 2 {
        return Some(view.missing_at_end(message).help(help));
    }
    Some(if at >= view.len() {
        view.missing_at_end(message).help(help)
    } else {
        view.wrong(at, at + 1, message).write(text, vec![edit])
    })
}
