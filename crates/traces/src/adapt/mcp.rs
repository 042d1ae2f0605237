//! Logs of the Model Context Protocol: JSON-RPC messages, one a line or in a list, bare or within an envelope that says when they passed
//! (`timestamp`) and which way (`direction`). `tools/call` is a call, the response with its id the result.

mod pairing;

use super::content;
use super::draft::Draft;
use super::fields::{Parsed, Record, is_true, key_table};
use super::format::{Format, IN_FULL};
use super::nodes::{first_of, items_of, list_of, object, object_of, text_of};
use super::talk::{About, Made, Outcome, Talk, instant};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::Status;
use pairing::{Answer, Asked, OpenRequests};

key_table! {
    /// What a message is wrapped in.
    OfFrame {
        Message = "message",
        Data = "data",
        Payload = "payload",
        Raw = "raw",
        Frame = "frame",
        Request = "request",
        Response = "response",
        Direction = "direction",
        Time = "timestamp",
        TimeToo = "time",
        TimeOfLog = "ts",
        TimeInMilliseconds = "timestamp_ms",
        Stream = "sse",
        Events = "events",
        Entries = "entries",
        History = "history",
        Messages = "messages",
    }
}

key_table! {
    /// A message.
    OfRpc {
        Version = "jsonrpc",
        Id = "id",
        Method = "method",
        Params = "params",
        Name = "name",
        Arguments = "arguments",
        Result = "result",
        Error = "error",
        Failed = "isError",
        Content = "content",
        Tools = "tools",
        Server = "serverInfo",
        Why = "message",
        Protocol = "protocolVersion",
        Client = "clientInfo",
        Capabilities = "capabilities",
    }
}

key_table! {
    /// The methods that are known.
    Method {
        Call = "tools/call",
        Initialize = "initialize",
        /// Requests of the server, whose ids have nothing to do with those of the client; either side may ask whether the other is there.
        Ask = "sampling/createMessage" | "elicitation/create" | "roots/list" | "ping",
        Other = "completion/complete" | "logging/setLevel" | "tasks/get" | "tasks/result" | "tasks/list" | "tasks/cancel",
    }
}

/// With what the methods begin that only this protocol has.
const OFFERS: [&str; 3] = ["tools/", "resources/", "prompts/"];

/// With what its messages begin that nobody answers.
const NOTIFICATIONS: &str = "notifications/";

/// Logs.
pub(crate) const FORMAT: Format = Format {
    name: "MCP log",
    known_by: "messages with `jsonrpc` and a `method` of the Model Context Protocol (`tools/…`, `resources/…`, `prompts/…`, or `initialize` with a `protocolVersion` that is text), bare or within a frame",
    description: "logs of the Model Context Protocol (JSON-RPC messages, one a line, in a list or under `messages`, and sessions of its inspector)",
    marks: &[
        OfRpc::Version.key(),
        OfFrame::History.key(),
        OfFrame::Events.key(),
        OfFrame::Entries.key(),
        OfFrame::Messages.key(),
    ],
    near: &[OfRpc::Version.key()],
    object: |object| is_frame(object) || held_in(object).iter().any(|one| self::object(*one).is_some_and(is_frame)),
    item_marks: &[
        OfRpc::Version.key(),
        OfFrame::Message.key(),
        OfFrame::Data.key(),
        OfFrame::Payload.key(),
        OfFrame::Raw.key(),
        OfFrame::Frame.key(),
        OfFrame::Request.key(),
        OfFrame::Stream.key(),
        OfRpc::Params.key(),
    ],
    element: is_frame,
    line: is_frame,
    read,
    ..IN_FULL
};

/// The names that a list of frames has.
const LISTS: [OfFrame; 4] = [OfFrame::History, OfFrame::Messages, OfFrame::Events, OfFrame::Entries];

