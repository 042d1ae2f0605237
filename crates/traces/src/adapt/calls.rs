//! What formats with separate calls and results have in common: which result belongs to which call, arguments as JSON in text, token counts.

use super::fields::{FieldRecord, key_table};
use super::messages::ToolCallKey;
use super::nodes::node_object;
use super::run_builder::{RunBuilder, absent_node, field_entry};
use averment_base::value::json;
use averment_base::value::{Node, Number, Object, ObjectEntry, Value};
use averment_runs::normal::{of_run, of_usage};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::hash::Hash;

/// Open calls. A result answers the last message that used its id, there the same tool, else the oldest call.
#[derive(Debug)]
pub(crate) struct PendingCalls<'run, C> {
    /// In order, while few enough for a linear search.
    few: Vec<PendingCall<'run, C>>,
    many: Option<Box<PendingIndex<'run, C>>>,
    /// The turn of the last call, and the number of messages with calls.
    turn: Option<usize>,
    messages: u32,
}

const FEW: usize = 256;

#[derive(Debug, Clone, Copy)]
struct PendingCall<'run, C> {
    id: Option<&'run str>,
    tool: &'run str,
    message: u32,
    call: C,
}

/// By id and tool, either may be empty; a call answered in one map is skipped in the other.
#[derive(Debug)]
struct PendingIndex<'run, C> {
    waiting: FxHashMap<(&'run str, &'run str), CallQueue<C>>,
    answered: FxHashSet<C>,
}

/// By message; nearly all hold one call, which stands in the map itself.
type CallQueue<C> = SmallVec<[MessageCalls<C>; 1]>;

/// Calls of one message.
#[derive(Debug)]
struct MessageCalls<C> {
    message: u32,
    /// The first that may still wait.
    next: u32,
    calls: SmallVec<[C; 1]>,
}

/// `None` if empty.
fn known_name(name: Option<&str>) -> Option<&str> {
    name.filter(|name| !name.is_empty())
}

impl<'run, C: Copy + Eq + Hash> PendingCalls<'run, C> {
    pub(crate) fn new() -> Self {
        Self { few: Vec::new(), many: None, turn: None, messages: 0 }
    }

    /// The turn separates messages of the assistant.
    pub(crate) fn push_call(&mut self, id: Option<&'run str>, tool: &'run str, turn: usize, call: C) {
        if self.turn.replace(turn) != Some(turn) {
            self.messages += 1;
        }
        let waiting = PendingCall { id: known_name(id), tool, message: self.messages, call };
        match &mut self.many {
            Some(many) => many.push_call(waiting),
            None if self.few.len() < FEW => self.few.push(waiting),
            None => {
                let mut many = PendingIndex { waiting: FxHashMap::default(), answered: FxHashSet::default() };
                self.few.drain(..).chain([waiting]).for_each(|waiting| many.push_call(waiting));
                self.many = Some(Box::new(many));
            }
        }
    }

    /// No result of it will come.
    pub(crate) fn withdraw_call(&mut self, call: C) {
        match &mut self.many {
            Some(many) => drop(many.answered.insert(call)),
            None => self.few.retain(|waiting| waiting.call != call),
        }
    }

    /// By id; without an id by tool, if the result names one.
    pub(crate) fn take_answered(&mut self, id: Option<&'run str>, tool: Option<&'run str>) -> Option<C> {
        let (id, tool) = (known_name(id), known_name(tool));
        if let Some(many) = &mut self.many {
            return many.take_answered(id, tool);
        }
        let of_tool = |waiting: &PendingCall<'_, C>| tool.is_none_or(|tool| waiting.tool == tool);
        let may = |waiting: &PendingCall<'_, C>| waiting.id == id && (id.is_some() || of_tool(waiting));
        let message = self.few.iter().rfind(|waiting| may(waiting))?.message;
        let mut there = self.few.iter().enumerate().filter(|(_, waiting)| waiting.message == message && may(waiting));
        let first = there.clone().next();
        let (place, _) = there.find(|(_, waiting)| of_tool(waiting)).or(first)?;
        Some(self.few.remove(place).call)
    }
}

