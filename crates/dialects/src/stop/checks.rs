//! The check types: one table, and one function for each.

use super::StopPhase;
use super::check::{StopCheck, always_holds, checks_nothing};
use super::manifest::SkillManifest;
use super::output::{self, UsedDefinitions};
use super::pieces::{TemplatePiece, split_pieces};
use super::regex::regex_literal;
use super::template::pieces_text;
use crate::shape::{DiagnosticSink, listed_names};
use crate::writer::{MappedSentence, RuleWriter, is_identifier, quote_text, to_label, tool_pattern};
use crate::yaml::YamlNode;
use averment_base::diagnostic::{Slug, suggest};

struct CheckType {
    name: &'static str,
    keys: &'static [&'static str],
    of_run: bool,
    sentence: fn(&StopCheck<'_>, &mut DiagnosticSink, &mut UsedDefinitions) -> Option<MappedSentence>,
}

const KINDS: &[CheckType] = &[
    CheckType { name: "file_exists", keys: &["path"], of_run: false, sentence: file_exists },
    CheckType { name: "file_not_empty", keys: &["path"], of_run: false, sentence: file_not_empty },
    CheckType { name: "file_matches", keys: &["path", "pattern"], of_run: false, sentence: file_matches },
    CheckType { name: "env_var", keys: &["name"], of_run: false, sentence: env_var },
    CheckType { name: "tool_available", keys: &["tool"], of_run: false, sentence: tool_available },
    CheckType { name: "http_status", keys: &["url_pattern", "equals"], of_run: true, sentence: http_status },
    CheckType { name: "duration", keys: &["max_ms"], of_run: true, sentence: max_duration },
    CheckType { name: "custom", keys: &["command", "exit_code"], of_run: false, sentence: custom_command },
];

const OUTPUT: CheckType =
    CheckType { name: "output.*", keys: output::KEYS, of_run: true, sentence: output::output_sentence };

const COMMON: [&str; 3] = ["check", "message", "severity"];

pub(super) fn write_check(
    node: &YamlNode,
    beside: &[YamlNode],
    phase: &StopPhase,
    manifest: &SkillManifest<'_>,
    said: &mut DiagnosticSink,
    out: &mut RuleWriter,
    used: &mut UsedDefinitions,
) {
    if !node.is_map() {
        said.wrong_shape(node, "an assertion", "a mapping with `check` and what it asks for");
        return;
    }
    let Some(name) = said.required_text(node, "check", "an assertion") else { return };
    let Some(kind) = kind_of(name) else { return report_unknown(name, node, said) };
    let known: Vec<&str> = COMMON.iter().chain(kind.keys).copied().collect();
    said.check_keys(node, &format!("a check `{}`", kind.name), &known);
    if kind.of_run && !phase.has_run {
        let message = format!("`{name}` is in `pre`, but before a run there is nothing to check");
        let place = node.get("check").map_or(node.span, |check| check.span);
        said.warning(Slug::Misplaced, place, message, "move it to `post`");
    }
    let message = said.optional_text(node, "message", "an assertion");
    let severity = own_severity(node, phase, said);
    let same = beside.iter().filter(|other| other.get("check").and_then(YamlNode::as_text) == Some(name)).count();
    let check = StopCheck { node, name, manifest, alone: same <= 1 };
    let Some(sentence) = (kind.sentence)(&check, said, used) else { return };
    let severity = severity.map(|severity| format!(" severity {severity}")).unwrap_or_default();
    let message = message.map(|message| format!(" message {}", quote_text(message))).unwrap_or_default();
    out.write_assertion(node.span, &sentence, &format!("{severity}{message} tags {}", to_label(name)));
}

fn kind_of(name: &str) -> Option<&'static CheckType> {
    let field = name.strip_prefix("output.").is_some_and(|field| !field.is_empty());
    if field { Some(&OUTPUT) } else { KINDS.iter().find(|kind| kind.name == name) }
}

