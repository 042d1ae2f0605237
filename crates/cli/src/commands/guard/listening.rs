//! `--listen`: the address at which a guard answers over HTTP, and the hosts that may ask.

use super::super::exit::CommandError;
use super::super::io_error_text;
use averment_http::hosts::KnownHosts;
use averment_http::server::HttpServer;

/// Options about the address of a guard, and the hosts that may ask.
#[derive(Debug, clap::Args)]
pub struct ListenArgs {
    /// Listen for HTTP at this address of this machine: 127.0.0.1:8765. Port 0 takes a free one, and standard error says which
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<String>,
    /// Let `--listen` be reached from other machines. Whoever reaches it can make calls in your name
    #[arg(long, requires = "listen")]
    allow_remote: bool,
    /// Answer requests for this host, too, and from pages of it. Default: names of this machine alone
    #[arg(long, value_name = "NAME", requires = "listen")]
    allow_host: Vec<String>,
}

impl ListenArgs {
    /// Starts the HTTP server.
    pub fn open_server(&self, address: &str) -> Result<HttpServer, CommandError> {
        let names = self.allow_host.iter().map(|name| name.to_ascii_lowercase()).collect();
        HttpServer::listen_at(address, self.allow_remote, KnownHosts { names }).map_err(|error| {
            let is_open = error.kind() == std::io::ErrorKind::PermissionDenied && error.raw_os_error().is_none();
            let (why, help) = if is_open {
                let help =
                    "name an address of this machine such as `127.0.0.1:8765`, or allow it with `--allow-remote`";
                (error.to_string(), help)
            } else {
                (io_error_text(&error), "name an address and a free port such as `127.0.0.1:8765`")
            };
            CommandError::usage(format!("`--listen {address}` is not possible: {why}"), help)
        })
    }
}

/// Returns the URL of the server, as clients write it.
pub(super) fn address_text(server: &HttpServer, path: &str) -> std::io::Result<String> {
    Ok(format!("http://{}{path}", server.local_address()?))
}
