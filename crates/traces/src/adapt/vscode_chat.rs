//! Copilot Chat in VS Code: the export of a chat (`requests`), the log in which the editor keeps it (`chatSessions/*.jsonl`), and what its debug view exports of prompts (`prompts` with `logs`).

mod mutations;
mod replay;
mod rounds;

use super::block_session::{self};
use super::blocks::{BlockCall, BlockResult};
use super::conversation::{ConversationBuilder, Speaker, StepMeta};
use super::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{first_of, items_of, list_of, node_list, node_object, node_text, object_items, object_of, text_of};
use super::run_builder::{RunBuilder, field_entry};
use averment_base::value::{Node, Number, Object, Value};
use averment_runs::normal::{of_meta, of_run, of_step};
use averment_runs::run::{StepKind, StepStatus};
use rustc_hash::{FxHashMap, FxHashSet};

key_table! {
    VsCodeKey {
        Requester = "requesterUsername",
        Responder = "responderUsername",
        Session = "sessionId",
        Created = "creationDate",
        Requests = "requests",
        Exported = "exportedAt",
        Prompts = "prompts",
        Prompt = "promptId",
        Logs = "logs",
        /// Of a line of a log.
        Change = "v",
        Path = "k",
    }
}

key_table! {
    VsCodeRequestKey {
        Message = "message",
        Words = "text",
        Response = "response",
        Result = "result",
        Metadata = "metadata",
        Model = "modelId",
        Time = "timestamp",
        Rounds = "toolCallRounds",
        Results = "toolCallResults",
        Error = "errorDetails",
        Calls = "toolCalls",
        Id = "id",
        Name = "name",
        Args = "arguments",
        Content = "content",
        Value = "value",
    }
}

key_table! {
    VsCodePartKey {
        Kind = "kind",
        Value = "value",
        Content = "content",
        Tool = "toolId",
        Call = "toolCallId",
        Complete = "isComplete",
        Confirmed = "isConfirmed",
        Type = "type",
        Details = "resultDetails",
        Specific = "toolSpecificData",
        RawInput = "rawInput",
        /// Of a terminal: what it was asked to run, and in newer versions what it ran as well.
        Line = "commandLine" | "command",
        /// What the command printed.
        Printed = "terminalCommandOutput",
        PrintedText = "text",
        Asked = "original",
        Input = "input",
        Output = "output",
        Failed = "isError",
        Agent = "subAgentInvocationId",
    }
}

