//! The state of a session and its loop.

use super::analysis::{Analysis, Given};
use super::dispatch;
use super::documents::{Documents, document_key};
use super::incremental::CheckMode;
use super::picked::PickedRun;
use super::place::path_of;
use super::project::{OfProject, Projects};
use super::publish::Published;
use super::settings::{SECTION, Settings};
use super::text::Encoding;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::{Uri, WorkspaceFolder};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a client can do beside what everybody can.
#[derive(Debug, Clone, Copy, Default)]
pub struct Client {
    /// Settings are asked for.
    pub configuration: bool,
    /// Files are watched where the server asks for it.
    pub watches: bool,
    /// Completions may hold places to be filled in.
    pub snippets: bool,
    /// Lenses and hints are drawn again where the server asks for it.
    pub refreshes_lenses: bool,
    pub refreshes_hints: bool,
}

/// How long nobody types before everything is checked.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(200);

/// One session.
pub struct Server {
    connection: Connection,
    pub encoding: Encoding,
    pub client: Client,
    pub documents: Documents,
    analyses: BTreeMap<PathBuf, Analysis>,
    pub settings: Settings,
    pub run: Option<PickedRun>,
    pub projects: Projects,
    pub published: Published,
    /// Analyses of open documents before their last changes.
    earlier: BTreeMap<PathBuf, Analysis>,
    /// Documents whose diagnostics are older than their text.
    dirty: BTreeSet<PathBuf>,
    /// Documents of which only what changed was checked.
    unsettled: BTreeSet<PathBuf>,
    queue: VecDeque<Message>,
    shut_down: bool,
    asked: i32,
    /// What answers to the server's own requests are about.
    waiting: BTreeMap<RequestId, Waiting>,
}

/// A request of the server that waits for its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waiting {
    Settings,
    Nothing,
}

impl Server {
    /// A session with a client that has shaken hands.
    pub fn new(connection: Connection, parameters: &Value) -> Self {
        let options = parameters.get("initializationOptions").filter(|options| !options.is_null());
        Self {
            connection,
            encoding: dispatch::encoding_of(parameters),
            client: client_of(parameters),
            documents: Documents::in_folders(folders_of(parameters)),
            analyses: BTreeMap::new(),
            settings: options.map(Settings::read).unwrap_or_default(),
            run: None,
            projects: Projects::default(),
            published: Published::default(),
            earlier: BTreeMap::new(),
            dirty: BTreeSet::new(),
            unsettled: BTreeSet::new(),
            queue: VecDeque::new(),
            shut_down: false,
            asked: 0,
            waiting: BTreeMap::new(),
        }
    }

    /// Serves until the client leaves.
    pub fn run(mut self) -> i32 {
        self.load_run();
        self.watch_files();
        self.ask_for_settings();
        loop {
            while let Ok(message) = self.connection.receiver.try_recv() {
                self.queue.push_back(message);
            }
            if let Some(message) = self.queue.pop_front() {
                if let Some(code) = self.take(message) {
                    return code;
                }
            } else if let Some(key) = self.dirty.pop_first() {
                self.publish(&key);
            } else if !self.wait() {
                // The client went away without a word.
                return 1;
            }
        }
    }

    /// Waits for the next message. When none comes for a while, what was checked in part is checked as a whole.
    fn wait(&mut self) -> bool {
        if self.unsettled.is_empty() {
            let message = self.connection.receiver.recv();
            return message.map(|message| self.queue.push_back(message)).is_ok();
        }
        match self.connection.receiver.recv_timeout(PAUSE) {
            Ok(message) => self.queue.push_back(message),
            Err(error) if error.is_timeout() => {
                if let Some(key) = self.unsettled.pop_first() {
                    self.settle(&key);
                    self.publish(&key);
                }
            }
            Err(_) => return false,
        }
        true
    }

    /// Checks a document as a whole of which only what changed was checked.
    pub fn settle(&mut self, key: &Path) {
        self.unsettled.remove(key);
        if self.analyses.get(key).is_some_and(|analysis| analysis.partial)
            && let Some(partial) = self.analyses.remove(key)
        {
            self.earlier.insert(key.to_path_buf(), partial);
            self.analyze_as(key, CheckMode::Full);
        }
    }

