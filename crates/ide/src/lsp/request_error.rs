//! What a request is answered with.

use lsp_server::ErrorCode;

/// An error response.
#[derive(Debug)]
pub struct RequestError {
    pub(super) code: i32,
    pub(super) message: String,
}

impl RequestError {
    /// The request makes no sense here; for the user to read.
    pub fn new(message: impl Into<String>) -> Self {
        Self { code: ErrorCode::RequestFailed as i32, message: message.into() }
    }

    pub(super) fn invalid_params(error: &serde_json::Error) -> Self {
        Self { code: ErrorCode::InvalidParams as i32, message: format!("the parameters cannot be read: {error}") }
    }
}

/// The answer to a request.
pub type LspResult<T> = Result<T, RequestError>;
