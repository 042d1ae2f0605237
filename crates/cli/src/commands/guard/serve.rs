//! `aver guard serve RULES --socket PATH --listen ADDRESS`: a resident guard for programs that make calls themselves, and for hooks over HTTP.

use super::super::console::{ColorChoice, eprint_redacted};
use super::super::exit::{CommandError, Exit};
use super::listening::{ListenArgs, address_text};
use super::{GuardRules, each_line, guard_rules, rule_names, state_folder};
use averment_guard::hook::SessionGuard;
use averment_guard::resident::ResidentSessions;
use averment_guard::serve_http::ServeConnection;
use averment_http::server::HttpServer;
use std::io::{self, BufReader};
#[cfg(unix)]
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
#[cfg(unix)]
use std::os::unix::net::{UnixListener, UnixStream};
#[cfg(unix)]
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
#[cfg(unix)]
use std::sync::atomic::{AtomicUsize, Ordering};

/// Arguments of `guard serve`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver guard serve rules.assert --socket guard.sock
  echo '{\"session\": \"s\", \"propose\": {\"tool\": \"refund\", \"args\": {}}}' | nc -NU guard.sock
  aver guard serve rules.assert --listen 127.0.0.1:8765
  curl -d '{\"session\": \"s\", \"propose\": {\"tool\": \"refund\", \"args\": {}}}' 127.0.0.1:8765
  aver guard serve rules.assert < requests.jsonl

A line of JSON asks, a line of JSON answers; over HTTP each is a POST. Events of an agent's hook are
posted to /hook/claude, /hook/codex and so on. Without --socket and --listen requests come on
standard input.")]
pub struct ServeArgs {
    /// A rule file, or a folder of them
    #[arg(required = true, value_name = "RULES")]
    rules: Vec<PathBuf>,
    #[command(flatten)]
    guard: GuardRules,
    /// Where the logs of sessions are kept [default: averment/guard below $XDG_STATE_HOME or ~/.local/state]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Begin a session whose hook is posted in its middle with the agent's own transcript (Claude Code, Gemini CLI)
    #[arg(long)]
    seed_from_transcript: bool,
    /// A local socket that is made here, for the user alone
    #[cfg(unix)]
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    #[command(flatten)]
    listening: ListenArgs,
}

/// Maximum number of open connections.
#[cfg(unix)]
const MAX_CONNECTIONS: usize = 64;

pub(super) fn run_serve(arguments: &ServeArgs, _: ColorChoice) -> Result<Exit, CommandError> {
    let rules = guard_rules(&arguments.rules, &arguments.guard)?;
    let folder = state_folder(arguments.state.as_deref())?;
    let names = rule_names(&arguments.rules);
    let (mode, resident) = (arguments.guard.mode, Some(Arc::new(ResidentSessions::new(&rules))));
    let guard = SessionGuard {
        rules: &rules,
        rule_names: &names,
        mode,
        folder: &folder,
        resident,
        seeds: arguments.seed_from_transcript,
    };
    let http = arguments.listening.listen.as_deref().map(|address| arguments.listening.open_server(address));
    let http = http.transpose()?;
    if let Some(server) = &http {
        eprint_redacted(&format!("aver guard: listening on {}\n", address_text(server, "/")?));
    }
    serve_everywhere(arguments, &guard, http.as_ref())
}

#[cfg(unix)]
fn serve_everywhere(
    arguments: &ServeArgs,
    guard: &SessionGuard<'_>,
    http: Option<&HttpServer>,
) -> Result<Exit, CommandError> {
    let socket = arguments.socket.as_deref().map(open_socket).transpose()?;
    if socket.is_none() && http.is_none() {
        answer_lines(guard, io::stdin(), io::stdout())?;
        return Ok(Exit::Holds);
    }
    std::thread::scope(|scope| {
        if let Some(server) = http {
            scope.spawn(|| server.serve_connections(|| ServeConnection::new(guard)));
        }
        socket.iter().for_each(|listener| accept_all(guard, listener));
    });
    Ok(Exit::Holds)
}

#[cfg(not(unix))]
fn serve_everywhere(_: &ServeArgs, guard: &SessionGuard<'_>, http: Option<&HttpServer>) -> Result<Exit, CommandError> {
    match http {
        Some(server) => server.serve_connections(|| ServeConnection::new(guard)),
        None => answer_lines(guard, io::stdin(), io::stdout())?,
    }
    Ok(Exit::Holds)
}

/// Opens the socket. A stale socket is replaced; any other file at the path is an error.
#[cfg(unix)]
fn open_socket(path: &Path) -> Result<UnixListener, CommandError> {
    let unusable = |error: &io::Error| {
        let why = super::super::io_error_text(error);
        CommandError::usage(format!("no socket can be made at `{}`: {why}", path.display()), "")
    };
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|about| about.file_type().is_socket());
    if is_socket && UnixStream::connect(path).is_err() {
        std::fs::remove_file(path).map_err(|error| unusable(&error))?;
    }
    let listener = UnixListener::bind(path).map_err(|error| unusable(&error))?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(|error| unusable(&error))?;
    Ok(listener)
}

#[cfg(unix)]
fn accept_all(guard: &SessionGuard<'_>, listener: &UnixListener) {
    let open = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for connection in listener.incoming() {
            let Ok(connection) = connection else { continue };
            if open.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
                open.fetch_sub(1, Ordering::Relaxed);
                eprint_redacted("aver guard: more than 64 connections at one time: one is refused\n");
                continue;
            }
            let open = &open;
            scope.spawn(move || {
                // Errors of one connection are ignored, because they do not affect the others.
                let _ = connection.try_clone().and_then(|reading| answer_lines(guard, reading, connection));
                open.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
}

fn answer_lines(guard: &SessionGuard<'_>, from: impl io::Read, mut to: impl io::Write) -> io::Result<()> {
    each_line(BufReader::new(from), |line, whole| {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        if !whole {
            return Err(io::Error::other("a request is longer than 64 MiB"));
        }
        to.write_all(guard.answer_request(line).as_bytes())?;
        to.flush()
    })
}
