//! The table of formats, and which of them a value is written in.

use super::cutting::RunCutting;
use super::format::{FIRST_ITEMS, TraceFormat};
use super::nodes::{node_object, record_payload};
use super::{
    a2a, acp, adk, ag2, agent_framework, agno, agno_session, agui, ai_sdk_steps, ai_sdk_stream, amazon_q, amp,
    antigravity, api, assay, assistants, atif, auggie, autogen, batch, bedrock_agent, bot_framework, braintrust,
    browser_use, camel, chainlit, chatgpt, chunks, claude_code, claude_hooks, cline, cline_events, cline_shown, codex,
    cohere_stream, continue_session, copilot, crewai, crush, cursor, cursor_transcript, datadog, deepeval, dify,
    dify_stream, droid, dspy, eleven_labs, evaluation_rows, evalview, flowise, gemini, gemini_api, gemini_live,
    generic, genkit, google_interactions, goose, grok, grok_headless, guard, haystack, helicone, http_exchanges,
    inspect, kimi, kimi_code, langchain, langchain_agent, langchain_events, langchain_printed, langchain4j, langflow,
    langfuse, langgraph, langsmith, letta, letta_file, llama_index, llama_stack, llama_workflow, llm_logs,
    logged_requests, managed, mastra, mastra_stream, mcp, mini_swe, mistral_entries, n8n, native, ollama, open_webui,
    openai_agents, openai_chat, opencode, openhands, opik, otel, owasp, pi, platform_spans, posthog, promptfoo,
    pydantic_ai, qwen_code, rasa, realtime, retell, roo_stream, run_state, runsight, semantic_kernel, senders,
    sharegpt, skillgym, smolagents, span_rows, stop, strands, swe_agent, tau_bench, tau2, text_completions, trae, vapi,
    vscode_chat, weave, zed_thread,
};
use averment_base::value::{Node, Object, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::LazyLock;

/// All formats. The first one that knows a value is taken: the more particular ones come first.
pub static FORMATS: &[TraceFormat] = &[
    stop::FORMAT,
    langfuse::FORMAT,
    langsmith::FORMAT,
    braintrust::FORMAT,
    opik::FORMAT,
    helicone::FORMAT,
    posthog::FORMAT,
    weave::FORMAT,
    datadog::FORMAT,
    platform_spans::LANGWATCH,
    platform_spans::LUNARY,
    platform_spans::LAMINAR,
    openai_agents::FORMAT,
    deepeval::FORMAT,
    promptfoo::FORMAT,
    otel::OPEN_INFERENCE,
    gemini::telemetry::FORMAT,
    otel::FORMAT,
    span_rows::FORMAT,
    cursor::FORMAT,
    droid::STREAM,
    qwen_code::FORMAT,
    claude_code::FORMAT,
    claude_hooks::FORMAT,
    pi::FORMAT,
    droid::FORMAT,
    kimi_code::FORMAT,
    kimi::FORMAT,
    grok::FORMAT,
    grok_headless::FORMAT,
    acp::FORMAT,
    antigravity::FORMAT,
    goose::FORMAT,
    cursor_transcript::FORMAT,
    cline::FORMAT,
    cline_shown::FORMAT,
    cline_events::FORMAT,
    roo_stream::FORMAT,
    vscode_chat::FORMAT,
    continue_session::FORMAT,
    zed_thread::FORMAT,
    amp::FORMAT,
    crush::FORMAT,
    auggie::FORMAT,
    browser_use::FORMAT,
    amazon_q::FORMAT,
    trae::FORMAT,
    chatgpt::FORMAT,
    chainlit::FORMAT,
    llm_logs::FORMAT,
    llama_stack::FORMAT,
    open_webui::FORMAT,
    vapi::FORMAT,
    retell::FORMAT,
    eleven_labs::FORMAT,
    letta::FORMAT,
    letta_file::FORMAT,
    agno_session::FORMAT,
    agno_session::RUN,
    camel::FORMAT,
    rasa::FORMAT,
    bot_framework::FORMAT,
    crewai::FORMAT,
    tau_bench::FORMAT,
    codex::FORMAT,
    codex::exec::FORMAT,
    gemini::FORMAT,
    gemini::STREAM,
    gemini::saved_chat::FORMAT,
    gemini::json_output::FORMAT,
    copilot::FORMAT,
    openhands::FORMAT,
    adk::FORMAT,
    adk::eval::RESULTS,
    adk::eval::SET,
    langchain::FORMAT,
    langchain_printed::FORMAT,
    run_state::FORMAT,
    inspect::FORMAT,
    atif::FORMAT,
    swe_agent::FORMAT,
    mini_swe::FORMAT,
    tau2::FORMAT,
    managed::FORMAT,
    opencode::FORMAT,
    opencode::server_events::FORMAT,
    opencode::session_messages::FORMAT,
    pydantic_ai::FORMAT,
    autogen::FORMAT,
    ag2::FORMAT,
    agno::FORMAT,
    mastra::FORMAT,
    mastra_stream::FORMAT,
    agui::FORMAT,
    smolagents::FORMAT,
    haystack::FORMAT,
    semantic_kernel::FORMAT,
    dspy::FORMAT,
    logged_requests::FORMAT,
    ollama::FORMAT,
    langflow::FORMAT,
    ai_sdk_steps::FORMAT,
    ai_sdk_stream::FORMAT,
    agent_framework::FORMAT,
    llama_index::FORMAT,
    llama_workflow::FORMAT,
    langchain4j::FORMAT,
    genkit::FORMAT,
    strands::FORMAT,
    dify::FORMAT,
    dify_stream::FORMAT,
    flowise::FORMAT,
    n8n::FORMAT,
    mistral_entries::FORMAT,
    http_exchanges::FORMAT,
    gemini_api::FORMAT,
    google_interactions::FORMAT,
    bedrock_agent::FORMAT,
    assistants::FORMAT,
    api::conversation_items::FORMAT,
    evaluation_rows::FORMAT,
    realtime::FORMAT,
    gemini_live::FORMAT,
    sharegpt::FORMAT,
    senders::FORMAT,
    langchain_agent::FORMAT,
    langgraph::UPDATES,
    langgraph::STATES,
    langchain_events::FORMAT,
    api::converse::FORMAT,
    evalview::FORMAT,
    runsight::FORMAT,
    owasp::FORMAT,
    assay::FORMAT,
    assay::EVENTS,
    assay::CALLS,
    skillgym::FORMAT,
    guard::FORMAT,
    a2a::FORMAT,
    mcp::FORMAT,
    batch::FORMAT,
    chunks::FORMAT,
    text_completions::FORMAT,
    cohere_stream::FORMAT,
    api::responses::FORMAT,
    api::anthropic::FORMAT,
    claude_code::sdk_objects::FORMAT,
    openai_chat::FORMAT,
    generic::FORMAT,
    native::FORMAT,
];

/// The ways in which values are cut into runs, each with its format.
pub(crate) fn all_cuttings() -> impl Iterator<Item = (&'static TraceFormat, &'static RunCutting)> {
    FORMATS.iter().flat_map(|format| format.runs.iter().map(move |cutting| (format, cutting)))
}

/// Whether an object with these keys may be a line of a file that is one run.
pub(crate) fn may_be_line(keys: &[&str]) -> bool {
    static ITEM_MARKS: LazyLock<FxHashSet<&str>> =
        LazyLock::new(|| FORMATS.iter().flat_map(|format| format.item_marks).copied().collect());
    keys.iter().any(|key| ITEM_MARKS.contains(key))
}

/// Whether an object with these keys may go on behind another.
pub(crate) fn may_repeat(keys: &[&str]) -> bool {
    FORMATS.iter().flat_map(|format| format.repeat_marks).any(|mark| keys.contains(mark))
}

/// Whether a value with these keys, or the first keys of its elements, may be cut into runs.
pub(crate) fn may_be_cut(keys: &[&str]) -> bool {
    static FIRST_KEYS: LazyLock<FxHashSet<&str>> =
        LazyLock::new(|| all_cuttings().flat_map(|(_, cutting)| cutting.first_keys()).collect());
    keys.iter().any(|key| FIRST_KEYS.contains(key))
}

/// The keys of lines that could belong to a format which is looked for before this one.
pub(crate) fn item_marks_before(format: &TraceFormat) -> impl Iterator<Item = &'static str> {
    let before = FORMATS.iter().take_while(|other| other.name != format.name);
    before.flat_map(|format| format.item_marks.iter().copied())
}

