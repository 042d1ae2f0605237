//! Passes the lines of a server to the SDK's client, without those that it cannot read. Keeps the raw answers, and notes violations of the protocol.

use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{ChildStdin, ChildStdout};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};

/// Maximum number of unrequested messages while waiting for one answer.
const UNASKED: usize = 1_000;
/// Maximum number of violations recorded for one answer.
const NOTED: usize = 8;
pub(crate) const UNANSWERED: &str = "it closed its output before it answered";
/// The closing reason if the probe itself ends the connection, so that the server's end is not reported as a crash.
pub(crate) const BROKEN: &str = "it broke the protocol";

/// Connection state that the SDK's client does not know.
#[derive(Debug, Default)]
pub(crate) struct WireState {
    waiting: BTreeMap<String, String>,
    /// The raw `result` or `error` of the last `tools/call` or `tools/list`.
    pub answer: Option<WireAnswer>,
    /// Protocol violations since they were last read.
    pub breaches: Vec<String>,
    unasked: usize,
    /// Why the connection closed.
    pub closed: Option<String>,
    /// Protocol version that the server chose.
    pub version: Option<String>,
    /// True if the server declares tools.
    pub has_tools: bool,
    /// Size of the last message in bytes.
    pub bytes: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum WireAnswer {
    Result(Value),
    Error(Value),
}

impl WireState {
    /// Notes that a request was sent.
    pub fn note_request(&mut self, id: String, method: String) {
        self.waiting.insert(id, method);
    }

    /// Marks the connection as closed; the first reason is kept.
    pub fn close_with(&mut self, why: String) {
        self.closed.get_or_insert(why);
    }

    /// Closes the connection after a failed exchange, unless it was for a request that is already answered.
    pub fn end_request(&mut self, request: Option<&str>, why: String) {
        if request.is_none_or(|id| self.waiting.contains_key(id)) {
            self.close_with(why);
        }
    }

    /// Notes a protocol violation after which nothing more is read.
    pub fn break_protocol(&mut self, what: String) {
        self.note_breach(what);
        self.close_with(BROKEN.to_owned());
    }

    /// Notes a protocol violation.
    pub fn note_breach(&mut self, what: impl Into<String>) {
        if self.breaches.len() < NOTED {
            self.breaches.push(what.into());
        }
    }

    /// Reads a line. Returns `None` if the connection is no longer usable.
    pub fn take_line(&mut self, line: &[u8]) -> Option<Option<RxJsonRpcMessage<RoleClient>>> {
        let Ok(text) = std::str::from_utf8(line) else {
            self.note_breach("a line that is no UTF-8");
            return self.goes_on();
        };
        if text.trim().is_empty() {
            return Some(None);
        }
        self.bytes = line.len();
        let value = match serde_json::from_str::<Value>(text) {
            Ok(value) => value,
            Err(_) if serde_json::from_str::<IgnoredAny>(text).is_err() => {
                self.note_breach("a line that is no JSON");
                return self.goes_on();
            }
            Err(error) => {
                self.note_breach(unreadable_reason(&error.to_string()));
                return None;
            }
        };
        if value.get("method").is_some() {
            self.goes_on::<()>()?;
        } else {
            self.take_answer(&value)?;
        }
        match serde_json::from_value(value) {
            Ok(message) => Some(Some(message)),
            Err(_) => {
                self.note_breach("a message that is none of the protocol");
                None
            }
        }
    }

    fn goes_on<T>(&mut self) -> Option<Option<T>> {
        self.unasked = self.unasked.saturating_add(1);
        if self.unasked > UNASKED {
            self.note_breach(format!("more than {UNASKED} messages while one answer was waited for"));
            return None;
        }
        Some(None)
    }