key_table! {
    VsCodePartKind {
        Call = "toolInvocationSerialized" | "toolInvocation",
        Said = "markdownContent",
        Thought = "thinking",
        /// What the editor shows: edits and commands are made by tools that have parts of their own.
        Silent = "inlineReference" | "textEditGroup" | "notebookEditGroup" | "codeblockUri" | "progressMessage" | "progressTask"
            | "progressTaskSerialized" | "prepareToolInvocation" | "undoStop" | "mcpServersStarting" | "confirmation" | "warning"
            | "treeData" | "command" | "reference" | "contentReference" | "codeCitation" | "elicitation" | "elicitationSerialized"
            | "multiDiffData" | "changesSummary" | "markdownVuln" | "extensions" | "pullRequest" | "todoList" | "questionCarousel"
            | "workspaceEdit" | "hook" | "autoModeResolution",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "VS Code chat export",
    known_by: "`requests` beside `requesterUsername`, `responderUsername` or `creationDate`, or `logs` of a `promptId`, or `prompts` of such; a log that begins with such a chat",
    description: "chats of Copilot in VS Code (`Export Chat`, and the prompts that its debug view exports)",
    marks: &[
        VsCodeKey::Requester.key(),
        VsCodeKey::Responder.key(),
        VsCodeKey::Created.key(),
        VsCodeKey::Exported.key(),
        VsCodeKey::Prompt.key(),
        VsCodeKey::Change.key(),
    ],
    near: &[VsCodeKey::Requester.key(), VsCodeKey::Responder.key(), VsCodeKey::Exported.key(), VsCodeKey::Prompt.key()],
    object: |object| is_export(object) || replay::is_replay(object) || is_beginning(object),
    item_marks: &[VsCodeKey::Change.key(), VsCodeKey::Path.key()],
    element: is_of_log,
    line: is_of_log,
    beside: |line| mutations::mutation_kind(line).is_some(),
    read: read_run,
    ..IN_FULL
};

fn is_export(object: Object<'_>) -> bool {
    // What the editor keeps names its session instead of who speaks.
    let is_kept = || [VsCodeKey::Session, VsCodeKey::Created].into_iter().all(|key| object.field(key).is_some());
    list_of(object, VsCodeKey::Requests).is_some()
        && (object.field(VsCodeKey::Requester).or(object.field(VsCodeKey::Responder)).is_some() || is_kept())
}

/// The beginning of a log, or a change of its requests.
fn is_of_log(line: Object<'_>) -> bool {
    let first = list_of(line, VsCodeKey::Path).and_then(<[_]>::first).copied().and_then(node_text);
    is_beginning(line) || first == Some(VsCodeKey::Requests.key()) && mutations::mutation_kind(line).is_some()
}

/// The first line of a log.
fn is_beginning(line: Object<'_>) -> bool {
    mutations::initial_chat(line).is_some_and(|chat| {
        list_of(chat, VsCodeKey::Requests).is_some() && (is_export(chat) || chat.field(VsCodeKey::Session).is_some())
    })
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let is_log = node_list(*root).is_some() || node_object(*root).is_some_and(is_beginning);
    let chat = if is_log { mutations::replay_log(items_of::<VsCodeKey>(root, &[]), builder) } else { *root };
    let Some(chat) = node_object(chat) else { return Ok(()) };
    let mut conversation = ConversationBuilder::from_parts(builder);
    let mut all_told = true;
    if is_log || is_export(chat) {
        conversation.builder.set_some(of_run::ID, chat.field(VsCodeKey::Session).filter(|id| NodeShapes.is_text(*id)));
        for (node, request) in
            conversation.builder.record_objects(list_of(chat, VsCodeKey::Requests).unwrap_or_default())
        {
            conversation.builder.count_record();
            if request.field(VsCodeRequestKey::Message).or(request.field(VsCodeRequestKey::Response)).is_none() {
                conversation.builder.skip_record(node.origin, "a request without `message` and `response` is skipped");
                continue;
            }
            read_request(&mut conversation, node, request, &mut all_told);
        }
    } else {
        replay::read_prompts(&mut conversation, chat);
    }
    // What a call was given is in the rounds; of a call that is only shown it may not be there: what it ran or wrote is not known.
    let calls = conversation.builder.steps_of_kind(StepKind::Call);
    if all_told && calls.into_iter().all(|call| conversation.builder.step_field(call, of_step::ARGS).is_some()) {
        conversation.finish_with_tools();
    } else {
        conversation.finish_run();
    }
    Ok(())
}

/// What is not told of its calls is noted in `all_told`.
fn read_request<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    request: Object<'run>,
    all_told: &mut bool,
) {
    let meta = StepMeta { time: first_of(request, &[VsCodeRequestKey::Time]), ..StepMeta::default() };
    conversation.add_meta(of_meta::MODEL, request.field(VsCodeRequestKey::Model));
    let message = request.field(VsCodeRequestKey::Message);
    let words = message.and_then(|message| match node_object(message) {
        Some(message) => message.field(VsCodeRequestKey::Words),
        None => Some(message),
    });
    words.into_iter().for_each(|words| conversation.add_message(Speaker::User, words, &meta, node.origin));
    let meta = StepMeta::default();
    let result = object_of(request, VsCodeRequestKey::Result);
    let error = result.and_then(|result| object_of(result, VsCodeRequestKey::Error));
    conversation.builder.set_some(of_run::ERROR, error.and_then(|error| first_of(error, &[VsCodeRequestKey::Message])));
    let metadata = result.and_then(|result| object_of(result, VsCodeRequestKey::Metadata));
    let rounds =
        metadata.and_then(|metadata| list_of(metadata, VsCodeRequestKey::Rounds)).filter(|rounds| !rounds.is_empty());
    if request.field(VsCodeRequestKey::Response).is_none() {
        conversation
            .builder
            .note_unknown(node.origin, "a request without `response`: what was done for it is not recorded");
    }
    let parts =
        latest_invocations(list_of(request, VsCodeRequestKey::Response).unwrap_or_default(), conversation.builder);
    let Some(rounds) = rounds else {
        conversation.begin_turn();
        return read_parts(conversation, parts, &meta, true);
    };
    let results = metadata.and_then(|metadata| object_of(metadata, VsCodeRequestKey::Results));
    let mut outcomes = rounds::ShownOutcomes::of_parts(parts);
    let mut spoken = rounds::SpokenRounds::default();
    for (node, round) in conversation.builder.record_objects(rounds) {
        if round.field(VsCodeRequestKey::Response).or(round.field(VsCodeRequestKey::Calls)).is_none() {
            conversation.builder.skip_record(node.origin, "a round without `response` and `toolCalls` is skipped");
            continue;
        }
        conversation.begin_turn();
        let words = round.field(VsCodeRequestKey::Response);
        spoken.note_round(words);
        words.into_iter().for_each(|words| conversation.add_message(Speaker::Assistant, words, &meta, node.origin));
        for (node, call) in
            conversation.builder.record_objects(list_of(round, VsCodeRequestKey::Calls).unwrap_or_default())
        {
            let id = text_of(call, VsCodeRequestKey::Id);
            let told = id.and_then(|id| node_object(results?.get(id)?));
            let answer = told.map(|told| BlockResult {
                result: first_of(told, &[VsCodeRequestKey::Content])
                    .map(|content| plain_values(conversation.builder, content)),
                is_value: true,
                status: Some(StepStatus::Unknown),
                ..BlockResult::default()
            });
            let asked = BlockCall {
                tool: call.field(VsCodeRequestKey::Name),
                args: call.field(VsCodeRequestKey::Args),
                id: call.field(VsCodeRequestKey::Id),
                answer,
            };
            let answer = outcomes.answer_of(id, text_of(call, VsCodeRequestKey::Name), asked.answer);
            block_session::add_call(conversation, node, BlockCall { answer, ..asked }, &meta);
        }
    }
    if outcomes.has_untold_refusal() {
        conversation.builder.add_warning(
            node.origin,
            "a call was refused, and nothing says which: commands and files count as not recorded",
        );
        *all_told = false;
    }
    // The rounds hold what the agent did; other agents, and calls beyond them, are in the answer alone.
    if outcomes.has_more_shown() {
        conversation.builder.skip_record(node.origin, "an answer shows more calls than its rounds hold");
    }
    read_parts(conversation, parts, &meta, false);
    spoken.add_shown(conversation, parts, &meta);
}

