//! Settings for HTTP requests to a server.

use std::time::Duration;
use ureq::Agent;
use ureq::config::ConfigBuilder;
use ureq::typestate::AgentScope;

/// Time limit for opening a connection.
const CONNECTING: Duration = Duration::from_secs(10);

/// The address of an HTTP server, with headers to send.
#[derive(Debug, Clone)]
pub struct ServerUrl {
    /// Address of the server.
    pub url: String,
    /// Additional headers, such as one that identifies the client.
    pub headers: Vec<(String, String)>,
}

impl ServerUrl {
    /// Parses an address and headers from the command line; each header is `NAME: VALUE`.
    ///
    /// # Errors
    /// An error message and a suggestion.
    pub fn from_words(url: &str, headers: &[String]) -> Result<Self, (String, &'static str)> {
        if !url.starts_with("http://") && !url.starts_with("https://") {
            let message = format!("`{url}` is no address of a server");
            return Err((message, "write for example `--url http://127.0.0.1:8000/mcp`"));
        }
        let header = |one: &String| {
            let (name, value) = one.split_once(':').filter(|(name, _)| !name.trim().is_empty())?;
            let is_plain = |text: &str| text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
            (is_plain(name) && is_plain(value)).then(|| (name.trim().to_owned(), value.trim().to_owned()))
        };
        let wrong = || ("`--header` takes a name and a value".to_owned(), "write `--header 'Authorization: Bearer …'`");
        let headers = headers.iter().map(|one| header(one).ok_or_else(wrong)).collect::<Result<_, _>>()?;
        Ok(Self { url: url.to_owned(), headers })
    }
}

/// Returns settings of an agent that follows no redirects and returns responses of every status to the caller.
#[must_use]
pub fn agent_settings() -> ConfigBuilder<AgentScope> {
    Agent::config_builder().http_status_as_error(false).max_redirects(0).timeout_connect(Some(CONNECTING))
}
