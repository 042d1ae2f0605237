//! Google ADK: sessions (`events` with `author` and `content.parts`), and lists of such events. Keys are written with underscores or as
//! camel case; times are seconds.

pub(super) mod eval;

use super::calls::Usage;
use super::draft::Draft;
use super::fields::{Parsed, Record, Shapes, is_true, key_table};
use super::talk::{About, Made, Outcome, Speaker, Talk, instant};
use super::{Format, IN_FULL, first_of, items_of, list_of, object, object_of, objects, text_of};
use averment_base::value::{Node, Object};
use averment_runs::normal::{of_meta, of_run, of_usage};
use averment_runs::run::Status;

key_table! {
    /// A session.
    OfSession {
        Id = "id",
        Events = "events",
        App = "app_name",
        AppToo = "appName",
    }
}

key_table! {
    /// An event.
    OfEvent {
        Invocation = "invocation_id",
        InvocationToo = "invocationId",
        Author = "author",
        Content = "content",
        Partial = "partial",
        Time = "timestamp",
        Usage = "usage_metadata",
        UsageToo = "usageMetadata",
        Model = "model_version",
        ModelToo = "modelVersion",
        Error = "error_message",
        ErrorToo = "errorMessage",
    }
}

key_table! {
    /// A part of a content.
    OfPart {
        Parts = "parts",
        Words = "text",
        Thought = "thought",
        Call = "function_call",
        CallToo = "functionCall",
        Response = "function_response",
        ResponseToo = "functionResponse",
        Id = "id",
        Name = "name",
        Args = "args",
        Given = "response",
        Error = "error",
        Agent = "agent_name",
        AgentToo = "agentName",
    }
}

key_table! {
    /// The tokens of an answer.
    OfTokens {
        Prompt = "prompt_token_count",
        PromptToo = "promptTokenCount",
        Candidates = "candidates_token_count",
        CandidatesToo = "candidatesTokenCount",
        Thoughts = "thoughts_token_count",
        ThoughtsToo = "thoughtsTokenCount",
        Cached = "cached_content_token_count",
        CachedToo = "cachedContentTokenCount",
        Total = "total_token_count",
        TotalToo = "totalTokenCount",
    }
}

key_table! {
    /// The authors that are no agents.
    Author {
        User = "user",
    }
}

key_table! {
    /// What stands for the result of a call that somebody has to approve.
    Confirmation {
        Waits = "This tool call requires confirmation, please approve or reject.",
        Rejected = "This tool call is rejected.",
    }
}

key_table! {
    /// The tools that hand over to another agent.
    Transfer {
        Transfer = "transfer_to_agent" | "transfer_to_other_agent",
    }
}

/// Sessions.
pub(crate) const FORMAT: Format = Format {
    name: "Google ADK session",
    known_by: "`events` with an `author`, an `invocation_id` and `content` of `parts`",
    description: "sessions of Google ADK (`events`, or a list of them)",
    marks: &[OfSession::Events.key()],
    near: &[OfEvent::Invocation.key(), OfEvent::InvocationToo.key()],
    object: holds_events,
    item_marks: &[OfEvent::Author.key()],
    element: is_event,
    line: is_event,
    read,
    ..IN_FULL
};

/// Whether an object is a session.
fn holds_events(object: Object<'_>) -> bool {
    list_of(object, OfSession::Events).is_some_and(|events| objects(events).any(|(_, event)| is_event(event)))
}

fn is_event(event: Object<'_>) -> bool {
    let has = |fields: &[OfEvent]| first_of(event, fields).is_some();
    text_of(event, OfEvent::Author).is_some()
        && has(&[OfEvent::Invocation, OfEvent::InvocationToo])
        && object_of(event, OfEvent::Content).is_some_and(|content| list_of(content, OfPart::Parts).is_some())
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let mut talk = Talk::of_parts(draft);
    session(&mut talk, root);
    talk.finish();
    Ok(())
}

/// A session, or a list of its events.
fn session<'run>(talk: &mut Talk<'_, 'run, '_>, root: Node<'run>) {
    let root = talk.draft.arena.alloc(root);
    if let Some(session) = object(*root) {
        talk.draft.set_some(of_run::ID, session.field(OfSession::Id).filter(|id| Parsed.is_text(*id)));
        talk.meta(OfSession::App.key(), first_of(session, &[OfSession::App, OfSession::AppToo]));
    }
    for node in items_of(root, &[OfSession::Events]) {
        talk.draft.record();
        let Some(one) = object(*node).filter(|event| text_of(*event, OfEvent::Author).is_some()) else {
            talk.draft.not_understood(node.origin, "what is no event with an `author` is passed over");
            continue;
        };
        if !is_true(&one, &Parsed, OfEvent::Partial) {
            event(talk, one);
        }
    }
}

