//! The formats of runs: one file each, and the [`registry`] that tells them apart by their content.
//!
//! A format is a file and a row in [`FORMATS`]; it imports neither this module nor the registry. The file holds its name and description, how it is told from others, its tables
//! of fields ([`fields`]) and what is special about it. A format brings what it records into the normal form and says nothing that it
//! does not record; what follows from the records is derived in one place, [`crate::build`].
//!
//! A line of a file may also be read in part, by a projection. A format whose rows say nothing of that is read in full; its marks keep
//! the projection from taking it for another.

mod a2a;
mod acp;
mod adk;
mod ag2;
mod agent_framework;
mod agno;
mod agno_session;
mod agui;
mod ai_sdk_steps;
mod ai_sdk_stream;
mod amazon_q;
mod amp;
mod antigravity;
pub(crate) mod api;
mod as_skillgym;
mod assay;
mod assistants;
mod atif;
mod auggie;
mod autogen;
pub(crate) mod batch;
mod bedrock_agent;
mod block_session;
mod blocks;
mod bot_framework;
mod braintrust;
mod browser_use;
mod called_tools;
pub(crate) mod calls;
mod camel;
mod chainlit;
mod chatgpt;
mod chunks;
pub(crate) mod claude_code;
mod claude_hooks;
mod cline;
mod cline_events;
mod cline_shown;
mod codex;
mod cohere_stream;
pub(crate) mod content;
mod continue_session;
mod conversation;
mod copilot;
mod crewai;
mod crush;
mod cursor;
mod cursor_transcript;
pub(crate) mod cutting;
mod datadog;
mod deepeval;
mod dify;
mod dify_stream;
mod droid;
mod dspy;
mod eleven_labs;
mod embedded_run;
mod evaluation_rows;
mod evalview;
mod executed_tools;
pub(crate) mod fields;
mod flowise;
pub(crate) mod format;
mod gemini;
mod gemini_api;
mod gemini_live;
pub(crate) mod generic;
mod genkit;
mod google_interactions;
mod goose;
mod grok;
mod grok_headless;
mod guard;
mod handovers;
mod haystack;
mod helicone;
pub(crate) mod http_exchanges;
pub(crate) mod inspect;
mod kimi;
mod kimi_code;
mod langchain;
mod langchain4j;
mod langchain_agent;
mod langchain_events;
mod langchain_pieces;
mod langchain_printed;
mod langflow;
mod langfuse;
mod langgraph;
mod langsmith;
mod letta;
mod letta_file;
mod listed_messages;
mod llama_index;
mod llama_stack;
mod llama_workflow;
mod llm_logs;
mod logged_requests;
mod managed;
mod mastra;
mod mastra_stream;
mod mcp;
pub(crate) mod messages;
mod mini_swe;
mod mistral_entries;
mod n8n;
pub(crate) mod native;
mod near_miss;
mod nested_conversations;
pub(crate) mod nodes;
mod numbers_in_text;
mod ollama;
mod open_webui;
mod openai_agents;
pub(crate) mod openai_chat;
mod opencode;
mod openhands;
mod opik;
pub(crate) mod otel;
mod owasp;
mod pi;
mod platform_spans;
mod posthog;
pub(crate) mod printed_messages;
mod promptfoo;
mod pydantic_ai;
mod qwen_code;
mod rasa;
mod realtime;
pub(crate) mod registry;
mod repeated_records;
mod retell;
mod roo_stream;
pub(crate) mod run_builder;
mod run_state;
mod runsight;
mod semantic_kernel;
mod senders;
mod sharegpt;
mod skillgym;
mod smolagents;
mod span_rows;
pub(crate) mod spans;
mod stop;
mod strands;
mod streamed_answers;
mod swe_agent;
mod tau2;
pub(crate) mod tau_bench;
#[cfg(test)]
pub(crate) mod tests;
mod text_completions;

pub(crate) mod tools;
mod trae;
pub(crate) mod unknown;
mod vapi;
mod vscode_chat;
mod weave;
pub(crate) mod written_actions;
mod zed_thread;

use crate::build::NormalRun;
use crate::error::PlacedError;
use crate::names::PartNames;
use crate::prices::ModelSpending;
use averment_base::limits::{Limits, RunMemory};
use averment_base::value::{Node, Value};
use averment_runs::run::{ReadWarning, RecordCounts, RunSource};

