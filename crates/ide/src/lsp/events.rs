//! Notifications of a client about its documents, files, folders and settings.

use super::documents::document_key;
use super::place::{path_key, uri_to_path};
use super::server::LspServer;
use super::settings::ClientSettings;
use lsp_types::{
    DidChangeConfigurationParams, DidChangeTextDocumentParams, DidChangeWatchedFilesParams,
    DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams, DidSaveTextDocumentParams,
};

impl LspServer {
    pub(super) fn did_open(&mut self, parameters: DidOpenTextDocumentParams) {
        let document = parameters.text_document;
        let key = self.documents.open_document(document.uri, document.version, document.text);
        self.document_opened(key);
    }

    pub(super) fn did_change(&mut self, parameters: DidChangeTextDocumentParams) {
        let document = parameters.text_document;
        let changed =
            self.documents.apply_changes(&document.uri, document.version, parameters.content_changes, self.encoding);
        match changed {
            Some(key) => self.document_changed(key),
            None => self.log_message(&format!("`{}` is not open", document.uri.as_str())),
        }
    }

    pub(super) fn did_close(&mut self, parameters: DidCloseTextDocumentParams) {
        if let Some(key) = self.documents.close_document(&parameters.text_document.uri) {
            self.document_closed(&key);
            super::publish::withdraw_diagnostics(self, &key);
        }
    }

    pub(super) fn did_save(&mut self, parameters: DidSaveTextDocumentParams) {
        let key = document_key(&parameters.text_document.uri);
        self.forget_file(&key);
    }

    pub(super) fn did_change_configuration(&mut self, parameters: DidChangeConfigurationParams) {
        if self.client.configuration {
            self.ask_for_settings();
        } else if parameters.settings.is_object() {
            self.apply_settings(ClientSettings::read_value(&parameters.settings));
        }
    }

    pub(super) fn did_change_watched_files(&mut self, parameters: DidChangeWatchedFilesParams) {
        for change in parameters.changes {
            let Some(path) = uri_to_path(change.uri.as_str()) else { continue };
            let key = path_key(&path);
            if path.file_name().is_some_and(|name| name == crate::project::NAME) {
                self.projects.forget_all();
                self.forget_all();
            }
            // An open buffer overrides the file on disk.
            if self.documents.get(&key).is_none() {
                self.forget_file(&key);
            }
            if self.run.as_ref().is_some_and(|run| path_key(&run.file) == key) {
                self.load_run();
                self.refresh_views();
            }
        }
    }

    pub(super) fn did_change_folders(&mut self, parameters: DidChangeWorkspaceFoldersParams) {
        let paths = |folders: Vec<lsp_types::WorkspaceFolder>| {
            folders.into_iter().filter_map(|folder| uri_to_path(folder.uri.as_str())).collect::<Vec<_>>()
        };
        let removed = paths(parameters.event.removed);
        self.documents.folders.retain(|folder| !removed.contains(folder));
        self.documents.folders.extend(paths(parameters.event.added));
        // The files that rules may read have changed too.
        self.forget_all();
    }
}
