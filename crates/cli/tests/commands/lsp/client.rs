//! A test client for the language server, built on the message types of `lsp-server`. It connects in memory or to the real program.

use lsp_server::{Connection, Message, Notification, Request, RequestId, Response, ResponseError};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Maximum time to wait for an answer.
const PATIENCE: Duration = Duration::from_secs(120);

enum Wire {
    Memory(Connection, Option<JoinHandle<u8>>),
    Process(Child, Option<ChildStdin>, Receiver<Message>),
}

/// Reads the next message. Answers to unreadable messages have no id, which the library's type cannot express.
fn read(output: &mut impl BufRead) -> Option<Message> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        match line.trim_end().split_once(": ") {
            Some((_, value)) => length = value.parse().unwrap(),
            None => break,
        }
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).unwrap();
    let mut value: Value = serde_json::from_slice(&body).unwrap();
    if value["id"].is_null() && value["error"].is_object() {
        value = json!({ "method": "refused", "params": value["error"] });
    }
    Some(serde_json::from_value(value).unwrap())
}

/// One session with the server.
pub struct Client {
    wire: Wire,
    next: i32,
    /// The workspace folder of the session.
    pub folder: tempfile::TempDir,
    /// Notifications from the server.
    pub said: Vec<Notification>,
    /// Requests from the server.
    pub asked: Vec<Request>,
    /// The settings that the client returns on request.
    pub settings: Value,
}

impl Client {
    /// Starts a server in this process, with files in its workspace.
    pub fn in_memory(files: &[(&str, &str)]) -> Self {
        Self::in_memory_with(files, json!({}), json!({}))
    }

    /// Starts a server in this process, with client capabilities and settings.
    pub fn in_memory_with(files: &[(&str, &str)], capabilities: Value, settings: Value) -> Self {
        let (server, client) = Connection::memory();
        let thread = std::thread::spawn(move || averment_ide::lsp::serve(server));
        let mut client = Self::new(Wire::Memory(client, Some(thread)), files, settings);
        client.initialize(capabilities);
        client
    }

    /// Starts the real program over standard input and output.
    pub fn over_stdio(files: &[(&str, &str)], capabilities: Value) -> Self {
        Self::over_stdio_with(files, capabilities, json!({}))
    }

