//! What is no run: what it nearly is, or is known to be, and what to do about it.

use super::format::TraceFormat;
use super::registry::FORMATS;
use super::{claude_code, langfuse, native, openai_chat, otel};
use crate::error::PlacedError;
use averment_base::value::{Object, TextOrigin};
use averment_runs::normal::of_run;

/// Known files that are no runs: keys in common, and what they are.
const NO_RUNS: [(&[&str], &str); 38] = [
    (&["log.entries"], "a HAR archive of HTTP requests"),
    (&["cells", "nbformat"], "a notebook"),
    (&["type=FeatureCollection", "features"], "GeoJSON"),
    (&["type=Feature", "geometry"], "GeoJSON"),
    (&["name", "version", "dependencies"], "the manifest of a package"),
    (&["name", "version", "scripts"], "the manifest of a package"),
    (&["lockfileVersion"], "a lock file of packages"),
    (&["openapi", "paths"], "an OpenAPI description"),
    (&["swagger", "paths"], "an OpenAPI description"),
    (&["$schema", "properties"], "a JSON Schema"),
    (&["compilerOptions"], "a configuration of TypeScript"),
    (&["runs", "$schema", "version"], "a SARIF report"),
    (&["filePath", "messages", "errorCount"], "a report of ESLint"),
    (&["apiVersion", "kind", "metadata"], "an object of Kubernetes"),
    (&["apiVersion", "kind", "items"], "a list of objects of Kubernetes"),
    (&["terraform_version"], "a state or a plan of Terraform"),
    (&["info._postman_id"], "a collection of Postman"),
    (&["info.schema", "item"], "a collection of Postman"),
    (&["mcpServers"], "a configuration of MCP servers"),
    (&["name", "inputSchema"], "a tool of an MCP catalogue: rules read it with `tools from`"),
    (&["type=function", "function.parameters"], "a tool of a catalogue: rules read it with `tools from`"),
    (&["result.tools"], "an answer of an MCP server that lists its tools: rules read it with `tools from`"),
    (&["jsonrpc", "params.textDocument"], "a message of the Language Server Protocol"),
    (&["jsonrpc", "method=initialize", "params.processId"], "a message of the Language Server Protocol"),
    (&["resourceLogs"], "logs of OpenTelemetry, and no spans"),
    (&["resourceMetrics"], "metrics of OpenTelemetry, and no spans"),
    (&["traceEvents"], "a trace of a program's time"),
    (&["name", "ph", "ts"], "a trace of a program's time"),
    (&["numTotalTests", "testResults"], "a report of Jest"),
    (&["nodeid", "outcome"], "a report of pytest"),
    (&["guild", "channel", "messages"], "a chat of Discord"),
    (&["channel_id", "author", "content"], "a message of Discord"),
    (&["type=message", "text", "ts"], "a message of Slack"),
    (&["bomFormat"], "a list of what software is made of"),
    (&["spdxVersion"], "a list of what software is made of"),
    (&["Records"], "a log of CloudTrail or of S3"),
    (&["index._index"], "a bulk request of Elasticsearch"),
    (&["_shards", "hits"], "an answer of Elasticsearch"),
];

/// Agent records that are not supported: keys in common, and what they are.
const NOT_READ: [(&[&str], &str); 5] = [
    (&["query", "response"], "a row of an evaluation without `tool_definitions`, which may be an empty list"),
    (&["traceId", "id", "timestamp", "duration"], "a span of Zipkin without its `localEndpoint`"),
    (&["result.resourceSpans"], "an answer of Jaeger's API without a span"),
    (&["jsonrpc", "params.sessionId"], ACP),
    (&["jsonrpc", "result.protocolVersion", "result.agentCapabilities"], ACP),
];
const ACP: &str = "a message of the Agent Client Protocol, which is not read";

const SHOWN: usize = 5;

/// Normal-form keys that unrelated files use too.
const SHARED: [&str; 8] = [
    of_run::ID,
    of_run::META,
    of_run::ENV,
    of_run::FILES,
    of_run::TOOLS,
    of_run::ERROR,
    of_run::DURATION,
    of_run::STEPS,
];

pub(super) fn explain_unknown(origin: TextOrigin, object: Object<'_>, keys: &[&str]) -> PlacedError {
    let shown: Vec<_> = keys.iter().take(SHOWN).map(|key| format!("`{key}`")).collect();
    let shown = shown.join(", ");
    if let Some((_, what)) = NO_RUNS.iter().find(|(marks, _)| marks.iter().all(|mark| has_mark(object, mark))) {
        let help = "name a trace; of a folder such files are skipped";
        return PlacedError::new(origin, format!("no run of an agent: this is {what}"), help).no_trace();
    }
    if let Some((_, what)) = NOT_READ.iter().find(|(marks, _)| marks.iter().all(|mark| has_mark(object, mark))) {
        return PlacedError::new(origin, format!("no run of a known format: this is {what}"), HELP);
    }
    if keys.iter().all(|key| SHARED.contains(key)) && keys.iter().any(|key| *key != of_run::ID) {
        let help = "a run says what was done or answered: `calls`, `messages`, `output`, …";
        let shown = keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        return PlacedError::new(origin, format!("no run: it holds nothing but {shown}"), help).no_trace();
    }
    if keys == [of_run::ID] {
        let help = "a run says what was done or answered: `calls`, `messages`, `output`, …";
        return PlacedError::new(origin, format!("no run: it holds nothing but its `{}`", of_run::ID), help);
    }
    if let Some(format) = FORMATS
        .iter()
        .rev()
        .find(|format| has_marks(object, if format.near.is_empty() { format.marks } else { format.near }))
    {
        let message = format!(
            "nearly a run of the format {}, which is recognised by {}: its keys are {shown}",
            format.name, format.known_by
        );
        return PlacedError::new(origin, message, HELP);
    }
    let (own, foreign) = keys.iter().copied().partition::<Vec<&str>, _>(|key| native::is_key(key));
    if let (Some(first), Some(other)) = (own.iter().find(|key| !SHARED.contains(key)), foreign.first()) {
        return PlacedError::new(
            origin,
            format!("no run of a known format: `{first}` is a key of the normal form, `{other}` beside it is not"),
            format!("put `{other}` under `meta`, or {HELP}"),
        );
    }
    let help = format!(
        "{HELP}; {} formats are known, most often {}: all of them are in docs/reference/traces.md under Formats",
        FORMATS.len(),
        USUAL.map(|format| format.name).join(", ")
    );
    PlacedError::new(origin, format!("no run of a known format: its keys are {shown}"), help).no_trace()
}

/// The formats that most people have.
const USUAL: [&TraceFormat; 5] =
    [&native::FORMAT, &openai_chat::FORMAT, &claude_code::FORMAT, &otel::FORMAT, &langfuse::FORMAT];

const HELP: &str = "say with `--map FILE` what its keys mean (`aver trace map` proposes one)";

fn has_marks(object: Object<'_>, marks: &[&str]) -> bool {
    !marks.is_empty() && marks.iter().any(|mark| object.get(mark).is_some())
}

/// A key, a nested key (`a.b`), or a key with a text (`a=b`).
fn has_mark(object: Object<'_>, mark: &str) -> bool {
    if let Some((key, text)) = mark.split_once('=') {
        return object.get(key).and_then(super::nodes::node_text) == Some(text);
    }
    match mark.split_once('.') {
        Some((key, inner)) => {
            object.get(key).and_then(super::nodes::node_object).is_some_and(|object| object.get(inner).is_some())
        }
        None => object.get(mark).is_some(),
    }
}
