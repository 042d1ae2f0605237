//! Commands of the server: run a test, check the selected run, select a run, explain a message.

use super::super::picked_run::outcome_summary;
use super::super::request_error::{LspResult, RequestError};
use super::super::server::LspServer;
use super::super::settings::ClientSettings;
use averment_base::diagnostic::Slug;
use averment_base::limits::Limits;
use averment_engine::vm::testing::{TestResult, run_tests};
use lsp_types::{ExecuteCommandParams, Uri};
use serde_json::{Value, json};
use std::str::FromStr as _;

/// Runs a test: the document, the name of the test, and optionally the location of its name (if several tests have one name).
pub const RUN_TEST: &str = "averment.runTest";
/// Checks the selected run: the document.
pub const CHECK_RUN: &str = "averment.checkRun";
/// Selects a run: a path, relative to the workspace, with `#3` appended for the third run in it; `null` for none.
pub const PICK_RUN: &str = "averment.pickRun";
/// The page of a message: its slug.
pub const EXPLAIN: &str = "averment.explain";
/// All commands.
pub const ALL: [&str; 4] = [RUN_TEST, CHECK_RUN, PICK_RUN, EXPLAIN];

/// `MessageType` values of `window/showMessage`.
const ERROR: u8 = 1;
const WARNING: u8 = 2;
const INFORMATION: u8 = 3;

/// `workspace/executeCommand`.
pub fn execute_command(server: &mut LspServer, parameters: ExecuteCommandParams) -> LspResult<Option<Value>> {
    let arguments = parameters.arguments;
    match parameters.command.as_str() {
        RUN_TEST => run_test(server, &arguments).map(Some),
        CHECK_RUN => check_run(server, &arguments).map(Some),
        PICK_RUN => pick_run(server, &arguments).map(Some),
        EXPLAIN => explain_command(&arguments).map(Some),
        other => Err(RequestError::new(format!("there is no command `{other}`"))),
    }
}

fn text_argument<'a>(arguments: &'a [Value], index: usize, what: &str) -> LspResult<&'a str> {
    let found = arguments.get(index).and_then(Value::as_str);
    found.ok_or_else(|| RequestError::new(format!("the command takes {what} as argument {}", index + 1)))
}

fn uri_argument(arguments: &[Value]) -> LspResult<Uri> {
    Uri::from_str(text_argument(arguments, 0, "the URI of a document")?)
        .map_err(|_| RequestError::new("the first argument is no URI"))
}

fn run_test(server: &mut LspServer, arguments: &[Value]) -> LspResult<Value> {
    let (uri, name) = (uri_argument(arguments)?, text_argument(arguments, 1, "the name of a test")?);
    let place = arguments.get(2).and_then(Value::as_u64);
    super::settle_document(server, &uri)?;
    let analysis = super::document_analysis(server, &uri)?;
    let Some(compiled) = analysis.compiled() else {
        return Err(RequestError::new("the rules do not compile"));
    };
    let tests = &compiled.program.tests;
    let named = |(index, _): &(usize, &averment_engine::bytecode::program::CompiledTest)| {
        tests.get(*index).is_some_and(|one| one.name == name)
    };
    let near =
        |span: averment_base::source::Span| place.is_none_or(|place| u64::from(span.start).abs_diff(place) <= 64);
    let mut all = tests.iter().enumerate().filter(named);
    let found = all.clone().find(|(_, test)| near(test.span)).or_else(|| all.next());
    let Some((number, _)) = found else {
        return Err(RequestError::new(format!("there is no test `{name}`")));
    };
    let results = run_tests(&compiled.program, &compiled.prepared, &Limits::default(), averment_traces::read_str);
    let result = results.into_iter().find(|result| result.test as usize == number);
    let Some(result) = result else { return Err(RequestError::new(format!("the test `{name}` was not run"))) };
    let message = test_summary(name, &result);
    server.show_message(if result.passed { INFORMATION } else { ERROR }, &message);
    let verdicts: Vec<Value> =
        result.found.iter().map(|(id, verdict)| json!({ "id": id, "verdict": verdict.as_str() })).collect();
    Ok(json!({ "test": name, "passed": result.passed, "reason": result.reason, "verdicts": verdicts }))
}

fn test_summary(name: &str, result: &TestResult) -> String {
    if result.passed {
        return format!("test \"{name}\" passed");
    }
    format!("test \"{name}\" failed: {}", result.reason)
}

fn check_run(server: &mut LspServer, arguments: &[Value]) -> LspResult<Value> {
    let uri = uri_argument(arguments)?;
    let key = super::settle_document(server, &uri)?;
    let Some(run) = &server.run else { return Err(RequestError::new("no run is picked: set `averment.run`")) };
    let Some(analysis) = server.cached_analysis(&key) else { return Ok(Value::Null) };
    let Some((outcome, compiled)) = analysis.outcome(run).zip(analysis.compiled()) else {
        return Err(RequestError::new("the rules do not compile"));
    };
    let summary = outcome_summary(&run.name, outcome);
    let results: Vec<Value> = outcome
        .results
        .iter()
        .filter_map(|result| {
            let assertion = compiled.program.assertions.get(result.assertion as usize)?;
            let line = analysis.sources.line_column(assertion.span).line;
            Some(json!({ "id": assertion.id, "text": assertion.text, "verdict": result.verdict.as_str(), "reason": result.reason, "line": line }))
        })
        .collect();
    let kind = if outcome.passed { INFORMATION } else { WARNING };
    let answer = json!({ "run": run.name, "passed": outcome.passed, "summary": summary, "results": results });
    server.show_message(kind, &summary);
    Ok(answer)
}

fn pick_run(server: &mut LspServer, arguments: &[Value]) -> LspResult<Value> {
    let run = match arguments.first() {
        None | Some(Value::Null) => None,
        Some(Value::String(path)) if path.trim().is_empty() => None,
        Some(Value::String(path)) => Some(path.trim().to_owned()),
        Some(_) => return Err(RequestError::new("the command takes the path of a trace")),
    };
    server.apply_settings(ClientSettings { run, ..server.settings.clone() });
    Ok(server.run.as_ref().map_or(Value::Null, |run| json!(run.name)))
}

fn explain_command(arguments: &[Value]) -> LspResult<Value> {
    let word = text_argument(arguments, 0, "the slug of a message")?;
    let slug = Slug::parse(word).ok_or_else(|| RequestError::new(format!("there is no message `{word}`")))?;
    Ok(json!({ "slug": slug.as_str(), "title": slug.title(), "page": slug.page() }))
}
