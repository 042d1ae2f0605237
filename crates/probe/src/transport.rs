//! The lines of a server on their way to the client of the SDK, which meets none that it cannot read. What the server wrote is kept as it is, and what it
//! did that the protocol forbids is noted.

use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{ChildStdin, ChildStdout};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};

/// So many messages may come that nobody asked for while one answer is waited for.
const UNASKED: usize = 1_000;
/// So many breaches are noted of one answer.
const NOTED: usize = 8;
/// What is said where an answer is missing.
pub(crate) const UNANSWERED: &str = "it closed its output before it answered";

/// What is known of a connection, beside what the client of the SDK is told.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    /// The methods of the requests that wait for an answer, by their ids.
    waiting: BTreeMap<String, String>,
    /// What the last answer to `tools/call` and `tools/list` was, as the server wrote it: its `result` or its `error`.
    pub answer: Option<Answer>,
    /// What the protocol forbids, since it was last asked.
    pub breaches: Vec<String>,
    unasked: usize,
    /// Why nothing more comes of the server.
    pub closed: Option<String>,
    /// The version of the protocol that the server has chosen.
    pub version: Option<String>,
    /// Whether it declares that it has tools.
    pub has_tools: bool,
    /// Bytes of the last message.
    pub bytes: usize,
}

/// An answer as the server wrote it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// The `result`.
    Result(Value),
    /// The `error`.
    Error(Value),
}

impl Wire {
    /// A request is sent.
    pub fn asks(&mut self, id: String, method: String) {
        self.waiting.insert(id, method);
    }

    /// Nothing more comes.
    pub fn close(&mut self, why: String) {
        self.closed.get_or_insert(why);
    }

    /// Nothing more comes of what carried a message; where that was a request it has to be answered.
    pub fn ended(&mut self, request: Option<&str>, why: String) {
        if request.is_none_or(|id| self.waiting.contains_key(id)) {
            self.close(why);
        }
    }

    /// Something that the protocol forbids, behind which nothing more is read.
    pub fn broken(&mut self, what: String) {
        self.breach(what);
        self.close("it broke the protocol".to_owned());
    }

    /// Notes something that the protocol forbids.
    pub fn breach(&mut self, what: impl Into<String>) {
        if self.breaches.len() < NOTED {
            self.breaches.push(what.into());
        }
    }

    /// Takes a line. `None` where the connection is of no use any more.
    pub fn take(&mut self, line: &[u8]) -> Option<Option<RxJsonRpcMessage<RoleClient>>> {
        let Ok(text) = std::str::from_utf8(line) else {
            self.breach("a line that is no UTF-8");
            return self.goes_on();
        };
        if text.trim().is_empty() {
            return Some(None);
        }
        self.bytes = line.len();
        let value = match serde_json::from_str::<Value>(text) {
            Ok(value) => value,
            Err(_) if serde_json::from_str::<IgnoredAny>(text).is_err() => {
                self.breach("a line that is no JSON");
                return self.goes_on();
            }
            Err(error) => {
                self.breach(unreadable(&error.to_string()));
                return None;
            }
        };
        if value.get("method").is_some() {
            self.goes_on::<()>()?;
        } else {
            self.answered(&value)?;
        }
        match serde_json::from_value(value) {
            Ok(message) => Some(Some(message)),
            Err(_) => {
                self.breach("a message that is none of the protocol");
                None
            }
        }
    }

    /// Counts what nobody asked for.
    fn goes_on<T>(&mut self) -> Option<Option<T>> {
        self.unasked = self.unasked.saturating_add(1);
        if self.unasked > UNASKED {
            self.breach(format!("more than {UNASKED} messages while one answer was waited for"));
            return None;
        }
        Some(None)
    }

    /// Takes an answer: whether it is one to a request that waits.
    fn answered(&mut self, value: &Value) -> Option<()> {
        let id = value.get("id").unwrap_or(&Value::Null);
        let Some(method) = self.waiting.remove(&id.to_string()) else {
            self.breach(format!("an answer with the id {}, which no request has that waits", short(&id.to_string())));
            return None;
        };
        self.unasked = 0;
        let answer = match (value.get("result"), value.get("error")) {
            (Some(result), None) => Answer::Result(result.clone()),
            (None, Some(error)) => Answer::Error(error.clone()),
            _ => {
                self.breach("an answer with neither or both of `result` and `error`");
                return None;
            }
        };
        if let ("initialize", Answer::Result(result)) = (method.as_str(), &answer) {
            self.version = result.get("protocolVersion").and_then(Value::as_str).map(str::to_owned);
            self.has_tools = result.pointer("/capabilities/tools").is_some_and(|tools| !tools.is_null());
        }
        if method.starts_with("tools/") {
            self.answer = Some(answer);
        }
        Some(())
    }
}

/// Why a message that is JSON cannot be read, by what the reader says of it.
fn unreadable(error: &str) -> String {
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

/// The beginning of a text of the server.
pub(crate) fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

/// What is shared with the threads that read and write.
pub(crate) type Shared = Arc<Mutex<Wire>>;

/// What is known, whatever became of the threads.
pub(crate) fn lock(wire: &Shared) -> MutexGuard<'_, Wire> {
    wire.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lines over standard input and output.
pub(crate) struct Lines {
    wire: Shared,
    out: mpsc::Sender<Vec<u8>>,
    read: tokio::sync::mpsc::Receiver<RxJsonRpcMessage<RoleClient>>,
}

impl Lines {
    /// Speaks with a program; `most` are the bytes of the longest line that is read.
    pub fn new(input: ChildStdin, output: ChildStdout, wire: &Shared, most: u64) -> std::io::Result<Self> {
        let (out, lines) = mpsc::channel();
        std::thread::Builder::new().name("probe writes".to_owned()).spawn(move || write(input, &lines))?;
        // What the server writes faster than it is looked at waits in its pipe.
        let (sender, read) = tokio::sync::mpsc::channel(64);
        let shared = Arc::clone(wire);
        let reading = move || {
            read_lines(output, most, &shared, &sender);
            lock(&shared).close(UNANSWERED.to_owned());
        };
        std::thread::Builder::new().name("probe reads".to_owned()).spawn(reading)?;
        Ok(Self { wire: Arc::clone(wire), out, read })
    }
}

fn write(mut input: ChildStdin, lines: &mpsc::Receiver<Vec<u8>>) {
    while let Ok(line) = lines.recv() {
        if input.write_all(&line).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

fn read_lines(
    output: ChildStdout,
    most: u64,
    wire: &Shared,
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
            lock(wire).breach(format!("an answer of more than {most} bytes"));
            return;
        }
        let taken = lock(wire).take(&line);
        match taken {
            None => return,
            Some(None) => {}
            Some(Some(message)) => {
                if sender.blocking_send(message).is_err() {
                    return;
                }
            }
        }
    }
}

impl Transport<RoleClient> for Lines {
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let sent = serde_json::to_value(&item).map_err(std::io::Error::from).and_then(|value| {
            if let (Some(id), Some(method)) = (value.get("id"), value.get("method").and_then(Value::as_str)) {
                lock(&self.wire).asks(id.to_string(), method.to_owned());
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
