//! Anthropic's managed agents: the events of a session as they are listed or streamed, also behind the names of the calls of the SDK that
//! gave them (`["client.beta.sessions.events.stream", {…}]`). What a person turned down was not carried out.

use super::calls::Usage;
use super::content;
use super::draft::Draft;
use super::fields::{Parsed, Record, is_true, key_table};
use super::format::{Format, IN_FULL};
use super::nodes::{first_of, items_of, object, object_of, objects, payload, text, text_of};
use super::talk::{About, Made, Outcome, Speaker, Talk};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run, of_step};
use averment_runs::run::Status;
use rustc_hash::FxHashSet;

key_table! {
    /// An event.
    OfManaged {
        Type = "type",
        Id = "id",
        Time = "processed_at",
        Content = "content",
        Name = "name",
        Input = "input",
        Permission = "evaluated_permission",
        Call = "tool_use_id",
        CustomCall = "custom_tool_use_id",
        McpCall = "mcp_tool_use_id",
        Failed = "is_error",
        Confirmed = "result",
        Usage = "model_usage",
        Error = "error",
        Message = "message",
        Agent = "agent",
        Model = "model",
        AgentName = "agent_name",
        Data = "data",
    }
}

key_table! {
    /// The types of events that are read.
    EventType {
        Session = "session",
        Asked = "user.message",
        Said = "agent.message",
        Thought = "agent.thinking",
        Call = "agent.tool_use" | "agent.custom_tool_use" | "agent.mcp_tool_use",
        Result = "agent.tool_result" | "agent.mcp_tool_result" | "user.custom_tool_result",
        Confirmed = "user.tool_confirmation",
        Usage = "span.model_request_end",
        Error = "session.error",
    }
}

key_table! {
    /// What somebody says to a call.
    Answer {
        Deny = "deny",
    }
}

key_table! {
    /// What a policy says of a call.
    Permission {
        Ask = "ask",
        Deny = "deny",
    }
}

/// Sessions.
pub(crate) const FORMAT: Format = Format {
    name: "Anthropic managed agent session",
    known_by: "events with `processed_at` whose `type` begins with `agent.`, `session.`, `user.` or `span.`",
    description: "events of sessions of Anthropic's managed agents (a list, one a line, or `data`)",
    marks: &[OfManaged::Data.key()],
    near: &[OfManaged::Time.key()],
    object: |object| {
        super::nodes::list_of(object, OfManaged::Data)
            .is_some_and(|events| objects(events).any(|(_, event)| is_event(event)))
    },
    item_marks: &[OfManaged::Time.key()],
    element: is_event,
    line: is_event,
    read,
    ..IN_FULL
};

/// The families of events, of which many tell nothing that a rule could ask for.
const FAMILIES: [&str; 4] = ["agent.", "session.", "user.", "span."];

fn is_event(event: Object<'_>) -> bool {
    text_of(event, OfManaged::Type).is_some_and(|word| FAMILIES.iter().any(|family| word.starts_with(family)))
        && event.field(OfManaged::Time).is_some()
        && event.field(OfManaged::Id).is_some()
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let root = draft.arena.alloc(root);
    let mut session = Session { talk: Talk::new(draft), seen: FxHashSet::default(), asked: Vec::new() };
    for node in items_of(root, &[OfManaged::Data]) {
        session.talk.draft.record();
        match payload(*node) {
            Some(event) => session.event(*node, event),
            // What was sent comes back in the stream.
            None if matches!(node.value, Value::List([name, ..]) if text(*name).is_some()) => {}
            None => session.talk.draft.not_understood(node.origin, "what is no event is passed over"),
        }
    }
    session.finish();
    Ok(())
}

struct Session<'a, 'run, 'limits> {
    talk: Talk<'a, 'run, 'limits>,
    /// Events may be listed and streamed.
    seen: FxHashSet<&'run str>,
    /// The calls that somebody is asked about, until they are answered.
    asked: Vec<&'run str>,
}

