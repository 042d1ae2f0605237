//! Logs of the Model Context Protocol: JSON-RPC messages, one a line or in a list, bare or within an envelope that says when they passed
//! (`timestamp`) and which way (`direction`). `tools/call` is a call, the response with its id the result.

mod pairing;

use super::content;
use super::conversation::{CallResult, ConversationBuilder, StepMeta, ToolCall, instant_node};
use super::fields::{FieldRecord, NodeShapes, is_true, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{first_of, items_of, list_of, node_object, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::StepStatus;
use pairing::{OpenRequests, RequestTarget, ResponseShape};

key_table! {
    FrameKey {
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
    RpcKey {
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
    RpcMethod {
        Call = "tools/call",
        Initialize = "initialize",
        /// Server requests, whose ids are independent of the client's; either side may ping.
        Ask = "sampling/createMessage" | "elicitation/create" | "roots/list" | "ping",
        Other = "completion/complete" | "logging/setLevel" | "tasks/get" | "tasks/result" | "tasks/list" | "tasks/cancel",
    }
}

/// Prefixes of methods that only MCP has.
const OFFERS: [&str; 3] = ["tools/", "resources/", "prompts/"];

/// Prefix of messages that nobody answers.
const NOTIFICATIONS: &str = "notifications/";

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "MCP log",
    known_by: "messages with `jsonrpc` and a `method` of the Model Context Protocol (`tools/…`, `resources/…`, `prompts/…`, or `initialize` with a `protocolVersion` that is text), bare or within a frame",
    description: "logs of the Model Context Protocol (JSON-RPC messages, one a line, in a list or under `messages`, and sessions of its inspector)",
    marks: &[
        RpcKey::Version.key(),
        FrameKey::History.key(),
        FrameKey::Events.key(),
        FrameKey::Entries.key(),
        FrameKey::Messages.key(),
    ],
    near: &[RpcKey::Version.key()],
    object: |object| {
        is_frame(object) || held_in(object).iter().any(|one| self::node_object(*one).is_some_and(is_frame))
    },
    item_marks: &[
        RpcKey::Version.key(),
        FrameKey::Message.key(),
        FrameKey::Data.key(),
        FrameKey::Payload.key(),
        FrameKey::Raw.key(),
        FrameKey::Frame.key(),
        FrameKey::Request.key(),
        FrameKey::Stream.key(),
        RpcKey::Params.key(),
    ],
    element: is_frame,
    line: is_frame,
    record_ids: RecordIds::shared(&[
        &[FrameKey::Time.key()],
        &[FrameKey::TimeToo.key()],
        &[FrameKey::TimeOfLog.key()],
        &[FrameKey::TimeInMilliseconds.key()],
    ]),
    read: read_run,
    ..IN_FULL
};

const LISTS: [FrameKey; 4] = [FrameKey::History, FrameKey::Messages, FrameKey::Events, FrameKey::Entries];

fn held_in(object: Object<'_>) -> &[Node<'_>] {
    LISTS.into_iter().find_map(|list| list_of(object, list)).unwrap_or_default()
}

/// True for MCP messages that other JSON-RPC protocols do not have.
fn is_frame(frame: Object<'_>) -> bool {
    plain_message(frame).is_some_and(|message| {
        text_of(message, RpcKey::Method).is_some_and(|method| is_offer(method) || is_greeting(method, message))
    })
}

fn is_offer(method: &str) -> bool {
    OFFERS.iter().any(|known| method.starts_with(known))
}

/// Its protocol version is a date in text.
fn is_greeting(method: &str, message: Object<'_>) -> bool {
    RpcMethod::from_key(method) == Some(RpcMethod::Initialize)
        && object_of(message, RpcKey::Params).is_some_and(|params| {
            text_of(params, RpcKey::Protocol).is_some()
                && [RpcKey::Client, RpcKey::Capabilities].into_iter().any(|field| params.field(field).is_some())
        })
}

fn plain_message(frame: Object<'_>) -> Option<Object<'_>> {
    use FrameKey::{Data, Frame, Message, Payload, Raw, Request};
    let is_message = |object: Object<'_>| {
        object.field(RpcKey::Version).is_some()
            || object.field(RpcKey::Method).is_some() && object.field(RpcKey::Params).is_some()
    };
    if is_message(frame) {
        return Some(frame);
    }
    let inner = [Message, Data, Payload, Frame, Raw, Request].into_iter().find_map(|field| object_of(frame, field));
    inner.filter(|inner| is_message(*inner))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let frames = items_of(root, &LISTS);
    let directions = frames.iter().filter_map(|node| text_of(node_object(*node)?, FrameKey::Direction));
    let mut log = McpLog { conversation: ConversationBuilder::new(builder), open: OpenRequests::new(directions) };
    for node in frames {
        log.conversation.builder.count_record();
        match node_object(*node) {
            Some(frame) => log.read_frame(*node, frame),
            None => log.conversation.builder.skip_value(node, "what is no message is skipped"),
        }
    }
    log.conversation.finish_without_turns();
    Ok(())
}

struct McpLog<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    open: OpenRequests<'run>,
}

impl<'run> McpLog<'_, 'run, '_> {
    /// A message, or a request and its response, each an object or JSON text.
    fn read_frame(&mut self, node: Node<'run>, frame: Object<'run>) {
        use FrameKey::{
            Data, Frame, Message, Payload, Raw, Request, Response, Stream, Time, TimeInMilliseconds, TimeOfLog, TimeToo,
        };
        let time = first_of(frame, &[Time, TimeToo, TimeOfLog, TimeInMilliseconds]).and_then(instant_node);
        let meta = StepMeta { time, ..StepMeta::default() };
        let direction = text_of(frame, FrameKey::Direction);
        if is_message(frame) {
            return self.read_message(node, frame, direction, &meta);
        }
        let mut known = false;
        for field in [Message, Data, Payload, Frame, Raw, Request, Response, Stream] {
            let inner = frame.field(field).map(|inner| match inner.value {
                Value::Text(_) => self.conversation.builder.open_json(inner).unwrap_or(inner),
                _ => inner,
            });
            if let Some((inner, message)) = inner.and_then(|inner| Some((inner, node_object(inner)?))) {
                // A piece of a stream holds its message as text.
                let data = message.field(Data).filter(|_| !is_message(message));
                let data = data.map(|data| self.conversation.builder.open_json(data).unwrap_or(data));
                let (inner, message) =
                    data.and_then(|data| Some((data, node_object(data)?))).unwrap_or((inner, message));
                known |= is_message(message);
                // What stands beside a request is the answer to it, whichever way that went.
                self.read_message(inner, message, direction.filter(|_| field != Response), &meta);
            }
        }
        if !known {
            self.conversation.builder.skip_value(node, "what holds no message of JSON-RPC is skipped");
        }
    }

    fn read_message(
        &mut self,
        node: Node<'run>,
        message: Object<'run>,
        direction: Option<&'run str>,
        meta: &StepMeta<'run>,
    ) {
        self.conversation.note_time(meta.time);
        let id = message.field(RpcKey::Id).and_then(request_key);
        let Some(method) = text_of(message, RpcKey::Method) else {
            return self.add_response(message, id, direction, meta);
        };
        match RpcMethod::from_key(method) {
            Some(RpcMethod::Call) => self.add_call(node, message, id, direction, meta),
            Some(RpcMethod::Ask) => self.open.add_request(id, RequestTarget::Client, direction),
            Some(RpcMethod::Initialize | RpcMethod::Other) => {}
            None if is_offer(method) || method.starts_with(NOTIFICATIONS) => {}
            None => {
                let why = format!("a message of unknown method `{method}` is skipped");
                self.conversation.builder.skip_value(node, why);
            }
        }
    }

    fn add_call(
        &mut self,
        node: Node<'run>,
        message: Object<'run>,
        id: Option<String>,
        direction: Option<&'run str>,
        meta: &StepMeta<'run>,
    ) {
        let params = object_of(message, RpcKey::Params);
        let of = |field| params.and_then(|params| params.field(field));
        let tool = of(RpcKey::Name).unwrap_or(Node::computed(Value::Null));
        // The protocol lets a client leave out what is empty.
        let args = of(RpcKey::Arguments).unwrap_or(Node::computed(Value::Object(Object::EMPTY)));
        let made = ToolCall { tool, args: Some(args), id: message.field(RpcKey::Id), origin: node.origin };
        if let Some(step) = self.conversation.add_call(made, meta) {
            self.open.add_request(id, RequestTarget::Tool(step), direction);
        }
    }

    /// A call's result; for other requests, what the server is and offers.
    fn add_response(
        &mut self,
        message: Object<'run>,
        id: Option<String>,
        direction: Option<&'run str>,
        meta: &StepMeta<'run>,
    ) {
        let given = first_of(message, &[RpcKey::Result]);
        let inside = given.and_then(node_object);
        let error = first_of(message, &[RpcKey::Error]);
        let call = id.and_then(|id| self.open.answer_request(&id, ResponseShape::of_result(inside), direction));
        let Some(call) = call else {
            if let Some(tools) = inside
                .and_then(|inside| list_of(inside, RpcKey::Tools))
                .filter(|_| !self.conversation.builder.has_entry(of_run::TOOLS))
            {
                let tools = self.conversation.builder.list_node(tools);
                self.conversation.builder.set_entry(of_run::TOOLS, tools);
            }
            return self
                .conversation
                .add_meta(RpcKey::Server.key(), inside.and_then(|inside| inside.field(RpcKey::Server)));
        };
        let failed = error.is_some() || inside.is_some_and(|inside| is_true(&inside, &NodeShapes, RpcKey::Failed));
        let content = inside.and_then(|inside| first_of(inside, &[RpcKey::Content]));
        let said = content.and_then(|content| content::content_text(content, self.conversation.builder.arena));
        let result = said.or_else(|| inside.and_then(pairing::structured_result)).or(given);
        let why = error.and_then(node_object).and_then(|error| first_of(error, &[RpcKey::Why]));
        let status = if failed { StepStatus::Failed } else { StepStatus::Ok };
        let outcome = CallResult { result, status: Some(status), error: why.or(error), ..CallResult::default() };
        self.conversation.end_call(call, outcome, meta);
        if let Some(given) = given {
            self.conversation.builder.set_field(call, FrameKey::Response.key(), given);
        }
    }
}

fn is_message(object: Object<'_>) -> bool {
    let has = |field| object.field(field).is_some();
    has(RpcKey::Version) || has(RpcKey::Method) || has(RpcKey::Id) && (has(RpcKey::Result) || has(RpcKey::Error))
}

/// `1` and `"1"` differ.
fn request_key(id: Node<'_>) -> Option<String> {
    match id.value {
        Value::Text(text) => Some(format!("\"{}\"", text.as_str())),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
