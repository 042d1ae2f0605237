//! From messages to functions.

use super::capabilities::capabilities;
use super::features as f;
use super::server::Server;
use super::text::Encoding;
use lsp_server::{Connection, ErrorCode, Message, Request, Response};
use lsp_types::{notification as n, notification::Notification as _, request as r, request::Request as _};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What an answer cannot be.
#[derive(Debug)]
pub struct Refused {
    code: i32,
    message: String,
}

impl Refused {
    /// The request makes no sense here; for the user to read.
    pub fn new(message: impl Into<String>) -> Self {
        Self { code: ErrorCode::RequestFailed as i32, message: message.into() }
    }

    /// The parameters are not those of the request.
    fn parameters(error: &serde_json::Error) -> Self {
        Self { code: ErrorCode::InvalidParams as i32, message: format!("the parameters cannot be read: {error}") }
    }
}

/// The answer to a request.
pub type Answer<T> = Result<T, Refused>;

/// What has to come before anything else; `None` when the client went away or left.
///
/// It stays JSON: clients say of themselves a hundred times what is read of it, and reading all that is code that nobody runs.
pub fn handshake(connection: &Connection) -> Option<Value> {
    let (id, parameters) = connection.initialize_start().ok()?;
    let result = serde_json::json!({
        "capabilities": capabilities(encoding_of(&parameters)),
        "serverInfo": { "name": "averment", "version": env!("CARGO_PKG_VERSION") },
    });
    connection.initialize_finish(id, result).ok()?;
    Some(parameters)
}

/// The unit of columns for a client.
pub fn encoding_of(parameters: &Value) -> Encoding {
    let offered: Vec<_> = part(parameters, "/capabilities/general/positionEncodings");
    Encoding::chosen(&offered)
}

/// A part of what a client says of itself; a client with an odd part is still served with what everybody can.
pub fn part<T: DeserializeOwned + Default>(parameters: &Value, pointer: &str) -> T {
    parameters.pointer(pointer).and_then(|part| serde_json::from_value(part.clone()).ok()).unwrap_or_default()
}

/// Answers a request. A fault in the server is an answer too.
pub fn request(server: &mut Server, request: Request) -> Response {
    let id = request.id.clone();
    let answered = catch_unwind(AssertUnwindSafe(|| answer(server, request)));
    match answered {
        Ok(Some(Ok(value))) => Response::new_ok(id, value),
        Ok(Some(Err(refused))) => Response::new_err(id, refused.code, refused.message),
        Ok(None) => Response::new_err(id, ErrorCode::MethodNotFound as i32, "there is no such request".to_owned()),
        Err(_) => Response::new_err(id, ErrorCode::InternalError as i32, "the server met a fault".to_owned()),
    }
}

fn run<P: DeserializeOwned, T: Serialize>(
    server: &mut Server,
    parameters: serde_json::Value,
    work: fn(&mut Server, P) -> Answer<T>,
) -> Answer<serde_json::Value> {
    let parameters = serde_json::from_value(parameters).map_err(|error| Refused::parameters(&error))?;
    let result = work(server, parameters)?;
    serde_json::to_value(result)
        .map_err(|error| Refused { code: ErrorCode::InternalError as i32, message: error.to_string() })
}

