//! Mistakes in the checks on the world around a run.

use super::Find;
use super::view::{View, Write};
use averment_base::diagnostic::Diagnostic;

pub(super) const TABLE: &[Find] = &[exits_behind_a_pattern, run_check, file_check, env_check, tool_check, http_check];

/// `command "make" exits 0`.
fn exits_behind_a_pattern(view: &View<'_, '_>) -> Option<Diagnostic> {
    let exits = view.find_any(1, &["exits", "exit", "succeeds", "returns", "fails"])?;
    if !view.is(0, "command") || !view.is_text(1) || exits != 2 {
        return None;
    }
    let command = view.word(1);
    let code = if view.is_number(exits + 1) { view.word(exits + 1) } else { "0" };
    Some(view.wrong(exits, exits + 1, "`command \"…\"` is a step pattern").help(format!(
        "to run a command now write `run {command} exits {code}`, or `require command {command}` for one in the trace"
    )))
}

fn run_check(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "run")
        || !(view.is_text(1) || (view.is_word(1) && !view.is_any(1, &["contains", "matches", "is", "in"])))
    {
        return None;
    }
    if !view.is_text(1) {
        let end = view.find(1, "exits").unwrap_or(view.len());
        let command = view.source(1, end);
        let text = format!(
            "run \"{command}\" {}",
            if end < view.len() { view.source(end, view.len()) } else { "exits 0".to_owned() }
        );
        let edits =
            vec![view.insert(1, "\""), view.append(end - 1, if end < view.len() { "\"" } else { "\" exits 0" })];
        return Some(view.wrong(1, end, "the command of `run` stands in quotes").write(text, edits));
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

fn file_check(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "file") {
        return None;
    }
    if view.is_text(1) {
        return missing_test(view, "file", 2, "exists");
    }
    let end =
        view.find_any(1, &["exists", "is", "matches", "contains", "not", "does", "starts", "ends", "icontains"])?;
    if end == 1 || !(view.is_word(1) || view.is(1, "/") || view.is(1, ".")) {
        return None;
    }
    let (path, test) = (view.source(1, end), view.source(end, view.len()));
    let edits = vec![view.insert(1, "\""), view.append(end - 1, "\"")];
    Some(view.wrong(1, end, "the path of a file stands in quotes").write(format!("file \"{path}\" {test}"), edits))
}

/// A check with its subject and no test, or two checks on one line.
fn missing_test(view: &View<'_, '_>, word: &str, at: usize, test: &str) -> Option<Diagnostic> {
    if view.len() == at {
        let text = format!("{} {test}", view.source(0, at));
        return Some(
            view.missing_at_end(format!("`{word}` needs a test behind it"))
                .write(text, vec![view.append(at - 1, format!(" {test}"))]),
        );
    }
    let joint = view.find_any(at, &["and", "or"])?;
    if view.failed < joint {
        return None;
    }
    let (left, right) = (view.source(0, joint), view.source(joint + 1, view.len()));
    let diagnostic = view.wrong(
        joint,
        joint + 1,
        format!("a check of `{word}` is a statement of its own and is not joined with `{}`", view.word(joint)),
    );
    Some(match view.word(joint) {
        "and" => diagnostic.help(format!("write `{left}` and `{right}` on two lines")),
        _ => diagnostic.help(format!("write `any of {{ {left}; {right} }}`")),
    })
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

/// `tool exec exists`.
fn tool_check(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "tool")
        || !(view.is_word(1) || view.is_text(1))
        || view.is_any(1, &["contains", "in", "matches", "is", "starts", "ends"])
    {
        return None;
    }
    let end = view.behind_step(1);
    let name = view.source(1, end);
    if view.is(end, "=") {
        let text = format!("tool {name} {}", view.source(end + 1, view.len()));
        return Some(
            view.wrong(end, end + 1, "the schema of a tool stands behind its name without `=`")
                .write(text, vec![view.edit(end, end + 1, "")]),
        );
    }
    let text = format!("tool {name} is available");
    let message = "`tool` needs a schema of its arguments, or `is available`";
    let help = format!("write `{text}` to ask for it, or `tool {name} {{ type: \"object\" }}` to declare it");
    if end >= view.len() {
        return Some(view.missing_at_end(message).help(help));
    }
    if view.is(end, "{") {
        return None;
    }
    Some(view.wrong(end, view.len(), message).help(help))
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