/// The parts of an answer with each call once: the editor writes a call again as it goes on, and the last says how it ended.
fn latest_invocations<'run>(parts: &'run [Node<'run>], builder: &RunBuilder<'run, '_>) -> &'run [Node<'run>] {
    let id_of = |part: &Node<'run>| text_of(node_object(*part).filter(|part| is_call(*part))?, VsCodePartKey::Call);
    let mut latest: FxHashMap<&str, Node<'run>> = FxHashMap::default();
    let calls = parts.iter().filter_map(|part| Some((id_of(part)?, *part)));
    let repeats = calls.filter(|(id, part)| latest.insert(id, *part).is_some()).count();
    if repeats == 0 {
        return parts;
    }
    let mut told = FxHashSet::default();
    let once = parts.iter().filter_map(|part| match id_of(part) {
        Some(id) => latest.get(id).copied().filter(|_| told.insert(id)),
        None => Some(*part),
    });
    builder.arena.alloc_slice_copy(&once.collect::<Vec<_>>())
}

fn part_kind(part: Object<'_>) -> Option<VsCodePartKind> {
    text_of(part, VsCodePartKey::Kind).and_then(VsCodePartKind::from_key)
}

fn is_call(part: Object<'_>) -> bool {
    part_kind(part) == Some(VsCodePartKind::Call)
}

fn is_aside(part: Object<'_>) -> bool {
    first_of(part, &[VsCodePartKey::Agent]).is_some()
}

fn words_of(part: Object<'_>) -> Option<Node<'_>> {
    part.field(VsCodePartKey::Value)
        .or_else(|| object_of(part, VsCodePartKey::Content).and_then(|content| content.field(VsCodePartKey::Value)))
}

fn is_said(part: Object<'_>) -> bool {
    part_kind(part) == Some(VsCodePartKind::Said)
        || part.field(VsCodePartKey::Kind).is_none() && words_of(part).is_some()
}

/// The texts of a result; what is no text stays as it is.
fn plain_values<'run>(builder: &RunBuilder<'run, '_>, content: Node<'run>) -> Node<'run> {
    let parts = node_list(content).unwrap_or_default();
    let texts: Vec<Node<'run>> = object_items(parts)
        .filter_map(|(_, part)| part.field(VsCodeRequestKey::Value).filter(|value| node_text(*value).is_some()))
        .collect();
    if texts.len() < parts.len() {
        return content;
    }
    super::content::join_texts(&texts, builder.arena).unwrap_or(content)
}

