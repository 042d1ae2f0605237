//! The entries of a run that is recorded as spans: what it was asked, answered and used.

use super::attributes::Fact;
use super::exchange::Said;
use super::timed::instant;
use super::tree::Tree;
use super::{Act, Span, said, text_of_node, used, wrapped};
use crate::adapt::content;
use crate::adapt::draft::{Draft, field};
use crate::adapt::fields::{key_table, value_of};
use crate::adapt::nodes::object;
use averment_base::value::{Entry, Node, Value};
use averment_runs::normal::{of_meta, of_run, role};

/// What a format says of the run as a whole, beside its spans.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Whole<'run> {
    pub(crate) id: Option<Node<'run>>,
    pub(crate) input: Option<Node<'run>>,
    pub(crate) output: Option<Node<'run>>,
    pub(crate) error: Option<Node<'run>>,
    /// The word for how it ended, where that says that it went wrong.
    pub(crate) failed: Option<Node<'run>>,
    /// In US dollars.
    pub(crate) cost: Option<Node<'run>>,
    /// In milliseconds.
    pub(crate) duration: Option<f64>,
    pub(crate) session: Option<Node<'run>>,
}

/// Tells the entries of the run.
pub(super) fn tell<'run>(
    tree: &Tree<'run>,
    models: &[usize],
    whole: Whole<'run>,
    prompt: Option<Node<'run>>,
    output: Option<Node<'run>>,
    draft: &mut Draft<'run, '_>,
) {
    let roots: Vec<usize> = (0..tree.spans.len()).filter(|span| tree.parent(*span).is_none()).collect();
    let (first, last) = (tree.whole(false), tree.whole(true));
    let [outer, last] = [&first, &last].map(|spans| || spans.iter().filter_map(|span| tree.spans.get(*span)));
    // What one model or tool was given is not what the run was given.
    let is_work = |span: &&Span<'run>| !matches!(span.act, Act::Inference | Act::Tool);
    draft.set_some(of_run::ID, whole.id);
    let of_work = || outer().filter(is_work).filter_map(|span| span.facts.get(Fact::Input));
    let input = whole.input.or_else(|| of_work().next());
    if draft.is_whole() {
        let given = || input.or_else(|| outer().find_map(|span| span.facts.get(Fact::MessagesIn)));
        // What the run was asked stands around what its models were.
        let asked = whole.input.and_then(|input| asked_in(input, draft));
        let asked = asked.or_else(|| of_work().find_map(|input| of_user(input, "", draft)));
        let prompt = asked.or(prompt).or_else(|| of_user(given()?, role::USER, draft));
        draft.set_some(of_run::PROMPT, prompt);
    }
    draft.set_some(of_run::INPUTS, input);
    let gave = || last().filter(is_work).find_map(|span| span.facts.get(Fact::Output));
    let arena = draft.arena;
    let said =
        || last().filter_map(|span| span.exchange.said.last()).find_map(|said| content::joined(&said.texts, arena));
    // Of several that nothing is around none stands for the run.
    let is_one =
        tree.has_agents() || roots.iter().filter_map(|root| tree.spans.get(*root)).filter(is_work).count() == 1;
    let answer = whole.output.or_else(|| gave().filter(|_| is_one)).or_else(said).or(output).or_else(gave);
    draft.set_some(of_run::OUTPUT, answer.map(|answer| answer_in(answer, draft)));
    draft.set_some(of_run::ERROR, whole.error.or_else(|| error(tree, &roots, whole.failed)));
    let start = tree.spans.iter().filter_map(|span| span.start).reduce(f64::min);
    let end = tree.spans.iter().filter_map(|span| span.end).reduce(f64::max);
    let spans = start.zip(end).map(|(start, end)| end - start).filter(|duration| *duration >= 0.0);
    // Whether steps span more than that is looked at where all are there: of a span without an end, or that ends before it starts.
    let is_outside = |span: &Span<'_>| span.start > end || span.end.is_some() && span.end < start;
    if tree.spans.iter().any(is_outside) {
        draft.needs_whole();
    }
    let duration = whole.duration.or(spans);
    draft.set_some(of_run::DURATION, instant(duration));
    if draft.is_whole() {
        used::usage(tree, draft);
        draft.set_some(of_run::COST, used::cost(tree, whole.cost));
    }
    if draft.asks_for(of_run::TOOLS) {
        tools(tree, models, &first, draft);
    }
    if draft.asks_for(of_run::META) {
        meta(tree, models, &first, whole.session, draft);
    }
}

/// The tools that models could use.
fn tools<'run>(tree: &Tree<'run>, models: &[usize], outer: &[usize], draft: &mut Draft<'run, '_>) {
    let mut found: Vec<Node<'run>> = Vec::new();
    for span in models.iter().chain(outer).filter_map(|span| tree.spans.get(*span)) {
        for tool in said::tools(&span.facts, draft) {
            if !found.iter().any(|known| averment_base::value::compare::equal(&known.value, &tool.value)) {
                found.push(tool);
            }
        }
    }
    if !found.is_empty() {
        let tools = draft.list(&found);
        draft.set(of_run::TOOLS, tools);
    }
}

