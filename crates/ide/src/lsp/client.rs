//! The capabilities that a client reports when it connects.

use super::place::uri_to_path;
use super::text::Encoding;
use lsp_types::{Uri, WorkspaceFolder};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::PathBuf;

/// The client's optional capabilities.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClientFeatures {
    /// The client can be asked for settings.
    pub configuration: bool,
    /// The client can watch files for the server.
    pub watches: bool,
    /// Completions may contain placeholders.
    pub snippets: bool,
    /// The client can refresh lenses and hints on request.
    pub refreshes_lenses: bool,
    pub refreshes_hints: bool,
}

/// Returns the unit of columns for a client.
pub fn negotiated_encoding(parameters: &Value) -> Encoding {
    let offered: Vec<_> = read_pointer(parameters, "/capabilities/general/positionEncodings");
    Encoding::negotiate(&offered)
}

/// Reads a part of the client's parameters; an invalid part is replaced by the default, so that the client is still served.
pub fn read_pointer<T: DeserializeOwned + Default>(parameters: &Value, pointer: &str) -> T {
    parameters.pointer(pointer).and_then(|part| serde_json::from_value(part.clone()).ok()).unwrap_or_default()
}

pub(super) fn client_features(parameters: &Value) -> ClientFeatures {
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

pub(super) fn workspace_folders(parameters: &Value) -> Vec<PathBuf> {
    let folders: Vec<WorkspaceFolder> = read_pointer(parameters, "/workspaceFolders");
    let mut paths: Vec<PathBuf> = folders.iter().filter_map(|folder| uri_to_path(folder.uri.as_str())).collect();
    // Older clients name their folder only in this field.
    if paths.is_empty() {
        let root: Option<Uri> = read_pointer(parameters, "/rootUri");
        paths.extend(root.and_then(|root| uri_to_path(root.as_str())));
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::{Encoding, negotiated_encoding, read_pointer};
    use lsp_types::WorkspaceFolder;
    use serde_json::json;

    #[test]
    fn a_client_with_an_odd_part_is_served_with_its_others() {
        let parameters = json!({
            "processId": "none",
            "capabilities": { "general": { "positionEncodings": ["utf-16", "utf-8"] }, "workspace": 7 },
            "workspaceFolders": [{ "uri": 1 }],
        });
        assert_eq!(negotiated_encoding(&parameters), Encoding::Utf8);
        assert_eq!(read_pointer::<Vec<WorkspaceFolder>>(&parameters, "/workspaceFolders"), []);
        assert_eq!(negotiated_encoding(&json!(null)), Encoding::Utf16);
    }
}
