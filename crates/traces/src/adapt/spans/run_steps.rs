//! From spans to a run: its steps in the order of time, what it was asked, answered and used.

use super::attributes::Fact;
use super::calls::{self, SpanCalls};
use super::exchange::{ExchangeRef, SpanMessage};
use super::run_entries::{self, RunEntries};
use super::timed::{FIELDS, TimedStep, common_fields, instant_node, status_node};
use super::tool_roles::NOBODY;
use super::tree::{self, SpanTree};
use super::{SpanAct, TraceSpan, claude_turns, plain_prompts, run_usage, tool_events};
use crate::adapt::nodes::node_text;
use crate::adapt::run_builder::{RunBuilder, count_node, field_entry};
use crate::adapt::{content, handovers, tools, written_actions};
use averment_base::value::{Node, Number, TextOrigin, Value};
use averment_runs::normal::{of_run, of_step, role};
use averment_runs::run::StepKind;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

pub(crate) fn build_run<'run>(
    spans: Vec<TraceSpan<'run>>,
    whole: RunEntries<'run>,
    builder: &mut RunBuilder<'run, '_>,
) {
    builder.mark_recorded(&[StepKind::Span]);
    builder.assume_success();
    let mut spans = dedupe_spans(spans, builder);
    tool_events::merge_events(&mut spans);
    if builder.is_whole() {
        run_usage::read_answers(&mut spans, builder);
    }
    if spans.iter().any(|span| span.exchange.asks_calls() || span.lacks_result()) {
        spans.iter_mut().for_each(|span| span.exchange.read_rest(builder));
    }
    let tree = SpanTree::new(spans);
    let inner = tree.encloses_any(|span| span.act == SpanAct::Inference, true);
    let models: Vec<usize> = (0..tree.spans.len())
        .filter(|span| tree.act_of(*span) == SpanAct::Inference && inner.get(*span) == Some(&false))
        .collect();
    let exchanges = model_exchanges(&tree, &models);
    let (mut steps, mut hands_over) = (Vec::new(), false);
    if builder.is_whole() {
        steps.extend((0..tree.spans.len()).filter_map(|span| span_step(&tree, span)));
        steps.extend((0..tree.spans.len()).filter_map(|span| request_step(&tree, span)));
        let before = steps.len();
        steps.extend((0..tree.spans.len()).filter_map(|span| handover_step(&tree, span)));
        hands_over = steps.len() > before;
    }
    let calls = calls::find_calls(&tree, &models, &exchanges, builder);
    let speaker = collect_speech(&tree, &models, &exchanges, &calls, whole.input, builder);
    let said = exchanges.iter().flat_map(|exchange| exchange.output);
    let said = said.flat_map(|said| said.texts.iter().chain(&said.thoughts)).copied();
    let called = calls.steps.iter().filter(|step| step.kind == StepKind::Call).filter_map(|step| {
        let field = step.fields.iter().find(|field| field.key == of_step::TOOL)?;
        node_text(field.node)
    });
    let written = written_actions::action_without_call(said, called);
    match written.filter(|_| calls.steps.is_empty()) {
        Some(origin) => builder.add_warning(origin, ONLY_WRITTEN),
        None if records_calls(&tree, &models, &exchanges) => builder.mark_recorded(&[StepKind::Call]),
        None => builder.add_warning(first_origin(&tree), NO_CALLS),
    }
    if let Some(origin) = written.filter(|_| !calls.steps.is_empty()) {
        builder.skip_record(origin, "an action stands in the words of a model, and no span tells of it");
    }
    warn_of_parents(&tree, builder);
    let untimed = tree.spans.iter().any(|span| span.start.is_none());
    steps.extend(calls.steps);
    steps.extend(speaker.steps);
    if untimed {
        builder.mark_unordered();
    }
    steps.sort_by(|a, b| a.time.unwrap_or(f64::MAX).total_cmp(&b.time.unwrap_or(f64::MAX)));
    for step in steps {
        builder.add_step(step.kind, step.fields, step.origin);
    }
    if builder.is_whole() {
        tools::add_following_steps(builder, tools::derive_from_call);
    }
    // What has spans of its own is told by them.
    if builder.is_whole() && !hands_over {
        builder.insert_derived(handovers::derive_handover);
    }
    if !models.is_empty() {
        builder.set_entry(of_run::TURNS, count_node(models.len()));
    }
    run_entries::set_entries(&tree, &models, whole, speaker.prompt, speaker.output, builder);
}

