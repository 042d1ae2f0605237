//! Claude Code: what the assistant says and calls, and what came back; of the last line the answer and what was used.

use super::{RecordKey, ReportBuilder, ReportWord, TokenCounts, list_in, object_in, text_in, token_count, word_in};
use crate::adapt::fields::{key_table, value_of};
use crate::adapt::nodes::{node_list, node_object, node_text, object_items};
use averment_base::value::{Node, Object, Value};
use rustc_hash::FxHashMap;

key_table! {
    ClaudeWord {
        System = "system",
        Assistant = "assistant",
        User = "user",
        End = "result",
        Thinking = "thinking",
        Text = "text",
        Call = "tool_use",
        Answer = "tool_result",
        Skill = "Skill",
        Read = "Read" | "read",
        Shell = "Bash",
    }
}

key_table! {
    ClaudeBlockKey {
        Thought = "thinking",
        Input = "input",
        Id = "id",
        Answers = "tool_use_id",
        Path = "file_path",
        Given = "input_tokens",
        Cached = "cache_read_input_tokens",
        Made = "output_tokens",
    }
}

pub(super) fn read_records<'run>(report: &mut ReportBuilder<'_, 'run, '_>, root: Node<'run>) {
    let mut tools: FxHashMap<&str, Node<'run>> = FxHashMap::default();
    for (_, record) in report.object_records(root) {
        let kind = word_in(record, RecordKey::Type).and_then(ClaudeWord::from_key);
        if matches!(kind, Some(ClaudeWord::System | ClaudeWord::End)) {
            report.session = report.session.or(text_in(record, RecordKey::Session));
            report.folder = report.folder.or(word_in(record, RecordKey::Folder));
        }
        let blocks =
            object_in(record, RecordKey::Message).map_or(&[][..], |message| list_in(message, RecordKey::Content));
        match kind {
            Some(ClaudeWord::Assistant) => {
                object_items(blocks).for_each(|(node, block)| add_assistant_block(report, node, block, &mut tools));
            }
            Some(ClaudeWord::User) => {
                object_items(blocks).for_each(|(_, block)| add_tool_result(report, block, &tools))
            }
            Some(ClaudeWord::End) => {
                report.output = value_of(record, RecordKey::Result).or(report.output);
                if let Some(usage) = object_in(record, RecordKey::Usage) {
                    let cached = token_count(value_of(usage, ClaudeBlockKey::Cached));
                    report.usage = TokenCounts {
                        input: TokenCounts::add_counts(token_count(value_of(usage, ClaudeBlockKey::Given)), cached),
                        output: token_count(value_of(usage, ClaudeBlockKey::Made)),
                        reasoning: None,
                        cached,
                    };
                }
            }
            _ => {}
        }
    }
}

fn add_assistant_block<'run>(
    report: &mut ReportBuilder<'_, 'run, '_>,
    node: Node<'run>,
    block: Object<'run>,
    tools: &mut FxHashMap<&'run str, Node<'run>>,
) {
    let thought = || {
        value_of(block, ClaudeBlockKey::Thought).filter(|node| node_text(*node).is_some_and(|text| !text.is_empty()))
    };
    match word_in(block, RecordKey::Type).and_then(ClaudeWord::from_key) {
        Some(ClaudeWord::Thinking) => {
            thought().into_iter().for_each(|words| report.add_message(ReportWord::Assistant, true, words, None));
        }
        Some(ClaudeWord::Text) => {
            text_in(block, RecordKey::Words)
                .into_iter()
                .for_each(|words| report.add_message(ReportWord::Assistant, false, words, None));
        }
        Some(ClaudeWord::Call) => add_tool_use(report, node, block, tools),
        _ => {}
    }
}

fn add_tool_use<'run>(
    report: &mut ReportBuilder<'_, 'run, '_>,
    node: Node<'run>,
    block: Object<'run>,
    tools: &mut FxHashMap<&'run str, Node<'run>>,
) {
    let Some(tool) = text_in(block, RecordKey::Name) else { return };
    let name = node_text(tool).unwrap_or_default();
    let kind = ClaudeWord::from_key(name);
    let input = value_of(block, ClaudeBlockKey::Input);
    let within = |of: RecordKey| input.and_then(node_object).and_then(|input| text_in(input, of));
    if kind == Some(ClaudeWord::Skill) {
        within(RecordKey::Skill)
            .or_else(|| within(RecordKey::Name))
            .into_iter()
            .for_each(|skill| report.add_skill(skill, None));
    }
    let none = report.draft.object_node(&[]);
    report.add_call(tool, Some(input.unwrap_or(none)), None, node.origin);
    if let Some(id) = value_of(block, ClaudeBlockKey::Id).and_then(node_text) {
        tools.insert(id, tool);
    }
    let path = input.and_then(node_object).and_then(|input| value_of(input, ClaudeBlockKey::Path));
    match (kind, path.and_then(node_text)) {
        (Some(ClaudeWord::Read), Some(path)) => report.add_read(path, None, None, node.origin),
        (Some(ClaudeWord::Shell), _) => {
            within(RecordKey::Command).into_iter().for_each(|command| report.add_command(command, None));
        }
        _ => {}
    }
}

fn add_tool_result<'run>(
    report: &mut ReportBuilder<'_, 'run, '_>,
    block: Object<'run>,
    tools: &FxHashMap<&'run str, Node<'run>>,
) {
    if word_in(block, RecordKey::Type).and_then(ClaudeWord::from_key) != Some(ClaudeWord::Answer) {
        return;
    }
    let tool = value_of(block, ClaudeBlockKey::Answers).and_then(node_text).and_then(|id| tools.get(id)).copied();
    let Some(content) = value_of(block, RecordKey::Content) else { return };
    let output = match node_list(content) {
        Some(parts) => {
            let part = |part: &Node<'run>| {
                let words = node_object(*part)
                    .and_then(|part| value_of(part, RecordKey::Words))
                    .filter(|words| node_text(*words).is_some());
                words.or_else(|| report.as_text(*part)).and_then(node_text).unwrap_or_default().to_owned()
            };
            let joined = parts.iter().map(part).collect::<Vec<_>>().join("\n");
            Some(joined).filter(|joined| !joined.is_empty()).map(|joined| report.text_node(&joined, content.origin))
        }
        None => report.as_text(content),
    };
    // Text keeps its escapes as they are written.
    output
        .filter(|output| !matches!(output.value, Value::Null))
        .into_iter()
        .for_each(|output| report.add_result(tool, output, None));
}
