//! A connection to a server: begun, asked, ended with the server.

use crate::http::{Http, Url};
use crate::transport::{Answer, Lines, Shared, lock};
use averment_engine::vm::world::Service;
use rmcp::model::{CallToolRequestParams, PaginatedRequestParams};
use rmcp::service::{RunningService, ServiceError};
use rmcp::{RoleClient, serve_client};
use serde_json::{Map, Value, json};
use std::time::Duration;
use tokio::runtime::Runtime;

/// Pages of tools that are asked for at most.
const PAGES: usize = 100;
/// Tools that are taken at most.
const TOOLS: usize = 10_000;

/// How long and how much.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How long the server may take to answer.
    pub time: Duration,
    /// Bytes of its longest answer.
    pub bytes: u64,
}

/// Why there is no connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartError(pub String);

/// What became of a call.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// What the protocol put around the answer; made here where there is none.
    pub envelope: Value,
    /// Why there is no answer of the tool: one of `crash`, `hang` and `protocol`, and what happened.
    pub failure: Option<(&'static str, String)>,
    /// What the protocol forbids and was no obstacle.
    pub breaches: Vec<String>,
}

/// Where a server is.
#[derive(Debug, Clone)]
pub enum Target {
    /// A program that is started, with further variables; it is spoken with over its standard input and output.
    Program(Vec<String>, Vec<(String, String)>),
    /// An address of a server that runs already.
    Url(Url),
}

/// A server that runs, and the client of the SDK that speaks with it.
pub struct Client {
    target: Target,
    limits: Limits,
    runtime: Runtime,
    running: Option<Connection>,
}

struct Connection {
    client: RunningService<RoleClient, ()>,
    wire: Shared,
    /// Dropped last: then the program ends.
    _service: Option<Service>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("target", &self.target).finish_non_exhaustive()
    }
}