/// A resent span counts once: the last version with an end.
fn dedupe_spans<'run>(spans: Vec<TraceSpan<'run>>, builder: &mut RunBuilder<'run, '_>) -> Vec<TraceSpan<'run>> {
    let mut ids = FxHashSet::with_capacity_and_hasher(spans.len(), FxBuildHasher);
    if spans.iter().filter_map(|span| span.id).all(|id| ids.insert(id)) {
        return spans;
    }
    let mut known: FxHashMap<&'run str, usize> = FxHashMap::default();
    let mut kept: Vec<TraceSpan<'run>> = Vec::with_capacity(spans.len());
    for span in spans {
        let first = span.id.and_then(|id| known.get(id).copied()).and_then(|place| kept.get_mut(place));
        match first {
            Some(first) => {
                builder.add_warning(span.origin, "a span stands more than once: it counts once");
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

const ONLY_WRITTEN: &str =
    "calls count as not recorded: actions stand in the words of a model, and no span tells of them";

/// An outer span of the same request may fill gaps.
fn model_exchanges<'t, 'run>(tree: &'t SpanTree<'run>, models: &[usize]) -> Vec<ExchangeRef<'t, 'run>> {
    let of = |span: usize| tree.spans.get(span).map(|span| span.exchange.exchange_ref()).unwrap_or_default();
    let around = |span: usize| {
        std::iter::successors(tree.parent_of(span), |span| tree.parent_of(*span))
            .take(8)
            .take_while(|span| !matches!(tree.act_of(*span), SpanAct::Agent | SpanAct::Tool))
            .filter(|span| tree.act_of(*span) == SpanAct::Inference)
    };
    models.iter().map(|model| around(*model).map(of).fold(of(*model), ExchangeRef::or_outer)).collect()
}

/// True if calls would be visible.
fn records_calls(tree: &SpanTree<'_>, models: &[usize], exchanges: &[ExchangeRef<'_, '_>]) -> bool {
    let acts = |act: SpanAct| tree.spans.iter().any(|span| span.act == act);
    let tells = || exchanges.iter().all(|exchange| exchange.records_output);
    acts(SpanAct::Tool) || !models.is_empty() && (acts(SpanAct::Agent) || tells())
}

fn first_origin(tree: &SpanTree<'_>) -> TextOrigin {
    tree.spans.first().map_or(TextOrigin::COMPUTED, |span| span.origin)
}

/// One parent may be recorded elsewhere: the caller. More are missing spans.
fn warn_of_parents<'run>(tree: &SpanTree<'run>, builder: &mut RunBuilder<'run, '_>) {
    if tree.unknown_parents > 1 {
        let message =
            format!("{} spans that others stand in are not there: the run may lack steps", tree.unknown_parents);
        builder.add_warning(first_origin(tree), message);
    }
}

fn span_step<'run>(tree: &SpanTree<'run>, span: usize) -> Option<TimedStep<'run>> {
    let one = tree.spans.get(span)?;
    let name = one.name.filter(|name| node_text(*name).is_some())?;
    let mut fields = Vec::with_capacity(FIELDS);
    fields.extend([field_entry(of_step::NAME, name)]);
    fields.extend(one.attributes.map(|attributes| field_entry(of_step::ATTRIBUTES, attributes)));
    let status = one.failed.and_then(status_node);
    fields.extend(status.map(|status| field_entry(of_step::STATUS, status)));
    let text = |text: Option<&'run str>| text.map(|text| Node::computed(Value::plain_text(text)));
    fields.extend(text(one.id).map(|id| field_entry(of_step::ID, id)));
    fields.extend(text(one.parent).map(|parent| field_entry(of_step::PARENT_ID, parent)));
    fields.extend(common_fields(tree, span));
    Some(TimedStep::new(one.start, StepKind::Span, fields, one.origin))
}

