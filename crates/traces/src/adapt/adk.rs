//! Google ADK: sessions (`events` with `author` and `content.parts`), and lists of such events. Keys are written with underscores or as
//! camel case; times are seconds.

pub(super) mod eval;

use super::calls::Usage;
use super::draft::Draft;
use super::fields::{Parsed, Record, Shapes, is_true, key_table, value_of};
use super::format::{Format, IN_FULL};
use super::nodes::{items_of, list_of, object, object_of, objects, text_of};
use super::talk::{About, Made, Outcome, Speaker, Talk, instant};
use averment_base::value::{Node, Object};
use averment_runs::normal::{of_meta, of_run, of_usage};
use averment_runs::run::Status;

key_table! {
    /// A session.
    OfSession {
        Id = "id",
        Events = "events",
        App = "app_name" | "appName",
    }
}

key_table! {
    /// An event.
    OfEvent {
        Invocation = "invocation_id" | "invocationId",
        Author = "author",
        Content = "content",
        Partial = "partial",
        Time = "timestamp",
        Usage = "usage_metadata" | "usageMetadata",
        Model = "model_version" | "modelVersion",
        Error = "error_message" | "errorMessage",
    }
}

key_table! {
    /// A part of a content.
    OfPart {
        Parts = "parts",
        Words = "text",
        Thought = "thought",
        Call = "function_call" | "functionCall",
        Response = "function_response" | "functionResponse",
        Id = "id",
        Name = "name",
        Args = "args",
        Given = "response",
        Error = "error",
        Agent = "agent_name" | "agentName",
    }
}

key_table! {
    /// The tokens of an answer.
    OfTokens {
        Prompt = "prompt_token_count" | "promptTokenCount",
        Candidates = "candidates_token_count" | "candidatesTokenCount",
        Thoughts = "thoughts_token_count" | "thoughtsTokenCount",
        Cached = "cached_content_token_count" | "cachedContentTokenCount",
        Total = "total_token_count" | "totalTokenCount",
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
    near: OfEvent::Invocation.keys(),
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
    text_of(event, OfEvent::Author).is_some()
        && value_of(event, OfEvent::Invocation).is_some()
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
        talk.meta(OfSession::App.key(), value_of(session, OfSession::App));
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
    let error = value_of(event, OfEvent::Error);
    if let Some(error) = error {
        talk.draft.set(of_run::ERROR, error);
    }
    talk.meta(of_meta::MODEL, value_of(event, OfEvent::Model));
    if let Some(content) = object_of(event, OfEvent::Content) {
        let speaker = if of_user { Speaker::User } else { Speaker::Assistant };
        parts(talk, content, speaker, &about);
    }
    if let Some(usage) = value_of(event, OfEvent::Usage).and_then(object) {
        count(talk, usage);
    }
}

fn parts<'run>(talk: &mut Talk<'_, 'run, '_>, content: Object<'run>, speaker: Speaker, about: &About<'run>) {
    talk.begin_message();
    for (at, part) in talk.draft.objects(list_of(content, OfPart::Parts).unwrap_or_default()) {
        let called = value_of(part, OfPart::Call).and_then(object);
        let given = value_of(part, OfPart::Response).and_then(object);
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
    let hands_over = super::nodes::text(tool).and_then(Transfer::from_key).is_some();
    let to = call.field(OfPart::Args).and_then(object);
    let to = to.and_then(|args| value_of(args, OfPart::Agent));
    to.filter(|_| hands_over).into_iter().for_each(|to| talk.hand_over(to, about, node.origin));
}

/// What a function gave back. An object that holds nothing but an error is no answer.
fn result<'run>(talk: &mut Talk<'_, 'run, '_>, node: Node<'run>, given: Object<'run>, about: &About<'run>) {
    let result = given.field(OfPart::Given);
    let error = result.and_then(object).filter(|answer| answer.entries().len() == 1);
    let error = error.and_then(|answer| value_of(answer, OfPart::Error));
    let id = text_of(given, OfPart::Id);
    let says = error.and_then(super::nodes::text).and_then(Confirmation::from_key);
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
    use OfTokens::{Cached, Candidates, Prompt, Thoughts, Total};
    let counts = [
        (of_usage::INPUT, Prompt),
        (of_usage::OUTPUT, Candidates),
        (of_usage::REASONING, Thoughts),
        (of_usage::CACHE_READ, Cached),
        (of_usage::TOTAL, Total),
    ];
    let mut usage = Usage::default();
    for (name, field) in counts {
        usage.count(name, value_of(tokens, field));
    }
    talk.usage.join(&usage);
}
