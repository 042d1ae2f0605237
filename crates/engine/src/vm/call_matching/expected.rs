//! What calls are expected: the shapes in which data sets, test cases and recorded conversations write them.

use averment_base::limits::Limits;
use averment_base::value::json::parse;
use averment_base::value::{Node, Object, Value};
use bumpalo::Bump;

/// Keys under which the name of a tool stands, the more particular ones first.
const NAME_KEYS: [&str; 5] = ["tool", "tool_name", "function_name", "function", "name"];
/// Keys under which its arguments stand.
const ARGUMENT_KEYS: [&str; 9] =
    ["args", "arguments", "tool_args", "tool_input", "input_parameters", "parameters", "params", "kwargs", "input"];
/// The key of several accepted routes.
const ROUTES_KEY: &str = "alternatives";
/// The key of the calls of a recorded message.
const CALLS_KEY: &str = "tool_calls";
/// The type of a part of a message's content that is a call.
const CALL_PART: &str = "tool_use";
/// The key that names the arguments which are compared.
const COMPARED_KEY: &str = "compare_args";
/// More expected calls than this are no test case.
const MOST_EXPECTED: usize = 10_000;

/// A call that is expected.
#[derive(Debug, Clone, Copy)]
pub(in crate::vm) struct ExpectedCall<'run> {
    /// The name of its tool.
    pub(in crate::vm) tool: &'run str,
    /// Its arguments; `None` where nothing is said of them.
    pub(in crate::vm) arguments: Option<Node<'run>>,
    /// The keys that are compared; `None` for all of them.
    pub(in crate::vm) compared: Option<&'run [Node<'run>]>,
    /// The whole of it, for the place in the run.
    pub(in crate::vm) node: Node<'run>,
}

/// The accepted routes: one, or several of which any is enough.
#[derive(Debug)]
pub(in crate::vm) enum ExpectedRoutes<'run> {
    Routes(Vec<Vec<ExpectedCall<'run>>>),
    /// The run does not record them, or has no such value.
    Unrecorded,
    /// They are no calls: what is wrong, in words.
    Unreadable(String),
}

/// Reads what is expected. A list of lists, or the list under `alternatives`, holds several routes.
pub(in crate::vm) fn read_expected<'run>(node: Node<'run>, arena: &'run Bump) -> ExpectedRoutes<'run> {
    let routes = match node.value {
        Value::Absent | Value::Missing | Value::Null => return ExpectedRoutes::Unrecorded,
        Value::Object(object) => match object.get(ROUTES_KEY).map(|routes| routes.value) {
            Some(Value::List(routes)) => routes.iter().map(|route| read_route(*route, arena)).collect(),
            Some(_) => Err(format!("`{ROUTES_KEY}` is not a list of lists of calls")),
            None => read_route(node, arena).map(|route| vec![route]),
        },
        Value::List(items) if !items.is_empty() && items.iter().all(|item| matches!(item.value, Value::List(_))) => {
            items.iter().map(|route| read_route(*route, arena)).collect()
        }
        _ => read_route(node, arena).map(|route| vec![route]),
    };
    match routes {
        Ok(routes) => ExpectedRoutes::Routes(routes),
        Err(why) => ExpectedRoutes::Unreadable(why),
    }
}

fn read_route<'run>(node: Node<'run>, arena: &'run Bump) -> Result<Vec<ExpectedCall<'run>>, String> {
    let mut calls = Vec::new();
    match node.value {
        Value::List(items) if items.len() > MOST_EXPECTED => {
            return Err(format!("there are {} expected calls, and at most {MOST_EXPECTED} are compared", items.len()));
        }
        Value::List(items) => {
            for (place, item) in items.iter().enumerate() {
                let number = place.saturating_add(1);
                read_call(*item, arena, &mut calls).map_err(|is| {
                    format!("the expected call {number} is {is}; write `{{ tool: \"search\", args: {{ q: \"x\" }} }}` or the name of a tool")
                })?;
            }
        }
        Value::Object(object) if is_message(&object) => {
            read_call(node, arena, &mut calls).map_err(|is| format!("an expected call is {is}"))?;
        }
        other => {
            return Err(format!("what is expected is {}, and not a list of calls", with_article(other.type_name())));
        }
    }
    Ok(calls)
}

