//! A connection to a server: begun, asked, ended with the server.

use crate::corpus::Earlier;
use crate::http::{Http, Url};
use crate::listing::Listing;
use crate::process::Process;
use crate::transport::{Answer, Lines, Shared, UNANSWERED, lock, short};
use rmcp::model::{CallToolRequestParams, ClientRequest, PaginatedRequestParams, PingRequest, ProtocolVersion};
use rmcp::service::{RunningService, ServiceError};
use rmcp::{RoleClient, serve_client};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::runtime::Runtime;

/// Pages of tools that are asked for at most.
const PAGES: usize = 100;
/// Tools that are taken at most.
const TOOLS: usize = 10_000;
/// Bytes of all that is listed of them at most, in answers of the protocol.
const LISTED: usize = 64 << 20;
/// Calls that are remembered of a server.
const MADE: usize = 2_000;
/// How long is waited at most for what a server does behind its last answer.
const PING: Duration = Duration::from_secs(1);
/// How long a server that does not answer `ping` has for that.
const PAUSE: Duration = Duration::from_millis(50);

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
    /// Whether it is asked whether it still answers, which every server has to.
    pings: bool,
    /// What the protocol forbids and was done at its first start.
    breaches: Vec<String>,
    /// The last calls since it began.
    made: VecDeque<Earlier>,
}

struct Connection {
    client: RunningService<RoleClient, ()>,
    wire: Shared,
    /// Dropped last: then the program ends.
    process: Option<Process>,
}

impl Connection {
    /// Why a server is of no use any more, with how its program ended and what it wrote last.
    fn why(&self, what: String) -> String {
        self.process.as_ref().map_or(what.clone(), |process| process.with_end(what))
    }