/// Some formats, as bits by their places in the table.
#[derive(Debug, Clone, Copy, Default)]
struct FormatSet([u128; 2]);

impl FormatSet {
    fn insert_place(&mut self, place: usize) {
        const { assert!(FORMATS.len() <= 256, "there is a bit for each format") }
        if let Some(half) = self.0.get_mut(place / 128) {
            *half |= 1 << (place % 128);
        }
    }

    fn contains_place(self, place: usize) -> bool {
        self.0.get(place / 128).is_some_and(|half| half >> (place % 128) & 1 == 1)
    }

    fn join_set(self, Self([low, high]): Self) -> Self {
        let Self([own_low, own_high]) = self;
        Self([own_low | low, own_high | high])
    }
}

/// Which formats have a mark, and which of them have none at all.
#[derive(Default)]
struct MarkIndex {
    by_mark: FxHashMap<&'static str, FormatSet>,
    unmarked: FormatSet,
}

static MARKS: LazyLock<MarkIndex> = LazyLock::new(|| {
    let mut marks = MarkIndex::default();
    for (place, format) in FORMATS.iter().enumerate() {
        if format.marks.is_empty() {
            marks.unmarked.insert_place(place);
        }
        for mark in format.marks {
            marks.by_mark.entry(mark).or_default().insert_place(place);
        }
    }
    marks
});

