//! Qwen Code: the chat of a session, a record a line, whose messages have the parts of the Gemini API.

use super::adk::{self, AdkPartKey, server_tools};
use super::block_session;
use super::blocks::{self, BlockCall};
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, number_behind};
use super::fields::{FieldRecord, NodeShapes, ShapeReader, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::gemini;
use super::nodes::{first_of, items_of, list_of, node_object, node_text, object_of, objects_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object};
use averment_runs::normal::{of_meta, of_run};
use averment_runs::run::StepStatus;
use rustc_hash::FxHashSet;

key_table! {
    QwenKey {
        Id = "uuid",
        Parent = "parentUuid",
        Session = "sessionId",
        Time = "timestamp",
        Type = "type",
        Subtype = "subtype",
        Source = "provenance",
        Folder = "cwd",
        Version = "version",
        Branch = "gitBranch",
        Message = "message",
        Model = "model",
        Usage = "usageMetadata",
        Result = "toolCallResult",
        Payload = "systemPayload",
        Window = "contextWindowSize",
        Agent = "agentId",
        Aside = "isSidechain",
    }
}

key_table! {
    QwenResultKey {
        Status = "status",
        Output = "output",
        Error = "error",
        Shown = "displayText",
    }
}

key_table! {
    /// What the program counts of its work, a call of a sub-agent included.
    QwenCount {
        Event = "uiEvent",
        Tool = "function_name" | "toolName",
    }
}

key_table! {
    QwenLineType {
        User = "user",
        Assistant = "assistant",
        Result = "tool_result",
        System = "system",
    }
}

key_table! {
    QwenSubtype {
        /// The user, while the agent works.
        User = "mid_turn_user_message",
        /// Summaries, what the screen shows, settings, and copies of states: what was done has records of its own. Files that the user
        /// names are read by the program.
        Silent = "chat_compression" | "slash_command" | "ui_telemetry" | "at_command" | "attribution_snapshot" | "custom_title"
            | "parent_session" | "session_source" | "session_model" | "rewind" | "agent_retry" | "file_history_snapshot"
            | "user_text_elements" | "session_artifact_event" | "session_artifact_snapshot" | "branch_checkpoint" | "goal_state"
            | "turn_result" | "agent_bootstrap" | "notification" | "cron",
    }
}

key_table! {
    QwenSource {
        User = "real_user",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Qwen Code session",
    known_by: "lines with `uuid` and `sessionId` whose `message` has `parts`",
    description: "sessions of Qwen Code (JSONL)",
    marks: &[QwenKey::Usage.key()],
    item_marks: &[
        QwenKey::Message.key(),
        QwenKey::Usage.key(),
        QwenKey::Result.key(),
        QwenKey::Payload.key(),
        QwenKey::Window.key(),
    ],
    element: is_line,
    line: is_line,
    beside: |line| line.field(QwenKey::Session).is_some() && line_type(line).is_some(),
    // What one answer says may stand in several records of its id.
    record_ids: RecordIds::shared(&[&[QwenKey::Id.key()]]),
    read: read_run,
    ..IN_FULL
};

fn line_type(line: Object<'_>) -> Option<QwenLineType> {
    text_of(line, QwenKey::Type).and_then(QwenLineType::from_key)
}

fn is_line(line: Object<'_>) -> bool {
    let of_system = line_type(line) == Some(QwenLineType::System) && line.field(QwenKey::Payload).is_some();
    let parts = || object_of(line, QwenKey::Message).and_then(|message| list_of(message, AdkPartKey::Parts));
    line.field(QwenKey::Session).is_some()
        && line.field(QwenKey::Id).is_some()
        && line_type(line).is_some()
        && (of_system || parts().is_some())
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut conversation = ConversationBuilder::from_parts(builder);
    for node in items_of::<QwenKey>(root, &[]) {
        conversation.builder.count_record();
        match node_object(*node) {
            Some(line) => read_line(&mut conversation, *node, line),
            None => conversation.builder.skip_value(node, "a line that is no object is skipped"),
        }
    }
    let called: FxHashSet<&str> = conversation.builder.called_tools().collect();
    let counted = objects_of(items_of::<QwenKey>(root, &[])).filter_map(counted_tool);
    for tool in counted.filter(|tool| node_text(*tool).is_some_and(|tool| !called.contains(tool))) {
        conversation.builder.note_unknown(tool.origin, "the program counts a call of a tool, and no record holds one");
    }
    conversation.finish_with_tools();
    Ok(())
}

fn counted_tool(line: Object<'_>) -> Option<Node<'_>> {
    let event = object_of(line, QwenKey::Payload).and_then(|payload| object_of(payload, QwenCount::Event))?;
    first_of(event, &[QwenCount::Tool])
}

fn read_line<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, line: Object<'run>) {
    let word = text_of(line, QwenKey::Type).unwrap_or_default();
    let Some(kind) = QwenLineType::from_key(word) else {
        conversation.builder.skip_value(node, format!("a line of unknown type `{word}` is skipped"));
        return;
    };
    if !conversation.builder.has_entry(of_run::ID) {
        conversation.builder.set_some(of_run::ID, line.field(QwenKey::Session).filter(|id| NodeShapes.is_text(*id)));
    }
    let meta = [
        (of_meta::CWD, QwenKey::Folder),
        (of_meta::VERSION, QwenKey::Version),
        (of_meta::GIT_BRANCH, QwenKey::Branch),
        (of_meta::MODEL, QwenKey::Model),
    ];
    meta.into_iter().for_each(|(name, key)| conversation.add_meta(name, line.field(key)));
    let agent = first_of(line, &[QwenKey::Agent]);
    let aside = agent.is_some() || is_true(&line, &NodeShapes, QwenKey::Aside);
    let about = StepMeta { time: first_of(line, &[QwenKey::Time]), agent, aside };
    let message = object_of(line, QwenKey::Message);
    let subtype = text_of(line, QwenKey::Subtype);
    let parts = message.and_then(|message| list_of(message, AdkPartKey::Parts));
    match kind {
        QwenLineType::System => {
            if subtype.and_then(QwenSubtype::from_key) != Some(QwenSubtype::Silent) {
                let subtype = subtype.unwrap_or_default();
                conversation.builder.skip_value(node, format!("a record of unknown kind `{subtype}` is skipped"));
            }
        }
        _ if parts.is_none() => conversation.builder.skip_value(node, "a record without `parts` is skipped"),
        QwenLineType::User => {
            let shown =
                object_of(line, QwenKey::Payload).and_then(|payload| first_of(payload, &[QwenResultKey::Shown]));
            let speaker = if is_of_user(line, subtype) { Speaker::User } else { Speaker::System };
            match shown.filter(|_| speaker == Speaker::User) {
                Some(shown) => {
                    conversation.add_message(Speaker::User, shown, &about, node.origin);
                    let repeats = |part: &Node<'run>| {
                        let words = node_object(*part).and_then(|part| text_of(part, AdkPartKey::Words));
                        words.is_some() && words == node_text(shown)
                    };
                    let added = parts.unwrap_or_default().iter().filter(|part| !repeats(part)).copied();
                    let added: Vec<_> = added.collect();
                    let added = conversation.builder.arena.alloc_slice_copy(&added);
                    add_parts(conversation, added, Speaker::System, &about, None);
                }
                None => add_parts(conversation, parts.unwrap_or_default(), speaker, &about, None),
            }
        }
        QwenLineType::Assistant => {
            conversation.begin_turn();
            add_parts(conversation, parts.unwrap_or_default(), Speaker::Assistant, &about, None);
            if let Some(counts) = object_of(line, QwenKey::Usage) {
                adk::count_usage(conversation, counts);
            }
        }
        QwenLineType::Result => {
            let told = object_of(line, QwenKey::Result);
            add_parts(conversation, parts.unwrap_or_default(), Speaker::System, &about, told);
        }
    }
}

fn is_of_user(line: Object<'_>, subtype: Option<&str>) -> bool {
    let by_kind = subtype.is_none_or(|subtype| QwenSubtype::from_key(subtype) == Some(QwenSubtype::User));
    by_kind && text_of(line, QwenKey::Source).is_none_or(|source| QwenSource::from_key(source).is_some())
}

pub(super) fn add_parts<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    parts: &'run [Node<'run>],
    speaker: Speaker,
    about: &StepMeta<'run>,
    told: Option<Object<'run>>,
) {
    for (node, part) in conversation.builder.record_objects(parts) {
        if let Some(words) = part.field(AdkPartKey::Words) {
            let is_thought = is_true(&part, &NodeShapes, AdkPartKey::Thought);
            conversation.add_message(if is_thought { Speaker::Thinking } else { speaker }, words, about, node.origin);
        }
        if let Some(call) = value_of(part, AdkPartKey::Call).and_then(node_object) {
            let made = BlockCall {
                tool: call.field(AdkPartKey::Name),
                args: call.field(AdkPartKey::Args),
                id: call.field(AdkPartKey::Id),
                answer: None,
            };
            block_session::add_call(conversation, node, made, about);
        }
        if let Some(given) = value_of(part, AdkPartKey::Response).and_then(node_object) {
            add_result(conversation, node, given, about, told);
        }
        server_tools::add_part(conversation, part, about);
        if !adk::is_known_part(part) {
            conversation.builder.skip_record(node.origin, blocks::UNKNOWN);
        }
    }
}

/// What the tool gave is under `output` or `error`; the record says beside it how it ended.
fn add_result<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    given: Object<'run>,
    about: &StepMeta<'run>,
    told: Option<Object<'run>>,
) {
    let response = given.field(AdkPartKey::Given);
    let held = response.and_then(node_object);
    let error = held.and_then(|held| first_of(held, &[QwenResultKey::Error]));
    let output = held.and_then(|held| first_of(held, &[QwenResultKey::Output]));
    let result = output.or(error).or(response);
    let status = match told.and_then(|told| text_of(told, QwenResultKey::Status)) {
        Some("cancelled") => Some(StepStatus::Denied),
        Some(word) => StepStatus::from_word(word).filter(|status| *status != StepStatus::Unknown),
        None => error.map(|_| StepStatus::Failed),
    };
    let exit_code = result.and_then(|result| number_behind(result, &gemini::EXIT_CODE));
    let status = gemini::exit_outcome(status, exit_code);
    let outcome = CallResult { result, status, exit_code, ..CallResult::default() };
    let (id, tool) = (text_of(given, AdkPartKey::Id), text_of(given, AdkPartKey::Name));
    conversation.add_result(id, tool, outcome, about, node.origin);
}
