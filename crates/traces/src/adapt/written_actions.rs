//! Actions that stand in the words of a model: loops of thoughts and actions (ReAct, DSPy), and the tags in which open models write calls.
//! Where nothing else tells of such an action, the calls of the run are not all there.

use super::content;
use super::fields::key_table;
use super::nodes::node_text;
use super::run_builder::RunBuilder;
use super::sharegpt::ReactLine;
use averment_base::value::{Node, TextOrigin};
use averment_runs::normal::{of_step, role};
use averment_runs::run::StepKind;
use memchr::memmem;
use rustc_hash::FxHashSet;

key_table! {
    /// How texts begin that hold an action in another form than ReAct's, and what is written around its tool.
    WrittenLine {
        /// DSPy has the tool in the line behind its mark.
        Mark = "[[ ## next_tool_name ## ]]",
        /// What Python prints of a call of the Responses API.
        Printed = "ResponseFunctionToolCall(",
        PrintedName = "name='",
        /// LangChain has models write an object with these.
        ObjectTool = "action",
        ObjectInput = "action_input",
        /// The tool behind a tag.
        TaggedTool = "name",
    }
}

/// By such a tool an agent hands over, which spans tell by themselves.
const HANDS_OVER: &str = "transferto";

/// True for a text that is no words: a call that was printed.
pub(super) fn is_printed_call(words: &str) -> bool {
    words.starts_with(WrittenLine::Printed.key())
}

/// What opens a call in the words of open models: Hermes and Qwen, Claude before it had tools, Llama, Mistral, Kimi, DeepSeek.
const CALL_TAGS: [&str; 8] = [
    "<tool_call>",
    "<function_calls>",
    "<function=",
    "<invoke name=",
    "<|python_tag|>",
    "<|tool_call_begin|>",
    "<\u{ff5c}tool\u{2581}call\u{2581}begin\u{ff5c}>",
    "[TOOL_CALLS]",
];

/// How JSON may write the first character of such a tag otherwise.
const ESCAPED_TAGS: [&str; 3] = ["\\u003c", "\\u003C", "\\u005b"];

/// Whether an action may stand in a JSON text: where none can, its texts need not be looked at.
pub(crate) fn may_hold_action(json: &str) -> bool {
    may_be_action(json) || holds(json, WrittenLine::Printed.key()) || ESCAPED_TAGS.iter().any(|tag| holds(json, tag))
}

fn may_be_action(words: &str) -> bool {
    let marks = [ReactLine::Given.key(), WrittenLine::Mark.key(), WrittenLine::ObjectInput.key()];
    // Most texts have no angle bracket: each mark costs a pass.
    let has_angle = words.contains('<');
    let tags = CALL_TAGS.iter().filter(|tag| has_angle || !tag.starts_with('<'));
    is_printed_call(words) || marks.iter().chain(tags).any(|mark| holds(words, mark))
}

fn holds(text: &str, mark: &str) -> bool {
    memmem::find(text.as_bytes(), mark.as_bytes()).is_some()
}

key_table! {
    /// Actions that end the loop, and call nothing.
    NoAction {
        Any = "finish" | "finalanswer" | "none",
    }
}

/// Letters and digits in lower case: prompts spell names of tools otherwise than code does.
fn spelling(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The tools of the actions in a text; an empty name for one that cannot be read.
fn written_tools(text: &str) -> Vec<String> {
    if is_printed_call(text) {
        let named = text.split_once(WrittenLine::PrintedName.key()).and_then(|(_, behind)| behind.split_once('\''));
        let tool = named.map(|(name, _)| spelling(name)).unwrap_or_default();
        return if tool.starts_with(HANDS_OVER) { Vec::new() } else { vec![tool] };
    }
    let named_in = |object: &str, key: &str| text_under(object, key).map(spelling).unwrap_or_default();
    let tagged = CALL_TAGS
        .iter()
        .flat_map(|tag| text.split(tag).skip(1))
        .map(|behind| named_in(behind, WrittenLine::TaggedTool.key()));
    let written = holds(text, WrittenLine::ObjectInput.key()).then(|| named_in(text, WrittenLine::ObjectTool.key()));
    let trim = |line: &str| line.trim().trim_start_matches('*').trim_start().to_owned();
    let lines: Vec<String> = text.lines().map(trim).filter(|line| !line.is_empty()).collect();
    let named = |(line, rest): (&String, &[String])| match line.strip_prefix(ReactLine::Action.key()) {
        Some(tool) => {
            let has_input = rest.iter().any(|line| line.starts_with(ReactLine::Given.key()));
            has_input.then(|| spelling(tool))
        }
        None => {
            let is_mark = line.starts_with(WrittenLine::Mark.key());
            rest.first().filter(|_| is_mark).map(|tool| spelling(tool)).filter(|tool| !tool.is_empty())
        }
    };
    let behind = (1..=lines.len()).filter_map(|at| lines.get(at..));
    let found = lines.iter().zip(behind).filter_map(named).chain(tagged).chain(written);
    found.filter(|tool| NoAction::from_key(tool).is_none()).collect()
}

/// The text under the first such key of what is written like JSON, whether it is whole or not.
fn text_under<'t>(json: &'t str, key: &str) -> Option<&'t str> {
    let (_, behind) = json.split_once(&format!("\"{key}\""))?;
    let value = behind.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    Some(value.split_once('"')?.0)
}

/// The first of these texts that holds an action of a tool of which no call is known.
pub(super) fn action_without_call<'run>(
    texts: impl Iterator<Item = Node<'run>>,
    called: impl Iterator<Item = &'run str>,
) -> Option<TextOrigin> {
    let mut acting = texts.filter(|text| node_text(*text).is_some_and(may_be_action)).peekable();
    acting.peek()?;
    let known: FxHashSet<String> = called.map(spelling).collect();
    let is_unknown = |text: &Node<'run>| {
        let tools = node_text(*text).map(written_tools).unwrap_or_default();
        tools.iter().any(|tool| !known.contains(tool))
    };
    acting.find(is_unknown).map(|text| text.origin)
}

/// A run without calls in which the model wrote one, or in which a conversation with a tool stands in one text, does not record its calls.
pub(super) fn leave_written_open(builder: &mut RunBuilder<'_, '_>) {
    if builder.is_recorded(StepKind::Call) && builder.steps_of_kind(StepKind::Call).is_empty() {
        let messages = builder.steps_of_kind(StepKind::Message);
        let said = messages.into_iter().filter_map(|step| {
            let role = builder.step_field(step, of_step::ROLE).and_then(node_text)?;
            Some((role, builder.step_field(step, of_step::TEXT)?))
        });
        let said: Vec<(&str, Node<'_>)> = said.collect();
        let of_model = said.iter().filter(|(role, _)| [role::ASSISTANT, role::THINKING].contains(role));
        let written = action_without_call(of_model.map(|(_, text)| *text), std::iter::empty());
        let is_transcript = |text: &Node<'_>| node_text(*text).is_some_and(content::holds_tool_turn);
        let told = || said.iter().map(|(_, text)| *text).find(is_transcript).map(|text| text.origin);
        if let Some(origin) = written.or_else(told) {
            builder.add_warning(origin, ONLY_WRITTEN);
            builder.mark_actions_unrecorded();
        }
    }
}

const ONLY_WRITTEN: &str =
    "calls count as not recorded: actions or answers of tools stand in words, and no call of the run is one of them";
