//! `transcript_rules`: checks of equal weight on the agent's messages and on the tools it used.

use super::predicate::{read_engine, regex_literal};
use super::trace_checks::LoweredComponent;
use crate::Lowering;
use crate::writer::{CaseLine, member_path, quote_text, value_literal};
use crate::yaml::YamlNode;
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

const KEYS: &[&str] = &[
    "must_contain",
    "disallow_regex",
    "regex_engine",
    "max_turns",
    "min_assistant_turns",
    "tool_expectations",
    "required_actions",
    "communicate_info",
];

/// Start of a quantifier over the messages of the agent.
const SAID: &str = "any m in messages: m.role == \"assistant\"";

struct TranscriptCheck {
    place: Span,
    test: String,
    message: String,
}

/// Reads `transcript_rules`; returns `None` if it has nothing to score.
pub(super) fn lower_transcript(node: &YamlNode, lowering: &mut Lowering<'_>) -> Option<LoweredComponent> {
    const WHAT: &str = "`transcript_rules`";
    if !lowering.sink.check_keys(node, WHAT, KEYS) {
        return None;
    }
    let mut checks = Vec::new();
    read_texts(node, lowering, &mut checks);
    let most = turn_bound(node, "max_turns", lowering);
    let least = turn_bound(node, "min_assistant_turns", lowering);
    checks.extend(most.map(|(place, most)| TranscriptCheck {
        place,
        test: format!("turns <= {most}"),
        message: format!("the agent takes more than {most} turns"),
    }));
    read_tools(node, lowering, &mut checks);
    for action in lowering.sink.list_items(node, "required_actions", WHAT) {
        checks.extend(read_action(action, lowering));
    }
    let mut written = LoweredComponent::default();
    for (at, check) in checks.iter().enumerate() {
        let name = format!("transcript_{}", at.saturating_add(1));
        written.declared.push(CaseLine::new(check.place, format!("let {name} = {}", check.test)));
        let text = format!("{name} severity info message {}", quote_text(&check.message));
        written.lines.push(CaseLine::new(check.place, text));
    }
    if checks.is_empty() && least.is_none() && !lowering.sink.has_errors() {
        let message = "`transcript_rules` asks for nothing, and passes whatever the agent does";
        lowering.sink.warning(Slug::AlwaysTrue, node.span, message, "write `must_contain` or `tool_expectations`");
    }
    let count = checks.len();
    let earned = (1..=count).map(|at| format!("(if transcript_{at} then 1 else 0)")).collect::<Vec<_>>().join(" + ");
    let share = if count == 0 { "1".to_owned() } else { format!("({earned}) / {count}") };
    written.score = match least {
        Some((place, least)) => {
            let message = quote_text(&format!("the agent takes fewer than {least} turns, which makes the score 0"));
            let text = format!("turns >= {least} weight 0 severity info message {message}");
            written.lines.push(CaseLine::new(place, text));
            format!("if turns >= {least} then {share} else 0")
        }
        None => share,
    };
    Some(written)
}

fn read_texts(node: &YamlNode, lowering: &mut Lowering<'_>, checks: &mut Vec<TranscriptCheck>) {
    const WHAT: &str = "`transcript_rules`";
    for wanted in lowering.sink.list_items(node, "must_contain", WHAT) {
        let Some(text) = lowering.sink.as_text(wanted, "a text of `must_contain`") else { continue };
        checks.push(said_text(wanted.span, text));
    }
    let engine = node.get("regex_engine").filter(|engine| !engine.is_null());
    let backtracks = engine.and_then(|engine| read_engine(engine, lowering)).unwrap_or(false);
    for pattern in lowering.sink.list_items(node, "disallow_regex", WHAT) {
        let Some(regex) = regex_literal(pattern, backtracks, true, lowering) else { continue };
        checks.push(TranscriptCheck {
            place: pattern.span,
            test: format!("not ({SAID} and m.text matches {regex})"),
            message: format!("the agent says what matches `{}`", pattern.key_text()),
        });
    }
    for info in lowering.sink.list_items(node, "communicate_info", WHAT) {
        if !lowering.sink.check_keys(info, "an entry of `communicate_info`", &["info", "required"]) {
            continue;
        }
        let is_required = info.get("required").and_then(YamlNode::as_boolean) != Some(false);
        let Some(text) = lowering.sink.required_text(info, "info", "an entry of `communicate_info`") else { continue };
        if is_required {
            checks.push(said_text(info.span, text));
        }
    }
}

