//! The language server: `aver lsp` over standard input and output.
//!
//! [`serve`] answers one client. Everything it knows comes from the stages that the command line calls: `check`, `lint`, `fmt`, `vm` and
//! [`crate::assist`]; open documents hide what is on disk. One thread answers in order; what is cancelled while it waits is not begun.

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

/// Serves a client over standard input and output; gives the exit code: 0 behind a proper `shutdown`, 1 without one.
#[must_use]
pub fn serve_stdio() -> u8 {
    let (connection, threads) = transport::connect_stdio();
    let code = serve(connection);
    threads.join();
    code
}

/// Serves the client at the other end of a connection until it says `exit` or goes away; gives the exit code.
#[must_use]
pub fn serve(connection: Connection) -> u8 {
    let code = match dispatch::handshake(&connection) {
        Some(parameters) => server::LspServer::new(connection, &parameters).run(),
        None => 1,
    };
    u8::from(code != 0)
}