impl<'run, C: Copy + Eq + Hash> PendingIndex<'run, C> {
    fn push_call(&mut self, PendingCall { id, tool, message, call }: PendingCall<'run, C>) {
        for tool in ["", tool] {
            let queue = self.waiting.entry((id.unwrap_or_default(), tool)).or_default();
            match queue.last_mut().filter(|last| last.message == message) {
                Some(last) => last.calls.push(call),
                None => queue.push(MessageCalls { message, next: 0, calls: smallvec![call] }),
            }
        }
    }

    fn take_answered(&mut self, id: Option<&'run str>, tool: Option<&'run str>) -> Option<C> {
        let by_tool = tool.and_then(|tool| self.next(id, tool));
        let by_id = if id.is_some() || tool.is_none() { self.next(id, "") } else { by_tool };
        let (last, first) = by_id?;
        let (_, call) = by_tool.filter(|(message, _)| *message == last).unwrap_or((last, first));
        self.answered.insert(call);
        Some(call)
    }

    /// The oldest call of the last message that matches.
    fn next(&mut self, id: Option<&'run str>, tool: &'run str) -> Option<(u32, C)> {
        let queue = self.waiting.get_mut(&(id.unwrap_or_default(), tool))?;
        loop {
            let last = queue.last_mut()?;
            match last.calls.get(last.next as usize) {
                Some(call) if self.answered.contains(call) => last.next += 1,
                Some(call) => return Some((last.message, *call)),
                None => drop(queue.pop()),
            }
        }
    }
}

/// Arguments that may be JSON in text: empty text is none, invalid JSON stays text with a warning.
pub(super) fn parse_arguments<'run>(builder: &mut RunBuilder<'run, '_>, node: Node<'run>) -> Node<'run> {
    let Value::Text(text) = node.value else { return node };
    if are_none(text.as_str()) {
        return Node::new(Value::Object(Object::new(builder.arena, &[])), node.origin);
    }
    match json::parse_text(text, node.origin, builder.arena, builder.limits) {
        Ok(document) => {
            for duplicate in &document.duplicates {
                let message =
                    format!("the key `{}` stands more than once in arguments; the last one counts", duplicate.key);
                builder.add_warning(duplicate.object, message);
            }
            document.node
        }
        Err(error) => {
            let message = format!("arguments of a call are not JSON and stay text: {}", error.message);
            builder.add_warning(node.origin, message);
            node
        }
    }
}

pub(crate) fn are_none(text: &str) -> bool {
    text.trim().is_empty()
}

/// Summed token counts; a count that no part has stays unknown.
#[derive(Default)]
pub(crate) struct TokenUsage {
    counts: [Option<Number<'static>>; TOKENS.len()],
    /// What went in was counted, and nobody can say how.
    input_unsure: bool,
}

key_table! {
    /// The counts of tokens as other formats than the normal form name them.
    OfUsage {
        Input = "prompt_tokens" | "inputTokens" | "promptTokens" | "prompt_eval_count",
        Output = "completion_tokens" | "outputTokens" | "completionTokens" | "eval_count",
        Total = "totalTokens",
        Reasoning = "reasoningTokens" | "reasoning_output_tokens",
        CacheRead = "cache_read_input_tokens" | "cached_tokens" | "cachedTokens" | "cached_input_tokens" | "cacheReadTokens"
            | "cachedInputTokens" | "cacheReadInputTokens",
        CacheWrite = "cache_creation_input_tokens" | "cacheWriteTokens" | "cacheWriteInputTokens",
        /// Objects inside a usage that hold more counts.
        Details = "prompt_tokens_details" | "completion_tokens_details" | "input_tokens_details" | "output_tokens_details" | "tokens",
    }
}

/// The counts of the normal form, each with its other names.
const TOKENS: [(&str, OfUsage); 6] = [
    (of_usage::INPUT, OfUsage::Input),
    (of_usage::OUTPUT, OfUsage::Output),
    (of_usage::TOTAL, OfUsage::Total),
    (of_usage::REASONING, OfUsage::Reasoning),
    (of_usage::CACHE_READ, OfUsage::CacheRead),
    (of_usage::CACHE_WRITE, OfUsage::CacheWrite),
];

fn bit_of(row: OfUsage) -> u32 {
    1 << row as u32
}

/// The rows of which an object has a key, each a bit.
fn rows_of(object: Object<'_>) -> u32 {
    let rows = object.entries().iter().filter_map(|entry| OfUsage::from_key(entry.key));
    rows.fold(0, |rows, row| rows | bit_of(row))
}

/// The first that an object has of the names of a count; `rows` are those of which it has a key.
fn first_count<'run>(object: Object<'run>, rows: u32, (name, others): (&str, OfUsage)) -> Option<Node<'run>> {
    let others = if rows & bit_of(others) == 0 { &[] } else { others.keys() };
    std::iter::once(&name).chain(others).find_map(|key| known_value(object, key))
}

