//! Calls that are written as XML into what the assistant says.

use crate::adapt::block_session::text_node;
use crate::adapt::fields::key_table;
use crate::adapt::run_builder::{RunBuilder, field_entry};
use averment_base::value::Node;

key_table! {
    /// The tools of Cline, Roo Code and Kilo Code.
    WrittenTool {
        Any = "execute_command" | "read_file" | "write_to_file" | "replace_in_file" | "apply_diff" | "insert_content"
            | "search_and_replace" | "edit_file" | "search_files" | "list_files" | "list_code_definition_names" | "browser_action"
            | "use_mcp_tool" | "access_mcp_resource" | "ask_followup_question" | "attempt_completion" | "plan_mode_respond"
            | "plan_mode_response" | "act_mode_respond" | "load_mcp_documentation" | "new_task" | "switch_mode" | "fetch_instructions"
            | "update_todo_list" | "codebase_search" | "condense" | "web_fetch" | "web_search" | "new_rule" | "report_bug"
            | "summarize_task" | "generate_image" | "run_slash_command" | "generate_explanation" | "use_skill" | "delete_file"
            | "search_replace" | "apply_patch" | "read_command_output" | "skill" | "use_subagents" | "focus_chain",
    }
}

pub(super) enum WrittenPart<'t> {
    Words(&'t str),
    /// The tool, and its parameters in order.
    Call(&'t str, Vec<(&'t str, &'t str)>),
    /// A call without an end.
    Cut,
}

key_table! {
    /// These hold whole files, which may hold such tags, too: the last end counts.
    FileTag {
        Any = "content" | "diff" | "write_to_file" | "replace_in_file",
    }
}

pub(super) fn split_text(text: &str) -> Vec<WrittenPart<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((at, tool)) = first_call(rest) {
        let (before, behind) = rest.split_at_checked(at).unwrap_or((rest, ""));
        say(before, &mut parts);
        let inner = behind.get(tool.len() + 2..).unwrap_or_default();
        let Some((inner, after)) = split_end(inner, tool) else {
            parts.push(WrittenPart::Cut);
            return parts;
        };
        parts.push(WrittenPart::Call(tool, parameters(inner)));
        rest = after;
    }
    say(rest, &mut parts);
    parts
}

fn say<'t>(words: &'t str, parts: &mut Vec<WrittenPart<'t>>) {
    let words = words.trim();
    if !words.is_empty() {
        parts.push(WrittenPart::Words(words));
    }
}

/// Where the first tag of a tool stands.
fn first_call(text: &str) -> Option<(usize, &str)> {
    memchr::memchr_iter(b'<', text.as_bytes()).find_map(|at| {
        let name = text.get(at + 1..)?.split(['>', '<', '\n', ' ']).next()?;
        let is_tag = text.get(at + 1 + name.len()..)?.starts_with('>');
        (is_tag && WrittenTool::from_key(name).is_some()).then_some((at, name))
    })
}

fn split_end<'t>(inner: &'t str, name: &str) -> Option<(&'t str, &'t str)> {
    let close = format!("</{name}>");
    if FileTag::from_key(name).is_some() { inner.rsplit_once(&close) } else { inner.split_once(&close) }
}

fn parameters(inner: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = inner;
    while let Some((name, behind)) = rest.split_once('<').and_then(|(_, behind)| behind.split_once('>')) {
        match split_end(behind, name) {
            Some((value, after)) if !name.is_empty() && !name.contains([' ', '/', '\n']) => {
                let value = value.strip_prefix('\n').unwrap_or(value);
                found.push((name, value.strip_suffix('\n').unwrap_or(value)));
                rest = after;
            }
            _ => rest = behind,
        }
    }
    found
}

pub(super) fn arguments<'run>(
    builder: &RunBuilder<'run, '_>,
    parameters: &[(&str, &str)],
    of: Node<'run>,
) -> Node<'run> {
    let entries: Vec<_> = parameters
        .iter()
        .map(|(name, value)| {
            let name: &'run str = builder.arena.alloc_str(name);
            field_entry(name, text_node(builder, value, of))
        })
        .collect();
    Node::new(builder.object_node(&entries).value, of.origin)
}