/// What an answer shows: all of it, or what the rounds of the request do not hold.
fn read_parts<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    parts: &'run [Node<'run>],
    meta: &StepMeta<'run>,
    all: bool,
) {
    let mut words = String::new();
    for (node, part) in conversation.builder.record_objects(parts) {
        let value = words_of(part);
        let kind = part_kind(part);
        match kind {
            _ if is_said(part) => words.push_str(value.and_then(node_text).unwrap_or_default()),
            Some(VsCodePartKind::Call) => {
                if all {
                    say_words(conversation, &mut words, node, meta);
                }
                if all || is_aside(part) {
                    add_invocation(conversation, node, part);
                }
            }
            Some(VsCodePartKind::Thought) if all => {
                value
                    .into_iter()
                    .for_each(|value| conversation.add_message(Speaker::Thinking, value, meta, node.origin));
            }
            Some(_) => {}
            None => {
                let kind = text_of(part, VsCodePartKey::Kind).unwrap_or_default();
                conversation.builder.skip_record(node.origin, format!("a part of unknown kind `{kind}` is skipped"));
            }
        }
    }
    if let (true, Some(last)) = (all, parts.last()) {
        say_words(conversation, &mut words, *last, meta);
    }
}

fn say_words<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    words: &mut String,
    node: Node<'run>,
    meta: &StepMeta<'run>,
) {
    let said = std::mem::take(words);
    if !said.trim().is_empty() {
        conversation.begin_message();
        let said = block_session::text_node(conversation.builder, said.trim(), node);
        conversation.add_message(Speaker::Assistant, said, meta, node.origin);
    }
}

fn add_invocation<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, part: Object<'run>) {
    let agent = first_of(part, &[VsCodePartKey::Agent]);
    let meta = StepMeta { agent, aside: agent.is_some(), ..StepMeta::default() };
    let details = object_of(part, VsCodePartKey::Details);
    let specific = object_of(part, VsCodePartKey::Specific);
    let input = details.and_then(|details| first_of(details, &[VsCodePartKey::Input]));
    let args = input.or_else(|| specific.and_then(|data| first_of(data, &[VsCodePartKey::RawInput])));
    let line = specific.and_then(|data| value_of(data, VsCodePartKey::Line));
    let line = line.and_then(|line| node_object(line).map_or(Some(line), |line| value_of(line, VsCodePartKey::Asked)));
    let line = line.filter(|line| node_text(*line).is_some());
    let args =
        args.or_else(|| line.map(|line| conversation.builder.object_node(&[field_entry(of_step::COMMAND, line)])));
    let printed = specific.and_then(|data| object_of(data, VsCodePartKey::Printed)?.field(VsCodePartKey::PrintedText));
    let output = details.and_then(|details| first_of(details, &[VsCodePartKey::Output])).or(printed);
    let failed = details.is_some_and(|details| is_true(&details, &NodeShapes, VsCodePartKey::Failed));
    let status = match (is_refused(part), failed) {
        (true, _) => StepStatus::Denied,
        (false, true) => StepStatus::Failed,
        (false, false) => StepStatus::Unknown,
    };
    let answer = is_true(&part, &NodeShapes, VsCodePartKey::Complete).then(|| BlockResult {
        result: output.map(|output| plain_values(conversation.builder, output)),
        is_value: true,
        status: Some(status),
        ..BlockResult::default()
    });
    let made = BlockCall { tool: part.field(VsCodePartKey::Tool), args, id: part.field(VsCodePartKey::Call), answer };
    block_session::add_call(conversation, node, made, &meta);
}

/// The user said no, or to go on without the call.
fn is_refused(part: Object<'_>) -> bool {
    let Some(confirmed) = part.field(VsCodePartKey::Confirmed) else { return false };
    let kind = node_object(confirmed).and_then(|confirmed| confirmed.field(VsCodePartKey::Type));
    let is_kind = |kind: Node<'_>| matches!(kind.value, Value::Number(kind) if kind == Number::Integer(0) || kind == Number::Integer(5));
    NodeShapes.has_shape(confirmed, ValueShape::False) || kind.is_some_and(is_kind)
}