    /// Takes one message; gives the exit code behind `exit`.
    fn take(&mut self, message: Message) -> Option<i32> {
        match message {
            Message::Request(request) => {
                let response = self.respond(request);
                self.send(response.into());
            }
            Message::Notification(one) if one.method == "exit" => return Some(i32::from(!self.shut_down)),
            Message::Notification(one) => dispatch::notification(self, one),
            Message::Response(response) => self.answered(response),
        }
        None
    }

    fn respond(&mut self, request: Request) -> Response {
        let refuse =
            |code: ErrorCode, message: &str| Response::new_err(request.id.clone(), code as i32, message.to_owned());
        if self.shut_down {
            return refuse(ErrorCode::InvalidRequest, "the session is shut down");
        }
        if dispatch::is_cancelled(&request, &self.queue) {
            return refuse(ErrorCode::RequestCanceled, "the request was taken back");
        }
        match request.method.as_str() {
            "shutdown" => {
                self.shut_down = true;
                Response::new_ok(request.id, Value::Null)
            }
            "initialize" => refuse(ErrorCode::InvalidRequest, "the session is initialized"),
            _ => dispatch::request(self, request),
        }
    }

    /// Sends a message; nobody is there to hear of one that cannot be sent.
    pub fn send(&self, message: Message) {
        let _ = self.connection.sender.send(message);
    }

    /// Sends a notification.
    pub fn notify(&self, method: &str, parameters: impl serde::Serialize) {
        self.send(Message::Notification(Notification::new(method.to_owned(), parameters)));
    }

    /// Writes a line into the client's log.
    pub fn log(&self, message: &str) {
        self.notify("window/logMessage", json!({ "type": 3, "message": message }));
    }

    /// Shows a message to the user: 1 an error, 2 a warning, 3 information.
    pub fn show(&self, kind: u8, message: &str) {
        self.notify("window/showMessage", json!({ "type": kind, "message": message }));
    }

    fn ask(&mut self, method: &str, parameters: Value, waiting: Waiting) {
        self.asked = self.asked.wrapping_add(1);
        let id = RequestId::from(self.asked);
        self.waiting.insert(id.clone(), waiting);
        self.send(Message::Request(Request::new(id, method.to_owned(), parameters)));
    }

    fn answered(&mut self, response: Response) {
        if self.waiting.remove(&response.id) != Some(Waiting::Settings) {
            return;
        }
        if let Ok(Value::Array(values)) = response.response_result
            && let Some(value) = values.first().filter(|value| value.is_object())
        {
            self.set(Settings::read(value));
        }
    }

    pub(super) fn ask_for_settings(&mut self) {
        if self.client.configuration {
            self.ask("workspace/configuration", json!({ "items": [{ "section": SECTION }] }), Waiting::Settings);
        }
    }

    fn watch_files(&mut self) {
        if !self.client.watches {
            return;
        }
        let globs = ["**/*.assert", "**/averment.toml", "**/*.json", "**/*.jsonl", "**/*.yaml", "**/*.yml"];
        let watchers: Vec<Value> = globs.iter().map(|glob| json!({ "globPattern": glob })).collect();
        let registration = json!({
            "id": "averment-files",
            "method": "workspace/didChangeWatchedFiles",
            "registerOptions": { "watchers": watchers },
        });
        self.ask("client/registerCapability", json!({ "registrations": [registration] }), Waiting::Nothing);
    }

    /// Asks the client to draw lenses and hints again.
    pub fn refresh(&mut self) {
        if self.client.refreshes_lenses {
            self.ask("workspace/codeLens/refresh", Value::Null, Waiting::Nothing);
        }
        if self.client.refreshes_hints {
            self.ask("workspace/inlayHint/refresh", Value::Null, Waiting::Nothing);
        }
    }

    /// Takes new settings.
    pub fn set(&mut self, settings: Settings) {
        if settings == self.settings {
            return;
        }
        let (run, lint) = (settings.run != self.settings.run, settings.lint != self.settings.lint);
        self.settings = settings;
        if run {
            self.load_run();
        }
        if lint {
            self.forget_all();
        }
        self.refresh();
    }

    /// Reads the picked run.
    pub fn load_run(&mut self) {
        self.run = None;
        self.analyses.values_mut().for_each(Analysis::forget_outcome);
        let Some((file, number)) = self.settings.picked(&self.documents.folders) else { return };
        match PickedRun::read(&file, number) {
            Ok(run) => self.run = Some(run),
            Err(why) => self.show(2, &format!("the picked run cannot be read: {why}")),
        }
    }

