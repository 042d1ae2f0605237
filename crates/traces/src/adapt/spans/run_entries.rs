//! The entries of a run that is recorded as spans: what it was asked, answered and used.

use super::attributes::Fact;
use super::exchange::SpanMessage;
use super::timed::instant_node;
use super::tree::SpanTree;
use super::{SpanAct, TraceSpan, run_usage, span_messages, wrapped_values};
use crate::adapt::content;
use crate::adapt::fields::{TableRow as _, key_table, value_of};
use crate::adapt::nodes::{node_list, node_object, node_text};
use crate::adapt::run_builder::{RunBuilder, field_entry};
use averment_base::value::{Node, ObjectEntry, Value};
use averment_runs::normal::{of_meta, of_run, role};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RunEntries<'run> {
    pub(crate) id: Option<Node<'run>>,
    pub(crate) input: Option<Node<'run>>,
    pub(crate) output: Option<Node<'run>>,
    pub(crate) error: Option<Node<'run>>,
    /// The status word, if it means failure.
    pub(crate) failed: Option<Node<'run>>,
    /// In US dollars.
    pub(crate) cost: Option<Node<'run>>,
    /// In milliseconds.
    pub(crate) duration: Option<f64>,
    pub(crate) session: Option<Node<'run>>,
}

pub(super) fn set_entries<'run>(
    tree: &SpanTree<'run>,
    models: &[usize],
    whole: RunEntries<'run>,
    prompt: Option<Node<'run>>,
    output: Option<Node<'run>>,
    builder: &mut RunBuilder<'run, '_>,
) {
    let roots: Vec<usize> = (0..tree.spans.len()).filter(|span| tree.parent_of(*span).is_none()).collect();
    let (first, last) = (tree.whole_run(false), tree.whole_run(true));
    let [outer, last] = [&first, &last].map(|spans| || spans.iter().filter_map(|span| tree.spans.get(*span)));
    // What one model or tool was given is not what the run was given.
    let is_work = |span: &&TraceSpan<'run>| !matches!(span.act, SpanAct::Inference | SpanAct::Tool);
    builder.set_some(of_run::ID, whole.id);
    let of_work = || outer().filter(is_work).filter_map(|span| span.facts.fact_node(Fact::Input));
    let input = whole.input.or_else(|| of_work().next());
    if builder.is_whole() {
        let given = || input.or_else(|| outer().find_map(|span| span.facts.fact_node(Fact::MessagesIn)));
        // What the run was asked stands around what its models were.
        let asked = whole.input.and_then(|input| prompt_in(input, builder));
        let asked = asked.or_else(|| of_work().find_map(|input| user_text(input, "", builder)));
        let prompt = asked.or(prompt).or_else(|| user_text(given()?, role::USER, builder));
        builder.set_some(of_run::PROMPT, prompt);
    }
    builder.set_some(of_run::INPUTS, input);
    let is_answer = |node: &Node<'run>| !is_no_answer(*node, builder);
    let gave = || last().filter(is_work).find_map(|span| span.facts.fact_node(Fact::Output).filter(is_answer));
    let arena = builder.arena;
    let said = || {
        last().filter_map(|span| span.exchange.output.last()).find_map(|said| content::join_texts(&said.texts, arena))
    };
    // Of several that nothing is around none stands for the run.
    let is_one =
        tree.has_agents() || roots.iter().filter_map(|root| tree.spans.get(*root)).filter(is_work).count() == 1;
    let whole_output = whole.output.filter(is_answer);
    let answer = whole_output.or_else(|| gave().filter(|_| is_one)).or_else(said).or(output).or_else(gave);
    builder.set_some(of_run::OUTPUT, answer.map(|answer| answer_text(answer, builder)));
    builder.set_some(of_run::ERROR, whole.error.or_else(|| run_error(tree, &roots, whole.failed)));
    let start = tree.spans.iter().filter_map(|span| span.start).reduce(f64::min);
    let end = tree.spans.iter().filter_map(|span| span.end).reduce(f64::max);
    let spans = start.zip(end).map(|(start, end)| end - start).filter(|duration| *duration >= 0.0);
    // Whether steps span more than that is looked at where all are there: of a span without an end, or that ends before it starts.
    let is_outside = |span: &TraceSpan<'_>| span.start > end || span.end.is_some() && span.end < start;
    if tree.spans.iter().any(is_outside) {
        builder.needs_whole();
    }
    let duration = whole.duration.or(spans);
    builder.set_some(of_run::DURATION, instant_node(duration));
    if builder.is_whole() {
        run_usage::set_usage(tree, builder);
        builder.set_some(of_run::COST, run_usage::run_cost(tree, whole.cost));
    }
    if builder.is_requested(of_run::TOOLS) {
        set_tools(tree, models, &first, builder);
    }
    if builder.is_requested(of_run::META) {
        set_meta(tree, models, &first, whole.session, builder);
    }
}

