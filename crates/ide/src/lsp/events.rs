//! What a client tells of its documents, files, folders and settings.

use super::documents::document_key;
use super::place::{key_of, path_of};
use super::server::Server;
use super::settings::Settings;
use lsp_types::{
    DidChangeConfigurationParams, DidChangeTextDocumentParams, DidChangeWatchedFilesParams,
    DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams, DidSaveTextDocumentParams,
};

impl Server {
    pub(super) fn did_open(&mut self, parameters: DidOpenTextDocumentParams) {
        let document = parameters.text_document;
        let key = self.documents.open(document.uri, document.version, document.text);
        self.begin(key);
    }

    pub(super) fn did_change(&mut self, parameters: DidChangeTextDocumentParams) {
        let document = parameters.text_document;
        let changed = self.documents.change(&document.uri, document.version, parameters.content_changes, self.encoding);
        match changed {
            Some(key) => self.go_on(key),
            None => self.log(&format!("`{}` is not open", document.uri.as_str())),
        }
    }

    pub(super) fn did_close(&mut self, parameters: DidCloseTextDocumentParams) {
        if let Some(key) = self.documents.close(&parameters.text_document.uri) {
            self.end(&key);
            super::publish::withdraw(self, &key);
        }
    }

    pub(super) fn did_save(&mut self, parameters: DidSaveTextDocumentParams) {
        let key = document_key(&parameters.text_document.uri);
        self.forget(&key);
    }

    pub(super) fn did_change_configuration(&mut self, parameters: DidChangeConfigurationParams) {
        if self.client.configuration {
            self.ask_for_settings();
        } else if parameters.settings.is_object() {
            self.set(Settings::read(&parameters.settings));
        }
    }

    pub(super) fn did_change_watched_files(&mut self, parameters: DidChangeWatchedFilesParams) {
        for change in parameters.changes {
            let Some(path) = path_of(change.uri.as_str()) else { continue };
            let key = key_of(&path);
            if path.file_name().is_some_and(|name| name == crate::project::NAME) {
                self.projects.forget();
                self.forget_all();
            }
            // What an open buffer holds counts, whatever the disk says.
            if self.documents.get(&key).is_none() {
                self.forget(&key);
            }
            if self.run.as_ref().is_some_and(|run| key_of(&run.file) == key) {
                self.load_run();
                self.refresh();
            }
        }
    }

    pub(super) fn did_change_folders(&mut self, parameters: DidChangeWorkspaceFoldersParams) {
        let paths = |folders: Vec<lsp_types::WorkspaceFolder>| {
            folders.into_iter().filter_map(|folder| path_of(folder.uri.as_str())).collect::<Vec<_>>()
        };
        let removed = paths(parameters.event.removed);
        self.documents.folders.retain(|folder| !removed.contains(folder));
        self.documents.folders.extend(paths(parameters.event.added));
        // What rules may read has changed with them.
        self.forget_all();
    }
}