impl<'run> Session<'_, 'run, '_> {
    fn event(&mut self, node: Node<'run>, event: Object<'run>) {
        let word = text_of(event, OfManaged::Type).unwrap_or_default();
        let kind = EventType::from_key(word);
        if kind.is_none() && !FAMILIES.iter().any(|family| word.starts_with(family)) {
            let message = format!("an event of unknown type `{word}` is passed over");
            return self.talk.draft.not_understood(node.origin, message);
        }
        if kind != Some(EventType::Session) && text_of(event, OfManaged::Id).is_some_and(|id| !self.seen.insert(id)) {
            return;
        }
        let about = About {
            time: first_of(event, &[OfManaged::Time]),
            agent: first_of(event, &[OfManaged::AgentName]),
            aside: false,
        };
        self.talk.note_time(about.time);
        let content = event.field(OfManaged::Content);
        let talk = &mut self.talk;
        match kind {
            Some(EventType::Session) => {
                talk.draft.set_some(of_run::ID, event.field(OfManaged::Id));
                let agent = object_of(event, OfManaged::Agent);
                let model = agent.and_then(|agent| agent.field(OfManaged::Model));
                let model =
                    model.map(|model| object(model).and_then(|model| model.field(OfManaged::Id)).unwrap_or(model));
                talk.meta(of_meta::MODEL, model);
            }
            Some(EventType::Asked) => {
                content.into_iter().for_each(|content| talk.say_content(Speaker::User, content, &about, node.origin))
            }
            Some(EventType::Said) => content
                .into_iter()
                .for_each(|content| talk.say_content(Speaker::Assistant, content, &about, node.origin)),
            Some(EventType::Thought) => content
                .into_iter()
                .for_each(|content| talk.say_content(Speaker::Thinking, content, &about, node.origin)),
            Some(EventType::Call) => self.call(node, event, &about),
            Some(EventType::Result) => self.result(node, event, &about),
            Some(EventType::Confirmed) => self.confirmed(event),
            Some(EventType::Usage) => {
                if let Some(counts) = object_of(event, OfManaged::Usage) {
                    let mut usage = Usage::default();
                    usage.add(counts);
                    usage.count_cache_as_input();
                    talk.usage.join(&usage);
                }
            }
            Some(EventType::Error) => {
                let error = first_of(event, &[OfManaged::Error, OfManaged::Message]);
                error.into_iter().for_each(|error| talk.draft.set(of_run::ERROR, error));
            }
            None => {}
        }
    }

    fn call(&mut self, node: Node<'run>, event: Object<'run>, about: &About<'run>) {
        let tool = event.field(OfManaged::Name).unwrap_or(Node::computed(Value::Null));
        let made =
            Made { tool, args: event.field(OfManaged::Input), id: event.field(OfManaged::Id), origin: node.origin };
        let Some(step) = self.talk.call(made, about) else { return };
        match text_of(event, OfManaged::Permission).and_then(Permission::from_key) {
            Some(Permission::Ask) => self.asked.extend(text_of(event, OfManaged::Id)),
            Some(Permission::Deny) => self.talk.mark(step, Status::Denied),
            None => {}
        }
    }

    fn confirmed(&mut self, event: Object<'run>) {
        let Some(id) = call_of(event) else { return };
        self.asked.retain(|asked| *asked != id);
        let denied = text_of(event, OfManaged::Confirmed).and_then(Answer::from_key) == Some(Answer::Deny);
        if let Some(call) = self.talk.called(id).filter(|_| denied) {
            self.talk.mark(call, Status::Denied);
        }
    }

    /// A call that was turned down gets the words of that as its result.
    fn result(&mut self, node: Node<'run>, event: Object<'run>, about: &About<'run>) {
        let Some(id) = call_of(event) else { return };
        self.asked.retain(|asked| *asked != id);
        let content = event.field(OfManaged::Content);
        let result = content.map(|content| content::text(content, self.talk.draft.arena).unwrap_or(content));
        let known = self.talk.called(id).and_then(|call| self.talk.draft.field(call, of_step::STATUS)).and_then(text);
        let status = if known == Status::Denied.as_str() {
            Status::Denied
        } else if is_true(&event, &Parsed, OfManaged::Failed) {
            Status::Failed
        } else {
            Status::Ok
        };
        let about = About { agent: None, ..*about };
        self.talk.answer(
            Some(id),
            None,
            Outcome { result, status: Some(status), ..Outcome::default() },
            &about,
            node.origin,
        );
    }

    fn finish(mut self) {
        for call in std::mem::take(&mut self.asked) {
            if let Some(call) = self.talk.called(call) {
                self.talk.mark(call, Status::Pending);
            }
        }
        self.talk.finish_with_tools();
    }
}

/// The id of the call that an event is about.
fn call_of(event: Object<'_>) -> Option<&str> {
    first_of(event, &[OfManaged::Call, OfManaged::CustomCall, OfManaged::McpCall]).and_then(text)
}