impl TokenUsage {
    pub(super) fn add_usage(&mut self, usage: Object<'_>) {
        // Most usages have few of the many names that there are.
        let own = rows_of(usage);
        let details: SmallVec<[Object<'_>; 2]> = match own & bit_of(OfUsage::Details) {
            0 => SmallVec::new(),
            _ => OfUsage::Details.keys().iter().filter_map(|key| node_object(usage.get(key)?)).collect(),
        };
        for (row, sum) in TOKENS.into_iter().zip(&mut self.counts) {
            let found = first_count(usage, own, row)
                .or_else(|| details.iter().find_map(|one| first_count(*one, rows_of(*one), row)));
            if let Some(Node { value: Value::Number(count), .. }) = found {
                *sum = sum.unwrap_or(Number::Integer(0)).add(count).or(*sum);
            }
        }
    }

    pub(super) fn add_count(&mut self, name: &str, node: Option<Node<'_>>) {
        let places = TOKENS.iter().zip(&mut self.counts).filter(|((known, _), _)| *known == name);
        if let Some(Value::Number(count)) = node.map(|node| node.value) {
            for (_, sum) in places {
                *sum = sum.unwrap_or(Number::Integer(0)).add(count).or(*sum);
            }
        }
    }

    pub(super) fn token_counts(&self) -> [Option<Number<'static>>; TOKENS.len()] {
        self.counts
    }

    /// If either part has a total, the other's total is its input plus output.
    pub(super) fn merge_usage(&mut self, other: &Self) {
        let mut counts = other.counts;
        if self.has_total() || other.has_total() {
            [&mut self.counts, &mut counts].into_iter().for_each(sum_up);
        }
        for (sum, count) in self.counts.iter_mut().zip(counts) {
            if let Some(count) = count {
                *sum = sum.unwrap_or(Number::Integer(0)).add(count).or(*sum);
            }
        }
    }

    fn has_total(&self) -> bool {
        matches!(self.counts, [_, _, Some(_), ..])
    }

    pub(super) fn add_unknown(&mut self, usage: Object<'_>) {
        let mut others = Self::default();
        others.add_usage(usage);
        for (known, other) in self.counts.iter_mut().zip(others.counts) {
            *known = known.or(other);
        }
    }

    /// Cache tokens are input; if more were read from cache than are input, input excluded them.
    pub(super) fn add_counts(&mut self, counts: [Option<Number<'_>>; TOKENS.len()]) {
        let own = |count: Option<Number<'_>>| count.and_then(|count| count.add(Number::Integer(0)));
        let [input, output, total, reasoning, read, write] = counts.map(own);
        let left_out = left_out_of(input, [read, write]);
        let whole = |count: Option<Number<'static>>| match (count, left_out) {
            (Some(count), Some(cached)) => count.add(cached).or(Some(count)),
            _ => count,
        };
        let counts = [whole(input), output, whole(total), reasoning, read, write];
        for (sum, count) in self.counts.iter_mut().zip(counts) {
            if let Some(count) = count {
                *sum = sum.unwrap_or(Number::Integer(0)).add(count).or(*sum);
            }
        }
    }

    /// True if input or output is higher and neither lower.
    pub(super) fn is_more_than(&self, other: &Self) -> bool {
        let [mine, theirs] = [self, other].map(|one| {
            let [input, output, ..] = one.counts.map(|count| count.unwrap_or(Number::Integer(0)));
            [input, output]
        });
        let ordered = || mine.iter().zip(&theirs).map(|(mine, theirs)| mine.compare(*theirs));
        ordered().all(|order| order.is_ge()) && ordered().any(|order| order.is_gt())
    }

