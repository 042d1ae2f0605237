//! Helicone: requests that its gateway logged, as they are queried and exported. Bodies are read by the formats of the APIs.

use super::cutting::RunCutting;
use super::fields::{key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::http_exchanges::{self, HttpKey};
use super::nodes::{are_mostly, items_of, node_list, node_object, node_text};
use super::run_builder::{RunBuilder, field_entry};
use super::spans::ways;
use crate::error::PlacedError;
use crate::time;
use averment_base::value::{Node, Object, Value};

key_table! {
    HeliconeKey {
        Data = "data",
        Id = "request_id",
        Time = "request_created_at",
        Request = "request_body",
        Response = "response_body",
        Status = "response_status",
    }
}

key_table! {
    HeliconeMark {
        Any = "data" | "request_body" | "response_body" | "request_created_at",
    }
}

key_table! {
    HeliconeNearMark {
        Any = "request_body",
    }
}

ways! {
    SESSION = [["request_properties", "Helicone-Session-Id"], ["properties", "Helicone-Session-Id"], ["request_id"], ["response_id"]];
}

pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "Helicone requests",
    description: "requests that Helicone logged (a list, one a line, `data`), a run for each session or request",
    known_by: "`request_created_at` beside `request_body` or `response_body`",
    marks: HeliconeMark::Any.keys(),
    near: HeliconeNearMark::Any.keys(),
    object: |object| is_request(object) || is_page(object),
    item_marks: HeliconeMark::Any.keys(),
    element: |object| is_request(object) || is_page(object),
    read: read_run,
    runs: &[
        RunCutting { within: &[], way: &[HeliconeKey::Data.keys()], by: SESSION, keeps: &[], joins: None },
        RunCutting { within: &[], way: &[], by: SESSION, keeps: &[], joins: None },
    ],
    ..IN_FULL
};

fn is_request(object: Object<'_>) -> bool {
    let has = |key| value_of(object, key).is_some();
    has(HeliconeKey::Time) && (has(HeliconeKey::Request) || has(HeliconeKey::Response) || has(HeliconeKey::Status))
}

fn is_page(page: Object<'_>) -> bool {
    value_of(page, HeliconeKey::Data).and_then(node_list).is_some_and(|list| are_mostly(list.iter(), is_request))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let root = builder.arena.alloc(root);
    let mut requests: Vec<(f64, Node<'run>)> = Vec::new();
    for node in items_of(root, &[HeliconeKey::Data]) {
        let page = node_object(*node).filter(|page| is_page(*page));
        let page = page.and_then(|page| node_list(value_of(page, HeliconeKey::Data)?));
        for node in page.unwrap_or(std::slice::from_ref(node)) {
            match node_object(*node).filter(|request| is_request(*request)) {
                Some(request) => requests.push((sent_at(request), exchange_of(*node, request, builder))),
                None => {
                    builder.count_record();
                    builder.skip_value(node, "what is no request is skipped");
                }
            }
        }
    }
    // The newest stand first.
    requests.sort_by(|a, b| a.0.total_cmp(&b.0));
    let exchanges: Vec<Node<'run>> = requests.into_iter().map(|(_, exchange)| exchange).collect();
    let list = Value::List(builder.arena.alloc_slice_copy(&exchanges));
    http_exchanges::read_run(Node::new(list, root.origin), builder)
}

fn sent_at(request: Object<'_>) -> f64 {
    let time = value_of(request, HeliconeKey::Time);
    time.filter(|time| node_text(*time).is_some())
        .and_then(|time| time::to_milliseconds(&time.value))
        .unwrap_or_default()
}

/// The request in the form of an HTTP exchange; a body that was not kept is none.
fn exchange_of<'run>(node: Node<'run>, request: Object<'run>, builder: &RunBuilder<'run, '_>) -> Node<'run> {
    let nothing = Node::computed(Value::Null);
    let is_kept = |body: &Node<'run>| node_object(*body).is_none_or(|body| !body.entries().is_empty());
    let body = |key| value_of(request, key).filter(is_kept).unwrap_or(nothing);
    let asked = builder.object_node(&[field_entry(HttpKey::Body.key(), body(HeliconeKey::Request))]);
    let mut answer = vec![field_entry(HttpKey::Body.key(), body(HeliconeKey::Response))];
    answer.extend(value_of(request, HeliconeKey::Status).map(|status| field_entry(HttpKey::Status.key(), status)));
    let answer = builder.object_node(&answer);
    let exchange = [field_entry(HttpKey::Request.key(), asked), field_entry(HttpKey::Response.key(), answer)];
    Node::new(builder.object_node(&exchange).value, node.origin)
}
