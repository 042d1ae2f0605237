//! What tools were given and gave, without what dialects wrap it into.

use super::attributes::{Fact, Facts};
use super::exchange::Told;
use super::said::{self, Holder};
use super::text_of_node;
use crate::adapt::calls;
use crate::adapt::draft::Draft;
use crate::adapt::fields::{key_table, value_of};
use crate::adapt::nodes::{list, object};
use averment_base::value::{Entry, Node, Object, Value};
use averment_runs::normal::of_step;
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// Arguments that may be JSON inside of text, without what some wrap them into.
pub(crate) fn args<'run>(facts: &Facts<'run>, draft: &mut Draft<'run, '_>) -> Option<Node<'run>> {
    if let Some(given) = facts.get(Fact::Args) {
        let args = calls::arguments(draft, given);
        return Some(object(args).and_then(inputs_of_tool).unwrap_or(args));
    }
    if let Some(input) = facts.get(Fact::Input) {
        let args = calls::arguments(draft, input);
        return Some(unwrapped(args, facts, draft));
    }
    // Under this name some write what a tool takes, and some what it is given.
    let parameters = facts.get(Fact::Parameters).map(|node| calls::arguments(draft, node))?;
    object(parameters).filter(|object| !is_schema(*object)).map(|_| parameters)
}

/// Whether arguments are an object of JSON in a text that nothing is wrapped around.
pub(super) fn are_written(args: Node<'_>) -> bool {
    let Value::Text(text) = args.value else { return false };
    let may_be_wrapped = |raw: &str| {
        let names = Wrapped::Written.keys().iter();
        raw.contains(ESCAPE)
            || names.clone().any(|name| memchr::memmem::find(raw.as_bytes(), name.as_bytes()).is_some())
    };
    text.raw().starts_with('{') && args.origin.range().is_some() && !may_be_wrapped(text.raw())
}

key_table! {
    /// What wraps the arguments of a function.
    Wrapped {
        Positional = "args",
        Named = "kwargs",
        Inputs = "inputs",
        /// The same as it is written for people, beside them.
        Written = "input_str",
        Type = "type",
        Properties = "properties",
        Output = "output",
        Outputs = "outputs",
        Id = "id",
        Name = "name",
        Response = "response",
    }
}

/// What OpenLLMetry writes of a tool of LangChain: all that its run was begun with, the arguments among it.
fn inputs_of_tool<'run>(run: Object<'run>) -> Option<Node<'run>> {
    let inputs = value_of(run, Wrapped::Inputs).filter(|inputs| object(*inputs).is_some());
    inputs.filter(|_| value_of(run, Wrapped::Written).is_some())
}

/// Arguments as the function was given them: by name, or by their places, whose names stand in what the tool takes.
fn unwrapped<'run>(args: Node<'run>, facts: &Facts<'run>, draft: &mut Draft<'run, '_>) -> Node<'run> {
    let Some(call) = object(args) else { return args };
    if let Some(inputs) = value_of(call, Wrapped::Inputs).filter(|inputs| object(*inputs).is_some()) {
        return inputs;
    }
    let (Some(positional), Some(named)) = (
        value_of(call, Wrapped::Positional).and_then(list),
        value_of(call, Wrapped::Named).filter(|named| object(*named).is_some()),
    ) else {
        return args;
    };
    if positional.is_empty() {
        return named;
    }
    let takes = facts.get(Fact::Parameters).map(|node| calls::arguments(draft, node)).and_then(object);
    let names: Vec<&str> = takes.map_or(&[][..], |takes| takes.entries()).iter().map(|entry| entry.key).collect();
    if names.len() < positional.len() {
        return args;
    }
    let by_place = names.iter().zip(positional).map(|(key, node)| Entry { key, node: *node });
    let by_name = object(named).map_or(&[][..], |named| named.entries()).iter().copied();
    let entries: Vec<Entry<'run>> = by_place.chain(by_name).collect();
    draft.object(&entries)
}

/// Whether an object says what a tool takes: a schema, or an object with a type for each name.
fn is_schema(object: Object<'_>) -> bool {
    let has_type = |node: Node<'_>| {
        crate::adapt::nodes::object(node).is_some_and(|inner| value_of(inner, Wrapped::Type).is_some())
    };
    value_of(object, Wrapped::Properties).is_some()
        || !object.entries().is_empty() && object.entries().iter().all(|entry| has_type(entry.node))
}

/// What OpenLLMetry writes of a run of LangChain: what it was given, or what it gave.
pub(super) fn of_run<'run>(node: Node<'run>) -> Option<Node<'run>> {
    let run = object(node).filter(|run| value_of(*run, Wrapped::Named).is_some())?;
    [Wrapped::Inputs, Wrapped::Outputs].into_iter().find_map(|word| value_of(run, word))
}

