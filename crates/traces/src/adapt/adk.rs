//! Google ADK: sessions (`events` with `author` and `content.parts`), and lists of such events. Keys are written with underscores or as
//! camel case; times are seconds.

pub(super) mod eval;

use super::calls::TokenUsage;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall, instant_node};
use super::fields::{FieldRecord, NodeShapes, ShapeReader, fields, is_true, words};
use super::run_builder::RunBuilder;
use super::{IN_FULL, TraceFormat, first_of, items_of, list_of, node_object, object_items, object_of, text_of};
use averment_base::value::{Node, Object};
use averment_runs::normal::{of_meta, of_run, of_step, of_usage};
use averment_runs::run::{StepKind, StepStatus};

fields! {
    AdkSessionKey {
        Id = "id" => Run(of_run::ID),
        Events = "events" => Shape,
        App = "app_name" => PartOf(of_run::META),
        AppToo = "appName" => PartOf(of_run::META),
    }
}

fields! {
    AdkEventKey {
        Invocation = "invocation_id" => Shape,
        InvocationToo = "invocationId" => Shape,
        Author = "author" => Call(of_step::AGENT),
        Content = "content" => Shape,
        Partial = "partial" => Shape,
        Time = "timestamp" => Shape,
        Usage = "usage_metadata" => PartOf(of_run::USAGE),
        UsageToo = "usageMetadata" => PartOf(of_run::USAGE),
        Model = "model_version" => PartOf(of_run::META),
        ModelToo = "modelVersion" => PartOf(of_run::META),
        Error = "error_message" => Run(of_run::ERROR),
        ErrorToo = "errorMessage" => Run(of_run::ERROR),
    }
}

fields! {
    AdkPartKey {
        Parts = "parts" => Shape,
        Words = "text" => Shape,
        Thought = "thought" => Shape,
        Call = "function_call" => Shape,
        CallToo = "functionCall" => Shape,
        Response = "function_response" => Shape,
        ResponseToo = "functionResponse" => Shape,
        Id = "id" => Call(of_step::ID),
        Name = "name" => Call(of_step::TOOL),
        Args = "args" => Call(of_step::ARGS),
        Given = "response" => Call(of_step::RESULT),
        Error = "error" => Call(of_step::ERROR),
        Agent = "agent_name" => Step(StepKind::Handover),
        AgentToo = "agentName" => Step(StepKind::Handover),
    }
}

fields! {
    AdkUsageKey {
        Prompt = "prompt_token_count" => Shape,
        PromptToo = "promptTokenCount" => Shape,
        Candidates = "candidates_token_count" => Shape,
        CandidatesToo = "candidatesTokenCount" => Shape,
        Thoughts = "thoughts_token_count" => Shape,
        ThoughtsToo = "thoughtsTokenCount" => Shape,
        Cached = "cached_content_token_count" => Shape,
        CachedToo = "cachedContentTokenCount" => Shape,
        Total = "total_token_count" => Shape,
        TotalToo = "totalTokenCount" => Shape,
    }
}

words! {
    AdkAuthor {
        User = "user",
    }
}

words! {
    ConfirmationTool {
        Waits = "This tool call requires confirmation, please approve or reject.",
        Rejected = "This tool call is rejected.",
    }
}

words! {
    TransferTool {
        Transfer = "transfer_to_agent" | "transfer_to_other_agent",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Google ADK session",
    known_by: "`events` with an `author`, an `invocation_id` and `content` of `parts`",
    description: "sessions of Google ADK (`events`, or a list of them)",
    marks: &[AdkSessionKey::Events.key()],
    near: &[AdkEventKey::Invocation.key(), AdkEventKey::InvocationToo.key()],
    object: holds_events,
    item_marks: &[AdkEventKey::Author.key()],
    element: is_event,
    line: is_event,
    read: read_run,
    ..IN_FULL
};

fn holds_events(object: Object<'_>) -> bool {
    list_of(object, AdkSessionKey::Events).is_some_and(|events| object_items(events).any(|(_, event)| is_event(event)))
}

fn is_event(event: Object<'_>) -> bool {
    let has = |fields: &[AdkEventKey]| first_of(event, fields).is_some();
    text_of(event, AdkEventKey::Author).is_some()
        && has(&[AdkEventKey::Invocation, AdkEventKey::InvocationToo])
        && object_of(event, AdkEventKey::Content).is_some_and(|content| list_of(content, AdkPartKey::Parts).is_some())
}

fn read_run<'run>(root: Node<'run>, draft: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let mut talk = ConversationBuilder::from_parts(draft);
    read_session(&mut talk, root);
    talk.finish_run();
    Ok(())
}

fn read_session<'run>(talk: &mut ConversationBuilder<'_, 'run, '_>, root: Node<'run>) {
    let root = talk.draft.arena.alloc(root);
    if let Some(session) = node_object(*root) {
        talk.draft.set_some(of_run::ID, session.field(AdkSessionKey::Id).filter(|id| NodeShapes.is_text(*id)));
        talk.add_meta(AdkSessionKey::App.key(), first_of(session, &[AdkSessionKey::App, AdkSessionKey::AppToo]));
    }
    for node in items_of(root, &[AdkSessionKey::Events]) {
        talk.draft.count_record();
        let Some(one) = node_object(*node).filter(|event| text_of(*event, AdkEventKey::Author).is_some()) else {
            talk.draft.warn_skipped(node.origin, "what is no event with an `author` is passed over");
            continue;
        };
        if !is_true(&one, &NodeShapes, AdkEventKey::Partial) {
            read_event(talk, one);
        }
    }
}