    /// Everything is to be looked at anew.
    pub(super) fn forget_all(&mut self) {
        self.analyses.clear();
        self.earlier.clear();
        self.dirty.extend(self.documents.keys());
    }

    /// A file changed, in a buffer or on disk: every document that reads it is to be looked at anew.
    pub(super) fn forget(&mut self, key: &Path) {
        let stale: Vec<PathBuf> = self
            .analyses
            .iter()
            .filter(|(own, analysis)| own.as_path() == key || analysis.asked.contains(key))
            .map(|(own, _)| own.clone())
            .collect();
        for own in stale {
            let stale = self.analyses.remove(&own);
            if own == key
                && let Some(stale) = stale
            {
                self.earlier.insert(own.clone(), stale);
            } else {
                self.earlier.remove(&own);
            }
            if self.documents.get(&own).is_some() {
                self.dirty.insert(own);
            }
        }
    }

    /// The analysis of an open document, or of a file on disk.
    pub fn analysis(&mut self, key: &Path) -> Option<&Analysis> {
        self.analyze(key)?;
        self.analyses.get(key)
    }

    /// The analysis of the document of a URI.
    pub fn analysis_of(&mut self, uri: &Uri) -> Option<&Analysis> {
        self.analysis(&document_key(uri))
    }

    /// An analysis that was made already.
    pub fn known(&self, key: &Path) -> Option<&Analysis> {
        self.analyses.get(key)
    }

    /// Makes sure that there is an analysis.
    pub fn analyze(&mut self, key: &Path) -> Option<()> {
        self.analyze_as(key, CheckMode::Incremental)
    }

    fn analyze_as(&mut self, key: &Path, mode: CheckMode) -> Option<()> {
        if self.analyses.contains_key(key) {
            return Some(());
        }
        let (uri, text) = match self.documents.get(key) {
            Some(document) => (document.uri.clone(), Arc::clone(&document.text)),
            None => (super::place::uri_of(key)?, Arc::from(super::workspace::text_of(key)?)),
        };
        let OfProject { lints, tools } = self.projects.options(key);
        let given = Given { documents: &self.documents, lints: self.settings.lint.then_some(&lints), tools: &tools };
        let before = self.earlier.remove(key);
        let analysis = Analysis::of(key, &uri, text, given, before, mode);
        if analysis.partial {
            self.unsettled.insert(key.to_path_buf());
        }
        self.analyses.insert(key.to_path_buf(), analysis);
        Some(())
    }

    /// A document has been opened: nothing that was known of it counts.
    pub(super) fn begin(&mut self, key: PathBuf) {
        self.forget(&key);
        self.earlier.remove(&key);
        self.dirty.insert(key);
    }

    /// A document has another text.
    pub(super) fn go_on(&mut self, key: PathBuf) {
        self.forget(&key);
        self.dirty.insert(key);
    }

    /// A document has been closed: the file on the disk counts again.
    pub(super) fn end(&mut self, key: &Path) {
        self.forget(key);
        self.earlier.remove(key);
        self.dirty.remove(key);
        self.unsettled.remove(key);
    }

    fn publish(&mut self, key: &Path) {
        self.analyze(key);
        super::publish::publish(self, key);
    }
}

fn client_of(parameters: &Value) -> Client {
    let capabilities = parameters.get("capabilities");
    let is = |pointer: &str| capabilities.and_then(|all| all.pointer(pointer)?.as_bool()).unwrap_or(false);
    Client {
        configuration: is("/workspace/configuration"),
        watches: is("/workspace/didChangeWatchedFiles/dynamicRegistration"),
        snippets: is("/textDocument/completion/completionItem/snippetSupport"),
        refreshes_lenses: is("/workspace/codeLens/refreshSupport"),
        refreshes_hints: is("/workspace/inlayHint/refreshSupport"),
    }
}

fn folders_of(parameters: &Value) -> Vec<PathBuf> {
    let folders: Vec<WorkspaceFolder> = dispatch::part(parameters, "/workspaceFolders");
    let mut paths: Vec<PathBuf> = folders.iter().filter_map(|folder| path_of(folder.uri.as_str())).collect();
    // Older clients name their folder in this field alone.
    if paths.is_empty() {
        let root: Option<Uri> = dispatch::part(parameters, "/rootUri");
        paths.extend(root.and_then(|root| path_of(root.as_str())));
    }
    paths
}
