//! The state of a session and its loop.

use super::analysis::{Analysis, CheckContext};
use super::dispatch;
use super::documents::{DocumentStore, document_key};
use super::incremental::CheckMode;
use super::picked_run::PickedRun;
use super::place::uri_to_path;
use super::project::{ProjectCache, ProjectSettings};
use super::publish::PublishedDiagnostics;
use super::settings::{ClientSettings, SECTION};
use super::text::Encoding;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::{Uri, WorkspaceFolder};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The client's optional capabilities.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClientFeatures {
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

/// Idle time after which everything is checked.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(200);

/// One session.
pub struct LspServer {
    connection: Connection,
    pub encoding: Encoding,
    pub client: ClientFeatures,
    pub documents: DocumentStore,
    analyses: BTreeMap<PathBuf, Analysis>,
    pub settings: ClientSettings,
    pub run: Option<PickedRun>,
    pub projects: ProjectCache,
    pub published: PublishedDiagnostics,
    earlier: BTreeMap<PathBuf, Analysis>,
    dirty: BTreeSet<PathBuf>,
    unsettled: BTreeSet<PathBuf>,
    queue: VecDeque<Message>,
    shut_down: bool,
    last_request: i32,
    waiting: BTreeMap<RequestId, PendingRequest>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PendingRequest {
    Settings,
    Ignored,
}

impl LspServer {
    /// A session with a client that has shaken hands.
    pub fn new(connection: Connection, parameters: &Value) -> Self {
        let options = parameters.get("initializationOptions").filter(|options| !options.is_null());
        Self {
            connection,
            encoding: dispatch::negotiated_encoding(parameters),
            client: client_features(parameters),
            documents: DocumentStore::in_folders(workspace_folders(parameters)),
            analyses: BTreeMap::new(),
            settings: options.map(ClientSettings::read_value).unwrap_or_default(),
            run: None,
            projects: ProjectCache::default(),
            published: PublishedDiagnostics::default(),
            earlier: BTreeMap::new(),
            dirty: BTreeSet::new(),
            unsettled: BTreeSet::new(),
            queue: VecDeque::new(),
            shut_down: false,
            last_request: 0,
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
                if let Some(code) = self.take_message(message) {
                    return code;
                }
            } else if let Some(key) = self.dirty.pop_first() {
                self.publish_document(&key);
            } else if !self.wait_for_message() {
                // The client went away without a word.
                return 1;
            }
        }
    }

    /// Waits for the next message. After a pause, incremental checks are completed.
    fn wait_for_message(&mut self) -> bool {
        if self.unsettled.is_empty() {
            let message = self.connection.receiver.recv();
            return message.map(|message| self.queue.push_back(message)).is_ok();
        }
        match self.connection.receiver.recv_timeout(PAUSE) {
            Ok(message) => self.queue.push_back(message),
            Err(error) if error.is_timeout() => {
                if let Some(key) = self.unsettled.pop_first() {
                    self.settle_document(&key);
                    self.publish_document(&key);
                }
            }
            Err(_) => return false,
        }
        true
    }

    /// Checks a document as a whole of which only what changed was checked.
    pub fn settle_document(&mut self, key: &Path) {
        self.unsettled.remove(key);
        if self.analyses.get(key).is_some_and(|analysis| analysis.partial)
            && let Some(partial) = self.analyses.remove(key)
        {
            self.earlier.insert(key.to_path_buf(), partial);
            self.analyze_as(key, CheckMode::Full);
        }
    }

    /// Handles one message; returns the exit code after `exit`.
    fn take_message(&mut self, message: Message) -> Option<i32> {
        match message {
            Message::Request(request) => {
                let response = self.answer_request(request);
                self.send_message(response.into());
            }
            Message::Notification(one) if one.method == "exit" => return Some(i32::from(!self.shut_down)),
            Message::Notification(one) => dispatch::dispatch_notification(self, one),
            Message::Response(response) => self.take_response(response),
        }
        None
    }

