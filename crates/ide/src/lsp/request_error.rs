//! Responses to requests.

use lsp_server::ErrorCode;

/// An error response.
#[derive(Debug)]
pub struct RequestError {
    pub(super) code: i32,
    pub(super) message: String,
}

impl RequestError {
    /// Creates an error for a request that is not possible; the message is shown to the user.
    pub fn new(message: impl Into<String>) -> Self {
        Self { code: ErrorCode::RequestFailed as i32, message: message.into() }
    }

    pub(super) fn invalid_params(error: &serde_json::Error) -> Self {
        Self { code: ErrorCode::InvalidParams as i32, message: format!("the parameters cannot be read: {error}") }
    }
}

/// The result of a request.
pub type LspResult<T> = Result<T, RequestError>;
