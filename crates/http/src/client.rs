//! Requests to a server.

use std::time::Duration;
use ureq::Agent;
use ureq::config::ConfigBuilder;
use ureq::typestate::AgentScope;

/// How long a connection may take to be made.
const CONNECTING: Duration = Duration::from_secs(10);

/// A server that is asked over HTTP.
#[derive(Debug, Clone)]
pub struct ServerUrl {
    /// Where it is.
    pub url: String,
    /// Further headers, such as one that says who asks.
    pub headers: Vec<(String, String)>,
}

impl ServerUrl {
    /// Reads an address and headers as a command line gives them, `NAME: VALUE`.
    ///
    /// # Errors
    /// What is wrong, and what to write instead.
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

/// Settings of an agent that follows no redirect, and takes every status for an answer: what it means is for its caller to say.
#[must_use]
pub fn agent_settings() -> ConfigBuilder<AgentScope> {
    Agent::config_builder().http_status_as_error(false).max_redirects(0).timeout_connect(Some(CONNECTING))
}