key_table! {
    /// What stands where an answer would: the number of a run, a response of HTTP as it came, calls that are asked for, and a state of a graph
    /// in which nothing was said.
    NoAnswerKey {
        Run = "run_id",
        Http = "status_code" | "statusCode" | "status",
        Headers = "headers",
        Calls = "function" | "tool_name" | "tool_calls" | "toolName" | "inputParameters" | "input_parameters",
        Messages = "messages",
        /// A response of Gemini as it came, also as ADK keeps it.
        Candidates = "candidates",
        Usage = "usage_metadata" | "usageMetadata",
        Content = "content",
        Parts = "parts",
    }
}

/// Whether a program put something else in the place of the answer.
fn is_no_answer<'run>(node: Node<'run>, builder: &RunBuilder<'run, '_>) -> bool {
    let may_be = |text: &str| {
        text.starts_with(['{', '['])
            && NoAnswerKey::ALL.iter().any(|row| row.keys().iter().any(|key| text.contains(key)))
    };
    if node_text(node).is_some_and(|text| !may_be(text.trim_start())) {
        return false;
    }
    let value = span_messages::read_node(node, builder);
    if let Value::List(items) = value.value {
        let is_call =
            |item: &Node<'run>| node_object(*item).is_some_and(|call| value_of(call, NoAnswerKey::Calls).is_some());
        return !items.is_empty() && items.iter().all(is_call);
    }
    let Some(object) = node_object(value) else { return false };
    let has = |key| value_of(object, key).is_some();
    let is_response = value_of(object, NoAnswerKey::Candidates).and_then(node_list).is_some();
    let said = value_of(object, NoAnswerKey::Content).and_then(node_object);
    let is_alone = object.entries().len() == 1;
    let is_silent = value_of(object, NoAnswerKey::Messages).is_some_and(|said| matches!(said.value, Value::List([])));
    let says_nothing = has(NoAnswerKey::Usage) && said.is_some_and(|said| value_of(said, NoAnswerKey::Parts).is_none());
    is_response
        || says_nothing
        || has(NoAnswerKey::Http) && has(NoAnswerKey::Headers)
        || (has(NoAnswerKey::Run) || is_silent) && is_alone
}

fn set_tools<'run>(tree: &SpanTree<'run>, models: &[usize], outer: &[usize], builder: &mut RunBuilder<'run, '_>) {
    let mut found: Vec<Node<'run>> = Vec::new();
    for span in models.iter().chain(outer).filter_map(|span| tree.spans.get(*span)) {
        for tool in span_messages::offered_tools(&span.facts, builder) {
            if !found.iter().any(|known| averment_base::value::compare::values_equal(&known.value, &tool.value)) {
                found.push(tool);
            }
        }
    }
    if !found.is_empty() {
        let tools = builder.list_node(&found);
        builder.set_entry(of_run::TOOLS, tools);
    }
}

fn set_meta<'run>(
    tree: &SpanTree<'run>,
    models: &[usize],
    outer: &[usize],
    session: Option<Node<'run>>,
    builder: &mut RunBuilder<'run, '_>,
) {
    let models = || models.iter().filter_map(|model| tree.spans.get(*model));
    models().for_each(|span| builder.note_model(span.facts.fact_node(Fact::Model)));
    let outer = outer.iter().filter_map(|span| tree.spans.get(*span));
    let model = models().chain(outer).find_map(|span| span.facts.fact_node(Fact::Model));
    let session = session.or_else(|| tree.spans.iter().find_map(|span| span.facts.fact_node(Fact::Conversation)));
    let meta = [(of_meta::MODEL, model), (of_meta::SESSION, session)];
    let meta: Vec<ObjectEntry<'run>> =
        meta.into_iter().filter_map(|(key, node)| Some(field_entry(key, node?))).collect();
    if !meta.is_empty() {
        let meta = builder.object_node(&meta);
        builder.set_entry(of_run::META, meta);
    }
}