/// The list of frames that an object holds.
fn held_in(object: Object<'_>) -> &[Node<'_>] {
    LISTS.into_iter().find_map(|list| list_of(object, list)).unwrap_or_default()
}

/// Whether an object is a message of the protocol, or holds one: one that other protocols over JSON-RPC do not have.
fn is_frame(frame: Object<'_>) -> bool {
    plain(frame).is_some_and(|message| {
        text_of(message, OfRpc::Method).is_some_and(|method| is_offer(method) || greets(method, message))
    })
}

fn is_offer(method: &str) -> bool {
    OFFERS.iter().any(|known| method.starts_with(known))
}

/// The first request of a client: the version of the protocol is a day, which is text.
fn greets(method: &str, message: Object<'_>) -> bool {
    Method::from_key(method) == Some(Method::Initialize)
        && object_of(message, OfRpc::Params).is_some_and(|params| {
            text_of(params, OfRpc::Protocol).is_some()
                && [OfRpc::Client, OfRpc::Capabilities].into_iter().any(|field| params.field(field).is_some())
        })
}

/// The message in an envelope that holds it as an object.
fn plain(frame: Object<'_>) -> Option<Object<'_>> {
    use OfFrame::{Data, Frame, Message, Payload, Raw, Request};
    let is_message = |object: Object<'_>| {
        object.field(OfRpc::Version).is_some()
            || object.field(OfRpc::Method).is_some() && object.field(OfRpc::Params).is_some()
    };
    if is_message(frame) {
        return Some(frame);
    }
    let inner = [Message, Data, Payload, Frame, Raw, Request].into_iter().find_map(|field| object_of(frame, field));
    inner.filter(|inner| is_message(*inner))
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let root = draft.arena.alloc(root);
    let frames = items_of(root, &LISTS);
    let directions = frames.iter().filter_map(|node| text_of(object(*node)?, OfFrame::Direction));
    let mut log = Log { talk: Talk::new(draft), open: OpenRequests::new(directions) };
    for node in frames {
        log.talk.draft.record();
        match object(*node) {
            Some(frame) => log.frame(*node, frame),
            None => log.talk.draft.not_understood(node.origin, "what is no message is passed over"),
        }
    }
    log.talk.finish_without_turns();
    Ok(())
}

struct Log<'a, 'run, 'limits> {
    talk: Talk<'a, 'run, 'limits>,
    open: OpenRequests<'run>,
}

impl<'run> Log<'_, 'run, '_> {
    /// A message, or a request with its response beside it, each an object or text that holds one.
    fn frame(&mut self, node: Node<'run>, frame: Object<'run>) {
        use OfFrame::{
            Data, Frame, Message, Payload, Raw, Request, Response, Stream, Time, TimeInMilliseconds, TimeOfLog, TimeToo,
        };
        let time = first_of(frame, &[Time, TimeToo, TimeOfLog, TimeInMilliseconds]).and_then(instant);
        let about = About { time, ..About::default() };
        let direction = text_of(frame, OfFrame::Direction);
        if is_message(frame) {
            return self.message(node, frame, direction, &about);
        }
        let mut known = false;
        for field in [Message, Data, Payload, Frame, Raw, Request, Response, Stream] {
            let inner = frame.field(field).map(|inner| match inner.value {
                Value::Text(_) => inner.embedded(self.talk.draft.arena, self.talk.draft.limits).unwrap_or(inner),
                _ => inner,
            });
            if let Some((inner, message)) = inner.and_then(|inner| Some((inner, object(inner)?))) {
                // A piece of a stream holds its message as text.
                let data = message.field(Data).filter(|_| !is_message(message));
                let data =
                    data.and_then(|data| data.embedded(self.talk.draft.arena, self.talk.draft.limits).or(Some(data)));
                let (inner, message) = data.and_then(|data| Some((data, object(data)?))).unwrap_or((inner, message));
                known |= is_message(message);
                // What stands beside a request is the answer to it, whichever way that went.
                self.message(inner, message, direction.filter(|_| field != Response), &about);
            }
        }
        if !known {
            self.talk.draft.not_understood(node.origin, "what holds no message of JSON-RPC is passed over");
        }
    }

