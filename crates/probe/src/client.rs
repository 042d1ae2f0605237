//! A connection to an MCP server: starts it, calls its tools, and ends it.

use crate::corpus::EarlierCall;
use crate::http::HttpTransport;
use crate::listing::ToolListing;
use crate::process::ServerProcess;
use crate::transport::{BROKEN, LineTransport, SharedWire, UNANSWERED, WireAnswer, lock_wire, shorten_text};
use averment_http::client::ServerUrl;
use rmcp::model::{CallToolRequestParams, ClientRequest, PaginatedRequestParams, PingRequest, ProtocolVersion};
use rmcp::service::{RunningService, ServiceError};
use rmcp::{RoleClient, serve_client};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::runtime::Runtime;

/// Maximum number of requested pages of tools.
const PAGES: usize = 100;
/// Maximum number of listed tools.
const TOOLS: usize = 10_000;
/// Maximum size in bytes of all tool lists, in protocol messages.
const LISTED: usize = 64 << 20;
/// Maximum number of remembered calls.
const MADE: usize = 2_000;
/// Time limit of the `ping` after an answer.
const PING: Duration = Duration::from_secs(1);
/// Waiting time for a server that does not answer `ping`.
const PAUSE: Duration = Duration::from_millis(50);

/// Limits on the time and size of answers.
#[derive(Debug, Clone, Copy)]
pub struct AnswerLimits {
    /// Time limit of an answer.
    pub time: Duration,
    /// Maximum size of an answer in bytes.
    pub bytes: u64,
}

/// Why a connection could not be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartError(pub String);

#[derive(Debug, Default)]
pub(crate) struct CallOutcome {
    /// The protocol message that contains the answer; generated if there was no answer.
    pub envelope: Value,
    /// Why the tool gave no answer: `crash`, `hang` or `protocol`, with a description.
    pub failure: Option<(&'static str, String)>,
    /// Protocol violations that did not prevent an answer.
    pub breaches: Vec<String>,
}

/// The address of a server, or the program that starts it.
#[derive(Debug, Clone)]
pub enum ServerTarget {
    /// A program to start, with additional environment variables; it uses standard input and output.
    Program(Vec<String>, Vec<(String, String)>),
    /// Address of a running server.
    Url(ServerUrl),
}

/// A server, and the SDK client that is connected to it.
pub struct ProbeClient {
    target: ServerTarget,
    limits: AnswerLimits,
    runtime: Runtime,
    running: Option<ServerConnection>,
    /// True if the server answers `ping`, as the protocol requires.
    pings: bool,
    /// Protocol violations during the first start of the server.
    breaches: Vec<String>,
    made: VecDeque<EarlierCall>,
}

struct ServerConnection {
    client: RunningService<RoleClient, ()>,
    wire: SharedWire,
    /// Dropped last, which ends the program.
    process: Option<ServerProcess>,
}

impl ServerConnection {
    fn closing_reason(&self, what: String) -> String {
        self.process.as_ref().map_or(what.clone(), |process| process.with_end(what))
    }

    /// Returns the data of the last exchange: the answer, protocol violations, and why the connection closed.
    fn take_exchange(&self) -> (Option<WireAnswer>, Vec<String>, Option<String>) {
        let mut known = lock_wire(&self.wire);
        (known.answer.take(), std::mem::take(&mut known.breaches), known.closed.clone())
    }
}

impl std::fmt::Debug for ProbeClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("target", &self.target).finish_non_exhaustive()
    }
}