    pub(super) fn has_cache(&self) -> bool {
        let [_, _, _, _, read, write] = self.counts;
        [read, write].into_iter().flatten().any(|count| count.compare(Number::Integer(0)).is_gt())
    }

    /// More was read from or written to a cache than went in.
    pub(super) fn leaves_cache_out(&self) -> bool {
        let [input, _, _, _, read, write] = self.counts;
        left_out_of(input, [read, write]).is_some()
    }

    /// Input and total count as not recorded.
    pub(super) fn forget_input(&mut self) {
        let [input, _, total, ..] = &mut self.counts;
        (*input, *total) = (None, None);
        self.input_unsure = true;
    }

    /// Some formats exclude cache tokens from their input.
    pub(super) fn count_cache_as_input(&mut self) {
        let [input, _, _, _, read, write] = &mut self.counts;
        if let Some(sum) = input {
            for part in [*read, *write].into_iter().flatten() {
                *sum = sum.add(part).unwrap_or(*sum);
            }
        }
    }

    /// The same, unless the total says that the input holds these tokens.
    pub(super) fn count_cache_by_total(&mut self) {
        let [input, output, total, reasoning, read, write] = self.counts;
        let cache = [read, write].into_iter().flatten();
        let beside =
            [input, output].into_iter().flatten().chain(cache).try_fold(Number::Integer(0), |sum, part| sum.add(part));
        let with_reasoning = beside.zip(reasoning).and_then(|(beside, reasoning)| beside.add(reasoning));
        let is_total =
            |sum: Option<Number<'static>>| total.zip(sum).is_some_and(|(total, sum)| total.compare(sum).is_eq());
        if total.is_none() || is_total(beside) || is_total(with_reasoning) {
            self.count_cache_as_input();
        }
    }

    /// The counts that are known.
    pub(crate) fn known_counts<'run>(&self) -> Vec<ObjectEntry<'run>> {
        let counts = TOKENS.iter().zip(self.counts);
        counts.filter_map(|((name, _), count)| Some(field_entry(name, Node::computed(Value::Number(count?))))).collect()
    }

    /// No entry if no count is known.
    pub(super) fn set_usage(&self, builder: &mut RunBuilder<'_, '_>) {
        let mut entries = self.known_counts();
        if !entries.is_empty() {
            if self.input_unsure {
                entries.extend([of_usage::INPUT, of_usage::TOTAL].map(|name| field_entry(name, absent_node())));
            }
            let usage = builder.object_node(&entries);
            builder.set_entry(of_run::USAGE, usage);
        }
    }
}

/// The tokens of the cache, if they are more than the input: it does not hold them.
fn left_out_of(input: Option<Number<'static>>, cache: [Option<Number<'static>>; 2]) -> Option<Number<'static>> {
    let cached = cache.into_iter().flatten().try_fold(Number::Integer(0), |sum, part| sum.add(part))?;
    input.filter(|input| input.compare(cached).is_lt()).map(|_| cached)
}

/// Computes the total if it is missing.
fn sum_up(counts: &mut [Option<Number<'static>>; TOKENS.len()]) {
    if let [Some(input), Some(output), total @ None, ..] = counts {
        *total = input.add(*output);
    }
}

fn known_value<'run>(object: Object<'run>, key: &str) -> Option<Node<'run>> {
    object.get(key).filter(|node| !matches!(node.value, Value::Null))
}

/// Objects with `name`; OpenAI nests each in `function`.
pub(super) fn tool_list<'run>(builder: &RunBuilder<'run, '_>, tools: &[Node<'run>]) -> Node<'run> {
    let inner = |node: &Node<'run>| match node.value {
        Value::Object(tool) => {
            tool.field(ToolCallKey::Function).filter(|function| node_object(*function).is_some()).unwrap_or(*node)
        }
        _ => *node,
    };
    builder.list_node(&tools.iter().map(inner).collect::<Vec<_>>())
}