pub use format::TraceFormat;
pub use registry::{FORMATS, detect_format};
use run_builder::RunBuilder;

pub(crate) struct RawDocument<'run> {
    pub(crate) root: Node<'run>,
    pub(crate) text: &'run str,
    pub(crate) source: RunSource,
    /// Skipped records so far.
    pub(crate) records: RecordCounts,
    pub(crate) warnings: Vec<ReadWarning>,
}

pub(crate) fn normalize_run<'run>(
    from: RawDocument<'run>,
    memory: RunMemory<'run>,
    limits: &Limits,
    names: Option<&PartNames>,
    as_skillgym: bool,
) -> Result<(NormalRun<'run>, ModelSpending<'run>), PlacedError> {
    let arena = memory.arena;
    let root = embedded_run::unpack_text(from.root, &from.source, arena, limits)?;
    let RawDocument { text, source, records, warnings, .. } = from;
    if let (Some(names), Value::Object(object)) = (names, root.value)
        && generic::is_run(object, names)
    {
        let mut builder = RunBuilder::new(arena, limits, records, warnings).under_memory(memory);
        generic::read_under(root, &mut builder, names);
        builder.check_steps()?;
        return Ok(builder.finish_run(text, source, MAPPED, root.origin));
    }
    let lines = || claude_code::lines_under_messages(root, arena).map(|lines| (root, lines, &claude_code::FORMAT));
    let is_of_session = |format: &TraceFormat| format.name == native::FORMAT.name && lines().is_some();
    let known = detect_format(&root).filter(|format| !is_of_session(format)).map(|format| (root, format));
    let unpacked =
        || embedded_run::unpack_messages(root, arena, limits).and_then(|row| Some((row, detect_format(&row)?)));
    let found = known.or_else(unpacked).map(|(run, format)| (run, run, format));
    let found = found.or_else(lines);
    let found = found.or_else(|| embedded_run::open_envelope(root).map(|(run, format)| (root, run, format)));
    let Some((whole, root, format)) = found else { return Err(unknown_format(&root, names)) };
    if format.name == native::FORMAT.name {
        return Ok((native::normal_run(root, text, source, warnings), ModelSpending::default()));
    }
    let mut builder = RunBuilder::new(arena, limits, records, warnings).under_memory(memory);
    let root = repeated_records::without_copies(root, &format.record_ids, &mut builder);
    let read = as_skillgym.then(|| as_skillgym::read_transcript(format, root, text, &mut builder)).flatten();
    read.unwrap_or_else(|| (format.read)(root, &mut builder))?;
    builder.check_steps()?;
    // In the normal form and in custom formats other keys are the author's own.
    if !matches!(format.projected, format::LineProjection::Calls) {
        builder.note_keys(whole, format.harmless_keys);
    }
    if let Some((node, other)) = builder.has_unknown().then(|| registry::line_of_other(root, format)).flatten() {
        let message = format!("a line of the format {} among lines of the format {}", other.name, format.name);
        return Err(PlacedError::new(node.origin, message, "write each of them into a file of its own"));
    }
    builder.note_partial_roles(format.partial_roles);
    Ok(builder.finish_run(text, source, format.name, root.origin))
}

pub(crate) const MAPPED: &str = "format of --map";

pub(super) fn explain_misfit(root: &Node<'_>, names: &PartNames) -> Option<String> {
    let Value::Object(object) = root.value else { return None };
    let (message, help) = generic::explain_mismatch(object, names);
    Some(format!("{message} ({help})"))
}

fn unknown_format(root: &Node<'_>, names: Option<&PartNames>) -> PlacedError {
    // Of records that are read as one list the first tells what they are.
    let first = nodes::node_list(*root).and_then(|records| nodes::object_items(records).next());
    if let Some((node, _)) = first {
        return unknown_format(&node, names);
    }
    let Value::Object(object) = root.value else {
        let found = root.value.type_name();
        let message = format!("a run is an object, found {found}");
        return PlacedError::new(root.origin, message, "write `{ \"calls\": […], \"output\": … }`").no_trace();
    };
    if let Some((message, help)) = names.map(|names| generic::explain_mismatch(object, names)) {
        return PlacedError::new(root.origin, message, help);
    }
    let keys: Vec<_> = object.entries().iter().map(|entry| entry.key).collect();
    near_miss::explain_unknown(root.origin, object, &keys)
}
