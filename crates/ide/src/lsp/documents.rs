//! The open documents, and the files that the checker reads: open buffers override files on disk.

use super::place::{path_key, uri_to_path};
use super::text::Encoding;
use averment_base::limits::Limits;
use averment_base::source::SourceFile;
use averment_checker::files::{Disk, FileError, Files, FoundFile, normalize_path};
use lsp_types::{TextDocumentContentChangeEvent, Uri};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An open document.
#[derive(Debug, Clone)]
pub struct OpenDocument {
    /// Its URI as the client wrote it.
    pub uri: Uri,
    /// Its version number.
    pub version: i32,
    /// Its text.
    pub text: Arc<str>,
}

/// All open documents, by the path of a file or the URI of anything else.
#[derive(Debug, Default)]
pub struct DocumentStore {
    open: BTreeMap<PathBuf, OpenDocument>,
    /// The workspace folders of the client; rules may read files in them.
    pub folders: Vec<PathBuf>,
}

/// The key that identifies a document's URI.
pub fn document_key(uri: &Uri) -> PathBuf {
    uri_to_path(uri.as_str()).map_or_else(|| PathBuf::from(uri.as_str()), |path| path_key(&path))
}

impl DocumentStore {
    /// Creates a store without open documents.
    pub fn in_folders(folders: Vec<PathBuf>) -> Self {
        Self { folders, open: BTreeMap::new() }
    }

    /// Opens a document, or replaces it.
    pub fn open_document(&mut self, uri: Uri, version: i32, text: String) -> PathBuf {
        let key = document_key(&uri);
        self.open.insert(key.clone(), OpenDocument { uri, version, text: text.into() });
        key
    }

    /// Applies changes in their order; `None` for a document that is not open.
    pub fn apply_changes(
        &mut self,
        uri: &Uri,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
        encoding: Encoding,
    ) -> Option<PathBuf> {
        let key = document_key(uri);
        let document = self.open.get_mut(&key)?;
        for change in changes {
            document.text = apply_change(&document.text, change, encoding);
        }
        document.version = version;
        Some(key)
    }

    /// Closes a document.
    pub fn close_document(&mut self, uri: &Uri) -> Option<PathBuf> {
        let key = document_key(uri);
        self.open.remove(&key).map(|_| key)
    }

    /// Returns an open document.
    pub fn get(&self, key: &Path) -> Option<&OpenDocument> {
        self.open.get(key)
    }

    /// Returns the keys of all open documents.
    pub fn keys(&self) -> Vec<PathBuf> {
        self.open.keys().cloned().collect()
    }
}

fn apply_change(text: &Arc<str>, change: TextDocumentContentChangeEvent, encoding: Encoding) -> Arc<str> {
    let Some(range) = change.range else { return change.text.into() };
    let file = SourceFile::new("", None, Arc::clone(text));
    let bytes = encoding.to_bytes(&file, range);
    let (front, back) = (text.get(..bytes.start).unwrap_or(""), text.get(bytes.end..).unwrap_or(""));
    [front, &change.text, back].concat().into()
}

/// Files on disk overlaid with the open documents; records every file that was requested.
pub struct FileOverlay<'d> {
    documents: &'d DocumentStore,
    disk: Disk,
    /// Workspace folders that may own this document.
    folders: Vec<PathBuf>,
    /// The files that were read or searched for.
    pub dependencies: RefCell<BTreeSet<PathBuf>>,
}

impl<'d> FileOverlay<'d> {
    /// Creates an overlay of these documents, limited to the files that rules in a folder may read.
    pub fn new(documents: &'d DocumentStore, rules: Option<&Path>) -> Self {
        let own = rules.map(crate::project::readable_folders).unwrap_or_default();
        let folders: Vec<PathBuf> = own.into_iter().chain(documents.folders.iter().cloned()).collect();
        let disk = Disk::within(folders.clone(), Limits::default().rule_file_bytes);
        Self { documents, disk, folders, dependencies: RefCell::default() }
    }
}

impl Files for FileOverlay<'_> {
    fn read(&self, folder: &Path, path: &str, inside: Option<&Path>) -> Result<FoundFile, FileError> {
        let found = self.disk.read(folder, path, inside);
        match found {
            Ok(mut found) => {
                self.dependencies.borrow_mut().insert(found.key.clone());
                if let Some(open) = self.documents.get(&found.key) {
                    found.text = open.text.to_string();
                }
                Ok(found)
            }
            Err(FileError::NotFound) => {
                let key = normalize_path(&folder.join(path));
                self.dependencies.borrow_mut().insert(key.clone());
                let open = self.documents.get(&key).ok_or(FileError::NotFound)?;
                if !self.folders.iter().any(|folder| key.starts_with(normalize_path(folder))) {
                    return Err(FileError::NotPermitted);
                }
                if inside.is_some_and(|inside| !key.starts_with(normalize_path(inside))) {
                    return Err(FileError::Outside);
                }
                let folder = key.parent().unwrap_or(folder).to_path_buf();
                Ok(FoundFile { folder, text: open.text.to_string(), key })
            }
            Err(error) => Err(error),
        }
    }

    fn names(&self, folder: &Path, path: &str) -> Vec<String> {
        self.disk.names(folder, path)
    }
}
