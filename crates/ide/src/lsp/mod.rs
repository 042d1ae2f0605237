//! The language server: `aver lsp` over standard input and output.
//!
//! [`serve`] answers one client. All its results come from the stages that the command line uses: `check`, `lint`, `fmt`, `vm` and [`crate::assist`];
//! open documents override files on disk. One thread answers requests in order; a request that is canceled while it waits is not started.

mod analysis;
mod capabilities;
mod client;
mod dispatch;
mod documents;
mod events;
mod features;
mod foreign;
mod incremental;
mod picked_run;
mod place;
mod project;
mod publish;
mod request_error;
mod server;
mod session_loop;
mod settings;
mod text;
mod transport;
mod workspace;

use lsp_server::Connection;

/// Serves a client over standard input and output; returns the exit code: 0 after a proper `shutdown`, otherwise 1.
#[must_use]
pub fn serve_stdio() -> u8 {
    let (connection, threads) = transport::connect_stdio();
    let code = serve(connection);
    threads.join();
    code
}

/// Serves the client of a connection until it sends `exit` or disconnects; returns the exit code.
#[must_use]
pub fn serve(connection: Connection) -> u8 {
    let code = match dispatch::handshake(&connection) {
        Some(parameters) => server::LspServer::new(connection, &parameters).run(),
        None => 1,
    };
    u8::from(code != 0)
}
