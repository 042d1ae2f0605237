//! The types of checks: one table, and one function each.

use super::Phase;
use super::check::{Check, always, checks_nothing};
use super::manifest::Manifest;
use super::output::{self, Used};
use super::pieces::{Piece, pieces};
use super::regex::regex;
use super::template::text;
use crate::shape::{Said, listed};
use crate::writer::{Sentence, Writer, is_identifier, label, quoted, tool};
use crate::yaml::Node;
use averment_base::diagnostic::{Slug, suggest};

/// A type of checks.
struct Kind {
    name: &'static str,
    /// Its own keys.
    keys: &'static [&'static str],
    /// Whether it speaks of a run.
    of_run: bool,
    sentence: fn(&Check<'_>, &mut Said, &mut Used) -> Option<Sentence>,
}

const KINDS: &[Kind] = &[
    Kind { name: "file_exists", keys: &["path"], of_run: false, sentence: file_exists },
    Kind { name: "file_not_empty", keys: &["path"], of_run: false, sentence: file_not_empty },
    Kind { name: "file_matches", keys: &["path", "pattern"], of_run: false, sentence: file_matches },
    Kind { name: "env_var", keys: &["name"], of_run: false, sentence: env_var },
    Kind { name: "tool_available", keys: &["tool"], of_run: false, sentence: tool_available },
    Kind { name: "http_status", keys: &["url_pattern", "equals"], of_run: true, sentence: http_status },
    Kind { name: "duration", keys: &["max_ms"], of_run: true, sentence: duration },
    Kind { name: "custom", keys: &["command", "exit_code"], of_run: false, sentence: custom },
];

/// Fields of the output.
const OUTPUT: Kind = Kind { name: "output.*", keys: output::KEYS, of_run: true, sentence: output::sentence };

/// Keys of every check.
const COMMON: [&str; 3] = ["check", "message", "severity"];

/// Writes the sentence of a check.
pub(super) fn one(
    node: &Node,
    beside: &[Node],
    phase: &Phase,
    manifest: &Manifest<'_>,
    said: &mut Said,
    out: &mut Writer,
    used: &mut Used,
) {
    if !node.is_map() {
        said.shape(node, "an assertion", "a mapping with `check` and what it asks for");
        return;
    }
    let Some(name) = said.required_text(node, "check", "an assertion") else { return };
    let Some(kind) = kind_of(name) else { return unknown(name, node, said) };
    let known: Vec<&str> = COMMON.iter().chain(kind.keys).copied().collect();
    said.keys(node, &format!("a check `{}`", kind.name), &known);
    if kind.of_run && !phase.has_run {
        let message = format!("`{name}` stands in `pre`, and before a run there is nothing that it could look at");
        let place = node.get("check").map_or(node.span, |check| check.span);
        said.warning(Slug::Misplaced, place, message, "move it to `post`");
    }
    let message = said.optional_text(node, "message", "an assertion");
    let severity = severity(node, phase, said);
    let same = beside.iter().filter(|other| other.get("check").and_then(Node::text) == Some(name)).count();
    let check = Check { node, name, manifest, alone: same <= 1 };
    let Some(sentence) = (kind.sentence)(&check, said, used) else { return };
    let severity = severity.map(|severity| format!(" severity {severity}")).unwrap_or_default();
    let message = message.map(|message| format!(" message {}", quoted(message))).unwrap_or_default();
    out.assertion(node.span, &sentence, &format!("{severity}{message} tags {}", label(name)));
}

fn kind_of(name: &str) -> Option<&'static Kind> {
    let field = name.strip_prefix("output.").is_some_and(|field| !field.is_empty());
    if field { Some(&OUTPUT) } else { KINDS.iter().find(|kind| kind.name == name) }
}

fn unknown(name: &str, node: &Node, said: &mut Said) {
    let names = || KINDS.iter().map(|kind| kind.name);
    let help = match (name.strip_prefix("outputs."), suggest::nearest(name, names())) {
        (Some(field), _) if !field.is_empty() => format!("did you mean `output.{field}`?"),
        (_, Some(near)) => format!("did you mean `{near}`?"),
        _ => format!("write {} or `output.` with the name of an output", listed(&names().collect::<Vec<_>>())),
    };
    let place = node.get("check").map_or(node.span, |check| check.span);
    said.error(Slug::UnknownType, place, format!("there is no type of checks `{name}`"), help);
}

/// A severity that is not that of the phase.
fn severity(node: &Node, phase: &Phase, said: &mut Said) -> Option<&'static str> {
    const SEVERITIES: [&str; 2] = ["error", "warn"];
    let given = node.get("severity")?;
    let Some(known) = SEVERITIES.into_iter().find(|known| given.text() == Some(known)) else {
        said.unknown_word(given, "severity", &SEVERITIES);
        return None;
    };
    (known != phase.severity).then_some(known)
}

/// The pieces of a text that has to be there.
fn named<'a>(check: &Check<'a>, key: &str, said: &mut Said) -> Option<Vec<Piece<'a>>> {
    let text = said.required_text(check.node, key, &format!("a check `{}`", check.name))?;
    if text.is_empty() {
        let place = check.node.get(key).map_or(check.node.span, |value| value.span);
        said.error(Slug::TypeMismatch, place, format!("`{key}` is empty"), format!("write `{key}: …`"));
        return None;
    }
    Some(pieces(text))
}

fn file(check: &Check<'_>, test: &str, said: &mut Said) -> Option<Sentence> {
    let path = named(check, "path", said)?;
    let place = check.node.get("path").map_or(check.node.span, |path| path.span);
    Some(Sentence::default().put("file ").put_of(place, text(&path, check.manifest)).put(format!(" {test}")))
}

