//! What the user says where a call waits for an answer: it stands in the result of the call.

use super::WORDS;
use crate::adapt::block_session::text_node;
use crate::adapt::conversation::{ConversationBuilder, Speaker, StepMeta};
use crate::adapt::fields::{key_table, value_of};
use crate::adapt::nodes::{node_object, node_text, text_of};
use crate::adapt::run_builder::RunBuilder;
use averment_base::value::{Node, Object};
use averment_runs::normal::role;
use averment_runs::run::StepStatus;

key_table! {
    /// What Roo writes in place of a result, or in front of one that the user allowed.
    VerdictKey {
        Status = "status",
        Feedback = "feedback",
    }
}

key_table! {
    VerdictWord {
        Denied = "denied",
        Failed = "error",
        Approved = "approved",
    }
}

key_table! {
    /// The user answers these.
    AskingTool {
        Any = "ask_followup_question" | "attempt_completion" | "plan_mode_respond" | "plan_mode_response" | "new_task" | "condense"
            | "summarize_task" | "report_bug",
    }
}

key_table! {
    /// The program alone writes how the results of these begin: no file and no server does.
    ToldTool {
        Any = "execute_command" | "write_to_file" | "replace_in_file" | "apply_diff" | "insert_content" | "search_and_replace"
            | "search_replace" | "edit_file" | "edit" | "apply_patch" | "delete_file" | "browser_action" | "switch_mode"
            | "update_todo_list" | "generate_image",
    }
}

/// How a text begins that holds the words with which the user denied or allowed a call.
const HEADS: [&str; 2] = [
    "The user denied this operation and provided the following feedback:",
    "The user approved this operation and provided the following context:",
];

/// How the program begins what it writes around an answer of the user.
const ANSWERS: [&str; 3] = ["<", "The user ", "[The user "];

/// Whether the program alone writes the results of a tool.
fn is_told(tool: &str) -> bool {
    AskingTool::from_key(tool).is_some() || ToldTool::from_key(tool).is_some()
}

/// The verdict in front of a result; behind an empty line what the tool gave may follow.
fn verdict_of<'run>(builder: &RunBuilder<'run, '_>, result: Node<'run>) -> Option<(VerdictWord, Object<'run>)> {
    let text = node_text(result)?.trim_start();
    let first = text.split("\n\n").next().filter(|first| first.starts_with('{'))?;
    let verdict = builder.open_json(text_node(builder, first, result)).and_then(node_object)?;
    Some((text_of(verdict, VerdictKey::Status).and_then(VerdictWord::from_key)?, verdict))
}

/// How the call ended, as far as the program says it in its own words.
pub(super) fn told_status<'run>(builder: &RunBuilder<'run, '_>, tool: &str, result: Node<'run>) -> Option<StepStatus> {
    match verdict_of(builder, result).filter(|_| is_told(tool))?.0 {
        VerdictWord::Denied => Some(StepStatus::Denied),
        VerdictWord::Failed => Some(StepStatus::Failed),
        VerdictWord::Approved => None,
    }
}

pub(super) fn add_words<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    tool: &str,
    result: Node<'run>,
    meta: &StepMeta<'run>,
) {
    let Some(words) = words_in(conversation.builder, tool, result) else { return };
    // A file or a server may have written them.
    if is_told(tool) {
        conversation.add_message(Speaker::User, words, meta, result.origin);
    } else {
        conversation.builder.leave_role_open(role::USER);
    }
}

fn words_in<'run>(builder: &RunBuilder<'run, '_>, tool: &str, result: Node<'run>) -> Option<Node<'run>> {
    if let Some((_, verdict)) = verdict_of(builder, result) {
        return value_of(verdict, VerdictKey::Feedback);
    }
    let text = node_text(result)?.trim_start();
    let starts = |heads: &[&str]| heads.iter().any(|head| text.starts_with(head));
    let [_, words, _] = WORDS
        .split_text(text)
        .filter(|_| starts(&HEADS) || AskingTool::from_key(tool).is_some() && starts(&ANSWERS))?;
    Some(text_node(builder, words.trim(), result))
}
