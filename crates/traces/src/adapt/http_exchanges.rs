//! Requests to the APIs of models and their answers as whoever recorded them wrote them down: a proxy, a client, a recorder of tests (VCR).
//! Bodies may be text, and a streamed answer stays as it was sent. What the bodies hold is read by the formats of the APIs.

use super::api::{anthropic, converse, responses};
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{items_of, list_of, node_list, node_object, object_items, text_of};
use super::run_builder::{RunBuilder, field_entry};
use super::{bedrock_agent, gemini_api, openai_chat, streamed_answers};
use crate::error::PlacedError;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

key_table! {
    HttpKey {
        /// The exchanges of a recorder.
        Interactions = "interactions",
        /// In Ruby.
        InteractionsToo = "http_interactions",
        /// Lists that some recorders keep apart.
        Requests = "requests",
        Responses = "responses",
        Request = "request",
        Response = "response",
        /// What nock writes down: where a request went, beside its body.
        Scope = "scope",
        Path = "path",
        /// A body, as a value or as text.
        Body = "parsed_body" | "body" | "body_raw" | "inputBodyJson" | "outputBodyJson",
        /// What a log of Bedrock's calls says that it is, and its two sides.
        Schema = "schemaType",
        Input = "input",
        Output = "output",
        /// The text of a body.
        Text = "string",
        /// A body beside the method of a request or the status of a response.
        Content = "content",
        Method = "method",
        /// A body in the recordings of Google's SDK, whose answers may come in several.
        Segments = "body_segments",
        /// How the data of a body are written.
        Encoding = "encoding",
        Status = "status" | "status_code" | "statusCode",
        Code = "code",
        Data = "data",
        Kind = "object",
        Error = "error",
        /// Where Llama Stack puts the value of an object with a class.
        Wrapped = "__data__",
    }
}

key_table! {
    /// Answers that hold no message: embeddings, models, checks of content.
    HttpListKind {
        Harmless = "list",
    }
}

key_table! {
    /// What a server says that took something: how a framework is used, spans. It answers nothing.
    Acknowledgement {
        Done = "status" | "success" | "ok",
        Beside = "message" | "id" | "detail",
    }
}

key_table! {
    /// An answer that counts the tokens of a request, which nobody answers.
    TokenCountKey {
        Count = "input_tokens" | "inputTokens" | "totalTokens",
        Beside = "object" | "promptTokensDetails" | "context_management" | "cachedContentTokenCount",
    }
}

key_table! {
    HttpSpanKind {
        Any = "trace" | "trace.span",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "HTTP exchanges",
    known_by: "`interactions`, or a `request` with a `response`, whose bodies are text or stand under `body`",
    description: "recorded HTTP exchanges with the APIs of models (VCR cassettes, logs of proxies; streamed answers as text)",
    marks: &[
        HttpKey::Request.key(),
        HttpKey::Interactions.key(),
        HttpKey::InteractionsToo.key(),
        HttpKey::Scope.key(),
        HttpKey::Schema.key(),
    ],
    near: &[HttpKey::Interactions.key(), HttpKey::InteractionsToo.key()],
    object: |object| match LISTS.into_iter().find_map(|list| list_of(object, list)) {
        Some(exchanges) => object_items(exchanges).any(|(_, exchange)| is_exchange(exchange)),
        None => is_exchange(object),
    },
    item_marks: &[HttpKey::Request.key(), HttpKey::Scope.key(), HttpKey::Schema.key()],
    element: is_exchange,
    line: is_exchange,
    read: read_run,
    ..IN_FULL
};

const LISTS: [HttpKey; 2] = [HttpKey::Interactions, HttpKey::InteractionsToo];

/// The formats of what bodies hold.
const APIS: [&TraceFormat; 5] =
    [&gemini_api::FORMAT, &responses::FORMAT, &anthropic::FORMAT, &converse::FORMAT, &openai_chat::FORMAT];

/// A request with its answer, of which one is not the value itself.
fn is_exchange(object: Object<'_>) -> bool {
    if is_of_nock(object) {
        return value_of(object, HttpKey::Response).is_some();
    }
    let (asked, answered) = side_keys(object);
    let (Some(request), Some(response)) = (value_of(object, asked), value_of(object, answered)) else {
        return false;
    };
    let has_body = |side: Node<'_>| {
        node_object(side).is_some_and(|side| side.field(HttpKey::Body).is_some() || content_of(side).is_some())
    };
    let is_text = streamed_answers::may_hold_value;
    has_body(request) && (has_body(response) || node_object(response).is_some())
        || is_text(response) && (is_text(request) || node_object(request).is_some())
        || is_text(request) && node_object(response).is_some()
}