    /// Reads an answer. Returns `None` if no request waits for it.
    fn take_answer(&mut self, value: &Value) -> Option<()> {
        let id = value.get("id").unwrap_or(&Value::Null);
        let Some(method) = self.waiting.remove(&id.to_string()) else {
            self.note_breach(format!(
                "an answer with the id {}, which no request has that waits",
                shorten_text(&id.to_string())
            ));
            return None;
        };
        self.unasked = 0;
        let answer = match (value.get("result"), value.get("error")) {
            (Some(result), None) => WireAnswer::Result(result.clone()),
            (None, Some(error)) => WireAnswer::Error(error.clone()),
            _ => {
                self.note_breach("an answer with neither or both of `result` and `error`");
                return None;
            }
        };
        if let ("initialize", WireAnswer::Result(result)) = (method.as_str(), &answer) {
            self.version = result.get("protocolVersion").and_then(Value::as_str).map(str::to_owned);
            self.has_tools = result.pointer("/capabilities/tools").is_some_and(|tools| !tools.is_null());
        }
        if method.starts_with("tools/") {
            self.answer = Some(answer);
        }
        Some(())
    }
}

/// Explains from the parser's error why valid JSON is no valid message.
fn unreadable_reason(error: &str) -> String {
    let why = match error {
        error if error.contains("recursion limit") => "values in it are nested too deeply",
        error if error.contains("out of range") => "a number in it is too large",
        error if error.contains("surrogate") || error.contains("hex escape") => {
            "a text in it has half of a character (`\\ud800`)"
        }
        other => return format!("a message that cannot be read: {other}"),
    };
    format!("a message that cannot be read: {why}")
}

pub(crate) fn shorten_text(text: &str) -> String {
    text.chars().take(40).collect()
}

pub(crate) type SharedWire = Arc<Mutex<WireState>>;

/// Ignores poisoning, because the state stays valid if a thread panics.
pub(crate) fn lock_wire(wire: &SharedWire) -> MutexGuard<'_, WireState> {
    wire.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) struct LineTransport {
    wire: SharedWire,
    out: mpsc::Sender<Vec<u8>>,
    read: tokio::sync::mpsc::Receiver<RxJsonRpcMessage<RoleClient>>,
}

impl LineTransport {
    /// Creates a transport for a program; `most` is the maximum length of a line in bytes.
    pub fn new(input: ChildStdin, output: ChildStdout, wire: &SharedWire, most: u64) -> std::io::Result<Self> {
        let (out, lines) = mpsc::channel();
        std::thread::Builder::new().name("probe writes".to_owned()).spawn(move || write_lines(input, &lines))?;
        // The bounded channel makes excess output of the server wait in its pipe.
        let (sender, read) = tokio::sync::mpsc::channel(64);
        let shared = Arc::clone(wire);
        let reading = move || {
            read_lines(output, most, &shared, &sender);
            lock_wire(&shared).close_with(UNANSWERED.to_owned());
        };
        std::thread::Builder::new().name("probe reads".to_owned()).spawn(reading)?;
        Ok(Self { wire: Arc::clone(wire), out, read })
    }
}

fn write_lines(mut input: ChildStdin, lines: &mpsc::Receiver<Vec<u8>>) {
    while let Ok(line) = lines.recv() {
        if input.write_all(&line).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

fn read_lines(
    output: ChildStdout,
    most: u64,
    wire: &SharedWire,
    sender: &tokio::sync::mpsc::Sender<RxJsonRpcMessage<RoleClient>>,
) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut output).take(most.saturating_add(1)).read_until(b'\n', &mut line) {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
        if u64::try_from(line.len()).unwrap_or(u64::MAX) > most {
            lock_wire(wire).break_protocol(format!("an answer of more than {most} bytes"));
            return;
        }
        let taken = lock_wire(wire).take_line(&line);
        match taken {
            None => return lock_wire(wire).close_with(BROKEN.to_owned()),
            Some(None) => {}
            Some(Some(message)) => {
                if sender.blocking_send(message).is_err() {
                    return;
                }
            }
        }
    }
}

impl Transport<RoleClient> for LineTransport {
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let sent = serde_json::to_value(&item).map_err(std::io::Error::from).and_then(|value| {
            if let (Some(id), Some(method)) = (value.get("id"), value.get("method").and_then(Value::as_str)) {
                lock_wire(&self.wire).note_request(id.to_string(), method.to_owned());
            }
            let mut line = serde_json::to_vec(&value)?;
            line.push(b'\n');
            self.out.send(line).map_err(|_| std::io::Error::from(std::io::ErrorKind::BrokenPipe))
        });
        std::future::ready(sent)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.read.recv().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.read.close();
        Ok(())
    }
}