fn file_exists(check: &Check<'_>, said: &mut Said, _: &mut Used) -> Option<Sentence> {
    file(check, "exists", said)
}

fn file_not_empty(check: &Check<'_>, said: &mut Said, _: &mut Used) -> Option<Sentence> {
    file(check, "is not empty", said)
}

fn file_matches(check: &Check<'_>, said: &mut Said, _: &mut Used) -> Option<Sentence> {
    match check.node.get("pattern").filter(|pattern| !pattern.is_null()) {
        Some(pattern) => {
            let written = said.as_text(pattern, "`pattern` of a check `file_matches`")?;
            let regex = regex(written, pattern.span, said)?;
            Some(file(check, "matches ", said)?.regex(pattern.span, &regex))
        }
        None => {
            checks_nothing(check, "`pattern`", "every text of a file matches", said);
            file(check, "exists", said)
        }
    }
}

fn env_var(check: &Check<'_>, said: &mut Said, _: &mut Used) -> Option<Sentence> {
    let name = said.required_text(check.node, "name", "a check `env_var`")?;
    if !is_identifier(name) {
        let place = check.node.get("name").map_or(check.node.span, |name| name.span);
        let help = "write letters, digits and `_`, such as `API_KEY`";
        said.error(Slug::UnknownName, place, format!("`{name}` is no name of an environment variable"), help);
        return None;
    }
    Some(Sentence::default().put(format!("env {name} is not empty")))
}

fn tool_available(check: &Check<'_>, said: &mut Said, _: &mut Used) -> Option<Sentence> {
    let name = said.required_text(check.node, "tool", "a check `tool_available`")?;
    Some(Sentence::default().put(format!("tool {} is available", tool(name))))
}

/// Of a pattern without signs of regular expressions it is asked whether the URL contains it.
fn http_status(check: &Check<'_>, said: &mut Said, _: &mut Used) -> Option<Sentence> {
    let start = Sentence::default().put("http ");
    let url = match check.node.get("url_pattern").filter(|pattern| !pattern.is_null()) {
        Some(pattern) => {
            let written = said.as_text(pattern, "`url_pattern` of a check `http_status`")?;
            let plain = !written.is_empty() && !written.contains(['^', '$', '*', '+', '?', '(', '[', '{', '|', '\\']);
            match plain {
                true => start.put_of(pattern.span, quoted(written)),
                false => start.regex(pattern.span, &regex(written, pattern.span, said)?),
            }
        }
        None => start.put("/./"),
    };
    let Some(status) = check.node.get("equals") else {
        let help = "write the status that is wanted, such as `equals: 200`";
        said.error(Slug::TypeMismatch, check.node.span, "a check `http_status` has no `equals`", help);
        return None;
    };
    let Some(code) = status.number() else {
        said.shape(status, "`equals` of a check `http_status`", "a number such as `200`");
        return None;
    };
    Some(url.put(" status == ").put_of(status.span, code))
}

fn duration(check: &Check<'_>, said: &mut Said, _: &mut Used) -> Option<Sentence> {
    let Some(bound) = check.node.get("max_ms").filter(|bound| !bound.is_null()) else {
        checks_nothing(check, "`max_ms`", "it always holds", said);
        return Some(always());
    };
    let Some(number) = bound.number() else {
        said.shape(bound, "`max_ms` of a check `duration`", "a number of milliseconds such as `30000`");
        return None;
    };
    Some(Sentence::default().put("duration <= ").put_of(bound.span, milliseconds(number)))
}

/// A number of milliseconds as a duration of the language.
fn milliseconds(number: &str) -> String {
    let plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    match number.strip_suffix("000") {
        _ if !plain => format!("{number} * 1ms"),
        Some(seconds) if !seconds.is_empty() && !seconds.contains('.') => format!("{seconds}s"),
        _ => format!("{number}ms"),
    }
}

/// A command is run without a shell: signs that only a shell understands would be arguments.
fn custom(check: &Check<'_>, said: &mut Said, _: &mut Used) -> Option<Sentence> {
    let command = named(check, "command", said)?;
    let place = check.node.get("command").map_or(check.node.span, |command| command.span);
    if let Some(sign) = shell_sign(&command) {
        let message = format!("a command is run without a shell, for which `{sign}` would be an argument");
        said.error(Slug::Impossible, place, message, "put the command into a script of its own, and run that");
        return None;
    }
    let code = match check.node.get("exit_code").filter(|code| !code.is_null()) {
        None => "0",
        Some(code) => match code.number().filter(|number| number.bytes().all(|byte| byte.is_ascii_digit())) {
            Some(number) => number,
            None => {
                said.shape(code, "`exit_code` of a check `custom`", "a whole number such as `0`");
                return None;
            }
        },
    };
    Some(Sentence::default().put("run ").put_of(place, text(&command, check.manifest)).put(format!(" exits {code}")))
}

/// The first sign outside of quotes that a shell would read as more than a letter.
fn shell_sign(command: &[Piece<'_>]) -> Option<char> {
    let (mut quote, mut escaped) = (None, false);
    for piece in command {
        let Piece::Literal(literal) = piece else { continue };
        for sign in literal.chars() {
            match (quote, sign) {
                _ if std::mem::take(&mut escaped) => {}
                (None | Some('"'), '\\') => escaped = true,
                (Some(open), _) if sign == open => quote = None,
                (None, '"' | '\'') => quote = Some(sign),
                (None, '|' | '&' | ';' | '<' | '>' | '(' | ')' | '$' | '`' | '*' | '\n') => return Some(sign),
                (Some('"'), '$' | '`') => return Some(sign),
                _ => {}
            }
        }
    }
    None
}
