//! Dispatches messages to functions.

use super::capabilities::server_capabilities;
use super::client::negotiated_encoding;
use super::features as f;
use super::request_error::{LspResult, RequestError};
use super::server::LspServer;
use lsp_server::{Connection, ErrorCode, Message, Request, Response};
use lsp_types::{notification as n, notification::Notification as _, request as r, request::Request as _};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Performs the initialization handshake; returns `None` if the client disconnected.
///
/// The parameters stay JSON. Clients send a hundred times more than is read of them, and code to parse all of it would never be used.
pub fn handshake(connection: &Connection) -> Option<Value> {
    let (id, parameters) = connection.initialize_start().ok()?;
    let result = serde_json::json!({
        "capabilities": server_capabilities(negotiated_encoding(&parameters)),
        "serverInfo": { "name": "averment", "version": env!("CARGO_PKG_VERSION") },
    });
    connection.initialize_finish(id, result).ok()?;
    Some(parameters)
}

/// Answers a request. A panic in the server becomes an error response.
pub fn answer_request(server: &mut LspServer, request: Request) -> Response {
    let id = request.id.clone();
    let answered = catch_unwind(AssertUnwindSafe(|| dispatch_request(server, request)));
    match answered {
        Ok(Some(Ok(value))) => Response::new_ok(id, value),
        Ok(Some(Err(refused))) => Response::new_err(id, refused.code, refused.message),
        Ok(None) => Response::new_err(id, ErrorCode::MethodNotFound as i32, "there is no such request".to_owned()),
        Err(_) => Response::new_err(id, ErrorCode::InternalError as i32, "the server met a fault".to_owned()),
    }
}

fn call_handler<P: DeserializeOwned, T: Serialize>(
    server: &mut LspServer,
    parameters: serde_json::Value,
    work: fn(&mut LspServer, P) -> LspResult<T>,
) -> LspResult<serde_json::Value> {
    let parameters = serde_json::from_value(parameters).map_err(|error| RequestError::invalid_params(&error))?;
    let result = work(server, parameters)?;
    serde_json::to_value(result)
        .map_err(|error| RequestError { code: ErrorCode::InternalError as i32, message: error.to_string() })
}

fn dispatch_request(server: &mut LspServer, request: Request) -> Option<LspResult<serde_json::Value>> {
    let Request { method, params, .. } = request;
    if is_about_yaml(&params) {
        return Some(Ok(Value::Null));
    }
    Some(match method.as_str() {
        r::HoverRequest::METHOD => call_handler(server, params, f::hover::document_hover),
        r::Completion::METHOD => call_handler(server, params, f::completion::completion_list),
        r::ResolveCompletionItem::METHOD => call_handler(server, params, f::completion::resolve_completion),
        r::SignatureHelpRequest::METHOD => call_handler(server, params, f::hover::signature_help),
        r::GotoDefinition::METHOD => call_handler(server, params, f::navigation::goto_definition),
        r::References::METHOD => call_handler(server, params, f::navigation::find_references),
        r::DocumentHighlightRequest::METHOD => call_handler(server, params, f::navigation::document_highlights),
        r::PrepareRenameRequest::METHOD => call_handler(server, params, f::rename::prepare_rename),
        r::Rename::METHOD => call_handler(server, params, f::rename::rename_symbol),
        r::DocumentSymbolRequest::METHOD => call_handler(server, params, f::symbols::document_symbols),
        r::WorkspaceSymbolRequest::METHOD => call_handler(server, params, f::symbols::workspace_symbols),
        r::Formatting::METHOD => call_handler(server, params, f::formatting::format_document),
        r::RangeFormatting::METHOD => call_handler(server, params, f::formatting::format_range),
        r::CodeActionRequest::METHOD => call_handler(server, params, f::actions::code_actions),
        r::CodeLensRequest::METHOD => call_handler(server, params, f::lenses::code_lenses),
        r::DocumentLinkRequest::METHOD => call_handler(server, params, f::links::document_links),
        r::FoldingRangeRequest::METHOD => call_handler(server, params, f::structure::folding_ranges),
        r::SelectionRangeRequest::METHOD => call_handler(server, params, f::structure::selection_ranges),
        r::InlayHintRequest::METHOD => call_handler(server, params, f::hints::inlay_hints),
        r::SemanticTokensFullRequest::METHOD => call_handler(server, params, f::tokens::full_tokens),
        r::SemanticTokensRangeRequest::METHOD => call_handler(server, params, f::tokens::range_tokens),
        r::ExecuteCommand::METHOD => call_handler(server, params, f::commands::execute_command),
        _ => return None,
    })
}

/// True for another system's rule file: only its diagnostics are served.
fn is_about_yaml(parameters: &Value) -> bool {
    let uri = parameters.pointer("/textDocument/uri").and_then(Value::as_str);
    uri.is_some_and(|uri| averment_dialects::may_be_foreign(uri, ""))
}

/// Handles a notification; an unreadable one is ignored.
pub fn dispatch_notification(server: &mut LspServer, one: lsp_server::Notification) {
    let lsp_server::Notification { method, params } = one;
    let taken = catch_unwind(AssertUnwindSafe(|| match method.as_str() {
        n::DidOpenTextDocument::METHOD => take_notification(server, params, LspServer::did_open),
        n::DidChangeTextDocument::METHOD => take_notification(server, params, LspServer::did_change),
        n::DidCloseTextDocument::METHOD => take_notification(server, params, LspServer::did_close),
        n::DidSaveTextDocument::METHOD => take_notification(server, params, LspServer::did_save),
        n::DidChangeConfiguration::METHOD => take_notification(server, params, LspServer::did_change_configuration),
        n::DidChangeWatchedFiles::METHOD => take_notification(server, params, LspServer::did_change_watched_files),
        n::DidChangeWorkspaceFolders::METHOD => take_notification(server, params, LspServer::did_change_folders),
        _ => {}
    }));
    if taken.is_err() {
        server.log_message("the server met a fault while it took a notification");
    }
}

fn take_notification<P: DeserializeOwned>(
    server: &mut LspServer,
    parameters: serde_json::Value,
    work: fn(&mut LspServer, P),
) {
    match serde_json::from_value(parameters) {
        Ok(parameters) => work(server, parameters),
        Err(error) => server.log_message(&format!("a notification cannot be read: {error}")),
    }
}

/// True for a queued request that a later notification cancels.
pub fn is_cancelled<'m>(request: &Request, queue: impl IntoIterator<Item = &'m Message>) -> bool {
    let id = serde_json::to_value(&request.id).unwrap_or_default();
    queue.into_iter().any(|message| match message {
        Message::Notification(one) => one.method == n::Cancel::METHOD && one.params.get("id") == Some(&id),
        _ => false,
    })
}