/// The keys of what was asked, and of what was answered.
fn side_keys(exchange: Object<'_>) -> (HttpKey, HttpKey) {
    match text_of(exchange, HttpKey::Schema) {
        Some(BEDROCK_LOG) => (HttpKey::Input, HttpKey::Output),
        _ => (HttpKey::Request, HttpKey::Response),
    }
}

/// The schema of a log of Bedrock's calls.
const BEDROCK_LOG: &str = "ModelInvocationLog";

fn is_of_nock(object: Object<'_>) -> bool {
    [HttpKey::Scope, HttpKey::Path].into_iter().all(|key| text_of(object, key).is_some())
        && value_of(object, HttpKey::Request).is_none()
}

pub(super) fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let root = builder.arena.alloc(root);
    let (mut exchanges, mut refusal) = (Vec::new(), None);
    for (node, exchange) in builder.record_objects(items_of(root, &LISTS)) {
        match unpack_exchange(node, exchange, builder) {
            Unpacked::Exchange(plain) => {
                exchanges.push(plain);
                refusal = None;
            }
            Unpacked::Asked(request) => exchanges.push(request),
            // What was asked again and answered the program got over.
            Unpacked::Refused(request, error) => {
                exchanges.push(request);
                refusal = Some(error);
            }
            Unpacked::Harmless => {}
            Unpacked::Unknown => {
                builder.count_record();
                builder.skip_record(node.origin, "an exchange with no known API is skipped");
            }
        }
    }
    builder.set_some(of_run::ERROR, refusal);
    if exchanges.iter().any(|one| request_in(*one).is_some_and(bedrock_agent::is_request)) {
        let events: Vec<_> = exchanges.iter().flat_map(|one| events_of_agent(*one)).collect();
        return (bedrock_agent::FORMAT.read)(builder.list_node(&events), builder);
    }
    let Some(format) =
        APIS.into_iter().find(|format| exchanges.iter().any(|exchange| is_exchange_of(format, *exchange)))
    else {
        exchanges.iter().for_each(|node| builder.skip_record(node.origin, "an exchange with no known API is skipped"));
        return Ok(());
    };
    let items = builder.arena.alloc_slice_copy(&exchanges);
    (format.read)(Node::new(Value::List(items), root.origin), builder)
}

fn is_exchange_of(format: &TraceFormat, node: Node<'_>) -> bool {
    node_object(node).is_some_and(|one| (format.element)(one) || (format.object)(one))
}

/// Whether a response by itself is an answer of a known API.
fn is_of_model(response: Node<'_>) -> bool {
    let parts = node_list(response).unwrap_or(std::slice::from_ref(&response));
    parts.first().is_some_and(|part| APIS.into_iter().any(|format| is_exchange_of(format, *part)))
}

fn request_in(exchange: Node<'_>) -> Option<Object<'_>> {
    let exchange = node_object(exchange)?;
    value_of(exchange, HttpKey::Request).and_then(node_object).or(Some(exchange))
}

/// What was asked of an agent of Bedrock, and the events that it answered.
fn events_of_agent<'run>(exchange: Node<'run>) -> Vec<Node<'run>> {
    let side = |key| node_object(exchange).and_then(|exchange| value_of(exchange, key));
    let Some(request) = side(HttpKey::Request) else { return vec![exchange] };
    let events = side(HttpKey::Response).and_then(node_list).unwrap_or_default();
    std::iter::once(request).chain(events.iter().copied()).collect()
}

