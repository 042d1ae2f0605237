//! From spans to a run: its steps in the order of time, what it was asked, answered and used.

use super::attributes::Fact;
use super::calls::{self, Calls};
use super::said::{self, Said};
use super::tree::{self, Tree};
use super::{Act, Exchange, Span, text_of_node, used, wrapped};
use crate::adapt::draft::{Draft, count, field};
use crate::adapt::{content, handovers, tools};
use averment_base::value::{Entry, Node, Number, Origin, Value};
use averment_runs::normal::{of_meta, of_run, of_step, role};
use averment_runs::run::{Kind, Status};
use rustc_hash::FxHashMap;

/// What a format says of the run as a whole, beside its spans.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Whole<'run> {
    pub(crate) id: Option<Node<'run>>,
    pub(crate) input: Option<Node<'run>>,
    pub(crate) output: Option<Node<'run>>,
    pub(crate) error: Option<Node<'run>>,
    /// In US dollars.
    pub(crate) cost: Option<Node<'run>>,
    /// In milliseconds.
    pub(crate) duration: Option<f64>,
    pub(crate) session: Option<Node<'run>>,
}

/// A step, with its place among the others.
pub(super) struct Timed<'run> {
    time: Option<f64>,
    kind: Kind,
    fields: Vec<Entry<'run>>,
    origin: Origin,
}

/// So many fields a step has at most that is made of a span.
pub(super) const FIELDS: usize = 10;

impl<'run> Timed<'run> {
    pub(super) fn new(time: Option<f64>, kind: Kind, fields: Vec<Entry<'run>>, origin: Origin) -> Self {
        Self { time, kind, fields, origin }
    }
}

/// Tells a run by its spans.
pub(crate) fn tell<'run>(spans: Vec<Span<'run>>, whole: Whole<'run>, draft: &mut Draft<'run, '_>) {
    draft.records(&[Kind::Span]);
    draft.concludes_ok();
    let tree = Tree::new(each_once(spans, draft));
    let inner = tree.enclosing(|span| span.act == Act::Inference, true);
    let models: Vec<usize> = (0..tree.spans.len())
        .filter(|span| tree.act(*span) == Act::Inference && inner.get(*span) == Some(&false))
        .collect();
    let exchanges = exchanges(&tree, &models);
    let mut steps: Vec<Timed<'run>> = (0..tree.spans.len()).filter_map(|span| span_step(&tree, span)).collect();
    steps.extend((0..tree.spans.len()).filter_map(|span| request(&tree, span)));
    let handovers: Vec<Timed<'run>> = (0..tree.spans.len()).filter_map(|span| handover(&tree, span)).collect();
    let hands_over = !handovers.is_empty();
    steps.extend(handovers);
    let calls = calls::find(&tree, &models, &exchanges, draft);
    let speaker = speak(&tree, &models, &exchanges, &calls, draft);
    if records_calls(&tree, &models, &exchanges) {
        draft.records(&[Kind::Call]);
    } else {
        draft.warn(origin(&tree), NO_CALLS);
    }
    warn_of_parents(&tree, draft);
    let untimed = tree.spans.iter().any(|span| span.start.is_none());
    steps.extend(calls.steps);
    steps.extend(speaker.steps);
    if untimed {
        draft.kinds_in_no_order();
    }
    steps.sort_by(|a, b| a.time.unwrap_or(f64::MAX).total_cmp(&b.time.unwrap_or(f64::MAX)));
    for step in steps {
        draft.step(step.kind, step.fields, step.origin);
    }
    draft.insert_derived(tools::of_call);
    // What has spans of its own is told by them.
    if !hands_over {
        draft.insert_derived(handovers::of_call);
    }
    if !models.is_empty() {
        draft.set(of_run::TURNS, count(models.len()));
    }
    tell_whole(&tree, &models, whole, (speaker.prompt, speaker.output), draft);
}

/// Exporters may send a span again: it counts once, as it was sent last with an end.
fn each_once<'run>(spans: Vec<Span<'run>>, draft: &mut Draft<'run, '_>) -> Vec<Span<'run>> {
    let mut known: FxHashMap<&'run str, usize> = FxHashMap::default();
    let mut kept: Vec<Span<'run>> = Vec::with_capacity(spans.len());
    for span in spans {
        let first = span.id.and_then(|id| known.get(id).copied()).and_then(|place| kept.get_mut(place));
        match first {
            Some(first) => {
                draft.warn(span.node.origin, "a span stands more than once: it counts once");
                if span.end.is_some() || first.end.is_none() {
                    *first = span;
                }
            }
            None => {
                known.extend(span.id.map(|id| (id, kept.len())));
                kept.push(span);
            }
        }
    }
    kept
}

const NO_CALLS: &str =
    "calls count as not recorded: no span is one of a tool, and none of a model says what it answered";