fn report_unknown(name: &str, node: &YamlNode, said: &mut DiagnosticSink) {
    let names = || KINDS.iter().map(|kind| kind.name);
    let help = match (name.strip_prefix("outputs."), suggest::suggest_name(name, names())) {
        (Some(field), _) if !field.is_empty() => format!("did you mean `output.{field}`?"),
        (_, Some(near)) => format!("did you mean `{near}`?"),
        _ => format!("write {} or `output.` with the name of an output", listed_names(&names().collect::<Vec<_>>())),
    };
    let place = node.get("check").map_or(node.span, |check| check.span);
    said.error(Slug::UnknownType, place, format!("there is no type of checks `{name}`"), help);
}

/// Returns the severity if it differs from that of the phase.
fn own_severity(node: &YamlNode, phase: &StopPhase, said: &mut DiagnosticSink) -> Option<&'static str> {
    const SEVERITIES: [&str; 2] = ["error", "warn"];
    let given = node.get("severity")?;
    let Some(known) = SEVERITIES.into_iter().find(|known| given.as_text() == Some(known)) else {
        said.unknown_word(given, "severity", &SEVERITIES);
        return None;
    };
    (known != phase.severity).then_some(known)
}

fn required_pieces<'a>(check: &StopCheck<'a>, key: &str, said: &mut DiagnosticSink) -> Option<Vec<TemplatePiece<'a>>> {
    let text = said.required_text(check.node, key, &format!("a check `{}`", check.name))?;
    if text.is_empty() {
        let place = check.node.get(key).map_or(check.node.span, |value| value.span);
        said.error(Slug::TypeMismatch, place, format!("`{key}` is empty"), format!("write `{key}: …`"));
        return None;
    }
    Some(split_pieces(text))
}

fn file_test(check: &StopCheck<'_>, test: &str, said: &mut DiagnosticSink) -> Option<MappedSentence> {
    let path = required_pieces(check, "path", said)?;
    let place = check.node.get("path").map_or(check.node.span, |path| path.span);
    Some(
        MappedSentence::default()
            .add_text("file ")
            .add_mapped(place, pieces_text(&path, check.manifest))
            .add_text(format!(" {test}")),
    )
}

fn file_exists(check: &StopCheck<'_>, said: &mut DiagnosticSink, _: &mut UsedDefinitions) -> Option<MappedSentence> {
    file_test(check, "exists", said)
}

fn file_not_empty(check: &StopCheck<'_>, said: &mut DiagnosticSink, _: &mut UsedDefinitions) -> Option<MappedSentence> {
    file_test(check, "is not empty", said)
}

fn file_matches(check: &StopCheck<'_>, said: &mut DiagnosticSink, _: &mut UsedDefinitions) -> Option<MappedSentence> {
    match check.node.get("pattern").filter(|pattern| !pattern.is_null()) {
        Some(pattern) => {
            let written = said.as_text(pattern, "`pattern` of a check `file_matches`")?;
            let regex = regex_literal(written, pattern.span, said)?;
            Some(file_test(check, "matches ", said)?.add_regex(pattern.span, &regex))
        }
        None => {
            checks_nothing(check, "`pattern`", "every text of a file matches", said);
            file_test(check, "exists", said)
        }
    }
}

fn env_var(check: &StopCheck<'_>, said: &mut DiagnosticSink, _: &mut UsedDefinitions) -> Option<MappedSentence> {
    let name = said.required_text(check.node, "name", "a check `env_var`")?;
    if !is_identifier(name) {
        let place = check.node.get("name").map_or(check.node.span, |name| name.span);
        let help = "write letters, digits and `_`, such as `API_KEY`";
        said.error(Slug::UnknownName, place, format!("`{name}` is no name of an environment variable"), help);
        return None;
    }
    Some(MappedSentence::default().add_text(format!("env {name} is not empty")))
}