impl ProbeClient {
    /// Connects to a server; starts it if it is a program.
    ///
    /// # Errors
    /// If the server does not start, or does not complete the protocol's start in time.
    pub fn start(target: ServerTarget, limits: AnswerLimits) -> Result<Self, StartError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let runtime = runtime.map_err(|error| StartError(error.to_string()))?;
        let pings = matches!(target, ServerTarget::Program(..));
        let mut client =
            Self { target, limits, runtime, running: None, pings, breaches: Vec::new(), made: VecDeque::new() };
        client.connect_server()?;
        client.check_start();
        Ok(client)
    }

    pub(crate) fn connect_server(&mut self) -> Result<(), StartError> {
        if self.running.is_some() {
            return Ok(());
        }
        let wire = SharedWire::default();
        self.made.clear();
        // A start gets more time than an answer, because the program may be an interpreter.
        let time = self.limits.time.saturating_mul(4);
        let (name, process, begun) = match &self.target {
            ServerTarget::Program(words, variables) => {
                let name = words.first().cloned().unwrap_or_default();
                let failed = |error: std::io::Error| not_started(&name, &error);
                let (process, input, output) = ServerProcess::start_server(words, variables).map_err(failed)?;
                let lines = LineTransport::new(input, output, &wire, self.limits.bytes).map_err(failed)?;
                let begun = self.runtime.block_on(async { tokio::time::timeout(time, serve_client((), lines)).await });
                (name, Some(process), begun)
            }
            ServerTarget::Url(url) => {
                let http = HttpTransport::new(url, &wire, self.limits.bytes, self.limits.time);
                let begun = self.runtime.block_on(async { tokio::time::timeout(time, serve_client((), http)).await });
                (url.url.clone(), None, begun)
            }
        };
        let with_end =
            |what: String| process.as_ref().map_or(what.clone(), |process: &ServerProcess| process.with_end(what));
        match begun {
            Ok(Ok(client)) => {
                self.running = Some(ServerConnection { client, wire, process });
                Ok(())
            }
            Ok(Err(error)) => {
                let known = lock_wire(&wire);
                let why = known.breaches.first().or(known.closed.as_ref());
                let why = with_end(why.cloned().unwrap_or_else(|| error.to_string()));
                Err(StartError(format!("`{name}` does not begin to speak MCP: {why}")))
            }
            Err(_) => {
                let why = with_end(format!("`{name}` does not begin to speak MCP within {}", in_words(time)));
                Err(StartError(why))
            }
        }
    }

    fn check_start(&mut self) {
        let Some(connection) = &self.running else { return };
        let (_, breaches, _) = connection.take_exchange();
        self.breaches.extend(breaches);
        let Some(version) = lock_wire(&connection.wire).version.clone() else { return };
        if !ProtocolVersion::KNOWN_VERSIONS.iter().any(|known| known.as_str() == version) {
            self.breaches
                .push(format!("it chose the version `{}` of the protocol, which there is not", shorten_text(&version)));
        }
    }

    pub(crate) fn stop_server(&mut self) {
        if let Some(ServerConnection { client, .. }) = self.running.take() {
            client.cancellation_token().cancel();
            drop(client);
        }
    }

    /// Returns all tools as the server declares them, and the protocol violations during the start and the listing.
    ///
    /// # Errors
    /// If the server does not list its tools.
    pub fn list_tools(&mut self) -> Result<(ToolListing, Vec<String>), StartError> {
        let (mut tools, mut bytes, mut pages) = (Vec::new(), 0_usize, 0_usize);
        let mut cursor: Option<String> = None;
        loop {
            let mut page = self.request_page(cursor.take())?;
            pages = pages.saturating_add(1);
            bytes = bytes.saturating_add(last_bytes(self.running.as_ref()));
            if bytes > LISTED {
                return Err(StartError(format!("the server lists its tools with more than {LISTED} bytes")));
            }
            let Some(Value::Array(declared)) = page.get_mut("tools").map(Value::take) else {
                return Err(StartError("`tools/list` is answered without a list `tools`".to_owned()));
            };
            tools.extend(declared);
            match next_page(&page) {
                Ok(next) => cursor = next,
                Err(breach) => self.breaches.push(breach),
            }
            if cursor.is_none() || tools.len() > TOOLS || pages >= PAGES {
                break;
            }
        }
        if cursor.is_some() || tools.len() > TOOLS {
            return Err(StartError(format!("the server lists tools without end: more than {TOOLS}, or {PAGES} pages")));
        }
        let (listing, breaches) = ToolListing::new(tools);
        let mut all = std::mem::take(&mut self.breaches);
        if listing.tool_count() > 0 && self.running.as_ref().is_some_and(|one| !lock_wire(&one.wire).has_tools) {
            all.push("it has tools and does not declare the capability `tools`".to_owned());
        }
        all.extend(breaches);
        Ok((listing, all))
    }

    fn request_page(&mut self, cursor: Option<String>) -> Result<Value, StartError> {
        self.connect_server()?;
        let Some(connection) = &self.running else { return Ok(Value::Null) };
        let asked = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        lock_wire(&connection.wire).answer = None;
        let time = self.limits.time;
        let asking = connection.client.list_tools(asked);
        let ended = self.runtime.block_on(async { tokio::time::timeout(time, asking).await });
        let (said, breaches, closed) = connection.take_exchange();
        let why = match (ended, said) {
            (_, Some(WireAnswer::Result(page))) => {
                self.breaches.extend(breaches);
                return Ok(page);
            }
            (_, Some(WireAnswer::Error(error))) => shorten_text(&error.to_string()),
            (Ok(Err(error)), None) => error.to_string(),
            (Err(_), None) => format!("no answer within {}", in_words(time)),
            (Ok(Ok(_)), None) => "no answer".to_owned(),
        };
        let why = connection.closing_reason(breaches.first().or(closed.as_ref()).cloned().unwrap_or(why));
        Err(StartError(format!("the server does not say which tools it has: {why}")))
    }

    /// Calls a tool. An unusable server is ended; the next call restarts it.
    pub(crate) fn call_tool(&mut self, tool: &str, arguments: Map<String, Value>) -> CallOutcome {
        if let Err(StartError(why)) = self.connect_server() {
            return CallOutcome::from_failure("crash", format!("it could not be started again: {why}"), Vec::new());
        }
        let Some(connection) = &self.running else { return CallOutcome::default() };
        if self.made.len() >= MADE {
            self.made.pop_front();
        }
        self.made.push_back(EarlierCall { tool: tool.to_owned(), arguments: arguments.clone() });
        lock_wire(&connection.wire).answer = None;
        let asked = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let time = self.limits.time;
        let asking = connection.client.peer().call_tool_once(asked);
        let ended = self.runtime.block_on(async { tokio::time::timeout(time, asking).await });
        let (said, breaches, closed) = connection.take_exchange();
        let outcome = match (ended, said) {
            (Ok(Ok(_) | Err(ServiceError::McpError(_))), Some(WireAnswer::Result(envelope))) => {
                return CallOutcome { envelope, failure: None, breaches };
            }
            // A protocol error is a valid way to report an unknown tool; the invariants judge how the server does it.
            (Ok(Err(ServiceError::McpError(_))), Some(WireAnswer::Error(error))) => {
                let text =
                    error.get("message").and_then(Value::as_str).map_or_else(|| error.to_string(), str::to_owned);
                return CallOutcome { envelope: no_answer(&text), failure: None, breaches };
            }
            (Err(_), _) => CallOutcome::from_failure("hang", format!("no answer within {}", in_words(time)), breaches),
            (Ok(_), _) if !breaches.is_empty() => {
                let first = breaches.first().cloned().unwrap_or_default();
                CallOutcome::from_failure("protocol", first, breaches.into_iter().skip(1).collect())
            }
            (Ok(Err(error)), _) => match closed.filter(|why| why != BROKEN) {
                Some(why) => CallOutcome::from_failure("crash", connection.closing_reason(why), breaches),
                None => CallOutcome::from_failure("protocol", error.to_string(), breaches),
            },
            (Ok(Ok(_)), _) => {
                CallOutcome::from_failure("protocol", "an answer that is none to the call".to_owned(), breaches)
            }
        };
        self.stop_server();
        outcome
    }

    /// Returns the calls since the server started, without the `last` ones.
    pub(crate) fn made_before(&self, last: usize) -> Vec<EarlierCall> {
        self.made.iter().take(self.made.len().saturating_sub(last)).cloned().collect()
    }

    /// Sends `ping` to notice a server that ends or violates the protocol after its last answer.
    pub(crate) fn check_after_call(&mut self) -> CallOutcome {
        let Some(connection) = &self.running else { return CallOutcome::default() };
        let time = self.limits.time.min(PING);
        if self.pings {
            let ping = connection.client.peer().send_request(ClientRequest::PingRequest(PingRequest::default()));
            self.pings = self.runtime.block_on(async { tokio::time::timeout(time, ping).await }).is_ok();
        } else if connection.process.is_some() {
            self.runtime.block_on(async { tokio::time::sleep(PAUSE).await });
        }
        let (_, mut breaches, closed) = connection.take_exchange();
        let Some(closed) = closed else { return CallOutcome { breaches, ..CallOutcome::default() } };
        let outcome = if breaches.is_empty() && closed == BROKEN {
            // The violation was reported with the previous call, after which the probe closed the pipes.
            CallOutcome::default()
        } else if breaches.is_empty() {
            let what = if closed == UNANSWERED { "it closed its output".to_owned() } else { closed };
            CallOutcome::from_failure("crash", connection.closing_reason(what), breaches)
        } else {
            let first = breaches.remove(0);
            CallOutcome::from_failure("protocol", first, breaches)
        };
        self.stop_server();
        outcome
    }
}

fn next_page(page: &Value) -> Result<Option<String>, String> {
    match page.get("nextCursor") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(next)) => Ok(Some(next.clone()).filter(|next| !next.is_empty())),
        Some(other) => {
            Err(format!("`nextCursor` of `tools/list` is {}, and no text", shorten_text(&other.to_string())))
        }
    }
}

fn last_bytes(connection: Option<&ServerConnection>) -> usize {
    connection.map_or(0, |connection| lock_wire(&connection.wire).bytes)
}

impl CallOutcome {
    fn from_failure(class: &'static str, what: String, breaches: Vec<String>) -> Self {
        Self { envelope: no_answer(&what), failure: Some((class, what)), breaches }
    }
}

/// Returns an error result that replaces a missing answer.
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