enum Unpacked<'run> {
    Exchange(Node<'run>),
    /// A request whose answer is not there.
    Asked(Node<'run>),
    /// A request, and why it had no answer.
    Refused(Node<'run>, Node<'run>),
    /// Nothing that a model said or was told.
    Harmless,
    Unknown,
}

/// The method that fetches something.
const GET: &str = "get";

fn unpack_exchange<'run>(node: Node<'run>, exchange: Object<'run>, builder: &RunBuilder<'run, '_>) -> Unpacked<'run> {
    let (asked, answered) = side_keys(exchange);
    let request = match is_of_nock(exchange) {
        true => Some(value_of(exchange, HttpKey::Body).map_or(Body::Nothing, |body| read_body(body, builder))),
        false => value_of(exchange, asked).map(|side| body_of(side, builder)),
    };
    let answer = value_of(exchange, answered);
    let method = value_of(exchange, asked).and_then(node_object).and_then(|side| text_of(side, HttpKey::Method));
    let is_of_get = method.is_some_and(|method| method.eq_ignore_ascii_case(GET));
    let response = answer.map(|side| whole_answer(body_of(side, builder), builder));
    let is_refused = answer.is_some_and(is_refused);
    match (request, response) {
        (Some(Body::Value(request)), Some(Body::Value(response))) if is_refused => {
            let error = node_object(response).and_then(|response| value_of(response, HttpKey::Error));
            Unpacked::Refused(Node::new(request.value, node.origin), error.unwrap_or(response))
        }
        (Some(Body::Value(request)), Some(Body::Value(response))) => {
            let says_nothing = |it| is_list_of_data(it) || is_acknowledgement(it) || is_token_count(it);
            if node_object(response).is_some_and(says_nothing) {
                return Unpacked::Harmless;
            }
            if let Some(error) = node_object(response).and_then(|response| value_of(response, HttpKey::Error)) {
                return Unpacked::Refused(Node::new(request.value, node.origin), error);
            }
            let entries =
                [field_entry(HttpKey::Request.key(), request), field_entry(HttpKey::Response.key(), response)];
            Unpacked::Exchange(Node::new(builder.object_node(&entries).value, node.origin))
        }
        // Recorders leave out what was asked.
        (Some(Body::Nothing), Some(Body::Value(response))) if is_of_model(response) => {
            Unpacked::Exchange(Node::new(response.value, node.origin))
        }
        // Nothing was asked of a model.
        (Some(Body::Nothing), Some(Body::Nothing | Body::Value(_))) => Unpacked::Harmless,
        (Some(Body::Nothing), Some(Body::Unknown)) if is_of_get => Unpacked::Harmless,
        (Some(Body::Value(request)), Some(Body::Nothing)) => {
            if node_object(request).is_some_and(holds_spans) {
                return Unpacked::Harmless;
            }
            if !is_refused {
                builder.note_unknown(node.origin, "an answer without its body: it may have asked for calls");
            }
            Unpacked::Asked(Node::new(request.value, node.origin))
        }
        // What stands between may answer with words or a page.
        (Some(Body::Value(request)), Some(Body::Unknown)) if is_refused => {
            Unpacked::Asked(Node::new(request.value, node.origin))
        }
        _ => Unpacked::Unknown,
    }
}

/// Whether a server answered with an error, or not at all.
fn is_refused(response: Node<'_>) -> bool {
    const FIRST_ERROR: f64 = 400.0;
    let Some(response) = node_object(response) else { return matches!(response.value, Value::Null) };
    let status = value_of(response, HttpKey::Status);
    let code = status.and_then(node_object).and_then(|status| value_of(status, HttpKey::Code)).or(status);
    matches!(code.map(|code| code.value), Some(Value::Number(code)) if code.to_f64() >= FIRST_ERROR)
}

/// Embeddings, models, results of checks.
fn is_list_of_data(response: Object<'_>) -> bool {
    let kind = text_of(response, HttpKey::Kind).and_then(HttpListKind::from_key);
    kind.is_some() && list_of(response, HttpKey::Data).is_some()
}

/// How many tokens a request would have.
fn is_token_count(response: Object<'_>) -> bool {
    let keys: Option<Vec<_>> = response.entries().iter().map(|entry| TokenCountKey::from_key(entry.key)).collect();
    keys.is_some_and(|keys| keys.contains(&TokenCountKey::Count))
}

fn is_acknowledgement(response: Object<'_>) -> bool {
    let is_plain = |node: Node<'_>| !matches!(node.value, Value::Object(_) | Value::List(_));
    let keys =
        response.entries().iter().map(|entry| Acknowledgement::from_key(entry.key).filter(|_| is_plain(entry.node)));
    let keys: Option<Vec<_>> = keys.collect();
    keys.is_some_and(|keys| keys.contains(&Acknowledgement::Done))
}

/// What the Agents SDK tells its maker of its own steps: nothing is asked.
fn holds_spans(request: Object<'_>) -> bool {
    let is_span =
        |(_, record)| text_of(record, HttpKey::Kind).is_some_and(|kind| HttpSpanKind::from_key(kind).is_some());
    list_of(request, HttpKey::Data).is_some_and(|records| !records.is_empty() && object_items(records).all(is_span))
}

#[derive(Clone, Copy)]
enum Body<'run> {
    Value(Node<'run>),
    Nothing,
    Unknown,
}

fn content_of(side: Object<'_>) -> Option<Node<'_>> {
    let is_told = [HttpKey::Status, HttpKey::Method].into_iter().any(|key| value_of(side, key).is_some());
    let segments = list_of(side, HttpKey::Segments).filter(|_| is_told);
    match segments {
        Some([only]) => Some(*only),
        Some(_) => value_of(side, HttpKey::Segments),
        None => value_of(side, HttpKey::Content).filter(|_| is_told),
    }
}

/// The text of a body that is kept as base64.
fn decoded_text<'run>(body: Node<'run>, builder: &RunBuilder<'run, '_>) -> Option<Node<'run>> {
    let kept = node_object(body).filter(|kept| text_of(*kept, HttpKey::Encoding) == Some("base64"))?;
    let bytes = STANDARD.decode(text_of(kept, HttpKey::Data)?).ok()?;
    let text = std::str::from_utf8(builder.arena.alloc_slice_copy(&bytes)).ok()?;
    Some(Node::new(Value::plain_text(text), body.origin))
}