/// What a run gave, without what OpenLLMetry and LangChain wrap it into: `outputs` or `output` beside `kwargs`, the `output` in those,
/// and an `output` that stands alone.
pub(super) fn answer<'run>(node: Node<'run>, draft: &Draft<'run, '_>) -> Option<Node<'run>> {
    /// So many stand in each other.
    const DEEP: usize = 3;
    let (mut found, mut is_in_run) = (None, false);
    for _ in 0..DEEP {
        let Some(outer) = object(said::read(found.unwrap_or(node), draft)) else { break };
        let is_run = value_of(outer, Wrapped::Named).is_some();
        let outputs = value_of(outer, Wrapped::Outputs).filter(|_| is_run);
        let is_alone = outer.entries().len() == 1;
        let output = value_of(outer, Wrapped::Output).filter(|_| is_run || is_in_run || is_alone);
        let Some(inner) = outputs.or(output) else { break };
        is_in_run |= is_run;
        found = Some(said::read(inner, draft));
    }
    found
}

/// What a tool gave, without what some wrap it into: what a run of LangChain ended with, a message to the model. A result in text
/// may say that it is an error, too.
pub(super) fn gave<'run>(facts: &Facts<'run>, draft: &Draft<'run, '_>) -> Option<Told<'run>> {
    let gave = facts.get(Fact::Result).or_else(|| facts.get(Fact::Output))?;
    if matches!(gave.value, Value::Text(text) if !may_say_more(text.raw())) {
        return Some(Told { id: None, tool: None, result: gave, failed: None });
    }
    let read = said::read(gave, draft);
    if let Some(result) = object(read).and_then(|response| of_function(response, facts)) {
        let failed = says_failed(result).then_some(true);
        return Some(Told { id: None, tool: None, result, failed });
    }
    let output = object(read).and_then(|outer| Some((outer, value_of(outer, Wrapped::Output)?)));
    let of_run = output.filter(|(outer, _)| value_of(*outer, Wrapped::Named).is_some()).map(|(_, output)| output);
    let alone = output.filter(|(outer, _)| outer.entries().len() == 1).map(|(_, output)| output);
    let gave_so = of_run.or(alone).unwrap_or(read);
    let (told, value) = match said::answer(gave_so, draft).or_else(|| said::printed_message(gave_so, draft)) {
        Some(told) => (told, said::read(told.result, draft)),
        None => {
            let told = Told { id: None, tool: None, result: of_run.unwrap_or(gave), failed: None };
            (told, of_run.map_or(read, |output| said::read(output, draft)))
        }
    };
    Some(Told { failed: if says_failed(value) { Some(true) } else { told.failed }, ..told })
}

/// What a response of Google's models to the call of a function holds: its name and its id stand beside it.
fn of_function<'run>(response: Object<'run>, facts: &Facts<'run>) -> Option<Node<'run>> {
    let is_of_tool = facts.get(Fact::Tool).is_some_and(|tool| {
        let name = value_of(response, Wrapped::Name).and_then(text_of_node);
        name.is_some() && text_of_node(tool) == name
    });
    let may_stand =
        |key: &str| [Wrapped::Name, Wrapped::Id, Wrapped::Response].iter().any(|word| word.keys().contains(&key));
    let inner = value_of(response, Wrapped::Response).filter(|_| is_of_tool)?;
    response.entries().iter().all(|entry| may_stand(entry.key)).then_some(inner)
}

/// Whether a text, as it stands between its quotes, has a word of what results are wrapped into, or of what says that they are errors.
fn may_say_more(raw: &str) -> bool {
    static WORDS: LazyLock<Vec<Finder<'static>>> = LazyLock::new(|| {
        let words = [
            Wrapped::Output.keys(),
            Wrapped::Response.keys(),
            Holder::Call.keys(),
            &of_step::IS_ERROR,
            &[of_step::ERROR, ESCAPE],
        ];
        words.into_iter().flatten().map(Finder::new).collect()
    });
    WORDS.iter().any(|word| word.find(raw.as_bytes()).is_some())
}

/// How a letter may be written, too.
const ESCAPE: &str = "\\u";

/// Whether a result that is an object says that it is an error: by the flag of MCP, or because it holds nothing else.
fn says_failed(result: Node<'_>) -> bool {
    let Some(object) = object(result) else { return false };
    let is_true = |key: &&str| matches!(object.get(key).map(|node| node.value), Some(Value::Boolean(true)));
    let only_error = match object.entries() {
        [only] => only.key == of_step::ERROR && !matches!(only.node.value, Value::Null | Value::Boolean(false)),
        _ => false,
    };
    only_error || of_step::IS_ERROR.iter().any(is_true)
}