/// Reads one entry; a message brings all of its calls. The error says what the entry is instead.
fn read_call<'run>(node: Node<'run>, arena: &'run Bump, calls: &mut Vec<ExpectedCall<'run>>) -> Result<(), String> {
    let plain = |tool, arguments| ExpectedCall { tool, arguments, compared: None, node };
    let object = match node.value {
        Value::Text(name) if !name.is_empty() => {
            calls.push(plain(name.as_str(), None));
            return Ok(());
        }
        Value::Object(object) => object,
        other => return Err(with_article(other.type_name())),
    };
    if is_message(&object) {
        return read_message(&object, arena, calls);
    }
    for key in NAME_KEYS {
        match object.get(key).map(|name| name.value) {
            Some(Value::Text(name)) if !name.is_empty() => {
                let compared = match object.get(COMPARED_KEY).map(|keys| keys.value) {
                    Some(Value::List(keys)) => Some(keys),
                    _ => None,
                };
                let arguments = arguments_of(&object, arena);
                calls.push(ExpectedCall { compared, ..plain(name.as_str(), arguments) });
                return Ok(());
            }
            // `{ function: { name, arguments } }`
            Some(Value::Object(inner)) => {
                if let Some(Value::Text(name)) = inner.get("name").map(|name| name.value) {
                    calls.push(plain(name.as_str(), arguments_of(&inner, arena)));
                    return Ok(());
                }
            }
            _ => {}
        }
    }
    // `{ get_weather: { city: ["Berlin"] } }`
    if let [only] = object.entries()
        && let Value::Object(_) = only.node.value
    {
        calls.push(plain(only.key, Some(only.node)));
        return Ok(());
    }
    Err("an object without the name of a tool".to_owned())
}

/// Whether an entry is a message of a recorded conversation: its name is not that of a tool which is to be called.
fn is_message(object: &Object<'_>) -> bool {
    let has = |key: &str| object.get(key).is_some();
    has("role") || has(CALLS_KEY) || has("type") && has("content")
}

/// The calls that a message asks for: in a list of its own, in the older form of a single one, or among the parts of its content.
fn read_message<'run>(
    message: &Object<'run>,
    arena: &'run Bump,
    calls: &mut Vec<ExpectedCall<'run>>,
) -> Result<(), String> {
    let list = |key: &str| match message.get(key).map(|list| list.value) {
        Some(Value::List(items)) => items,
        _ => &[],
    };
    let single = message.get("function_call").filter(|call| matches!(call.value, Value::Object(_)));
    let parts = list("content")
        .iter()
        .filter(|part| matches!(part.field("type").value, Value::Text(kind) if kind.as_str() == CALL_PART));
    for item in list(CALLS_KEY).iter().chain(&single).chain(parts) {
        match item.value {
            Value::Object(inner) if is_message(&inner) => return Err("nested in another message".to_owned()),
            _ => read_call(*item, arena, calls)?,
        }
    }
    Ok(())
}

/// Arguments as an object; a text that is one in JSON is read.
fn arguments_of<'run>(object: &Object<'run>, arena: &'run Bump) -> Option<Node<'run>> {
    let node = ARGUMENT_KEYS.iter().find_map(|key| object.get(key))?;
    match node.value {
        Value::Text(text) if text.as_str().trim_start().starts_with('{') => {
            let read = parse(text.as_str(), 0, arena, &Limits::default()).ok();
            Some(read.map_or(node, |document| Node::new(document.node.value, node.origin)))
        }
        _ => Some(node),
    }
}

fn with_article(name: &str) -> String {
    let vowel = name.starts_with(['a', 'e', 'i', 'o', 'u']);
    if matches!(name, "true" | "false" | "null") {
        name.to_owned()
    } else {
        format!("{} {name}", if vowel { "an" } else { "a" })
    }
}