fn body_of<'run>(side: Node<'run>, builder: &RunBuilder<'run, '_>) -> Body<'run> {
    let holder = node_object(side).filter(|side| side.field(HttpKey::Body).is_some());
    let body = match holder {
        Some(holder) => value_of(holder, HttpKey::Body),
        None => node_object(side).and_then(content_of).or(Some(side)),
    };
    let text = |body: Node<'run>| node_object(body).and_then(|inner| inner.field(HttpKey::Text)).unwrap_or(body);
    body.map_or(Body::Nothing, |body| read_body(decoded_text(body, builder).unwrap_or_else(|| text(body)), builder))
}

fn read_body<'run>(body: Node<'run>, builder: &RunBuilder<'run, '_>) -> Body<'run> {
    match body.value {
        Value::Object(_) | Value::List(_) => Body::Value(body),
        Value::Null => Body::Nothing,
        Value::Text(text) if text.as_str().trim().is_empty() => Body::Nothing,
        _ => streamed_answers::read_body(body, builder).map_or(Body::Unknown, Body::Value),
    }
}

/// Some keep the pieces of a streamed answer in a list, and name the class of each.
fn whole_answer<'run>(body: Body<'run>, builder: &RunBuilder<'run, '_>) -> Body<'run> {
    let Body::Value(answer) = body else { return body };
    let plain = |node: Node<'run>| node_object(node).and_then(|it| value_of(it, HttpKey::Wrapped)).unwrap_or(node);
    let Some(pieces) = node_list(answer) else { return Body::Value(plain(answer)) };
    let pieces: Vec<_> = pieces.iter().map(|piece| plain(*piece)).collect();
    let list = Node::new(builder.list_node(&pieces).value, answer.origin);
    Body::Value(streamed_answers::compose_events(list, false, builder).unwrap_or(list))
}