impl Client {
    /// Begins to speak with a server; a program is started for that.
    ///
    /// # Errors
    /// It does not start, or does not begin to speak the protocol in time.
    pub fn start(target: Target, limits: Limits) -> Result<Self, StartError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let runtime = runtime.map_err(|error| StartError(error.to_string()))?;
        let mut client = Self { target, limits, runtime, running: None };
        client.connect()?;
        Ok(client)
    }

    /// Begins anew where there is no connection.
    pub(crate) fn connect(&mut self) -> Result<(), StartError> {
        if self.running.is_some() {
            return Ok(());
        }
        let wire = Shared::default();
        // A server is given more time to start than to answer: it may be an interpreter.
        let time = self.limits.time.saturating_mul(4);
        let (name, service, begun) = match &self.target {
            Target::Program(words, variables) => {
                let name = words.first().cloned().unwrap_or_default();
                let failed = |error: std::io::Error| not_started(&name, &error);
                let mut service = Service::start(words, variables).map_err(failed)?;
                let lines = Lines::new(&mut service, &wire, self.limits.bytes).map_err(failed)?;
                let begun = self.runtime.block_on(async { tokio::time::timeout(time, serve_client((), lines)).await });
                (name, Some(service), begun)
            }
            Target::Url(url) => {
                let http = Http::new(url, &wire, self.limits.bytes, self.limits.time);
                let begun = self.runtime.block_on(async { tokio::time::timeout(time, serve_client((), http)).await });
                (url.url.clone(), None, begun)
            }
        };
        match begun {
            Ok(Ok(client)) => {
                self.running = Some(Connection { client, wire, _service: service });
                Ok(())
            }
            Ok(Err(error)) => {
                let known = lock(&wire);
                let why = known.breaches.first().or(known.closed.as_ref());
                let why = why.cloned().unwrap_or_else(|| error.to_string());
                Err(StartError(format!("`{name}` does not begin to speak MCP: {why}")))
            }
            Err(_) => Err(StartError(format!("`{name}` does not begin to speak MCP within {}", in_words(time)))),
        }
    }

    /// Ends the server with all that it started.
    pub(crate) fn stop(&mut self) {
        if let Some(Connection { client, .. }) = self.running.take() {
            client.cancellation_token().cancel();
            drop(client);
        }
    }

    /// All tools, as the server declares them.
    ///
    /// # Errors
    /// The server does not say.
    pub fn tools(&mut self) -> Result<Vec<Value>, StartError> {
        let mut tools = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..PAGES {
            let page = self.page(cursor.take())?;
            let declared = page.get("tools").and_then(Value::as_array).cloned().unwrap_or_default();
            tools.extend(declared);
            cursor =
                page.get("nextCursor").and_then(Value::as_str).filter(|cursor| !cursor.is_empty()).map(str::to_owned);
            if cursor.is_none() || tools.len() > TOOLS {
                break;
            }
        }
        if cursor.is_some() || tools.len() > TOOLS {
            return Err(StartError(format!("the server lists tools without end: more than {TOOLS}, or {PAGES} pages")));
        }
        Ok(tools)
    }

    fn page(&mut self, cursor: Option<String>) -> Result<Value, StartError> {
        self.connect()?;
        let Some(Connection { client, wire, .. }) = &self.running else { return Ok(Value::Null) };
        let asked = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        lock(wire).answer = None;
        let time = self.limits.time;
        let ended = self.runtime.block_on(async { tokio::time::timeout(time, client.list_tools(asked)).await });
        let said = lock(wire).answer.take();
        let why = match (ended, said) {
            (_, Some(Answer::Result(page))) => return Ok(page),
            (_, Some(Answer::Error(error))) => error.to_string(),
            (Ok(Err(error)), None) => error.to_string(),
            (Err(_), None) => format!("no answer within {}", in_words(time)),
            (Ok(Ok(_)), None) => "no answer".to_owned(),
        };
        let known = lock(wire);
        let why = known.breaches.first().or(known.closed.as_ref()).cloned().unwrap_or(why);
        Err(StartError(format!("the server does not say which tools it has: {why}")))
    }

    /// Calls a tool. A server that is of no use any more is ended; the next call starts it anew.
    pub(crate) fn call(&mut self, tool: &str, arguments: Map<String, Value>) -> Outcome {
        if let Err(StartError(why)) = self.connect() {
            return Outcome::failed("crash", format!("it could not be started again: {why}"), Vec::new());
        }
        let Some(Connection { client, wire, .. }) = &self.running else { return Outcome::default() };
        lock(wire).answer = None;
        let asked = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let time = self.limits.time;
        let ended =
            self.runtime.block_on(async { tokio::time::timeout(time, client.peer().call_tool_once(asked)).await });
        let (said, breaches, closed) = {
            let mut known = lock(wire);
            (known.answer.take(), std::mem::take(&mut known.breaches), known.closed.clone())
        };
        let outcome = match (ended, said) {
            (Ok(Ok(_) | Err(ServiceError::McpError(_))), Some(Answer::Result(envelope))) => {
                return Outcome { envelope, failure: None, breaches };
            }
            // That a tool is unknown is said so; how, the invariants judge.
            (Ok(Err(ServiceError::McpError(_))), Some(Answer::Error(error))) => {
                let text =
                    error.get("message").and_then(Value::as_str).map_or_else(|| error.to_string(), str::to_owned);
                return Outcome { envelope: no_answer(&text), failure: None, breaches };
            }
            (Err(_), _) => Outcome::failed("hang", format!("no answer within {}", in_words(time)), breaches),
            (Ok(_), _) if !breaches.is_empty() => {
                let first = breaches.first().cloned().unwrap_or_default();
                Outcome::failed("protocol", first, breaches.into_iter().skip(1).collect())
            }
            (Ok(Err(error)), _) => match closed {
                Some(why) => Outcome::failed("crash", why, breaches),
                None => Outcome::failed("protocol", error.to_string(), breaches),
            },
            (Ok(Ok(_)), _) => Outcome::failed("protocol", "an answer that is none to the call".to_owned(), breaches),
        };
        self.stop();
        outcome
    }
}

impl Outcome {
    fn failed(class: &'static str, what: String, breaches: Vec<String>) -> Self {
        Self { envelope: no_answer(&what), failure: Some((class, what)), breaches }
    }
}

/// What stands for the answer where there is none: an error with what happened.
fn no_answer(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": true})
}

fn not_started(name: &str, error: &std::io::Error) -> StartError {
    let why = match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such program".to_owned(),
        std::io::ErrorKind::PermissionDenied => "it is not an executable file".to_owned(),
        _ => error.to_string(),
    };
    StartError(format!("`{name}` cannot be started: {why}"))
}

fn in_words(time: Duration) -> String {
    let limit = time.as_millis();
    if limit.is_multiple_of(1_000) { format!("{}s", limit / 1_000) } else { format!("{limit}ms") }
}
