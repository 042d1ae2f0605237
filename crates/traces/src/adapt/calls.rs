//! What formats with separate calls and results have in common: which result belongs to which call, arguments as JSON in text, token counts.

use super::draft::{Draft, StepId, field};
use super::{first_of, object_of};
use averment_base::value::json;
use averment_base::value::{Entry, Node, Number, Object, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// The calls that have no result yet. An id may come again: the oldest call without a result gets the next one.
#[derive(Default)]
pub(super) struct Unanswered<'run> {
    by_id: FxHashMap<&'run str, VecDeque<StepId>>,
    /// Calls without an id, by tool and all together; a call that was answered in one is passed over in the other.
    by_tool: FxHashMap<&'run str, VecDeque<StepId>>,
    in_order: VecDeque<StepId>,
    answered: FxHashSet<StepId>,
}

impl<'run> Unanswered<'run> {
    pub(super) fn add(&mut self, id: Option<&'run str>, tool: &'run str, call: StepId) {
        match id {
            Some(id) => self.by_id.entry(id).or_default().push_back(call),
            None => {
                self.by_tool.entry(tool).or_default().push_back(call);
                self.in_order.push_back(call);
            }
        }
    }

    /// The call that a result answers: by id, else the oldest one without an id (of that tool, where the result names it).
    pub(super) fn answer(&mut self, id: Option<&str>, tool: Option<&str>) -> Option<StepId> {
        if let Some(id) = id {
            return self.by_id.get_mut(id)?.pop_front();
        }
        let waiting = match tool {
            Some(tool) => self.by_tool.get_mut(tool)?,
            None => &mut self.in_order,
        };
        loop {
            let call = waiting.pop_front()?;
            if self.answered.insert(call) {
                return Some(call);
            }
        }
    }
}

/// Arguments that may be JSON inside text. Empty text stands for none at all; what is not JSON stays text, with a warning.
pub(super) fn arguments<'run>(draft: &mut Draft<'run, '_>, node: Node<'run>) -> Node<'run> {
    let Value::Text(text) = node.value else { return node };
    if text.as_str().trim().is_empty() {
        return Node::new(Value::Object(Object::new(draft.arena, &[])), node.origin);
    }
    match json::parse_text(text, node.origin, draft.arena, draft.limits) {
        Ok(document) => {
            for duplicate in &document.duplicates {
                let message =
                    format!("the key `{}` stands more than once in arguments; the last one counts", duplicate.key);
                draft.warn(duplicate.object, message);
            }
            document.node
        }
        Err(error) => {
            let message = format!("arguments of a call are not JSON and stay text: {}", error.message);
            draft.warn(node.origin, message);
            node
        }
    }
}

/// Counts of tokens, summed over the parts of a run. A count that no part has stays unknown.
#[derive(Default)]
pub(super) struct Usage {
    counts: [Option<Number<'static>>; TOKENS.len()],
}

/// The names of the normal form, and those of other formats.
const TOKENS: [(&str, &[&str]); 6] = [
    ("input_tokens", &["input_tokens", "prompt_tokens", "inputTokens", "promptTokens"]),
    ("output_tokens", &["output_tokens", "completion_tokens", "outputTokens", "completionTokens"]),
    ("total_tokens", &["total_tokens", "totalTokens"]),
    ("reasoning_tokens", &["reasoning_tokens", "reasoningTokens"]),
    ("cache_read_tokens", &["cache_read_tokens", "cache_read_input_tokens", "cached_tokens", "cachedTokens"]),
    ("cache_write_tokens", &["cache_write_tokens", "cache_creation_input_tokens"]),
];

/// Objects inside a usage that hold more counts.
const DETAILS: [&str; 4] =
    ["prompt_tokens_details", "completion_tokens_details", "input_tokens_details", "output_tokens_details"];

impl Usage {
    pub(super) fn add(&mut self, usage: Object<'_>) {
        for ((_, names), sum) in TOKENS.iter().zip(&mut self.counts) {
            let inside = || DETAILS.iter().find_map(|details| first_of(object_of(usage, details)?, names));
            if let Some(Node { value: Value::Number(count), .. }) = first_of(usage, names).or_else(inside) {
                *sum = sum.unwrap_or(Number::Integer(0)).add(count).or(*sum);
            }
        }
    }

    /// Counts what a cache holds as input, which it is: some formats leave it out of their input.
    pub(super) fn count_cache_as_input(&mut self) {
        let [input, _, _, _, read, write] = &mut self.counts;
        if let Some(sum) = input {
            for part in [*read, *write].into_iter().flatten() {
                *sum = sum.add(part).unwrap_or(*sum);
            }
        }
    }

    /// The `usage` of the run; nothing where no count is known.
    pub(super) fn set(&self, draft: &mut Draft<'_, '_>) {
        let counts = TOKENS.iter().zip(self.counts);
        let entries: Vec<Entry<'_>> =
            counts.filter_map(|((name, _), count)| Some(field(name, Node::computed(Value::Number(count?))))).collect();
        if !entries.is_empty() {
            let usage = draft.object(&entries);
            draft.set("usage", usage);
        }
    }
}

/// The tools that a run could use, as a list of objects with `name`: OpenAI puts each into `function`.
pub(super) fn tools<'run>(draft: &Draft<'run, '_>, tools: &[Node<'run>]) -> Node<'run> {
    let inner = |node: &Node<'run>| match node.value {
        Value::Object(object) => {
            object.get("function").filter(|node| matches!(node.value, Value::Object(_))).unwrap_or(*node)
        }
        _ => *node,
    };
    draft.list(&tools.iter().map(inner).collect::<Vec<_>>())
}