/// What models were given and said: an outer span of the same request may know what the inner one does not.
fn exchanges<'run>(tree: &Tree<'run>, models: &[usize]) -> Vec<Exchange<'run>> {
    let of = |span: usize| tree.spans.get(span).map(|span| span.exchange.clone()).unwrap_or_default();
    let around = |span: usize| {
        std::iter::successors(tree.parent(span), |span| tree.parent(*span))
            .take(8)
            .take_while(|span| !matches!(tree.act(*span), Act::Agent | Act::Tool))
            .filter(|span| tree.act(*span) == Act::Inference)
    };
    models
        .iter()
        .map(|model| {
            let mut own = of(*model);
            for outer in around(*model).map(of) {
                if own.given.is_empty() {
                    own.given = outer.given;
                }
                if own.said.is_empty() {
                    (own.said, own.tells) = (outer.said, own.tells || outer.tells);
                }
            }
            own
        })
        .collect()
}

/// Whether calls would be seen if there were any.
fn records_calls(tree: &Tree<'_>, models: &[usize], exchanges: &[Exchange<'_>]) -> bool {
    let acts = |act: Act| tree.spans.iter().any(|span| span.act == act);
    let tells = || exchanges.iter().all(|exchange| exchange.tells);
    acts(Act::Tool) || !models.is_empty() && (acts(Act::Agent) || tells())
}

fn origin(tree: &Tree<'_>) -> Origin {
    tree.spans.first().map_or(Origin::COMPUTED, |span| span.node.origin)
}

/// One parent may have been recorded elsewhere: what asked for the run. More are spans that are not there.
fn warn_of_parents<'run>(tree: &Tree<'run>, draft: &mut Draft<'run, '_>) {
    if tree.unknown_parents > 1 {
        let message =
            format!("{} spans that others stand in are not there: the run may lack steps", tree.unknown_parents);
        draft.warn(origin(tree), message);
    }
}

pub(super) fn instant<'run>(time: Option<f64>) -> Option<Node<'run>> {
    time.map(|time| Node::computed(crate::time::value(time)))
}

/// How something ended, as a word.
pub(super) fn status<'run>(failed: bool) -> Option<Node<'run>> {
    let status = if failed { Status::Failed } else { Status::Ok };
    status.as_str().map(|word| Node::computed(Value::plain(word)))
}

/// When a span was, and whose it is.
pub(super) fn common<'run>(tree: &Tree<'run>, span: usize) -> impl Iterator<Item = Entry<'run>> + use<'run> {
    let one = tree.spans.get(span);
    let (start, end) = (one.and_then(|one| instant(one.start)), one.and_then(|one| instant(one.end)));
    let agent = tree.agent_name(span).map(|name| Node::computed(Value::plain(name)));
    let fields = [(of_step::START, start), (of_step::END, end), (of_step::AGENT, agent)];
    fields.into_iter().filter_map(|(key, node)| Some(field(key, node?)))
}

fn span_step<'run>(tree: &Tree<'run>, span: usize) -> Option<Timed<'run>> {
    let one = tree.spans.get(span)?;
    let name = one.name.filter(|name| text_of_node(*name).is_some())?;
    let mut fields = Vec::with_capacity(FIELDS);
    fields.extend([field(of_step::NAME, name)]);
    fields.extend(one.attributes.map(|attributes| field(of_step::ATTRIBUTES, attributes)));
    let status = one.failed.and_then(status);
    fields.extend(status.map(|status| field(of_step::STATUS, status)));
    let text = |text: Option<&'run str>| text.map(|text| Node::computed(Value::plain(text)));
    fields.extend(text(one.id).map(|id| field(of_step::ID, id)));
    fields.extend(text(one.parent).map(|parent| field(of_step::PARENT_ID, parent)));
    fields.extend(common(tree, span));
    Some(Timed::new(one.start, Kind::Span, fields, one.node.origin))
}

/// A request over HTTP that was sent, not one that was served.
fn request<'run>(tree: &Tree<'run>, span: usize) -> Option<Timed<'run>> {
    let one = tree.spans.get(span)?;
    let url = one.facts.get(Fact::Url).filter(|url| text_of_node(*url).is_some())?;
    let kind = one.facts.get(Fact::SpanKind)?;
    let is_client = match kind.value {
        Value::Number(number) => number == Number::Integer(3) || number.as_i64() == Some(3),
        Value::Text(text) => text.as_str().to_ascii_lowercase().ends_with("client"),
        _ => false,
    };
    let method = one.facts.get(Fact::Method).filter(|_| is_client)?;
    let mut fields = vec![field(of_step::METHOD, method), field(of_step::URL, url)];
    let status = one.facts.number(Fact::HttpStatus).map(|status| Node::computed(Value::Number(status)));
    fields.extend(status.map(|status| field(of_step::STATUS, status)));
    fields.extend(common(tree, span));
    Some(Timed::new(one.start, Kind::Http, fields, one.node.origin))
}