fn answer(server: &mut Server, request: Request) -> Option<Answer<serde_json::Value>> {
    let Request { method, params, .. } = request;
    if is_about_yaml(&params) {
        return Some(Ok(Value::Null));
    }
    Some(match method.as_str() {
        r::HoverRequest::METHOD => run(server, params, f::hover::hover),
        r::Completion::METHOD => run(server, params, f::completion::completion),
        r::ResolveCompletionItem::METHOD => run(server, params, f::completion::resolve),
        r::SignatureHelpRequest::METHOD => run(server, params, f::hover::signature),
        r::GotoDefinition::METHOD => run(server, params, f::navigation::definition),
        r::References::METHOD => run(server, params, f::navigation::references),
        r::DocumentHighlightRequest::METHOD => run(server, params, f::navigation::highlights),
        r::PrepareRenameRequest::METHOD => run(server, params, f::rename::prepare),
        r::Rename::METHOD => run(server, params, f::rename::rename),
        r::DocumentSymbolRequest::METHOD => run(server, params, f::symbols::document),
        r::WorkspaceSymbolRequest::METHOD => run(server, params, f::symbols::workspace),
        r::Formatting::METHOD => run(server, params, f::formatting::document),
        r::RangeFormatting::METHOD => run(server, params, f::formatting::range),
        r::CodeActionRequest::METHOD => run(server, params, f::actions::actions),
        r::CodeLensRequest::METHOD => run(server, params, f::lenses::lenses),
        r::DocumentLinkRequest::METHOD => run(server, params, f::links::links),
        r::FoldingRangeRequest::METHOD => run(server, params, f::structure::folding),
        r::SelectionRangeRequest::METHOD => run(server, params, f::structure::selection),
        r::InlayHintRequest::METHOD => run(server, params, f::hints::hints),
        r::SemanticTokensFullRequest::METHOD => run(server, params, f::tokens::full),
        r::SemanticTokensRangeRequest::METHOD => run(server, params, f::tokens::range),
        r::ExecuteCommand::METHOD => run(server, params, f::commands::execute),
        _ => return None,
    })
}

/// Whether a request is about a rule file of another system: nothing in it is written in the language, and its mistakes are all that is said.
fn is_about_yaml(parameters: &Value) -> bool {
    let uri = parameters.pointer("/textDocument/uri").and_then(Value::as_str);
    uri.is_some_and(|uri| averment_dialects::may_be_foreign(uri, ""))
}

/// Takes a notification; one that cannot be read is passed over.
pub fn notification(server: &mut Server, one: lsp_server::Notification) {
    let lsp_server::Notification { method, params } = one;
    let taken = catch_unwind(AssertUnwindSafe(|| match method.as_str() {
        n::DidOpenTextDocument::METHOD => take(server, params, Server::did_open),
        n::DidChangeTextDocument::METHOD => take(server, params, Server::did_change),
        n::DidCloseTextDocument::METHOD => take(server, params, Server::did_close),
        n::DidSaveTextDocument::METHOD => take(server, params, Server::did_save),
        n::DidChangeConfiguration::METHOD => take(server, params, Server::did_change_configuration),
        n::DidChangeWatchedFiles::METHOD => take(server, params, Server::did_change_watched_files),
        n::DidChangeWorkspaceFolders::METHOD => take(server, params, Server::did_change_folders),
        _ => {}
    }));
    if taken.is_err() {
        server.log("the server met a fault while it took a notification");
    }
}

fn take<P: DeserializeOwned>(server: &mut Server, parameters: serde_json::Value, work: fn(&mut Server, P)) {
    match serde_json::from_value(parameters) {
        Ok(parameters) => work(server, parameters),
        Err(error) => server.log(&format!("a notification cannot be read: {error}")),
    }
}

/// True for a request in the queue that a notification behind it takes back.
pub fn is_cancelled<'m>(request: &Request, queue: impl IntoIterator<Item = &'m Message>) -> bool {
    let id = serde_json::to_value(&request.id).unwrap_or_default();
    queue.into_iter().any(|message| match message {
        Message::Notification(one) => one.method == n::Cancel::METHOD && one.params.get("id") == Some(&id),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::{Encoding, encoding_of, part};
    use lsp_types::WorkspaceFolder;
    use serde_json::json;

    #[test]
    fn a_client_with_an_odd_part_is_served_with_its_others() {
        let parameters = json!({
            "processId": "none",
            "capabilities": { "general": { "positionEncodings": ["utf-16", "utf-8"] }, "workspace": 7 },
            "workspaceFolders": [{ "uri": 1 }],
        });
        assert_eq!(encoding_of(&parameters), Encoding::Utf8);
        assert_eq!(part::<Vec<WorkspaceFolder>>(&parameters, "/workspaceFolders"), []);
        assert_eq!(encoding_of(&json!(null)), Encoding::Utf16);
    }
}
