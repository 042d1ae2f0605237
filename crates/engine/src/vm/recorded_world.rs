//! What a run has recorded of the world around it: files, variables, commands of rules.

use super::fault::Fault;
use super::world::{CommandOutcome, VariableState};
use averment_base::value::{Node, Object, Value};
use averment_checker::ir::FileLook;
use averment_runs::normal::{of_meta, of_run, of_step};
use averment_runs::run::Run;

#[derive(Debug, Clone, Copy)]
pub(super) enum RecordedFact<T> {
    Nothing,
    Unknown,
    Known(T),
}

/// What the run records of a file: its text under its name, or the `content` or `text` of an object that describes it; in a list a name
/// alone says that it is there. A run that records files says with that which there are not, but for those below a folder that it records
/// with `complete: false` (`.` for all), and one with `exists: false` is not there.
pub(super) fn recorded_file<'run>(run: &Run<'run>, path: &str, look: FileLook) -> RecordedFact<Node<'run>> {
    let files = RecordedFiles(run.root_value(of_run::FILES).value);
    if !matches!(files.0, Value::Object(_) | Value::List(_)) {
        return RecordedFact::Nothing;
    }
    let path = plain_path(path);
    let Some(file) = files.file_named(&path) else {
        let is_open =
            |folder: &str| files.file_named(folder).is_some_and(|folder| has_flag(&folder, of_run::COMPLETE, false));
        let open = parent_folders(&path).any(is_open);
        return if open { RecordedFact::Unknown } else { RecordedFact::Known(Node::computed(Value::Missing)) };
    };
    RecordedFact::Known(match file.value {
        _ if has_flag(&file, "exists", false) => Node::computed(Value::Missing),
        _ if look == FileLook::Presence => file,
        Value::Object(object) => {
            object.get("content").or_else(|| object.get("text")).unwrap_or(Node::computed(Value::Absent))
        }
        _ if matches!(files.0, Value::List(_)) => Node::computed(Value::Absent),
        _ => file,
    })
}

struct RecordedFiles<'run>(Value<'run>);

impl<'run> RecordedFiles<'run> {
    fn file_named(&self, path: &str) -> Option<Node<'run>> {
        let is_odd = |name: &str| name.contains("./") || name.contains("//") || name.ends_with('/');
        let same = |name: &str| name == path || is_odd(name) && plain_path(name) == path;
        match self.0 {
            Value::Object(files) => files.entries().iter().rev().find(|entry| same(entry.key)).map(|entry| entry.node),
            Value::List(files) => files.iter().copied().find(|file| file_name(file).is_some_and(same)),
            _ => None,
        }
    }
}

fn has_flag(file: &Node<'_>, key: &str, what: bool) -> bool {
    let Value::Object(object) = file.value else { return false };
    matches!(object.get(key).map(|node| node.value), Some(Value::Boolean(said)) if said == what)
}

/// Normalizes a path: `./a//b/../c` becomes `a/c`, and the folder itself `.`.
fn plain_path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        match (part, parts.last()) {
            ("..", Some(last)) if *last != ".." => drop(parts.pop()),
            ("..", None) if path.starts_with('/') => {}
            _ => parts.push(part),
        }
    }
    match (path.starts_with('/'), parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => parts.join("/"),
    }
}

fn parent_folders(path: &str) -> impl Iterator<Item = &str> {
    let folders = path.rmatch_indices('/').filter_map(|(at, _)| path.get(..at)).filter(|folder| !folder.is_empty());
    let top = match path {
        "." | "/" => None,
        _ if path.starts_with('/') => Some("/"),
        _ if path.split('/').next() == Some("..") => None,
        _ => Some("."),
    };
    folders.chain(top)
}

/// A list entry: text, or the `path` or `name` of an object.
fn file_name<'run>(file: &Node<'run>) -> Option<&'run str> {
    match file.value {
        Value::Object(object) => text_entry(&object, of_step::PATH).or_else(|| text_entry(&object, of_step::NAME)),
        Value::Text(text) => Some(text.as_str()),
        _ => None,
    }
}

fn text_entry<'run>(object: &Object<'run>, key: &str) -> Option<&'run str> {
    match object.get(key)?.value {
        Value::Text(text) => Some(text.as_str()),
        _ => None,
    }
}

pub(super) fn recorded_variable(value: Option<Node<'_>>) -> VariableState {
    match value.map(|node| node.value) {
        None | Some(Value::Null) => VariableState::Unset,
        Some(Value::Text(text)) if text.as_str().is_empty() => VariableState::Empty,
        Some(_) => VariableState::Filled,
    }
}

/// From `meta.ran`; a run with this list implies that unlisted commands were not run.
pub(super) fn recorded_command(run: &Run<'_>, words: &[String]) -> RecordedFact<Result<CommandOutcome, Fault>> {
    let Value::Object(meta) = run.root_value(of_run::META).value else { return RecordedFact::Nothing };
    let Some(Value::List(ran)) = meta.get(of_meta::RAN).map(|node| node.value) else { return RecordedFact::Nothing };
    let mut objects = ran.iter().filter_map(|one| match one.value {
        Value::Object(object) => Some(object),
        _ => None,
    });
    let is_it = |object: &Object<'_>| match object.get(of_step::COMMAND).map(|node| node.value) {
        Some(Value::List(list)) => {
            let same = |one: &Node<'_>, word: &str| matches!(one.value, Value::Text(text) if text.as_str() == word);
            list.len() == words.len() && list.iter().zip(words).all(|(one, word)| same(one, word))
        }
        _ => false,
    };
    let Some(found) = objects.find(is_it) else { return RecordedFact::Unknown };
    if let Some(why) = text_entry(&found, of_step::ERROR) {
        return RecordedFact::Known(Err(Fault::Other(why.to_owned())));
    }
    let code = found.get(of_step::EXIT_CODE).and_then(|code| match code.value {
        Value::Number(number) => number.as_i64(),
        _ => None,
    });
    let output = text_entry(&found, of_step::OUTPUT).unwrap_or_default().to_owned();
    code.map_or(RecordedFact::Unknown, |code| RecordedFact::Known(Ok(CommandOutcome { code, output })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_lead_to_the_same_place_are_the_same() {
        for (path, same) in [
            ("./a//b/../c", "a/c"),
            ("", "."),
            ("./", "."),
            ("a/..", "."),
            ("../x", "../x"),
            ("/../x/.", "/x"),
            ("/", "/"),
        ] {
            assert_eq!(plain_path(path), same);
        }
        let all = |path: &'static str| parent_folders(path).collect::<Vec<_>>();
        assert_eq!(all("a/b/c"), ["a/b", "a", "."]);
        assert_eq!(all("/a/b"), ["/a", "/"]);
        assert_eq!(all("../a"), [".."]);
        assert_eq!((all("."), all("/"), all("a")), (vec![], vec![], vec!["."]));
    }
}