/// The last words, whoever says them, are the answer.
fn read_event<'run>(talk: &mut ConversationBuilder<'_, 'run, '_>, event: Object<'run>) {
    let author = text_of(event, AdkEventKey::Author).unwrap_or_default();
    let of_user = AdkAuthor::from_word(author) == Some(AdkAuthor::User);
    let time = event.field(AdkEventKey::Time).and_then(instant_node);
    let agent = event.field(AdkEventKey::Author).filter(|_| !of_user);
    let about = StepMeta { time, agent, aside: false };
    let error = first_of(event, &[AdkEventKey::Error, AdkEventKey::ErrorToo]);
    if let Some(error) = error {
        talk.draft.set_entry(of_run::ERROR, error);
    }
    talk.add_meta(of_meta::MODEL, first_of(event, &[AdkEventKey::Model, AdkEventKey::ModelToo]));
    if let Some(content) = object_of(event, AdkEventKey::Content) {
        let speaker = if of_user { Speaker::User } else { Speaker::Assistant };
        add_parts(talk, content, speaker, &about);
    }
    if let Some(usage) = first_of(event, &[AdkEventKey::Usage, AdkEventKey::UsageToo]).and_then(node_object) {
        count_usage(talk, usage);
    }
}

fn add_parts<'run>(
    talk: &mut ConversationBuilder<'_, 'run, '_>,
    content: Object<'run>,
    speaker: Speaker,
    about: &StepMeta<'run>,
) {
    talk.begin_message();
    for (at, part) in talk.draft.record_objects(list_of(content, AdkPartKey::Parts).unwrap_or_default()) {
        let called = first_of(part, &[AdkPartKey::Call, AdkPartKey::CallToo]).and_then(node_object);
        let given = first_of(part, &[AdkPartKey::Response, AdkPartKey::ResponseToo]).and_then(node_object);
        if let Some(words) = part.field(AdkPartKey::Words) {
            let is_thought = is_true(&part, &NodeShapes, AdkPartKey::Thought) && speaker == Speaker::Assistant;
            talk.add_message(if is_thought { Speaker::Thinking } else { speaker }, words, about, at.origin);
        }
        if let Some(called) = called {
            add_call(talk, at, called, about);
        }
        if let Some(given) = given {
            add_result(talk, at, given, about);
        }
    }
}

fn add_call<'run>(
    talk: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    call: Object<'run>,
    about: &StepMeta<'run>,
) {
    let tool = call.field(AdkPartKey::Name).unwrap_or(Node::computed(averment_base::value::Value::Null));
    let made =
        ToolCall { tool, args: call.field(AdkPartKey::Args), id: call.field(AdkPartKey::Id), origin: node.origin };
    talk.add_call(made, about);
    let hands_over = super::node_text(tool).and_then(TransferTool::from_word).is_some();
    let to = call.field(AdkPartKey::Args).and_then(node_object);
    let to = to.and_then(|args| first_of(args, &[AdkPartKey::Agent, AdkPartKey::AgentToo]));
    to.filter(|_| hands_over).into_iter().for_each(|to| talk.hand_over(to, about, node.origin));
}

/// An object that holds nothing but an error is no answer.
fn add_result<'run>(
    talk: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    given: Object<'run>,
    about: &StepMeta<'run>,
) {
    let result = given.field(AdkPartKey::Given);
    let error = result.and_then(node_object).filter(|answer| answer.entries().len() == 1);
    let error = error.and_then(|answer| first_of(answer, &[AdkPartKey::Error]));
    let id = text_of(given, AdkPartKey::Id);
    let says = error.and_then(super::node_text).and_then(ConfirmationTool::from_word);
    let asked = id.and_then(|id| talk.find_call(id)).filter(|_| says == Some(ConfirmationTool::Waits));
    if let Some(call) = asked {
        // The answer comes when somebody has approved it.
        talk.note_input();
        talk.set_status(call, StepStatus::Pending);
        return;
    }
    let status = says.filter(|says| *says == ConfirmationTool::Rejected).map(|_| StepStatus::Denied);
    let outcome = CallResult { result, error, status, ..CallResult::default() };
    let answered = talk.add_result(id, text_of(given, AdkPartKey::Name), outcome, about, node.origin);
    if let Some(call) = answered.filter(|_| error.is_none()) {
        talk.set_status(call, StepStatus::Unknown);
    }
}

fn count_usage(talk: &mut ConversationBuilder<'_, '_, '_>, tokens: Object<'_>) {
    use AdkUsageKey::{
        Cached, CachedToo, Candidates, CandidatesToo, Prompt, PromptToo, Thoughts, ThoughtsToo, Total, TotalToo,
    };
    let counts = [
        (of_usage::INPUT, [Prompt, PromptToo]),
        (of_usage::OUTPUT, [Candidates, CandidatesToo]),
        (of_usage::REASONING, [Thoughts, ThoughtsToo]),
        (of_usage::CACHE_READ, [Cached, CachedToo]),
        (of_usage::TOTAL, [Total, TotalToo]),
    ];
    let mut usage = TokenUsage::default();
    for (name, fields) in counts {
        usage.add_count(name, first_of(tokens, &fields));
    }
    talk.usage.merge_usage(&usage);
}