/// The formats of which an object has a mark, and those that have none, in the order of the table.
fn formats_with_marks(object: Object<'_>) -> impl Iterator<Item = &'static TraceFormat> {
    let marked = object.entries().iter().filter(|entry| !matches!(entry.node.value, Value::Null));
    let known = marked.filter_map(|entry| MARKS.by_mark.get(entry.key));
    let set = known.fold(MARKS.unmarked, |set, known| set.join_set(*known));
    FORMATS.iter().enumerate().filter(move |(place, _)| set.contains_place(*place)).map(|(_, format)| format)
}

/// The format of a value: of an object, or of a list by its first elements.
#[must_use]
pub fn detect_format(node: &Node<'_>) -> Option<&'static TraceFormat> {
    match node.value {
        Value::Object(object) => formats_with_marks(object).find(|format| (format.object)(object)),
        Value::List(items) => detect_items(items.get(..FIRST_ITEMS).unwrap_or(items)),
        _ => None,
    }
}

/// One item of so many may be written alike in two formats.
const MANY: usize = 8;

/// The format of a list: the first one that knows some of its items, unless that knows next to none of many and another nearly all.
fn detect_items(items: &[Node<'_>]) -> Option<&'static TraceFormat> {
    let known = |format: &TraceFormat| {
        let is = |item: &&Node<'_>| format.is_item(item, format.element) || format.is_item(item, format.line);
        items.iter().filter(is).count()
    };
    let first = FORMATS.iter().map(|format| (format, known(format))).find(|(_, count)| *count > 0)?;
    if items.len() < MANY || first.1 * MANY >= items.len() {
        return Some(first.0);
    }
    let others = FORMATS.iter().map(|format| (format, known(format)));
    let most = others.max_by(|a, b| a.1.cmp(&b.1).then(std::cmp::Ordering::Greater))?;
    Some(if most.1 * 4 >= items.len() * 3 { most.0 } else { first.0 })
}

/// Whether a value is a run of a known format, and says something.
pub(crate) fn is_known_run(node: &Node<'_>) -> bool {
    node_object(*node).is_some_and(|object| !object.entries().is_empty()) && detect_format(node).is_some()
}

/// Whether a value is an element of a list that is one run, such as a message of a conversation; `None` where it may be a run of its own as
/// well as one of several answers in one.
pub(crate) fn is_element_of_one_run(node: &Node<'_>) -> Option<bool> {
    let known = FORMATS.iter().filter(|format| format.is_item(node, format.element));
    belongs_to_run(node, known)
}

/// Whether a record goes on behind another, which stands in front of it: both are told by one run.
pub(crate) fn repeats_record<'run>(before: &Node<'run>, record: &Node<'run>) -> bool {
    let both = node_object(*before).zip(node_object(*record));
    both.is_some_and(|(before, record)| FORMATS.iter().any(|format| (format.repeats)(before, record)))
}

/// Whether a value is a line of a file that is one run, such as an event of a session.
pub(crate) fn is_line_of_session(node: &Node<'_>) -> bool {
    let known = FORMATS.iter().filter(|format| format.is_item(node, format.line));
    belongs_to_run(node, known) == Some(true)
}

/// The first line of a run that another format of sessions has, and its own format has not.
pub(super) fn line_of_other<'run>(
    root: Node<'run>,
    format: &TraceFormat,
) -> Option<(Node<'run>, &'static TraceFormat)> {
    let Value::List(lines) = root.value else { return None };
    let is_beside = |line: &Node<'run>| node_object(*line).is_some_and(format.beside);
    let is_own = |line: &Node<'run>| {
        is_beside(line) || format.is_item(line, format.line) || format.is_item(line, format.element)
    };
    let other = |line: &Node<'run>| {
        let known = FORMATS.iter().find(|other| other.is_item(line, other.line))?;
        (known.name != format.name && !OF_ANYBODY.contains(&known.name)).then_some(known)
    };
    lines.iter().filter(|line| !is_own(line)).find_map(|line| Some((*line, other(line)?)))
}

/// Formats whose lines stand in those of others, too.
const OF_ANYBODY: [&str; 2] = [openai_chat::FORMAT.name, generic::FORMAT.name];

/// Whether a value that formats know as an item belongs to others.
fn belongs_to_run<'f>(node: &Node<'_>, mut known: impl Iterator<Item = &'f TraceFormat>) -> Option<bool> {
    let Some(format) = known.next() else { return Some(false) };
    (!record_payload(*node).is_some_and(format.alone)).then_some(true)
}