/// An event of a session: the last word, whoever says it, is the answer.
fn event<'run>(talk: &mut Talk<'_, 'run, '_>, event: Object<'run>) {
    let author = text_of(event, OfEvent::Author).unwrap_or_default();
    let of_user = Author::from_key(author) == Some(Author::User);
    let time = event.field(OfEvent::Time).and_then(instant);
    let agent = event.field(OfEvent::Author).filter(|_| !of_user);
    let about = About { time, agent, aside: false };
    let error = first_of(event, &[OfEvent::Error, OfEvent::ErrorToo]);
    if let Some(error) = error {
        talk.draft.set(of_run::ERROR, error);
    }
    talk.meta(of_meta::MODEL, first_of(event, &[OfEvent::Model, OfEvent::ModelToo]));
    if let Some(content) = object_of(event, OfEvent::Content) {
        let speaker = if of_user { Speaker::User } else { Speaker::Assistant };
        parts(talk, content, speaker, &about);
    }
    if let Some(usage) = first_of(event, &[OfEvent::Usage, OfEvent::UsageToo]).and_then(object) {
        count(talk, usage);
    }
}

fn parts<'run>(talk: &mut Talk<'_, 'run, '_>, content: Object<'run>, speaker: Speaker, about: &About<'run>) {
    talk.begin_message();
    for (at, part) in talk.draft.objects(list_of(content, OfPart::Parts).unwrap_or_default()) {
        let called = first_of(part, &[OfPart::Call, OfPart::CallToo]).and_then(object);
        let given = first_of(part, &[OfPart::Response, OfPart::ResponseToo]).and_then(object);
        if let Some(words) = part.field(OfPart::Words) {
            let is_thought = is_true(&part, &Parsed, OfPart::Thought) && speaker == Speaker::Assistant;
            talk.say(if is_thought { Speaker::Thinking } else { speaker }, words, about, at.origin);
        }
        if let Some(called) = called {
            call(talk, at, called, about);
        }
        if let Some(given) = given {
            result(talk, at, given, about);
        }
    }
}

fn call<'run>(talk: &mut Talk<'_, 'run, '_>, node: Node<'run>, call: Object<'run>, about: &About<'run>) {
    let tool = call.field(OfPart::Name).unwrap_or(Node::computed(averment_base::value::Value::Null));
    let made = Made { tool, args: call.field(OfPart::Args), id: call.field(OfPart::Id), origin: node.origin };
    talk.call(made, about);
    let hands_over = super::text(tool).and_then(Transfer::from_key).is_some();
    let to = call.field(OfPart::Args).and_then(object);
    let to = to.and_then(|args| first_of(args, &[OfPart::Agent, OfPart::AgentToo]));
    to.filter(|_| hands_over).into_iter().for_each(|to| talk.hand_over(to, about, node.origin));
}

/// What a function gave back. An object that holds nothing but an error is no answer.
fn result<'run>(talk: &mut Talk<'_, 'run, '_>, node: Node<'run>, given: Object<'run>, about: &About<'run>) {
    let result = given.field(OfPart::Given);
    let error = result.and_then(object).filter(|answer| answer.entries().len() == 1);
    let error = error.and_then(|answer| first_of(answer, &[OfPart::Error]));
    let id = text_of(given, OfPart::Id);
    let says = error.and_then(super::text).and_then(Confirmation::from_key);
    let asked = id.and_then(|id| talk.called(id)).filter(|_| says == Some(Confirmation::Waits));
    if let Some(call) = asked {
        // The answer comes when somebody has approved it.
        talk.hears();
        talk.mark(call, Status::Pending);
        return;
    }
    let status = says.filter(|says| *says == Confirmation::Rejected).map(|_| Status::Denied);
    let outcome = Outcome { result, error, status, ..Outcome::default() };
    let answered = talk.answer(id, text_of(given, OfPart::Name), outcome, about, node.origin);
    if let Some(call) = answered.filter(|_| error.is_none()) {
        talk.mark(call, Status::Unknown);
    }
}

fn count(talk: &mut Talk<'_, '_, '_>, tokens: Object<'_>) {
    use OfTokens::{
        Cached, CachedToo, Candidates, CandidatesToo, Prompt, PromptToo, Thoughts, ThoughtsToo, Total, TotalToo,
    };
    let counts = [
        (of_usage::INPUT, [Prompt, PromptToo]),
        (of_usage::OUTPUT, [Candidates, CandidatesToo]),
        (of_usage::REASONING, [Thoughts, ThoughtsToo]),
        (of_usage::CACHE_READ, [Cached, CachedToo]),
        (of_usage::TOTAL, [Total, TotalToo]),
    ];
    let mut usage = Usage::default();
    for (name, fields) in counts {
        usage.count(name, first_of(tokens, &fields));
    }
    talk.usage.join(&usage);
}