    /// Starts the real program, with settings.
    pub fn over_stdio_with(files: &[(&str, &str)], capabilities: Value, settings: Value) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_aver"))
            .args(["lsp", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (sender, receiver): (Sender<Message>, Receiver<Message>) = channel();
        std::thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut client = Self::new(Wire::Process(child, input, receiver), files, settings);
        client.initialize(capabilities);
        client
    }

    fn new(wire: Wire, files: &[(&str, &str)], settings: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self { wire, next: 0, folder, said: Vec::new(), asked: Vec::new(), settings }
    }

    fn initialize(&mut self, capabilities: Value) {
        let folder = self.uri("");
        let parameters = json!({
            "processId": null,
            "capabilities": capabilities,
            "initializationOptions": self.settings,
            "workspaceFolders": [{ "uri": folder.trim_end_matches('/'), "name": "work" }],
        });
        let answer = self.request("initialize", parameters).unwrap();
        assert_eq!(answer["serverInfo"]["name"], "averment");
        self.notify("initialized", json!({}));
    }

    /// Returns the workspace folder with symbolic links resolved.
    pub fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub fn uri(&self, name: &str) -> String {
        format!("file://{}/{name}", self.root().display())
    }

    pub fn send(&mut self, message: Message) {
        match &mut self.wire {
            Wire::Memory(connection, _) => connection.sender.send(message).unwrap(),
            Wire::Process(_, input, _) => message.write(input.as_mut().unwrap()).unwrap(),
        }
    }

    /// Sends raw bytes, for invalid messages.
    pub fn send_raw(&mut self, bytes: &[u8]) {
        use std::io::Write as _;
        if let Wire::Process(_, input, _) = &mut self.wire {
            input.as_mut().unwrap().write_all(bytes).unwrap();
            input.as_mut().unwrap().flush().unwrap();
        }
    }

    pub fn receive(&mut self) -> Message {
        match &mut self.wire {
            Wire::Memory(connection, _) => connection.receiver.recv_timeout(PATIENCE).expect("an answer"),
            Wire::Process(_, _, receiver) => receiver.recv_timeout(PATIENCE).expect("an answer"),
        }
    }

    pub fn notify(&mut self, method: &str, parameters: Value) {
        self.send(Notification::new(method.to_owned(), parameters).into());
    }

    /// Sends a request without waiting for its answer.
    pub fn begin(&mut self, method: &str, parameters: Value) -> RequestId {
        self.next += 1;
        let id = RequestId::from(self.next);
        self.send(Request::new(id.clone(), method.to_owned(), parameters).into());
        id
    }

    /// Sends a request and waits for its answer.
    pub fn request(&mut self, method: &str, parameters: Value) -> Result<Value, ResponseError> {
        let id = self.begin(method, parameters);
        self.answer(&id).response_result
    }

    /// Waits for an answer, and keeps other messages.
    pub fn answer(&mut self, id: &RequestId) -> Response {
        loop {
            match self.receive() {
                Message::Response(response) if response.id == *id => return response,
                other => self.keep(other),
            }
        }
    }

    fn keep(&mut self, message: Message) {
        match message {
            Message::Notification(one) => self.said.push(one),
            Message::Request(request) => {
                let result = match request.method.as_str() {
                    "workspace/configuration" => json!([self.settings]),
                    _ => Value::Null,
                };
                self.send(Response::new_ok(request.id.clone(), result).into());
                self.asked.push(request);
            }
            Message::Response(response) => panic!("nobody asked for {response:?}"),
        }
    }

    /// Opens a document, which need not be in the workspace.
    pub fn open(&mut self, name: &str, text: &str) {
        let uri = self.uri(name);
        self.notify(
            "textDocument/didOpen",
            json!({ "textDocument": { "uri": uri, "languageId": "assert", "version": 1, "text": text } }),
        );
    }

    /// Replaces a part of a document: lines and columns from 0.
    pub fn change(&mut self, name: &str, version: i32, range: [u32; 4], text: &str) {
        let uri = self.uri(name);
        let range = json!({
            "start": { "line": range[0], "character": range[1] },
            "end": { "line": range[2], "character": range[3] },
        });
        let changes = json!([{ "range": range, "text": text }]);
        self.notify(
            "textDocument/didChange",
            json!({ "textDocument": { "uri": uri, "version": version }, "contentChanges": changes }),
        );
    }

    /// Replaces all of a document.
    pub fn replace(&mut self, name: &str, version: i32, text: &str) {
        let uri = self.uri(name);
        self.notify(
            "textDocument/didChange",
            json!({ "textDocument": { "uri": uri, "version": version }, "contentChanges": [{ "text": text }] }),
        );
    }

    /// Waits for the diagnostics of this version of a document, and returns them.
    pub fn diagnostics(&mut self, name: &str, version: i32) -> Vec<Value> {
        let uri = self.uri(name);
        loop {
            let found = self.said.iter().position(|one| {
                one.method == "textDocument/publishDiagnostics"
                    && one.params["uri"] == uri.as_str()
                    && (one.params["version"] == version || version < 0)
            });
            if let Some(found) = found {
                let one = self.said.remove(found);
                return one.params["diagnostics"].as_array().unwrap().clone();
            }
            let message = self.receive();
            self.keep(message);
        }
    }

    /// Returns the messages of diagnostics with their lines, from 1.
    pub fn messages(&mut self, name: &str, version: i32) -> Vec<String> {
        let shown = |one: &Value| {
            let line = one["range"]["start"]["line"].as_u64().unwrap() + 1;
            format!("{line}: [{}] {}", one["code"].as_str().unwrap(), one["message"].as_str().unwrap())
        };
        self.diagnostics(name, version).iter().map(shown).collect()
    }

    /// Returns the messages that were shown to the user.
    pub fn shown(&self) -> Vec<String> {
        let all = self.said.iter().filter(|one| one.method == "window/showMessage");
        all.map(|one| one.params["message"].as_str().unwrap().to_owned()).collect()
    }

    pub fn at(&self, name: &str, line: u32, character: u32) -> Value {
        json!({ "textDocument": { "uri": self.uri(name) }, "position": { "line": line, "character": character } })
    }

    /// Ends the session with `shutdown` and `exit`; returns the exit code.
    pub fn leave(mut self) -> i32 {
        self.request("shutdown", Value::Null).unwrap();
        self.notify("exit", Value::Null);
        self.ended()
    }

    /// Waits for the server to end; returns the exit code.
    pub fn ended(&mut self) -> i32 {
        match &mut self.wire {
            Wire::Memory(_, thread) => i32::from(thread.take().unwrap().join().unwrap()),
            Wire::Process(child, input, _) => {
                drop(input.take());
                child.wait().unwrap().code().unwrap()
            }
        }
    }

    /// Closes the input without `shutdown`.
    pub fn hang_up(mut self) -> i32 {
        match &mut self.wire {
            Wire::Memory(..) => panic!("only a process can be hung up on"),
            Wire::Process(..) => self.ended(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        Path::new(self.folder.path()).join(name)
    }
}
