//! From spans to a run: its steps in the order of time, what it was asked, answered and used.

use super::attributes::Fact;
use super::calls::{self, Calls};
use super::entries::{self, Whole};
use super::exchange::{Heard, Said};
use super::timed::{FIELDS, Timed, common, instant, status};
use super::tree::{self, Tree};
use super::{Act, Span, text_of_node};
use crate::adapt::draft::{Draft, count, field};
use crate::adapt::{content, handovers, tools};
use averment_base::value::{Node, Number, Origin, Value};
use averment_runs::normal::{of_run, of_step, role};
use averment_runs::run::Kind;
use rustc_hash::FxHashMap;

/// Tells a run by its spans.
pub(crate) fn tell<'run>(spans: Vec<Span<'run>>, whole: Whole<'run>, draft: &mut Draft<'run, '_>) {
    draft.records(&[Kind::Span]);
    draft.concludes_ok();
    let mut spans = each_once(spans, draft);
    if spans.iter().any(|span| span.exchange.asks() || span.lacks_result()) {
        spans.iter_mut().for_each(|span| span.exchange.read_on(draft));
    }
    let tree = Tree::new(spans);
    let inner = tree.enclosing(|span| span.act == Act::Inference, true);
    let models: Vec<usize> = (0..tree.spans.len())
        .filter(|span| tree.act(*span) == Act::Inference && inner.get(*span) == Some(&false))
        .collect();
    let exchanges = exchanges(&tree, &models);
    let (mut steps, mut hands_over) = (Vec::new(), false);
    if draft.is_whole() {
        steps.extend((0..tree.spans.len()).filter_map(|span| span_step(&tree, span)));
        steps.extend((0..tree.spans.len()).filter_map(|span| request(&tree, span)));
        let before = steps.len();
        steps.extend((0..tree.spans.len()).filter_map(|span| handover(&tree, span)));
        hands_over = steps.len() > before;
    }
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
    if draft.is_whole() {
        draft.insert_derived(tools::of_call);
    }
    // What has spans of its own is told by them.
    if draft.is_whole() && !hands_over {
        draft.insert_derived(handovers::of_call);
    }
    if !models.is_empty() {
        draft.set(of_run::TURNS, count(models.len()));
    }
    entries::tell(&tree, &models, whole, speaker.prompt, speaker.output, draft);
}

/// Exporters may send a span again: it counts once, as it was sent last with an end.
fn each_once<'run>(spans: Vec<Span<'run>>, draft: &mut Draft<'run, '_>) -> Vec<Span<'run>> {
    let mut known: FxHashMap<&'run str, usize> = FxHashMap::default();
    let mut kept: Vec<Span<'run>> = Vec::with_capacity(spans.len());
    for span in spans {
        let first = span.id.and_then(|id| known.get(id).copied()).and_then(|place| kept.get_mut(place));
        match first {
            Some(first) => {
                draft.warn(span.origin, "a span stands more than once: it counts once");
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
fn exchanges<'t, 'run>(tree: &'t Tree<'run>, models: &[usize]) -> Vec<Heard<'t, 'run>> {
    let of = |span: usize| tree.spans.get(span).map(|span| span.exchange.heard()).unwrap_or_default();
    let around = |span: usize| {
        std::iter::successors(tree.parent(span), |span| tree.parent(*span))
            .take(8)
            .take_while(|span| !matches!(tree.act(*span), Act::Agent | Act::Tool))
            .filter(|span| tree.act(*span) == Act::Inference)
    };
    models.iter().map(|model| around(*model).map(of).fold(of(*model), Heard::or)).collect()
}

/// Whether calls would be seen if there were any.
fn records_calls(tree: &Tree<'_>, models: &[usize], exchanges: &[Heard<'_, '_>]) -> bool {
    let acts = |act: Act| tree.spans.iter().any(|span| span.act == act);
    let tells = || exchanges.iter().all(|exchange| exchange.tells);
    acts(Act::Tool) || !models.is_empty() && (acts(Act::Agent) || tells())
}

fn origin(tree: &Tree<'_>) -> Origin {
    tree.spans.first().map_or(Origin::COMPUTED, |span| span.origin)
}

/// One parent may have been recorded elsewhere: what asked for the run. More are spans that are not there.
fn warn_of_parents<'run>(tree: &Tree<'run>, draft: &mut Draft<'run, '_>) {
    if tree.unknown_parents > 1 {
        let message =
            format!("{} spans that others stand in are not there: the run may lack steps", tree.unknown_parents);
        draft.warn(origin(tree), message);
    }
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
    Some(Timed::new(one.start, Kind::Span, fields, one.origin))
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
    Some(Timed::new(one.start, Kind::Http, fields, one.origin))
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
    Some(Timed::new(one.start, Kind::Handover, fields, one.origin))
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
    exchanges: &[Heard<'_, 'run>],
    calls: &Calls<'run>,
    draft: &mut Draft<'run, '_>,
) -> Speaker<'run> {
    let mut speaker = Speaker { steps: Vec::new(), prompt: None, output: None, told: FxHashMap::default() };
    for (turn, (model, exchange)) in models.iter().zip(exchanges).enumerate() {
        let Some(span) = tree.spans.get(*model) else { continue };
        let of_main = tree.is_of_main(*model);
        let agent = tree.agent_name(*model);
        if tree.answers(*model) {
            let last = exchange.said.iter().rev().find_map(|said| content::joined(&said.texts, draft.arena));
            speaker.output = last.or(speaker.output);
        }
        if !draft.is_whole() {
            continue;
        }
        speaker.given(exchange.given, agent, of_main, span.start, turn + 1);
        let before = calls.first_asked.get(model).copied();
        let at = [span.end.or(span.start), before].into_iter().flatten().reduce(f64::min);
        for said in exchange.said {
            for thought in &said.thoughts {
                speaker.say(role::THINKING, *thought, agent, at, turn + 1);
            }
            for text in &said.texts {
                speaker.say(role::ASSISTANT, *text, agent, at, turn + 1);
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
    fn given(&mut self, given: &[Said<'run>], agent: Option<&'run str>, of_main: bool, at: Option<f64>, turn: usize) {
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
                self.say(if of_user && !of_main { role::TASK } else { by }, *text, agent, at, turn);
            }
        }
    }

    fn say(&mut self, by: &'run str, text: Node<'run>, agent: Option<&'run str>, at: Option<f64>, turn: usize) {
        if text_of_node(text).is_none() {
            return;
        }
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