fn tool_available(check: &StopCheck<'_>, said: &mut DiagnosticSink, _: &mut UsedDefinitions) -> Option<MappedSentence> {
    let name = said.required_text(check.node, "tool", "a check `tool_available`")?;
    Some(MappedSentence::default().add_text(format!("tool {} is available", tool_pattern(name))))
}

/// Writes a test of HTTP requests. A URL pattern without regex metacharacters is a substring test.
fn http_status(check: &StopCheck<'_>, said: &mut DiagnosticSink, _: &mut UsedDefinitions) -> Option<MappedSentence> {
    let start = MappedSentence::default().add_text("http ");
    let url = match check.node.get("url_pattern").filter(|pattern| !pattern.is_null()) {
        Some(pattern) => {
            let written = said.as_text(pattern, "`url_pattern` of a check `http_status`")?;
            let plain = !written.is_empty() && !written.contains(['^', '$', '*', '+', '?', '(', '[', '{', '|', '\\']);
            match plain {
                true => start.add_mapped(pattern.span, quote_text(written)),
                false => start.add_regex(pattern.span, &regex_literal(written, pattern.span, said)?),
            }
        }
        None => start.add_text("/./"),
    };
    let Some(status) = check.node.get("equals") else {
        let help = "write the status that is wanted, such as `equals: 200`";
        said.error(Slug::TypeMismatch, check.node.span, "a check `http_status` has no `equals`", help);
        return None;
    };
    let Some(code) = status.as_number() else {
        said.wrong_shape(status, "`equals` of a check `http_status`", "a number such as `200`");
        return None;
    };
    Some(url.add_text(" status == ").add_mapped(status.span, code))
}

fn max_duration(check: &StopCheck<'_>, said: &mut DiagnosticSink, _: &mut UsedDefinitions) -> Option<MappedSentence> {
    let Some(bound) = check.node.get("max_ms").filter(|bound| !bound.is_null()) else {
        checks_nothing(check, "`max_ms`", "it always holds", said);
        return Some(always_holds());
    };
    let Some(number) = bound.as_number() else {
        said.wrong_shape(bound, "`max_ms` of a check `duration`", "a number of milliseconds such as `30000`");
        return None;
    };
    Some(MappedSentence::default().add_text("duration <= ").add_mapped(bound.span, duration_literal(number)))
}

fn duration_literal(number: &str) -> String {
    let plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    match number.strip_suffix("000") {
        _ if !plain => format!("{number} * 1ms"),
        Some(seconds) if !seconds.is_empty() && !seconds.contains('.') => format!("{seconds}s"),
        _ => format!("{number}ms"),
    }
}

/// Writes a test of a command. Commands run without a shell, so shell metacharacters would be plain arguments.
fn custom_command(check: &StopCheck<'_>, said: &mut DiagnosticSink, _: &mut UsedDefinitions) -> Option<MappedSentence> {
    let command = required_pieces(check, "command", said)?;
    let place = check.node.get("command").map_or(check.node.span, |command| command.span);
    if let Some(sign) = shell_sign(&command) {
        let message = format!("a command is run without a shell, for which `{sign}` would be an argument");
        said.error(Slug::Impossible, place, message, "put the command into a script of its own, and run that");
        return None;
    }
    let code = match check.node.get("exit_code").filter(|code| !code.is_null()) {
        None => "0",
        Some(code) => match code.as_number().filter(|number| number.bytes().all(|byte| byte.is_ascii_digit())) {
            Some(number) => number,
            None => {
                said.wrong_shape(code, "`exit_code` of a check `custom`", "a whole number such as `0`");
                return None;
            }
        },
    };
    Some(
        MappedSentence::default()
            .add_text("run ")
            .add_mapped(place, pieces_text(&command, check.manifest))
            .add_text(format!(" exits {code}")),
    )
}

/// Returns the first unquoted shell metacharacter.
fn shell_sign(command: &[TemplatePiece<'_>]) -> Option<char> {
    let (mut quote, mut escaped) = (None, false);
    for piece in command {
        let TemplatePiece::Literal(literal) = piece else { continue };
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