    fn answer_request(&mut self, request: Request) -> Response {
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
            _ => dispatch::answer_request(self, request),
        }
    }

    /// Sends a message; nobody is there to hear of one that cannot be sent.
    pub fn send_message(&self, message: Message) {
        let _ = self.connection.sender.send(message);
    }

    /// Sends a notification.
    pub fn notify_client(&self, method: &str, parameters: impl serde::Serialize) {
        self.send_message(Message::Notification(Notification::new(method.to_owned(), parameters)));
    }

    /// Writes a line into the client's log.
    pub fn log_message(&self, message: &str) {
        self.notify_client("window/logMessage", json!({ "type": 3, "message": message }));
    }

    /// Shows a message to the user: 1 an error, 2 a warning, 3 information.
    pub fn show_message(&self, kind: u8, message: &str) {
        self.notify_client("window/showMessage", json!({ "type": kind, "message": message }));
    }

    fn send_request(&mut self, method: &str, parameters: Value, waiting: PendingRequest) {
        self.last_request = self.last_request.wrapping_add(1);
        let id = RequestId::from(self.last_request);
        self.waiting.insert(id.clone(), waiting);
        self.send_message(Message::Request(Request::new(id, method.to_owned(), parameters)));
    }

    fn take_response(&mut self, response: Response) {
        if self.waiting.remove(&response.id) != Some(PendingRequest::Settings) {
            return;
        }
        if let Ok(Value::Array(values)) = response.response_result
            && let Some(value) = values.first().filter(|value| value.is_object())
        {
            self.apply_settings(ClientSettings::read_value(value));
        }
    }

    pub(super) fn ask_for_settings(&mut self) {
        if self.client.configuration {
            self.send_request(
                "workspace/configuration",
                json!({ "items": [{ "section": SECTION }] }),
                PendingRequest::Settings,
            );
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
        self.send_request(
            "client/registerCapability",
            json!({ "registrations": [registration] }),
            PendingRequest::Ignored,
        );
    }

    /// Asks the client to draw lenses and hints again.
    pub fn refresh_views(&mut self) {
        if self.client.refreshes_lenses {
            self.send_request("workspace/codeLens/refresh", Value::Null, PendingRequest::Ignored);
        }
        if self.client.refreshes_hints {
            self.send_request("workspace/inlayHint/refresh", Value::Null, PendingRequest::Ignored);
        }
    }

    /// Takes new settings.
    pub fn apply_settings(&mut self, settings: ClientSettings) {
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
        self.refresh_views();
    }

    /// Reads the picked run.
    pub fn load_run(&mut self) {
        self.run = None;
        self.analyses.values_mut().for_each(Analysis::forget_outcome);
        let Some((file, number)) = self.settings.picked_run(&self.documents.folders) else { return };
        match PickedRun::read_run(&file, number) {
            Ok(run) => self.run = Some(run),
            Err(why) => self.show_message(2, &format!("the picked run cannot be read: {why}")),
        }
    }

    pub(super) fn forget_all(&mut self) {
        self.analyses.clear();
        self.earlier.clear();
        self.dirty.extend(self.documents.keys());
    }

    /// A file changed: every document that reads it is outdated.
    pub(super) fn forget_file(&mut self, key: &Path) {
        let stale: Vec<PathBuf> = self
            .analyses
            .iter()
            .filter(|(own, analysis)| own.as_path() == key || analysis.dependencies.contains(key))
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
    pub fn analysis_for(&mut self, key: &Path) -> Option<&Analysis> {
        self.ensure_analysis(key)?;
        self.analyses.get(key)
    }

    /// The analysis of the document of a URI.
    pub fn analysis_for_uri(&mut self, uri: &Uri) -> Option<&Analysis> {
        self.analysis_for(&document_key(uri))
    }

    /// An analysis that was made already.
    pub fn cached_analysis(&self, key: &Path) -> Option<&Analysis> {
        self.analyses.get(key)
    }

    /// Makes sure that there is an analysis.
    pub fn ensure_analysis(&mut self, key: &Path) -> Option<()> {
        self.analyze_as(key, CheckMode::Incremental)
    }

    fn analyze_as(&mut self, key: &Path, mode: CheckMode) -> Option<()> {
        if self.analyses.contains_key(key) {
            return Some(());
        }
        let (uri, text) = match self.documents.get(key) {
            Some(document) => (document.uri.clone(), Arc::clone(&document.text)),
            None => (super::place::path_to_uri(key)?, Arc::from(super::workspace::read_text(key)?)),
        };
        let ProjectSettings { lints, tools } = self.projects.settings_for(key);
        let given =
            CheckContext { documents: &self.documents, lints: self.settings.lint.then_some(&lints), tools: &tools };
        let before = self.earlier.remove(key);
        let analysis = Analysis::of_document(key, &uri, text, given, before, mode);
        if analysis.partial {
            self.unsettled.insert(key.to_path_buf());
        }
        self.analyses.insert(key.to_path_buf(), analysis);
        Some(())
    }

    /// A document was opened: discards everything known about it.
    pub(super) fn document_opened(&mut self, key: PathBuf) {
        self.forget_file(&key);
        self.earlier.remove(&key);
        self.dirty.insert(key);
    }

    pub(super) fn document_changed(&mut self, key: PathBuf) {
        self.forget_file(&key);
        self.dirty.insert(key);
    }

    /// A document was closed: the file on disk counts again.
    pub(super) fn document_closed(&mut self, key: &Path) {
        self.forget_file(key);
        self.earlier.remove(key);
        self.dirty.remove(key);
        self.unsettled.remove(key);
    }

    fn publish_document(&mut self, key: &Path) {
        self.ensure_analysis(key);
        super::publish::publish_diagnostics(self, key);
    }
}

fn client_features(parameters: &Value) -> ClientFeatures {
    let capabilities = parameters.get("capabilities");
    let is = |pointer: &str| capabilities.and_then(|all| all.pointer(pointer)?.as_bool()).unwrap_or(false);
    ClientFeatures {
        configuration: is("/workspace/configuration"),
        watches: is("/workspace/didChangeWatchedFiles/dynamicRegistration"),
        snippets: is("/textDocument/completion/completionItem/snippetSupport"),
        refreshes_lenses: is("/workspace/codeLens/refreshSupport"),
        refreshes_hints: is("/workspace/inlayHint/refreshSupport"),
    }
}

fn workspace_folders(parameters: &Value) -> Vec<PathBuf> {
    let folders: Vec<WorkspaceFolder> = dispatch::read_pointer(parameters, "/workspaceFolders");
    let mut paths: Vec<PathBuf> = folders.iter().filter_map(|folder| uri_to_path(folder.uri.as_str())).collect();
    // Older clients name their folder in this field alone.
    if paths.is_empty() {
        let root: Option<Uri> = dispatch::read_pointer(parameters, "/rootUri");
        paths.extend(root.and_then(|root| uri_to_path(root.as_str())));
    }
    paths
}