/// An HTTP request that was sent, not served.
fn request_step<'run>(tree: &SpanTree<'run>, span: usize) -> Option<TimedStep<'run>> {
    let one = tree.spans.get(span)?;
    let url = one.facts.fact_node(Fact::Url).filter(|url| node_text(*url).is_some())?;
    let kind = one.facts.fact_node(Fact::SpanKind)?;
    let is_client = match kind.value {
        Value::Number(number) => number == Number::Integer(3) || number.as_i64() == Some(3),
        Value::Text(text) => text.as_str().to_ascii_lowercase().ends_with("client"),
        _ => false,
    };
    let method = one.facts.fact_node(Fact::Method).filter(|_| is_client)?;
    let mut fields = vec![field_entry(of_step::METHOD, method), field_entry(of_step::URL, url)];
    let status = one.facts.fact_number(Fact::HttpStatus).map(|status| Node::computed(Value::Number(status)));
    fields.extend(status.map(|status| field_entry(of_step::STATUS, status)));
    fields.extend(common_fields(tree, span));
    Some(TimedStep::new(one.start, StepKind::Http, fields, one.origin))
}

fn handover_step<'run>(tree: &SpanTree<'run>, span: usize) -> Option<TimedStep<'run>> {
    let one = tree.spans.get(span)?;
    let of =
        |fact: Fact| one.facts.fact_node(fact).filter(|name| node_text(*name).is_some_and(|name| !name.is_empty()));
    let named = |node: Node<'run>| match node_text(node).filter(|name| tree.is_name_of_main(name)) {
        Some(_) => Node::new(Value::plain_text(tree::MAIN), node.origin),
        None => node,
    };
    let (to, from) = (of(Fact::HandoverTo)?, of(Fact::HandoverFrom));
    let mut fields = vec![field_entry(of_step::TO, named(to))];
    fields.extend(instant_node(one.start).map(|start| field_entry(of_step::START, start)));
    let around = || tree.agent_name(span).map(|name| Node::computed(Value::plain_text(name)));
    fields.extend(from.map(named).or_else(around).map(|agent| field_entry(of_step::AGENT, agent)));
    Some(TimedStep::new(one.start, StepKind::Handover, fields, one.origin))
}

fn is_words(text: &Node<'_>) -> bool {
    !node_text(*text).is_some_and(written_actions::is_printed_call)
}

#[derive(Default)]
struct SpeechSteps<'run> {
    steps: Vec<TimedStep<'run>>,
    /// The texts in what the run was asked, where something says that.
    asked: Option<FxHashSet<&'run str>>,
    /// The models are asked other things than the run was.
    of_program: bool,
    prompt: Option<Node<'run>>,
    output: Option<Node<'run>>,
    /// A message may be anybody's.
    has_nameless: bool,
    /// How often each agent received a text, by role.
    told: FxHashMap<(Option<&'run str>, &'run str, &'run str), usize>,
}