/// Which model did the work, in which session.
fn meta<'run>(
    tree: &Tree<'run>,
    models: &[usize],
    outer: &[usize],
    session: Option<Node<'run>>,
    draft: &mut Draft<'run, '_>,
) {
    let models = || models.iter().filter_map(|model| tree.spans.get(*model));
    models().for_each(|span| draft.names_model(span.facts.get(Fact::Model)));
    let outer = outer.iter().filter_map(|span| tree.spans.get(*span));
    let model = models().chain(outer).find_map(|span| span.facts.get(Fact::Model));
    let session = session.or_else(|| tree.spans.iter().find_map(|span| span.facts.get(Fact::Conversation)));
    let meta = [(of_meta::MODEL, model), (of_meta::SESSION, session)];
    let meta: Vec<Entry<'run>> = meta.into_iter().filter_map(|(key, node)| Some(field(key, node?))).collect();
    if !meta.is_empty() {
        let meta = draft.object(&meta);
        draft.set(of_run::META, meta);
    }
}

/// Why a run went wrong: what its roots say, else, where they say that it did, the last span inside that says why.
fn error<'run>(tree: &Tree<'run>, roots: &[usize], word: Option<Node<'run>>) -> Option<Node<'run>> {
    // A tool that failed is a failed call, and not yet a failed run.
    let work = roots.iter().filter(|root| !matches!(tree.act(**root), Act::Tool));
    let failed: Vec<&Span<'run>> =
        work.filter_map(|root| tree.spans.get(*root)).filter(|root| root.failed == Some(true)).collect();
    let own = failed.iter().find_map(|root| root.error);
    let has_failed = word.is_some() || !failed.is_empty();
    let inside = |of_tools: bool| {
        let spans = tree.spans.iter().filter(|span| span.failed == Some(true) && (span.act == Act::Tool) == of_tools);
        spans.filter_map(|span| span.error).next_back()
    };
    let inside = || [false, true].into_iter().filter(|_| has_failed).find_map(inside);
    own.or_else(inside).or(word)
}

key_table! {
    /// The only entry of what a run was given that is a question.
    Question {
        Any = "query" | "question" | "prompt" | "input" | "message" | "text" | "content" | "user_input",
    }
}

/// What a user asks in what a run as a whole was given: text, the words of a user among messages, or the only entry of an object.
fn asked_in<'run>(input: Node<'run>, draft: &Draft<'run, '_>) -> Option<Node<'run>> {
    let value = said::read(input, draft);
    match value.value {
        Value::Text(_) => Some(value),
        Value::Object(object) if object.entries().len() == 1 => {
            let only = value_of(object, Question::Any).filter(|only| text_of_node(*only).is_some());
            only.or_else(|| of_user(value, "", draft))
        }
        _ => of_user(value, "", draft),
    }
}

/// The first words of a user in what a run was given, whose words are somebody's where they do not say whose they are.
fn of_user<'run>(input: Node<'run>, by: &'static str, draft: &Draft<'run, '_>) -> Option<Node<'run>> {
    let input = said::read(input, draft);
    let value = wrapped::of_run(input).unwrap_or(input);
    let messages = said::messages(value, by, draft);
    let of_user = |said: &&Said<'run>| matches!(said.role, Some(role::USER | "human"));
    messages.iter().filter(of_user).find_map(|said| said.texts.first().copied())
}

key_table! {
    /// What stands in a choice of a model that is no message itself.
    Choice {
        Message = "message",
        Finish = "finish_reason",
        Beside = "index" | "id" | "tool.result",
    }
}

/// The words of such a choice, which says why it ended or holds its words in parts: any object may have a message.
fn words_of_choice<'run>(value: Node<'run>, draft: &Draft<'run, '_>) -> Option<Node<'run>> {
    let choice =
        object(value).filter(|choice| choice.entries().iter().all(|entry| Choice::from_key(entry.key).is_some()))?;
    let message = value_of(choice, Choice::Message).filter(|message| text_of_node(*message).is_some())?;
    (value_of(choice, Choice::Finish).is_some() || said::holds_parts_in_text(message, draft)).then_some(())?;
    content::joined(&said::message(value, role::ASSISTANT, draft).texts, draft.arena)
}

/// The last words in what a run gave, where it is a list of messages.
fn answer_in<'run>(answer: Node<'run>, draft: &Draft<'run, '_>) -> Node<'run> {
    let value = said::read(answer, draft);
    if let Some(words) = words_of_choice(value, draft) {
        return words;
    }
    let (answer, value) = wrapped::answer(value, draft).map_or((answer, value), |inner| (inner, inner));
    let has_role =
        |said: &Said<'run>| said.is_of_assistant() && said.place.is_some_and(|place| text_of_node(place).is_none());
    match value.value {
        Value::List(_) | Value::Object(_) => {
            let messages = said::messages(value, role::USER, draft);
            let last = messages.last().filter(|said| has_role(said));
            let last = last.and_then(|said| content::joined(&said.texts, draft.arena));
            last.unwrap_or(answer)
        }
        _ => answer,
    }
}
