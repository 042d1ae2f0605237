//! Claude Code: what the assistant says and calls, and what came back; of the last line the answer and what was used.

use super::{Of, Report, Tokens, Word, count, list_in, object_in, text_in, word_in};
use crate::adapt::fields::{key_table, value_of};
use crate::adapt::nodes::{list, object, objects, text};
use averment_base::value::{Node, Object, Value};
use rustc_hash::FxHashMap;

key_table! {
    /// The types of records and blocks, and the tools that tell more.
    Kind {
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
    /// What stands in a block, and in what was used.
    OfBlock {
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

pub(super) fn read<'run>(report: &mut Report<'_, 'run, '_>, root: Node<'run>) {
    let mut tools: FxHashMap<&str, Node<'run>> = FxHashMap::default();
    for (_, record) in report.records(root) {
        let kind = word_in(record, Of::Type).and_then(Kind::from_key);
        if matches!(kind, Some(Kind::System | Kind::End)) {
            report.session = report.session.or(text_in(record, Of::Session));
            report.folder = report.folder.or(word_in(record, Of::Folder));
        }
        let blocks = object_in(record, Of::Message).map_or(&[][..], |message| list_in(message, Of::Content));
        match kind {
            Some(Kind::Assistant) => {
                objects(blocks).for_each(|(node, block)| said(report, node, block, &mut tools));
            }
            Some(Kind::User) => objects(blocks).for_each(|(_, block)| answered(report, block, &tools)),
            Some(Kind::End) => {
                report.output = value_of(record, Of::Result).or(report.output);
                if let Some(usage) = object_in(record, Of::Usage) {
                    let cached = count(value_of(usage, OfBlock::Cached));
                    report.usage = Tokens {
                        input: Tokens::sum(count(value_of(usage, OfBlock::Given)), cached),
                        output: count(value_of(usage, OfBlock::Made)),
                        reasoning: None,
                        cached,
                    };
                }
            }
            _ => {}
        }
    }
}

/// A block of what the assistant says.
fn said<'run>(
    report: &mut Report<'_, 'run, '_>,
    node: Node<'run>,
    block: Object<'run>,
    tools: &mut FxHashMap<&'run str, Node<'run>>,
) {
    let thought = || value_of(block, OfBlock::Thought).filter(|node| text(*node).is_some_and(|text| !text.is_empty()));
    match word_in(block, Of::Type).and_then(Kind::from_key) {
        Some(Kind::Thinking) => {
            thought().into_iter().for_each(|words| report.message(Word::Assistant, true, words, None));
        }
        Some(Kind::Text) => {
            text_in(block, Of::Words).into_iter().for_each(|words| report.message(Word::Assistant, false, words, None));
        }
        Some(Kind::Call) => called(report, node, block, tools),
        _ => {}
    }
}

fn called<'run>(
    report: &mut Report<'_, 'run, '_>,
    node: Node<'run>,
    block: Object<'run>,
    tools: &mut FxHashMap<&'run str, Node<'run>>,
) {
    let Some(tool) = text_in(block, Of::Name) else { return };
    let name = text(tool).unwrap_or_default();
    let kind = Kind::from_key(name);
    let input = value_of(block, OfBlock::Input);
    let within = |of: Of| input.and_then(object).and_then(|input| text_in(input, of));
    if kind == Some(Kind::Skill) {
        within(Of::Skill).or_else(|| within(Of::Name)).into_iter().for_each(|skill| report.skill(skill, None));
    }
    let none = report.draft.object(&[]);
    report.call(tool, Some(input.unwrap_or(none)), None, node.origin);
    if let Some(id) = value_of(block, OfBlock::Id).and_then(text) {
        tools.insert(id, tool);
    }
    let path = input.and_then(object).and_then(|input| value_of(input, OfBlock::Path));
    match (kind, path.and_then(text)) {
        (Some(Kind::Read), Some(path)) => report.read(path, None, None, node.origin),
        (Some(Kind::Shell), _) => {
            within(Of::Command).into_iter().for_each(|command| report.command(command, None));
        }
        _ => {}
    }
}

/// A block of what came back.
fn answered<'run>(report: &mut Report<'_, 'run, '_>, block: Object<'run>, tools: &FxHashMap<&'run str, Node<'run>>) {
    if word_in(block, Of::Type).and_then(Kind::from_key) != Some(Kind::Answer) {
        return;
    }
    let tool = value_of(block, OfBlock::Answers).and_then(text).and_then(|id| tools.get(id)).copied();
    let Some(content) = value_of(block, Of::Content) else { return };
    let output = match list(content) {
        Some(parts) => {
            let part = |part: &Node<'run>| {
                let words =
                    object(*part).and_then(|part| value_of(part, Of::Words)).filter(|words| text(*words).is_some());
                words.or_else(|| report.as_text(*part)).and_then(text).unwrap_or_default().to_owned()
            };
            let joined = parts.iter().map(part).collect::<Vec<_>>().join("\n");
            Some(joined).filter(|joined| !joined.is_empty()).map(|joined| report.plain(&joined, content.origin))
        }
        None => report.as_text(content),
    };
    // Text keeps its escapes as they are written.
    output
        .filter(|output| !matches!(output.value, Value::Null))
        .into_iter()
        .for_each(|output| report.result(tool, output, None));
}
