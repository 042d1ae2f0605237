//! `aver guard mcp RULES --url URL --listen ADDRESS`: a guarding proxy for an MCP server over streamable HTTP.

use super::super::console::eprint_redacted;
use super::super::exit::{CommandError, Exit};
use super::super::units;
use super::listening::{ListenArgs, address_text};
use averment_guard::hook::SessionGuard;
use averment_guard::mcp::{McpProxy, ProxySettings, RunKeying, ToolCheck};
use averment_http::client::ServerUrl;
use std::thread;

/// Options about the URL of the MCP server, and about separating runs.
#[derive(Debug, clap::Args)]
pub struct UrlArgs {
    /// The address of a running server over streamable HTTP; clients ask at `--listen` instead
    #[arg(long, value_name = "URL", requires = "listen")]
    pub url: Option<String>,
    /// Send this header with --url, in place of one of the client's
    #[arg(long, value_name = "NAME: VALUE", requires = "url")]
    header: Vec<String>,
    /// The header that names the run of a call. Default: the session of the protocol, the trace in `_meta`, or the connection
    #[arg(long, value_name = "NAME", requires = "url")]
    run_header: Option<String>,
    /// How long the server may be silent before it has answered
    #[arg(long, value_name = "TIME", default_value = "10m", requires = "url")]
    timeout: String,
}

impl UrlArgs {
    fn proxy_settings(&self, url: &str) -> Result<ProxySettings, CommandError> {
        let target =
            ServerUrl::from_words(url, &self.header).map_err(|(text, help)| CommandError::usage(text, help))?;
        let answer_time = units::parse_time(&self.timeout).ok_or_else(|| {
            CommandError::usage(format!("`{}` is no time", self.timeout), "write a time such as `30s` or `10m`")
        })?;
        let keying = match &self.run_header {
            None => RunKeying::Protocol,
            Some(name) if is_header_name(name) => RunKeying::Header(name.to_ascii_lowercase()),
            Some(name) => {
                let text = format!("`--run-header {name}` is no name of a header");
                return Err(CommandError::usage(text, "write for example `--run-header x-run-id`"));
            }
        };
        Ok(ProxySettings { target, keying, answer_time })
    }
}

fn is_header_name(name: &str) -> bool {
    averment_http::http::HeaderName::from_bytes(name.as_bytes()).is_ok()
}

/// Serves until the command is ended.
pub(super) fn run_http_proxy(
    arguments: &UrlArgs,
    listening: &ListenArgs,
    guard: SessionGuard<'_>,
    tools: ToolCheck,
) -> Result<Exit, CommandError> {
    let (url, address) =
        (arguments.url.as_deref().unwrap_or_default(), listening.listen.as_deref().unwrap_or_default());
    let settings = arguments.proxy_settings(url)?;
    let server = listening.open_server(address)?;
    let target = settings.target.clone();
    let proxy =
        McpProxy::new(guard, settings, tools, &|text| eprint_redacted(&format!("{text}\n"))).map_err(|problem| {
            CommandError::usage(format!("`--url {url}`: {problem}"), "write the address of the server")
        })?;
    eprint_redacted(&format!("aver guard: listening on {}\n", address_text(&server, proxy.path())?));
    thread::scope(|scope| {
        scope.spawn(|| proxy.compare_tools(listed_tools(target)));
        server.serve_connections(|| proxy.begin_connection());
    });
    Ok(Exit::Holds)
}

/// Returns the tools of a server, listed in a separate session. Returns `None` if the server does not answer; its clients will list them later.
#[cfg(feature = "probe")]
fn listed_tools(target: ServerUrl) -> Option<Vec<String>> {
    use averment_probe::{AnswerLimits, ProbeClient, ServerTarget};
    let limits = AnswerLimits { time: std::time::Duration::from_secs(5), bytes: 64 << 20 };
    let mut client = ProbeClient::start(ServerTarget::Url(target), limits).ok()?;
    let (listing, _) = client.list_tools().ok()?;
    Some(listing.tool_names().map(ToOwned::to_owned).collect())
}

#[cfg(not(feature = "probe"))]
fn listed_tools(_: ServerUrl) -> Option<Vec<String>> {
    None
}