    /// What is known of the last exchange: what was answered, what the protocol forbids of it, and why nothing more comes.
    fn taken(&self) -> (Option<Answer>, Vec<String>, Option<String>) {
        let mut known = lock(&self.wire);
        (known.answer.take(), std::mem::take(&mut known.breaches), known.closed.clone())
    }
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
        let pings = matches!(target, Target::Program(..));
        let mut client =
            Self { target, limits, runtime, running: None, pings, breaches: Vec::new(), made: VecDeque::new() };
        client.connect()?;
        client.begun();
        Ok(client)
    }

    /// Begins anew where there is no connection.
    pub(crate) fn connect(&mut self) -> Result<(), StartError> {
        if self.running.is_some() {
            return Ok(());
        }
        let wire = Shared::default();
        self.made.clear();
        // A server is given more time to start than to answer: it may be an interpreter.
        let time = self.limits.time.saturating_mul(4);
        let (name, process, begun) = match &self.target {
            Target::Program(words, variables) => {
                let name = words.first().cloned().unwrap_or_default();
                let failed = |error: std::io::Error| not_started(&name, &error);
                let (process, input, output) = Process::start(words, variables).map_err(failed)?;
                let lines = Lines::new(input, output, &wire, self.limits.bytes).map_err(failed)?;
                let begun = self.runtime.block_on(async { tokio::time::timeout(time, serve_client((), lines)).await });
                (name, Some(process), begun)
            }
            Target::Url(url) => {
                let http = Http::new(url, &wire, self.limits.bytes, self.limits.time);
                let begun = self.runtime.block_on(async { tokio::time::timeout(time, serve_client((), http)).await });
                (url.url.clone(), None, begun)
            }
        };
        let with_end = |what: String| process.as_ref().map_or(what.clone(), |process: &Process| process.with_end(what));
        match begun {
            Ok(Ok(client)) => {
                self.running = Some(Connection { client, wire, process });
                Ok(())
            }
            Ok(Err(error)) => {
                let known = lock(&wire);
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

    /// Notes what the protocol forbids of how the server began.
    fn begun(&mut self) {
        let Some(connection) = &self.running else { return };
        let (_, breaches, _) = connection.taken();
        self.breaches.extend(breaches);
        let Some(version) = lock(&connection.wire).version.clone() else { return };
        if !ProtocolVersion::KNOWN_VERSIONS.iter().any(|known| known.as_str() == version) {
            self.breaches
                .push(format!("it chose the version `{}` of the protocol, which there is not", short(&version)));
        }
    }

    /// Ends the server with all that it started.
    pub(crate) fn stop(&mut self) {
        if let Some(Connection { client, .. }) = self.running.take() {
            client.cancellation_token().cancel();
            drop(client);
        }
    }

    /// All tools, as the server declares them, and what the protocol forbids of how it began and lists them.
    ///
    /// # Errors
    /// The server does not say.
    pub fn tools(&mut self) -> Result<(Listing, Vec<String>), StartError> {
        let (mut tools, mut bytes, mut pages) = (Vec::new(), 0_usize, 0_usize);
        let mut cursor: Option<String> = None;
        loop {
            let mut page = self.page(cursor.take())?;
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
        let (listing, breaches) = Listing::new(tools);
        let mut all = std::mem::take(&mut self.breaches);
        if listing.count() > 0 && self.running.as_ref().is_some_and(|one| !lock(&one.wire).has_tools) {
            all.push("it has tools and does not declare the capability `tools`".to_owned());
        }
        all.extend(breaches);
        Ok((listing, all))
    }

    fn page(&mut self, cursor: Option<String>) -> Result<Value, StartError> {
        self.connect()?;
        let Some(connection) = &self.running else { return Ok(Value::Null) };
        let asked = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        lock(&connection.wire).answer = None;
        let time = self.limits.time;
        let asking = connection.client.list_tools(asked);
        let ended = self.runtime.block_on(async { tokio::time::timeout(time, asking).await });
        let (said, breaches, closed) = connection.taken();
        let why = match (ended, said) {
            (_, Some(Answer::Result(page))) => {
                self.breaches.extend(breaches);
                return Ok(page);
            }
            (_, Some(Answer::Error(error))) => short(&error.to_string()),
            (Ok(Err(error)), None) => error.to_string(),
            (Err(_), None) => format!("no answer within {}", in_words(time)),
            (Ok(Ok(_)), None) => "no answer".to_owned(),
        };
        let why = connection.why(breaches.first().or(closed.as_ref()).cloned().unwrap_or(why));
        Err(StartError(format!("the server does not say which tools it has: {why}")))
    }

    /// Calls a tool. A server that is of no use any more is ended; the next call starts it anew.
    pub(crate) fn call(&mut self, tool: &str, arguments: Map<String, Value>) -> Outcome {
        if let Err(StartError(why)) = self.connect() {
            return Outcome::failed("crash", format!("it could not be started again: {why}"), Vec::new());
        }
        let Some(connection) = &self.running else { return Outcome::default() };
        if self.made.len() >= MADE {
            self.made.pop_front();
        }
        self.made.push_back(Earlier { tool: tool.to_owned(), arguments: arguments.clone() });
        lock(&connection.wire).answer = None;
        let asked = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let time = self.limits.time;
        let asking = connection.client.peer().call_tool_once(asked);
        let ended = self.runtime.block_on(async { tokio::time::timeout(time, asking).await });
        let (said, breaches, closed) = connection.taken();
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
                Some(why) => Outcome::failed("crash", connection.why(why), breaches),
                None => Outcome::failed("protocol", error.to_string(), breaches),
            },
            (Ok(Ok(_)), _) => Outcome::failed("protocol", "an answer that is none to the call".to_owned(), breaches),
        };
        self.stop();
        outcome
    }

    /// The calls since the server began, without the last ones.
    pub(crate) fn made_before(&self, last: usize) -> Vec<Earlier> {
        self.made.iter().take(self.made.len().saturating_sub(last)).cloned().collect()
    }

    /// What a server does behind its last answer, which it is asked for with `ping`: that it ends, or breaks the protocol.
    pub(crate) fn settle(&mut self) -> Outcome {
        let Some(connection) = &self.running else { return Outcome::default() };
        let time = self.limits.time.min(PING);
        if self.pings {
            let ping = connection.client.peer().send_request(ClientRequest::PingRequest(PingRequest::default()));
            self.pings = self.runtime.block_on(async { tokio::time::timeout(time, ping).await }).is_ok();
        } else if connection.process.is_some() {
            self.runtime.block_on(async { tokio::time::sleep(PAUSE).await });
        }
        let (_, mut breaches, closed) = connection.taken();
        let Some(closed) = closed else { return Outcome { breaches, ..Outcome::default() } };
        let outcome = if breaches.is_empty() {
            let what = if closed == UNANSWERED { "it closed its output".to_owned() } else { closed };
            Outcome::failed("crash", connection.why(what), breaches)
        } else {
            let first = breaches.remove(0);
            Outcome::failed("protocol", first, breaches)
        };
        self.stop();
        outcome
    }
}

/// What the next page of tools is asked for with, where there is one.
fn next_page(page: &Value) -> Result<Option<String>, String> {
    match page.get("nextCursor") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(next)) => Ok(Some(next.clone()).filter(|next| !next.is_empty())),
        Some(other) => Err(format!("`nextCursor` of `tools/list` is {}, and no text", short(&other.to_string()))),
    }
}

/// Bytes of the last answer.
fn last_bytes(connection: Option<&Connection>) -> usize {
    connection.map_or(0, |connection| lock(&connection.wire).bytes)
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