/// A span that says that one agent hands over to another.
fn handover<'run>(tree: &Tree<'run>, span: usize) -> Option<Timed<'run>> {
    let one = tree.spans.get(span)?;
    let of = |fact: Fact| one.facts.get(fact).filter(|name| text_of_node(*name).is_some_and(|name| !name.is_empty()));
    let named = |node: Node<'run>| match text_of_node(node).filter(|name| tree.is_name_of_main(name)) {
        Some(_) => Node::new(Value::plain(tree::MAIN), node.origin),
        None => node,
    };
    let (to, from) = (of(Fact::HandoverTo)?, of(Fact::HandoverFrom));
    let mut fields = vec![field(of_step::TO, named(to))];
    fields.extend(instant(one.start).map(|start| field(of_step::START, start)));
    let around = || tree.agent_name(span).map(|name| Node::computed(Value::plain(name)));
    fields.extend(from.map(named).or_else(around).map(|agent| field(of_step::AGENT, agent)));
    Some(Timed::new(one.start, Kind::Handover, fields, one.node.origin))
}

/// What was said.
struct Speaker<'run> {
    steps: Vec<Timed<'run>>,
    prompt: Option<Node<'run>>,
    output: Option<Node<'run>>,
    /// How often each agent was told a text, by role.
    told: FxHashMap<(Option<&'run str>, &'run str, &'run str), usize>,
}

fn speak<'run>(
    tree: &Tree<'run>,
    models: &[usize],
    exchanges: &[Exchange<'run>],
    calls: &Calls<'run>,
    draft: &mut Draft<'run, '_>,
) -> Speaker<'run> {
    let mut speaker = Speaker { steps: Vec::new(), prompt: None, output: None, told: FxHashMap::default() };
    for (turn, (model, exchange)) in models.iter().zip(exchanges).enumerate() {
        let Some(span) = tree.spans.get(*model) else { continue };
        let of_main = tree.is_of_main(*model);
        let agent = tree.agent_name(*model);
        speaker.given(&exchange.given, (agent, of_main), (span.start, turn + 1));
        let before = calls.first_asked.get(model).copied();
        let at = [span.end.or(span.start), before].into_iter().flatten().reduce(f64::min);
        for said in &exchange.said {
            for thought in &said.thoughts {
                speaker.say(role::THINKING, *thought, agent, (at, turn + 1));
            }
            for text in &said.texts {
                speaker.say(role::ASSISTANT, *text, agent, (at, turn + 1));
            }
            if of_main {
                speaker.output = content::joined(&said.texts, draft.arena).or(speaker.output);
            }
        }
    }
    if exchanges.iter().any(|exchange| exchange.tells || !exchange.given.is_empty()) {
        draft.records(&[Kind::Message]);
    }
    speaker
}