fn collect_speech<'run>(
    tree: &SpanTree<'run>,
    models: &[usize],
    exchanges: &[ExchangeRef<'_, 'run>],
    calls: &SpanCalls<'run>,
    input: Option<Node<'run>>,
    builder: &mut RunBuilder<'run, '_>,
) -> SpeechSteps<'run> {
    let asked = builder.is_whole().then(|| plain_prompts::asked_texts(tree, input, builder)).flatten();
    let main = models.iter().zip(exchanges).filter(|(model, _)| tree.is_of_main(**model));
    let given = || main.clone().flat_map(|(_, exchange)| exchange.input);
    let of_program = asked.as_ref().is_some_and(|asked| plain_prompts::are_of_program(given(), asked));
    let mut speaker = SpeechSteps { asked, of_program, ..SpeechSteps::default() };
    // The main agent left the rest to others by a call, and said nothing since.
    let mut left_to_others = false;
    for (turn, (model, exchange)) in models.iter().zip(exchanges).enumerate() {
        let Some(span) = tree.spans.get(*model) else { continue };
        let of_main = tree.is_of_main(*model);
        let agent = tree.agent_name(*model);
        if of_main {
            left_to_others = exchange.output.iter().any(SpanMessage::hands_over);
        }
        if left_to_others || tree.may_answer(*model) {
            let said = exchange.output.iter().rev().map(|said| said.texts.iter().copied().filter(is_words).collect());
            let last = said.map(|texts: Vec<_>| content::join_texts(&texts, builder.arena)).find_map(|said| said);
            speaker.output = last.or(speaker.output);
        }
        if !builder.is_whole() {
            continue;
        }
        let of_user = claude_turns::words_of_user(tree, *model, builder);
        speaker.add_given(exchange.input, of_user.as_ref(), agent, of_main, span.start, turn + 1);
        let before = calls.first_asked.get(model).copied();
        let at = [span.end.or(span.start), before].into_iter().flatten().reduce(f64::min);
        for said in exchange.output {
            for thought in &said.thoughts {
                speaker.add_message(role::THINKING, *thought, agent, at, turn + 1);
            }
            for text in said.texts.iter().filter(|text| is_words(text)) {
                speaker.add_message(role::ASSISTANT, *text, agent, at, turn + 1);
            }
        }
    }
    if exchanges.iter().any(|exchange| exchange.records_output || !exchange.input.is_empty()) {
        builder.mark_recorded(&[StepKind::Message]);
    }
    if speaker.has_nameless {
        builder.leave_role_open(role::USER);
    }
    speaker
}

impl<'run> SpeechSteps<'run> {
    /// Requests repeat the conversation: only new messages are added. `own`: the user's texts, where others stand in the user's name.
    fn add_given(
        &mut self,
        given: &[SpanMessage<'run>],
        own: Option<&FxHashSet<&'run str>>,
        agent: Option<&'run str>,
        of_main: bool,
        at: Option<f64>,
        turn: usize,
    ) {
        let mut here: FxHashMap<(&'run str, &'run str), usize> = FxHashMap::default();
        for said in given.iter().filter(|said| !said.is_of_assistant()) {
            let Some(by) = said.role.filter(|role| role::OF_OTHERS.contains(role)) else {
                self.has_nameless |= said.role == Some(NOBODY) && !said.texts.is_empty();
                continue;
            };
            for text in &said.texts {
                let Some(words) = node_text(*text) else { continue };
                let is_template = || {
                    let asked = self.asked.as_ref().filter(|_| of_main && plain_prompts::is_plain(said));
                    asked.is_some_and(|asked| !asked.contains(words.trim()))
                };
                let is_foreign =
                    || content::is_not_of_user(words) || own.is_some_and(|own| !own.contains(words)) || is_template();
                let of_others = matches!(by, role::USER | "human") && is_foreign();
                let by = if of_others { role::SYSTEM } else { by };
                let count = here.entry((by, words)).or_insert(0);
                *count += 1;
                let known = self.told.entry((agent, by, words)).or_insert(0);
                if *count <= *known {
                    continue;
                }
                *known = *count;
                let of_user = matches!(by, role::USER | "human");
                if of_user && of_main && !self.of_program && self.prompt.is_none() {
                    self.prompt = Some(*text);
                }
                let of_program = !of_main || self.of_program;
                self.add_message(if of_user && of_program { role::TASK } else { by }, *text, agent, at, turn);
            }
        }
    }

    fn add_message(&mut self, by: &'run str, text: Node<'run>, agent: Option<&'run str>, at: Option<f64>, turn: usize) {
        if node_text(text).is_none() {
            return;
        }
        let mut fields = vec![
            field_entry(of_step::ROLE, Node::computed(Value::plain_text(by))),
            field_entry(of_step::TEXT, text),
            field_entry(of_step::TURN, count_node(turn)),
        ];
        fields.extend(instant_node(at).map(|start| field_entry(of_step::START, start)));
        fields.extend(agent.map(|agent| field_entry(of_step::AGENT, Node::computed(Value::plain_text(agent)))));
        self.steps.push(TimedStep::new(at, StepKind::Message, fields, text.origin));
    }
}