/// From the roots, else, if they failed, from the last inner span with a reason.
fn run_error<'run>(tree: &SpanTree<'run>, roots: &[usize], word: Option<Node<'run>>) -> Option<Node<'run>> {
    // A tool that failed is a failed call, and not yet a failed run.
    let work = roots.iter().filter(|root| !matches!(tree.act_of(**root), SpanAct::Tool));
    let failed: Vec<&TraceSpan<'run>> =
        work.filter_map(|root| tree.spans.get(*root)).filter(|root| root.failed == Some(true)).collect();
    let own = failed.iter().find_map(|root| root.error);
    let has_failed = word.is_some() || !failed.is_empty();
    let inside = |of_tools: bool| {
        let spans =
            tree.spans.iter().filter(|span| span.failed == Some(true) && (span.act == SpanAct::Tool) == of_tools);
        spans.filter_map(|span| span.error).next_back()
    };
    let inside = || [false, true].into_iter().filter(|_| has_failed).find_map(inside);
    own.or_else(inside).or(word)
}

key_table! {
    /// Keys of a sole input entry that is a question.
    QuestionKey {
        Any = "query" | "question" | "prompt" | "input" | "message" | "text" | "content" | "user_input",
    }
}

/// Text, the words of a user among messages, or an object's only entry.
fn prompt_in<'run>(input: Node<'run>, builder: &RunBuilder<'run, '_>) -> Option<Node<'run>> {
    let value = span_messages::read_node(input, builder);
    match value.value {
        Value::Text(_) => Some(value),
        Value::Object(object) if object.entries().len() == 1 => {
            let only = value_of(object, QuestionKey::Any).filter(|only| node_text(*only).is_some());
            only.or_else(|| user_text(value, "", builder))
        }
        _ => user_text(value, "", builder),
    }
}

/// `by` is the speaker of words without one.
fn user_text<'run>(input: Node<'run>, by: &'static str, builder: &RunBuilder<'run, '_>) -> Option<Node<'run>> {
    let input = span_messages::read_node(input, builder);
    let value = wrapped_values::unwrap_run(input).unwrap_or(input);
    let messages = span_messages::read_messages(value, by, builder);
    let of_user = |said: &&SpanMessage<'run>| matches!(said.role, Some(role::USER | "human"));
    messages.iter().filter(of_user).find_map(|said| said.texts.first().copied())
}

key_table! {
    /// Fields of a model's choice that is no message itself.
    ModelChoiceKey {
        Message = "message",
        Finish = "finish_reason",
        Beside = "index" | "id" | "tool.result",
    }
}

/// Needs a finish reason or parts: any object may have a message.
fn words_of_choice<'run>(value: Node<'run>, builder: &RunBuilder<'run, '_>) -> Option<Node<'run>> {
    let choice = node_object(value)
        .filter(|choice| choice.entries().iter().all(|entry| ModelChoiceKey::from_key(entry.key).is_some()))?;
    let message = value_of(choice, ModelChoiceKey::Message).filter(|message| node_text(*message).is_some())?;
    (value_of(choice, ModelChoiceKey::Finish).is_some() || span_messages::holds_parts_in_text(message, builder))
        .then_some(())?;
    content::join_texts(&span_messages::read_message(value, role::ASSISTANT, builder).texts, builder.arena)
}

fn answer_text<'run>(answer: Node<'run>, builder: &RunBuilder<'run, '_>) -> Node<'run> {
    let value = span_messages::read_node(answer, builder);
    if let Some(words) = words_of_choice(value, builder) {
        return words;
    }
    let (answer, value) = wrapped_values::unwrap_answer(value, builder).map_or((answer, value), |inner| (inner, inner));
    let has_role =
        |said: &SpanMessage<'run>| said.is_of_assistant() && said.place.is_some_and(|place| node_text(place).is_none());
    match value.value {
        Value::List(_) | Value::Object(_) => {
            let messages = span_messages::read_messages(value, role::USER, builder);
            let last = messages.last().filter(|said| has_role(said));
            let last = last.and_then(|said| content::join_texts(&said.texts, builder.arena));
            last.unwrap_or(answer)
        }
        _ => answer,
    }
}