    fn message(&mut self, node: Node<'run>, message: Object<'run>, direction: Option<&'run str>, about: &About<'run>) {
        self.talk.note_time(about.time);
        let id = message.field(OfRpc::Id).and_then(key);
        let Some(method) = text_of(message, OfRpc::Method) else {
            return self.response(message, id, direction, about);
        };
        match Method::from_key(method) {
            Some(Method::Call) => self.call(node, message, id, direction, about),
            Some(Method::Ask) => self.open.add(id, Asked::Client, direction),
            Some(Method::Initialize | Method::Other) => {}
            None if is_offer(method) || method.starts_with(NOTIFICATIONS) => {}
            None => {
                let why = format!("a message of unknown method `{method}` is passed over");
                self.talk.draft.not_understood(node.origin, why);
            }
        }
    }

    fn call(
        &mut self,
        node: Node<'run>,
        message: Object<'run>,
        id: Option<String>,
        direction: Option<&'run str>,
        about: &About<'run>,
    ) {
        let params = object_of(message, OfRpc::Params);
        let of = |field| params.and_then(|params| params.field(field));
        let tool = of(OfRpc::Name).unwrap_or(Node::computed(Value::Null));
        let made = Made { tool, args: of(OfRpc::Arguments), id: message.field(OfRpc::Id), origin: node.origin };
        if let Some(step) = self.talk.call(made, about) {
            self.open.add(id, Asked::Tool(step), direction);
        }
    }

    /// What came back: of a call its result, of other requests what the server is and offers.
    fn response(
        &mut self,
        message: Object<'run>,
        id: Option<String>,
        direction: Option<&'run str>,
        about: &About<'run>,
    ) {
        let given = first_of(message, &[OfRpc::Result]);
        let inside = given.and_then(object);
        let error = first_of(message, &[OfRpc::Error]);
        let call = id.and_then(|id| self.open.answer(&id, Answer::of(inside), direction));
        let Some(call) = call else {
            if let Some(tools) =
                inside.and_then(|inside| list_of(inside, OfRpc::Tools)).filter(|_| !self.talk.draft.has(of_run::TOOLS))
            {
                let tools = self.talk.draft.list(tools);
                self.talk.draft.set(of_run::TOOLS, tools);
            }
            return self.talk.meta(OfRpc::Server.key(), inside.and_then(|inside| inside.field(OfRpc::Server)));
        };
        let failed = error.is_some() || inside.is_some_and(|inside| is_true(&inside, &Parsed, OfRpc::Failed));
        let content = inside.and_then(|inside| first_of(inside, &[OfRpc::Content]));
        let said = content.and_then(|content| content::text(content, self.talk.draft.arena));
        let result = said.or_else(|| inside.and_then(pairing::structured)).or(given);
        let why = error.and_then(object).and_then(|error| first_of(error, &[OfRpc::Why]));
        let status = if failed { Status::Failed } else { Status::Ok };
        let outcome = Outcome { result, status: Some(status), error: why.or(error), ..Outcome::default() };
        self.talk.end(call, outcome, about);
        if let Some(given) = given {
            self.talk.draft.replace(call, OfFrame::Response.key(), given);
        }
    }
}

/// Whether an object says what is asked for, or what came of it.
fn is_message(object: Object<'_>) -> bool {
    let has = |field| object.field(field).is_some();
    has(OfRpc::Version) || has(OfRpc::Method) || has(OfRpc::Id) && (has(OfRpc::Result) || has(OfRpc::Error))
}

/// The id of a request as a key: `1` and `"1"` differ.
fn key(id: Node<'_>) -> Option<String> {
    match id.value {
        Value::Text(text) => Some(format!("\"{}\"", text.as_str())),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
