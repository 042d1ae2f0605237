//! Agno: a session as its database keeps it, as an object or as a row whose runs are JSON in text. Each run holds its messages, and those
//! of earlier runs that the model was given again are marked.

use super::calls::TokenUsage;
use super::fields::{FieldRecord as _, NodeShapes, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{list_of, node_list, node_object, node_text, object_of};
use super::openai_chat;
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object};
use averment_runs::normal::{of_run, of_usage};
use averment_runs::run::StepKind;

key_table! {
    AgnoSessionKey {
        Session = "session_id",
        Owner = "agent_id" | "team_id" | "workflow_id",
        Runs = "runs",
        Memory = "memory",
        /// What a run of an older version stands in.
        Inner = "response" | "run",
        Messages = "messages",
        IsOld = "from_history",
        Metrics = "metrics",
        TokensIn = "input_tokens",
        TokensOut = "output_tokens",
        Members = "member_responses",
    }
}

key_table! {
    AgnoSessionMark {
        Any = "agent_data" | "team_data" | "workflow_data" | "session_data",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Agno session",
    known_by: "a `session_id` and `runs`, beside `session_data` or `agent_data`",
    description: "sessions of Agno as its database keeps them (an object, or a row whose `runs` are text)",
    marks: AgnoSessionMark::Any.keys(),
    object: is_session,
    read: read_run,
    ..IN_FULL
};

fn is_session(session: Object<'_>) -> bool {
    let is_text = |runs: Node<'_>| node_text(runs).is_some_and(|text| text.trim_start().starts_with('['));
    value_of(session, AgnoSessionKey::Session).is_some()
        && session.field(AgnoSessionKey::Owner).is_some()
        && written_runs(session).is_some_and(|runs| node_list(runs).is_some() || is_text(runs))
}

fn written_runs(session: Object<'_>) -> Option<Node<'_>> {
    let memory = object_of(session, AgnoSessionKey::Memory);
    value_of(session, AgnoSessionKey::Runs).or_else(|| value_of(memory?, AgnoSessionKey::Runs))
}

fn read_run<'run>(root: Node<'run>, draft: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Some(session) = node_object(root) else { return Ok(()) };
    draft.set_some(of_run::ID, value_of(session, AgnoSessionKey::Session));
    let Some(written) = written_runs(session) else { return Ok(()) };
    let runs = if node_text(written).is_some() { draft.open_json(written).unwrap_or(written) } else { written };
    let Some(runs) = node_list(runs) else {
        draft.skip_record(written.origin, "`runs` are no list");
        return Ok(());
    };
    let (mut messages, mut usage, mut tells_all) = (Vec::new(), TokenUsage::default(), true);
    for (node, run) in draft.record_objects(runs) {
        let run = object_of(run, AgnoSessionKey::Inner).unwrap_or(run);
        let Some(list) = list_of(run, AgnoSessionKey::Messages) else {
            tells_all = false;
            draft.warn_skipped(node.origin, "calls count as not recorded: a run was kept without its messages");
            continue;
        };
        let is_old = |node: &&Node<'run>| {
            node_object(**node).is_some_and(|message| is_true(&message, &NodeShapes, AgnoSessionKey::IsOld))
        };
        messages.extend(list.iter().filter(|node| !is_old(node)).copied());
        // What the members of a team did stands in runs of their own.
        if list_of(run, AgnoSessionKey::Members).is_some_and(|members| !members.is_empty()) {
            draft.note_unknown(node.origin, "what the members of a team did is not read");
        }
        if let Some(metrics) = object_of(run, AgnoSessionKey::Metrics) {
            count_tokens(metrics, &mut usage);
        }
    }
    if tells_all {
        draft.mark_recorded(&[StepKind::Call]);
    }
    openai_chat::read_conversation(messages, draft);
    if !tells_all {
        draft.mark_unrecorded(StepKind::Call);
    }
    usage.set_usage(draft);
    Ok(())
}

/// Older versions list what each request took.
fn count_tokens(metrics: Object<'_>, usage: &mut TokenUsage) {
    for (name, key) in [(of_usage::INPUT, AgnoSessionKey::TokensIn), (of_usage::OUTPUT, AgnoSessionKey::TokensOut)] {
        let Some(count) = value_of(metrics, key) else { continue };
        for count in node_list(count).unwrap_or(std::slice::from_ref(&count)) {
            usage.add_count(name, Some(*count));
        }
    }
}