impl<'run> Speaker<'run> {
    /// Every request repeats the conversation so far: only what is new is told.
    fn given(
        &mut self,
        given: &[Said<'run>],
        (agent, of_main): (Option<&'run str>, bool),
        (at, turn): (Option<f64>, usize),
    ) {
        let mut here: FxHashMap<(&'run str, &'run str), usize> = FxHashMap::default();
        for said in given.iter().filter(|said| !said.is_of_assistant()) {
            let Some(by) = said.role.filter(|role| role::OF_OTHERS.contains(role)) else { continue };
            for text in &said.texts {
                let Some(words) = text_of_node(*text) else { continue };
                let count = here.entry((by, words)).or_insert(0);
                *count += 1;
                let known = self.told.entry((agent, by, words)).or_insert(0);
                if *count <= *known {
                    continue;
                }
                *known = *count;
                let of_user = matches!(by, role::USER | "human");
                if of_user && of_main && self.prompt.is_none() {
                    self.prompt = Some(*text);
                }
                self.say(if of_user && !of_main { role::TASK } else { by }, *text, agent, (at, turn));
            }
        }
    }

    fn say(&mut self, by: &'run str, text: Node<'run>, agent: Option<&'run str>, (at, turn): (Option<f64>, usize)) {
        let mut fields = vec![
            field(of_step::ROLE, Node::computed(Value::plain(by))),
            field(of_step::TEXT, text),
            field(of_step::TURN, count(turn)),
        ];
        fields.extend(instant(at).map(|start| field(of_step::START, start)));
        fields.extend(agent.map(|agent| field(of_step::AGENT, Node::computed(Value::plain(agent)))));
        self.steps.push(Timed::new(at, Kind::Message, fields, text.origin));
    }
}

/// The entries of the run.
fn tell_whole<'run>(
    tree: &Tree<'run>,
    models: &[usize],
    whole: Whole<'run>,
    (prompt, output): (Option<Node<'run>>, Option<Node<'run>>),
    draft: &mut Draft<'run, '_>,
) {
    let roots: Vec<usize> = (0..tree.spans.len()).filter(|span| tree.parent(*span).is_none()).collect();
    let (first, last) = (tree.whole(false), tree.whole(true));
    let [outer, last] = [&first, &last].map(|spans| || spans.iter().filter_map(|span| tree.spans.get(*span)));
    let fact = |fact: Fact| outer().find_map(|span| span.facts.get(fact));
    // What one model or tool was given is not what the run was given.
    let is_work = |span: &&Span<'run>| !matches!(span.act, Act::Inference | Act::Tool);
    draft.set_some(of_run::ID, whole.id);
    let input = whole.input.or_else(|| outer().filter(is_work).find_map(|span| span.facts.get(Fact::Input)));
    let prompt = prompt.or_else(|| prompt_in(input.or_else(|| fact(Fact::MessagesIn))?, draft));
    draft.set_some(of_run::PROMPT, prompt);
    draft.set_some(of_run::INPUTS, input);
    let gave = || last().filter(is_work).find_map(|span| span.facts.get(Fact::Output));
    let arena = draft.arena;
    let said =
        || last().filter_map(|span| span.exchange.said.last()).find_map(|said| content::joined(&said.texts, arena));
    let answer = whole.output.or_else(gave).or_else(said).or(output);
    draft.set_some(of_run::OUTPUT, answer.map(|answer| answer_in(answer, draft)));
    // A tool that failed is a failed call, and not yet a failed run.
    let work = roots.iter().filter(|root| !matches!(tree.act(**root), Act::Tool));
    let failed = work.filter_map(|root| tree.spans.get(*root)).filter(|root| root.failed == Some(true));
    draft.set_some(of_run::ERROR, whole.error.or_else(|| failed.clone().find_map(|root| root.error)));
    let ends = || tree.spans.iter().filter_map(|span| span.end);
    let spans = tree.spans.iter().filter_map(|span| span.start).reduce(f64::min).zip(ends().reduce(f64::max));
    let duration = whole.duration.or_else(|| spans.map(|(start, end)| end - start).filter(|duration| *duration >= 0.0));
    draft.set_some(of_run::DURATION, instant(duration));
    used::usage(tree, draft);
    let cost = whole.cost.or_else(|| used::cost(tree));
    draft.set_some(of_run::COST, cost);
    let tools = models.iter().filter_map(|model| tree.spans.get(*model)).chain(outer());
    let mut found: Vec<Node<'run>> = Vec::new();
    for span in tools {
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
    let model =
        models.iter().find_map(|model| tree.spans.get(*model)?.facts.get(Fact::Model)).or_else(|| fact(Fact::Model));
    models
        .iter()
        .filter_map(|model| tree.spans.get(*model))
        .for_each(|span| draft.names_model(span.facts.get(Fact::Model)));
    let session = whole.session.or_else(|| tree.spans.iter().find_map(|span| span.facts.get(Fact::Conversation)));
    let meta = [(of_meta::MODEL, model), (of_meta::SESSION, session)];
    let meta: Vec<Entry<'run>> = meta.into_iter().filter_map(|(key, node)| Some(field(key, node?))).collect();
    if !meta.is_empty() {
        let meta = draft.object(&meta);
        draft.set(of_run::META, meta);
    }
}

/// The first words of a user in what a run was given; text that is no JSON is those words.
fn prompt_in<'run>(input: Node<'run>, draft: &Draft<'run, '_>) -> Option<Node<'run>> {
    let input = said::read(input, draft);
    let value = wrapped::of_run(input).unwrap_or(input);
    let messages = said::messages(value, role::USER, draft);
    let of_user = |said: &&Said<'run>| matches!(said.role, Some(role::USER | "human"));
    messages.iter().filter(of_user).find_map(|said| said.texts.first().copied())
}

/// The last words in what a run gave, where it is a list of messages.
fn answer_in<'run>(answer: Node<'run>, draft: &Draft<'run, '_>) -> Node<'run> {
    let value = said::read(answer, draft);
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

/// The text of a tool's name: what the conventions say, else the name of the span.
pub(super) fn tool_name<'run>(span: &Span<'run>) -> Option<Node<'run>> {
    let is_text = |node: &Node<'run>| text_of_node(*node).is_some_and(|name| !name.is_empty());
    span.facts
        .get(Fact::Tool)
        .filter(is_text)
        .or_else(|| span.facts.get(Fact::Entity).filter(is_text))
        .or_else(|| super::tree::plain_name_node(span).filter(is_text))
}
