//! The state of a session.

use super::analysis::{Analysis, CheckContext};
use super::client::{self, ClientFeatures};
use super::documents::{DocumentStore, document_key};
use super::incremental::CheckMode;
use super::picked_run::PickedRun;
use super::project::{ProjectCache, ProjectSettings};
use super::settings::{ClientSettings, SECTION};
use super::text::Encoding;
use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use lsp_types::Uri;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The documents that diagnostics were published for, by the analyzed document.
#[derive(Debug, Default)]
pub struct PublishedDiagnostics {
    pub(super) by_root: BTreeMap<PathBuf, BTreeSet<String>>,
}

/// A session with one client.
pub struct LspServer {
    pub(super) connection: Connection,
    pub encoding: Encoding,
    pub client: ClientFeatures,
    pub documents: DocumentStore,
    analyses: BTreeMap<PathBuf, Analysis>,
    pub settings: ClientSettings,
    pub run: Option<PickedRun>,
    pub projects: ProjectCache,
    pub published: PublishedDiagnostics,
    earlier: BTreeMap<PathBuf, Analysis>,
    pub(super) dirty: BTreeSet<PathBuf>,
    pub(super) unsettled: BTreeSet<PathBuf>,
    pub(super) queue: VecDeque<Message>,
    pub(super) shut_down: bool,
    last_request: i32,
    waiting: BTreeMap<RequestId, PendingRequest>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PendingRequest {
    Settings,
    Ignored,
}

impl LspServer {
    /// Creates a session with an initialized client.
    pub fn new(connection: Connection, parameters: &Value) -> Self {
        let options = parameters.get("initializationOptions").filter(|options| !options.is_null());
        Self {
            connection,
            encoding: client::negotiated_encoding(parameters),
            client: client::client_features(parameters),
            documents: DocumentStore::in_folders(client::workspace_folders(parameters)),
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

    /// Checks a document completely after incremental checks.
    pub fn settle_document(&mut self, key: &Path) {
        self.unsettled.remove(key);
        if self.analyses.get(key).is_some_and(|analysis| analysis.partial)
            && let Some(partial) = self.analyses.remove(key)
        {
            self.earlier.insert(key.to_path_buf(), partial);
            self.analyze_as(key, CheckMode::Full);
        }
    }

    /// Sends a message. A failure is ignored, because it means that the client is gone.
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

    pub(super) fn take_response(&mut self, response: Response) {
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

    pub(super) fn watch_files(&mut self) {
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

    /// Asks the client to refresh lenses and hints.
    pub fn refresh_views(&mut self) {
        if self.client.refreshes_lenses {
            self.send_request("workspace/codeLens/refresh", Value::Null, PendingRequest::Ignored);
        }
        if self.client.refreshes_hints {
            self.send_request("workspace/inlayHint/refresh", Value::Null, PendingRequest::Ignored);
        }
    }

    /// Applies new settings.
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

    /// Reads the selected run.
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

    /// Discards the analyses of all documents that read a changed file.
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

    /// Returns the analysis of an open document, or of a file on disk.
    pub fn analysis_for(&mut self, key: &Path) -> Option<&Analysis> {
        self.ensure_analysis(key)?;
        self.analyses.get(key)
    }

    /// Returns the analysis of a document by its URI.
    pub fn analysis_for_uri(&mut self, uri: &Uri) -> Option<&Analysis> {
        self.analysis_for(&document_key(uri))
    }

    /// Returns an existing analysis.
    pub fn cached_analysis(&self, key: &Path) -> Option<&Analysis> {
        self.analyses.get(key)
    }

    /// Creates the analysis if there is none.
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

    /// A document was closed, so the file on disk is used again.
    pub(super) fn document_closed(&mut self, key: &Path) {
        self.forget_file(key);
        self.earlier.remove(key);
        self.dirty.remove(key);
        self.unsettled.remove(key);
    }
}