fn said_text(place: Span, text: &str) -> TranscriptCheck {
    TranscriptCheck {
        place,
        test: format!("({SAID} and lower(m.text) contains {})", quote_text(&text.to_lowercase())),
        message: format!("the agent does not say `{text}`"),
    }
}

fn turn_bound(node: &YamlNode, key: &str, lowering: &mut Lowering<'_>) -> Option<(Span, u32)> {
    let bound = node.get(key).filter(|bound| !bound.is_null())?;
    let number = bound.as_number().and_then(|number| number.parse::<u32>().ok()).filter(|number| *number > 0);
    if number.is_none() {
        lowering.sink.wrong_shape(bound, &format!("`{key}`"), "a whole number from 1 on");
    }
    Some((bound.span, number?))
}

fn read_tools(node: &YamlNode, lowering: &mut Lowering<'_>, checks: &mut Vec<TranscriptCheck>) {
    const WHAT: &str = "`tool_expectations`";
    let Some(tools) = node.get("tool_expectations").filter(|tools| !tools.is_null()) else { return };
    if !lowering.sink.check_keys(tools, WHAT, &["required_tools", "disallowed_tools"]) {
        return;
    }
    for (key, is_required) in [("required_tools", true), ("disallowed_tools", false)] {
        for tool in lowering.sink.list_items(tools, key, WHAT) {
            let Some(name) = lowering.sink.as_text(tool, "the name of a tool") else { continue };
            let quoted = quote_text(name);
            let (test, message) = match is_required {
                true => (
                    format!("(any c in calls: c.tool == {quoted} and c.status == \"ok\")"),
                    format!("no call of `{name}` goes well"),
                ),
                false => (format!("not (any c in calls: c.tool == {quoted})"), format!("the agent calls `{name}`")),
            };
            checks.push(TranscriptCheck { place: tool.span, test, message });
        }
    }
}

fn read_action(node: &YamlNode, lowering: &mut Lowering<'_>) -> Option<TranscriptCheck> {
    const KEYS: &[&str] = &["action_id", "requestor", "name", "arguments", "compare_args"];
    const WHAT: &str = "a required action";
    if !lowering.sink.check_keys(node, WHAT, KEYS) {
        return None;
    }
    let id = lowering.sink.required_text(node, "action_id", WHAT)?.to_owned();
    let name = lowering.sink.required_text(node, "name", WHAT)?.to_owned();
    let by_user = match lowering.sink.required_text(node, "requestor", WHAT)? {
        "assistant" => false,
        "user" => true,
        _ => {
            lowering.sink.unknown_word(node.get("requestor")?, "requestor", &["assistant", "user"]);
            return None;
        }
    };
    let wanted = node.get("arguments").filter(|args| !args.is_null());
    if let Some(wanted) = wanted.filter(|wanted| !wanted.is_map()) {
        lowering.sink.wrong_shape(wanted, "`arguments` of a required action", "a mapping");
        return None;
    }
    let entries = wanted.map(YamlNode::entries).unwrap_or_default();
    let compared = node.get("compare_args").filter(|names| !names.is_null());
    let names: Vec<String> = match compared {
        Some(names) if names.is_list() => names.items().iter().map(YamlNode::key_text).collect(),
        Some(names) => {
            lowering.sink.wrong_shape(names, "`compare_args`", "a list of names of arguments");
            return None;
        }
        None => entries.iter().map(|(key, _)| key.key_text()).collect(),
    };
    let mut tests = vec![format!("c.tool == {}", quote_text(&name)), "c.status == \"ok\"".to_owned()];
    for name in names {
        let value = entries.iter().find(|(key, _)| key.key_text() == name).map(|(_, value)| value);
        let path = format!("c.args{}", member_path(&name));
        tests.push(match value.filter(|value| !value.is_null()) {
            Some(value) => format!("{path} == {}", value_literal(value)),
            // tolokaforge treats a missing argument like `null`.
            None => format!("not ({path} exists and {path} != null)"),
        });
    }
    let untold = if by_user { " and undecided(\"a run does not record the calls of the user\")" } else { "" };
    Some(TranscriptCheck {
        place: node.span,
        test: format!("(any c in calls: {}{untold})", tests.join(" and ")),
        message: format!("the agent does not take the action `{id}`"),
    })
}
